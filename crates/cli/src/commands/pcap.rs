//! `triptime pcap FILE`: the sampled values and GOOSE of a capture.
//!
//! With `--decode`, one JSON object per line: one for each ASDU, one for each GOOSE message, fields named as on the wire. A
//! frame that breaks a rule gives one line with `error` (the first violation), `offset` (the octet of the frame, from 0), and
//! what could be decoded. What a subscriber should count but not refuse is listed in `flags`. Other traffic is passed over.
//!
//! Without it, one line per stream: how many frames, from when to when, and what smpCnt says was lost.
//!
//! Exit status: 0 when the capture was read to its end, whatever is in it; 2 when it cannot be read, or not to its end.

mod data;
mod goose;
mod json;
mod streams;
mod sv;

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use capture::{CaptureError, Frame, Reader};
use wire::ether::{self, EthernetView};

use streams::Streams;

/// Octets collected before they are written out.
const CHUNK: usize = 256 * 1024;

/// Sampled values and GOOSE in a capture (pcap or pcapng).
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct PcapArgs {
    /// The capture
    pub(crate) file: PathBuf,
    /// Print each ASDU and each GOOSE message as one line of JSON
    #[arg(long)]
    pub(crate) decode: bool,
}

/// What a capture held.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct DecodeCounts {
    /// Frames of the capture.
    pub(crate) frames: u64,
    /// Frames with EtherType 88BA.
    pub(crate) sv_frames: u64,
    /// ASDUs in those of them that keep every rule.
    pub(crate) asdus: u64,
    /// Frames with EtherType 88B8.
    pub(crate) goose: u64,
    /// SV and GOOSE frames that break a rule.
    pub(crate) errors: u64,
    /// Frames that are not Ethernet, which are not decoded.
    pub(crate) not_ethernet: u64,
}

/// Why the command ended early.
#[derive(Debug, thiserror::Error)]
pub(crate) enum PcapError {
    /// The capture cannot be read, or not further.
    #[error("{}: {source}", path.display())]
    Capture {
        /// The file.
        path: PathBuf,
        /// Why.
        source: CaptureError,
    },
    /// The capture cannot be opened.
    #[error(transparent)]
    Open(CaptureError),
    /// The output does not take it.
    #[error("cannot write the output: {0}")]
    Output(#[from] io::Error),
}

/// Runs the command and returns its exit status. An output that is closed early (`| head`) ends it quietly.
pub(crate) fn run(args: &PcapArgs, out: &mut dyn Write, messages: &mut dyn Write) -> u8 {
    let done = if args.decode {
        decode(&args.file, out, messages).map(|_| ())
    } else {
        list_streams(&args.file, out, messages).map(|_| ())
    };
    match done {
        Ok(()) => 0,
        Err(PcapError::Output(error)) if error.kind() == io::ErrorKind::BrokenPipe => 0,
        Err(error) => {
            // Nobody is left to tell when standard error is closed too.
            let _ = writeln!(messages, "triptime pcap: {error}");
            2
        }
    }
}

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
            out.write_all(&lines)?;
            lines.clear();
        }
        Ok(())
    });
    if !matches!(read, Err(PcapError::Output(_))) {
        out.write_all(&lines)?;
        out.flush()?;
    }
    read?;
    counts.report(messages)?;
    Ok(counts)
}

/// Writes one line for each stream to `out`, and the counts to `messages`.
///
/// # Errors
/// As for [`decode`].
pub(crate) fn list_streams(
    path: &Path,
    out: &mut dyn Write,
    messages: &mut dyn Write,
) -> Result<DecodeCounts, PcapError> {
    let mut streams = Streams::default();
    let mut counts = DecodeCounts::default();
    let read = for_each_frame(path, &mut counts, |frame, ethernet, counts| {
        streams.add(frame, ethernet, counts);
        Ok(())
    });
    streams.write(out)?;
    read?;
    counts.report(messages)?;
    Ok(counts)
}

/// Calls `with` for every Ethernet frame of the capture.
fn for_each_frame(
    path: &Path,
    counts: &mut DecodeCounts,
    mut with: impl FnMut(&Frame<'_>, &EthernetView<'_>, &mut DecodeCounts) -> io::Result<()>,
) -> Result<(), PcapError> {
    let error = |source| match source {
        CaptureError::Open { .. } => PcapError::Open(source),
        source => PcapError::Capture {
            path: path.to_owned(),
            source,
        },
    };
    let mut reader = Reader::open(path).map_err(error)?;
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

impl DecodeCounts {
    /// The counts in words.
    fn report(&self, messages: &mut dyn Write) -> io::Result<()> {
        let Self {
            frames,
            sv_frames,
            asdus,
            goose,
            errors,
            not_ethernet,
        } = self;
        writeln!(
            messages,
            "frames: {frames}, sampled-value frames: {sv_frames} (ASDUs: {asdus}), GOOSE messages: {goose}, breaking a rule: \
             {errors}"
        )?;
        if *not_ethernet > 0 {
            writeln!(
                messages,
                "not Ethernet, so not decoded: {not_ethernet} (capture on one interface, not on `any`)"
            )?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
