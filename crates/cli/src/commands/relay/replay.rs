//! A recorded fault, or a capture, played through a relay.

use super::{ReplayArgs, json, text};
use crate::failure::{Failure, say};
use ::capture::{CaptureError, Reader};
use ::relay::disturbance::Disturbance;
use ::relay::replay::{Channels, Records, Replayed, capture, record};
use ::relay::{Config, ReplayError};
use probes::relay::Folder;
use std::io::{self, ErrorKind, Write};
use std::path::Path;
use std::time::Instant;
use waveform::WaveformError;
use waveform::comtrade;
use waveform::replay::{Side, parse_assignments};

/// Channels of one stream, as on the command line.
pub(super) fn channels(text: &str) -> Result<Channels, String> {
    // A colon after the first assignment belongs to the unit of its channel: `Ia=6:A`.
    let (stream, text) = match text.split_once(':') {
        Some((stream, text)) if !stream.contains('=') => (Some(stream.trim().to_owned()), text),
        _ => (None, text),
    };
    let assignments = parse_assignments(text)?;
    Ok(Channels { stream, assignments })
}

/// Plays `file`, and prints the events; returns the exit status.
pub(super) fn run(
    config: &Config,
    file: &Path,
    args: &ReplayArgs,
    folder: Option<Folder>,
    is_json: bool,
) -> Result<u8, Failure> {
    let begun = Instant::now();
    let mut keep = folder.map(|mut folder| move |record: Disturbance| say(&folder.write(&record)));
    let records = keep.as_mut().map(|keep| keep as &mut dyn FnMut(Disturbance));
    let replayed = play(config, file, args, records)?;
    let took = begun.elapsed().as_secs_f64();
    let text = match is_json {
        true => json::document(config, file, &replayed),
        false => text::render(config, file, &replayed),
    };
    print(&text)?;
    let seconds = replayed.seconds();
    say(&format_args!(
        "{seconds:.3} s played in {:.1} ms, {:.0} times real time",
        took * 1e3,
        seconds / took
    ));
    Ok(0)
}

/// Writes a text to standard output.
pub(super) fn print(text: &str) -> Result<(), Failure> {
    let printed = io::stdout().lock().write_all(text.as_bytes());
    let failed = |error| Failure::CouldNotMeasure(format!("cannot write the output: {error}"));
    printed.or_else(quiet_if_closed).map_err(failed)
}

/// Treats an output that is closed early (`| head`) as a quiet end.
fn quiet_if_closed(error: io::Error) -> io::Result<()> {
    match error.kind() {
        ErrorKind::BrokenPipe => Ok(()),
        _ => Err(error),
    }
}

fn play<'a>(config: &'a Config, path: &Path, args: &ReplayArgs, records: Records<'a>) -> Result<Replayed, Failure> {
    let refused = |error: ReplayError| {
        let text = match &error {
            // The error names the file.
            ReplayError::Waveform(WaveformError::Comtrade(_)) | ReplayError::Capture(CaptureError::Open { .. }) => {
                error.to_string()
            }
            _ => format!("{}: {error}", path.display()),
        };
        match error {
            ReplayError::Nothing(_) => Failure::CouldNotMeasure(text),
            _ => Failure::Usage(text),
        }
    };
    let extension = path.extension().unwrap_or_default().to_ascii_lowercase();
    if ["cfg", "dat", "cff"].iter().any(|known| extension == *known) {
        let side = if args.as_recorded {
            Side::AsRecorded
        } else {
            Side::Primary
        };
        let opened = comtrade::open(path).map_err(|error| refused(WaveformError::from(error).into()))?;
        return record(config, &opened, &args.channels, side, records).map_err(refused);
    }
    if !args.channels.is_empty() || args.as_recorded {
        let text = "--channels and --as-recorded are for COMTRADE records (.cfg, .dat, .cff): a capture has members";
        return Err(Failure::Usage(text.into()));
    }
    let mut reader = Reader::open(path).map_err(|error| refused(error.into()))?;
    capture(config, &mut reader, records).map_err(refused)
}

#[cfg(test)]
mod tests {
    use super::channels;

    #[test]
    fn channels_of_streams() {
        let found = channels("bay2:Ia=9, Ib=-10").expect("channels");
        assert_eq!(found.stream.as_deref(), Some("bay2"));
        assert_eq!(found.assignments.len(), 2);
        assert_eq!(channels("Ia=1").expect("channels").stream, None);
        let with_units = channels("Ia=6:A, Ua=1:kV").expect("channels");
        assert_eq!((with_units.stream, with_units.assignments.len()), (None, 2));
        let of_stream = channels("bay2:Ia=6:A").expect("channels");
        assert_eq!(of_stream.stream.as_deref(), Some("bay2"));
        assert_eq!(of_stream.assignments[0].channel, "6:A");
        assert!(channels("bay2:Ia").is_err());
    }
}
