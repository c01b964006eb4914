//! Reads a capture through the analysis, to its end or to the first error.

use std::io::Write;
use std::path::PathBuf;

use crate::failure::{COULD_NOT_MEASURE, Failure};
use analysis::{Analysis, Config, Sink, Summary};
use capture::{CaptureError, Stamps};
use model::{StreamKind, kind};

use super::first_events::FirstEvents;
use super::listing::Listing;
use super::observe::Observing;
use super::source::Frames;
use super::{PcapArgs, PcapError, damaged};

/// Results of a capture, and the reason for the end.
pub(super) struct Analysed {
    /// The totals.
    pub(super) summary: Summary,
    /// Number of dropped frames that the capture itself reports.
    pub(super) dropped: Option<u64>,
    /// Statements of the capture about its stamps.
    pub(super) stamps: Stamps,
    /// File that was not read to its end, and the reason.
    pub(super) damage: Option<(PathBuf, CaptureError)>,
    /// The reason for which the interfaces of the LANs are not those of the capture.
    pub(super) wrong_lans: Option<String>,
    /// True if the user stopped it.
    pub(super) stopped: bool,
}

/// Number of frames between two checks for a stop.
const LOOK: u64 = 4096;

/// Reads the capture, until the sink refuses more or `stop` returns true.
///
/// # Errors
/// The capture cannot be opened, or the file is not a capture.
pub(super) fn analyse(
    args: &PcapArgs,
    window_ns: Option<u64>,
    sink: &mut dyn Sink,
    mut observing: Option<&mut Observing>,
    stop: impl Fn() -> bool,
) -> Result<Analysed, PcapError> {
    let keys = args
        .key
        .as_deref()
        .map(probes::read_keys)
        .transpose()
        .map_err(Failure::from)?;
    let mut frames = Frames::open(args)?;
    let config = Config {
        max_streams: usize::from(args.max_streams),
        rate: args.rate,
        window_ns,
        port_mbit: args.port_rate,
    };
    let mut analysis = Analysis::new(config, sink).with_keys(keys.unwrap_or_default());
    let mut stopped = false;
    let mut read = || {
        frames.begin(&mut analysis)?;
        let mut number = 0;
        while frames.next(&mut analysis, |analysis, frame, lan| {
            analysis.frame_of(frame, lan);
            if let Some(observing) = &mut observing {
                observing.take(frame);
            }
            number = frame.number;
        })? {
            if number % LOOK == 0 && (stop() || analysis.is_refused()) {
                stopped = true;
                break;
            }
        }
        Ok(())
    };
    let damage = read().err().map(|error| (frames.path(args).to_owned(), error));
    let is_whole = damage.is_none() && !stopped;
    Ok(Analysed {
        wrong_lans: frames.wrong_lans().filter(|_| is_whole),
        summary: analysis.finish(),
        dropped: frames.dropped(),
        stamps: frames.stamps(),
        damage,
        stopped,
    })
}

/// Kind of the series of a stream with this protocol.
pub(super) fn series_kind(kind: StreamKind) -> &'static model::Kind {
    match kind {
        StreamKind::Goose => &kind::GOOSE,
        _ => &kind::SPACING,
    }
}

/// Prints the listing of the capture.
///
/// # Errors
/// The capture cannot be read to its end (everything before the error has been printed), or the output is closed.
pub(super) fn list(args: &PcapArgs, out: &mut dyn Write) -> Result<u8, PcapError> {
    let mut events = FirstEvents::default();
    let analysed = analyse(args, None, &mut events, None, || false)?;
    if let Some(wrong) = analysed.wrong_lans {
        return Err(Failure::Usage(wrong).into());
    }
    let listing = Listing {
        file: super::name_of(args),
        summary: &analysed.summary,
        dropped: analysed.dropped,
        events: Some(&events),
    };
    out.write_all(listing.text().as_bytes())?;
    out.flush()?;
    match analysed.damage {
        // Same status as for a run: nothing could be measured.
        None if analysed.summary.streams.is_empty() => Ok(COULD_NOT_MEASURE),
        None => Ok(0),
        Some((path, source)) => Err(damaged(&path, source)),
    }
}
