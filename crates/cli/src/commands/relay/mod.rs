//! `triptime relay CONFIG --replay FILE`: a recorded fault, or a capture, played through a relay.

mod json;
mod text;

use crate::failure::{Failure, say};
use ::capture::{CaptureError, Reader};
use ::relay::replay::{Channels, Replayed, capture, record};
use ::relay::{Config, ReplayError, config};
use std::fs;
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::time::Instant;
use waveform::WaveformError;
use waveform::comtrade;
use waveform::replay::{Side, parse_assignments};

/// Plays a recorded fault through a virtual relay: what starts, operates and trips, and when
#[derive(Debug, Clone, clap::Args)]
#[command(after_help = "\
Example: triptime relay feeder.toml --replay fault.cfg
         triptime relay feeder.toml --replay fault.cff --channels Ia=IA_GC1,Ib=IB_GC1,Ic=IC_GC1 --json
         triptime relay bay.toml --replay bay.pcapng")]
pub(crate) struct RelayArgs {
    /// The relay: a TOML file (docs/formats/relay-file.md)
    config: PathBuf,
    /// What to play: a COMTRADE record (.cff, or .cfg with its .dat), or a capture of sampled values (pcap, pcapng, gzip)
    #[arg(long, value_name = "FILE")]
    replay: PathBuf,
    /// Channels of the record by name or number, such as Ia=IA_GC1,Ib=6,Un=none; - before it turns the sign; a stream before a
    /// colon where the relay has several (bay2:Ia=9,Ib=10,Ic=11), once for each [default: the first stream, by phase and unit]
    #[arg(long, value_name = "[STREAM:]MEMBER=CHANNEL,...", value_parser = channels)]
    channels: Vec<Channels>,
    /// Take the record's values as they are, without turning secondary into primary ones
    #[arg(long)]
    as_recorded: bool,
    /// Print the result as one JSON document
    #[arg(long)]
    json: bool,
}

/// Channels of one stream, as they are written.
fn channels(text: &str) -> Result<Channels, String> {
    let (stream, text) = match text.split_once(':') {
        Some((stream, text)) => (Some(stream.trim().to_owned()), text),
        None => (None, text),
    };
    let assignments = parse_assignments(text)?;
    Ok(Channels { stream, assignments })
}

/// Runs the command; returns its exit status.
pub(crate) fn run(args: &RelayArgs) -> Result<u8, Failure> {
    let config = read(&args.config)?;
    let begun = Instant::now();
    let replayed = play(&config, args)?;
    let took = begun.elapsed().as_secs_f64();
    let text = match args.json {
        true => json::document(&config, &args.replay, &replayed),
        false => text::render(&config, &args.replay, &replayed),
    };
    let printed = io::stdout().lock().write_all(text.as_bytes());
    if let Err(error) = printed.or_else(quiet_if_closed) {
        return Err(Failure::CouldNotMeasure(format!("cannot write the output: {error}")));
    }
    let seconds = replayed.seconds();
    say(&format_args!(
        "{seconds:.3} s played in {:.1} ms, {:.0} times real time",
        took * 1e3,
        seconds / took
    ));
    Ok(0)
}

/// An output that is closed early (`| head`) ends it quietly.
fn quiet_if_closed(error: io::Error) -> io::Result<()> {
    match error.kind() {
        ErrorKind::BrokenPipe => Ok(()),
        _ => Err(error),
    }
}

fn read(path: &Path) -> Result<Config, Failure> {
    let name = path.display().to_string();
    let text = fs::read_to_string(path).map_err(|error| Failure::Usage(format!("{name}: {error}")))?;
    config::parse(&text, &name).map_err(|error| Failure::Usage(error.to_string()))
}

fn play(config: &Config, args: &RelayArgs) -> Result<Replayed, Failure> {
    let path = &args.replay;
    let refused = |error: ReplayError| {
        let text = match &error {
            // It names the file itself.
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
        return record(config, &opened, &args.channels, side).map_err(refused);
    }
    if !args.channels.is_empty() || args.as_recorded {
        let text = "--channels and --as-recorded are for COMTRADE records (.cfg, .dat, .cff): a capture has members";
        return Err(Failure::Usage(text.into()));
    }
    let mut reader = Reader::open(path).map_err(|error| refused(error.into()))?;
    capture(config, &mut reader).map_err(refused)
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
        assert!(channels("bay2:Ia").is_err());
    }
}
