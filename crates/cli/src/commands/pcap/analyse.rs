//! Reads a capture through the analysis, to its end or as far as it goes.

use std::io::Write;

use crate::failure::COULD_NOT_MEASURE;
use analysis::{Analysis, Config, Sink, Summary};
use capture::{CaptureError, Stamps};
use model::{StreamKind, kind};

use super::first_events::FirstEvents;
use super::listing::Listing;
use super::{PcapArgs, PcapError, damaged, open};

/// Findings in a capture, and the reason for the end.
pub(super) struct Analysed {
    /// The totals.
    pub(super) summary: Summary,
    /// Frames that the capturing side says it dropped.
    pub(super) dropped: Option<u64>,
    /// Facts that it states about its stamps.
    pub(super) stamps: Stamps,
    /// Why the capture was not read to its end.
    pub(super) damage: Option<CaptureError>,
    /// True if it was given up because somebody said so.
    pub(super) stopped: bool,
}

/// Frames between two looks whether to stop.
const LOOK: u64 = 4096;

/// Reads the capture, until the sink refuses more; `stop` says whether to give up before.
///
/// # Errors
/// The capture cannot be opened, or is none.
pub(super) fn analyse(
    args: &PcapArgs,
    window_ns: Option<u64>,
    sink: &mut dyn Sink,
    stop: impl Fn() -> bool,
) -> Result<Analysed, PcapError> {
    let mut reader = open(&args.file)?;
    let config = Config {
        max_streams: usize::from(args.max_streams),
        rate: args.rate,
        window_ns,
    };
    let mut analysis = Analysis::new(config, sink);
    let (mut damage, mut stopped) = (None, false);
    loop {
        match reader.next_frame() {
            Ok(Some(frame)) => {
                analysis.frame(&frame);
                if frame.number % LOOK == 0 && (stop() || analysis.is_refused()) {
                    stopped = true;
                    break;
                }
            }
            Ok(None) => break,
            Err(error) => {
                damage = Some(error);
                break;
            }
        }
    }
    Ok(Analysed {
        summary: analysis.finish(),
        dropped: reader.dropped(),
        stamps: reader.stamps(),
        damage,
        stopped,
    })
}

/// Kind of the series of such a stream.
pub(super) fn series_kind(kind: StreamKind) -> &'static model::Kind {
    match kind {
        StreamKind::Goose => &kind::GOOSE,
        _ => &kind::SPACING,
    }
}

/// Prints the listing of the capture.
///
/// # Errors
/// The capture cannot be read, or not to its end (what came before has been printed); the output is closed.
pub(super) fn list(args: &PcapArgs, out: &mut dyn Write) -> Result<u8, PcapError> {
    let mut events = FirstEvents::default();
    let analysed = analyse(args, None, &mut events, || false)?;
    let listing = Listing {
        file: super::name(&args.file),
        summary: &analysed.summary,
        dropped: analysed.dropped,
        events: Some(&events),
    };
    out.write_all(listing.text().as_bytes())?;
    out.flush()?;
    match analysed.damage {
        // As for a run: nothing could be measured.
        None if analysed.summary.streams.is_empty() => Ok(COULD_NOT_MEASURE),
        None => Ok(0),
        Some(source) => Err(damaged(&args.file, source)),
    }
}
