//! `--decode`: each ASDU and each GOOSE message as one line of JSON.

use std::borrow::Cow;
use std::io::{self, Write};
use std::path::Path;

use capture::Frame;
use units::foreign;
use wire::ether::{self, EthernetView};

use super::counts::DecodeCounts;
use super::{PcapError, goose, open, sv};

/// Octets collected before they are written out.
const CHUNK: usize = 256 * 1024;

/// Writes one line of JSON for each ASDU and GOOSE message to `out`, and the counts to `messages`.
///
/// # Errors
/// The capture cannot be read to its end (what came before has been written), or the output is closed.
pub(crate) fn decode(path: &Path, out: &mut dyn Write, messages: &mut dyn Write) -> Result<DecodeCounts, PcapError> {
    let mut lines = Vec::with_capacity(CHUNK + 16 * 1024);
    let mut counts = DecodeCounts::default();
    let read = for_each_frame(path, &mut counts, |frame, ethernet, counts| {
        match ethernet.ether_type() {
            ether::SV => sv::decode(frame, ethernet, counts, &mut lines)?,
            ether::GOOSE => goose::decode(frame, ethernet, counts, &mut lines)?,
            _ => {}
        }
        if lines.len() >= CHUNK {
            out.write_all(&safe(&lines))?;
            lines.clear();
        }
        Ok(())
    });
    if !matches!(read, Err(PcapError::Output(_))) {
        out.write_all(&safe(&lines))?;
        out.flush()?;
    }
    read?;
    counts.report(messages)?;
    Ok(counts)
}

/// Lines of JSON in which JSON's escapes stand for what is not to be shown: names come from the wire.
fn safe(lines: &[u8]) -> Cow<'_, [u8]> {
    if lines.iter().all(|octet| (b'\n'..0x7f).contains(octet)) {
        return Cow::Borrowed(lines);
    }
    let text = String::from_utf8_lossy(lines).into_owned();
    Cow::Owned(foreign::json(text).into_bytes())
}

/// Calls `with` for every Ethernet frame of the capture.
fn for_each_frame(
    path: &Path,
    counts: &mut DecodeCounts,
    mut with: impl FnMut(&Frame<'_>, &EthernetView<'_>, &mut DecodeCounts) -> io::Result<()>,
) -> Result<(), PcapError> {
    let mut reader = open(path)?;
    let error = |source| PcapError::Capture {
        path: path.to_owned(),
        source,
    };
    while let Some(frame) = reader.next_frame().map_err(error)? {
        counts.frames += 1;
        if frame.link_type != capture::LinkType::ETHERNET {
            counts.not_ethernet += 1;
        } else if let Ok(ethernet) = EthernetView::parse(frame.data) {
            with(&frame, &ethernet, counts)?;
        }
    }
    Ok(())
}
