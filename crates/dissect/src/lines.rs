//! Reads the capture, and writes the lines of each frame.

use std::borrow::Cow;
use std::io::{self, Write};

use capture::{CaptureError, Frame, LinkType, Reader};
use units::foreign;
use wire::ether::{self, EthernetView};
use wire::routed::Datagram;

use crate::{DecodeCounts, datagram, goose, sv};

/// Number of bytes collected before they are written out.
const CHUNK: usize = 256 * 1024;

/// Reason why decoding ended early.
#[derive(Debug, thiserror::Error)]
pub enum DecodeError {
    /// The capture cannot be read further.
    #[error(transparent)]
    Capture(#[from] CaptureError),
    /// The output refused a line.
    #[error(transparent)]
    Output(#[from] io::Error),
}

/// Writes one line of JSON for each ASDU and GOOSE message to `out`, and returns the counts.
///
/// # Errors
/// The capture cannot be read to its end (the lines before that place have been written), or the output is closed.
pub fn decode(reader: &mut Reader<'_>, out: &mut dyn Write) -> Result<DecodeCounts, DecodeError> {
    let mut lines = Vec::with_capacity(CHUNK + 16 * 1024);
    let mut counts = DecodeCounts::default();
    let damage = loop {
        match reader.next_frame() {
            Ok(Some(frame)) => append(&frame, &mut counts, &mut lines)?,
            Ok(None) => break None,
            Err(error) => break Some(error),
        }
        if lines.len() >= CHUNK {
            out.write_all(&safe(&lines))?;
            lines.clear();
        }
    };
    out.write_all(&safe(&lines))?;
    out.flush()?;
    damage.map_or(Ok(counts), |error| Err(error.into()))
}

/// Appends the lines of a frame.
fn append(frame: &Frame<'_>, counts: &mut DecodeCounts, lines: &mut Vec<u8>) -> io::Result<()> {
    counts.frames += 1;
    if frame.link_type != LinkType::ETHERNET {
        counts.not_ethernet += 1;
        return Ok(());
    }
    let Ok(ethernet) = EthernetView::parse(frame.data) else {
        return Ok(());
    };
    match Datagram::within(&ethernet) {
        Some(Ok(datagram)) => datagram::decode(frame, &ethernet, &datagram, counts, lines),
        Some(Err(error)) => datagram::broken(frame, &ethernet, error, counts, lines),
        None => message(frame, &ethernet, counts, lines),
    }
}

/// Appends the lines of a frame, or of a message that came over UDP.
pub(crate) fn message(
    frame: &Frame<'_>,
    ethernet: &EthernetView<'_>,
    counts: &mut DecodeCounts,
    lines: &mut Vec<u8>,
) -> io::Result<()> {
    match ethernet.ether_type() {
        ether::SV => sv::decode(frame, ethernet, counts, lines),
        ether::GOOSE => goose::decode(frame, ethernet, counts, lines),
        _ => Ok(()),
    }
}

/// Lines of JSON in which JSON's escapes replace characters that must not be shown, because names come from the wire.
fn safe(lines: &[u8]) -> Cow<'_, [u8]> {
    if lines.iter().all(|octet| (b'\n'..0x7f).contains(octet)) {
        return Cow::Borrowed(lines);
    }
    let text = String::from_utf8_lossy(lines).into_owned();
    Cow::Owned(foreign::json(text).into_bytes())
}
