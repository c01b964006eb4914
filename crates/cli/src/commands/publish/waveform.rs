//! Waveforms of the streams of `triptime publish`.

use crate::failure::{Failure, say};
use probes::options::positive_duration;
use probes::publish::{StreamConfig, Waveform};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use streamset::StreamSpec;
use waveform::replay::{self, Assignment, Ending, Interpolation, Side};
use waveform::sample::{Dataset, Sampling};
use waveform::synth::Synth;
use waveform::{Signal, Tables, WaveformError, comtrade, synth};
use wire::quality::SvQuality;
use wire::sv::Profile;

/// Options for the waveforms of the streams.
#[derive(Debug, Clone, clap::Args)]
#[command(next_help_heading = "Waveform")]
#[group(conflicts_with = "replay")]
pub(crate) struct WaveformArgs {
    /// Currents and voltages, faults on schedule: a TOML file (docs/formats/waveform.md)
    #[arg(long, value_name = "FILE", conflicts_with = "comtrade")]
    waveform: Option<PathBuf>,
    /// Replay this COMTRADE record: a .cff, or a .cfg with its .dat
    #[arg(long, value_name = "FILE")]
    comtrade: Option<PathBuf>,
    /// Channels of the record by name or number, such as Ia=IA_GC1,Ib=6,Un=none; a leading - inverts the sign, and 6:A names the unit [default: by phase and unit]
    #[arg(long, value_name = "MEMBER=CHANNEL,...", value_parser = channels, requires = "comtrade")]
    comtrade_channels: Option<Channels>,
    /// Interpolation between the record's samples: sinc or linear
    #[arg(long, value_name = "HOW", default_value = "sinc", value_parser = interpolation, requires = "comtrade")]
    comtrade_interpolation: Interpolation,
    /// Publish the record's values unchanged, without converting secondary to primary values
    #[arg(long, requires = "comtrade")]
    comtrade_as_recorded: bool,
    /// After the record: cycles (repeat after whole cycles), mute:DURATION (repeat after zeros), or once
    #[arg(long, value_name = "WHAT", default_value = "cycles", value_parser = ending, requires = "comtrade")]
    comtrade_ending: Ending,
    /// Frequency in Hz of the nominal state, if no file states another
    #[arg(long, value_name = "HZ", default_value_t = 50.0, conflicts_with_all = ["waveform", "comtrade"])]
    frequency: f64,
    /// Phase in degrees by which each stream leads the previous one
    #[arg(long, value_name = "DEGREES", default_value_t = 0.0, allow_negative_numbers = true)]
    phase_step: f64,
    /// Quality of every value: good, invalid, questionable, test and so on, separated by commas, or a number such as 0x0800
    #[arg(long, value_name = "QUALITY", default_value = "good")]
    quality: SvQuality,
    /// Set the quality bit "derived" in calculated residuals, as 9-2LE does
    #[arg(long)]
    derived: bool,
}

/// Waveforms for streams, made on request.
pub(crate) struct Waveforms {
    tables: Tables,
    what: String,
    /// Phase step in degrees from stream to stream.
    phase_step: f64,
    /// Quality of every value.
    quality: SvQuality,
    derived: bool,
    /// Remarks are off, or already printed.
    quiet: bool,
    /// Form of the record's replay, until its channels have been printed.
    unsaid: Option<replay::Options>,
}

impl WaveformArgs {
    /// Reads the files; prints what was skipped on standard error, unless `quiet`.
    pub(crate) fn read(&self, quiet: bool) -> Result<Waveforms, Failure> {
        let (signal, what) = match (&self.waveform, &self.comtrade) {
            (Some(path), _) => (Signal::Synth(synth::read(path)?), name(path)),
            (None, Some(path)) => (self.record(path, quiet)?, name(path)),
            (None, None) => (
                Signal::Synth(self.steady()),
                format!("{} Hz, 400 A, 20 kV", self.frequency),
            ),
        };
        let unsaid = match &signal {
            Signal::Record(_, options) if !quiet => Some(options.clone()),
            _ => None,
        };
        Ok(Waveforms {
            tables: Tables::new(signal),
            phase_step: self.phase_step,
            quality: self.quality,
            derived: self.derived,
            what,
            quiet,
            unsaid,
        })
    }

    fn steady(&self) -> Synth {
        let mut synth = Synth::default();
        synth.nominal.frequency_hz = self.frequency;
        synth
    }

    fn record(&self, path: &Path, quiet: bool) -> Result<Signal, Failure> {
        let record = comtrade::open(path).map_err(WaveformError::from)?;
        let options = replay::Options {
            assignments: self.comtrade_channels.clone().unwrap_or_default().0,
            interpolation: self.comtrade_interpolation,
            side: if self.comtrade_as_recorded {
                Side::AsRecorded
            } else {
                Side::Primary
            },
            ending: self.comtrade_ending,
        };
        if !quiet {
            for warning in &record.warnings {
                say(&format_args!("{}: {warning}", path.display()));
            }
        }
        Ok(Signal::Record(Box::new(record), options))
    }
}

impl Waveforms {
    /// The streams, each with its waveform.
    ///
    /// # Errors
    /// A stream cannot be published.
    pub(super) fn given_to(&mut self, streams: Vec<StreamSpec>) -> Result<Vec<StreamConfig>, Failure> {
        let config = |(number, spec): (u64, StreamSpec)| {
            let waveform = self.of(spec.profile()?, spec.quality, spec.phase_deg, number)?;
            Ok(StreamConfig {
                spec,
                waveform,
                ahead: 0,
            })
        };
        (0..).zip(streams).map(config).collect()
    }

    /// Waveform of stream number `stream`, from 0, of `profile`: `phase_deg` ahead, with its own quality and the common one.
    fn of(
        &mut self,
        profile: Profile,
        quality: SvQuality,
        phase_deg: f64,
        stream: u64,
    ) -> Result<Arc<Waveform>, Failure> {
        let dataset = Dataset::new(usize::from(profile.currents), usize::from(profile.voltages));
        let sampling = Sampling {
            dataset: dataset.map_err(|error| Failure::Usage(format!("publish: {error}")))?,
            quality: SvQuality(self.quality.0 | quality.0),
            derived: self.derived,
            ..Sampling::new(profile.rate)
        };
        self.say_channels(&sampling.dataset)?;
        let ahead_deg = phase_deg + stream as f64 * self.phase_step;
        let table = self.tables.of(&sampling, stream, ahead_deg)?;
        if !self.quiet && table.saturated() + table.missing() > 0 {
            self.quiet = true;
            say(&format_args!(
                "{}: {} values do not fit into INT32 (quality overflow), {} are missing (quality invalid)",
                self.what,
                table.saturated(),
                table.missing()
            ));
        }
        Ok(Arc::new(Waveform::of(table, self.what.clone())))
    }

    /// Prints, once, the mapping of record channels to members.
    fn say_channels(&mut self, dataset: &Dataset) -> Result<(), Failure> {
        if let Some(options) = self.unsaid.take()
            && let Signal::Record(record, _) = self.tables.signal()
        {
            for line in replay::describe(record, dataset, &options)? {
                say(&line);
            }
        }
        Ok(())
    }
}

impl From<WaveformError> for Failure {
    fn from(error: WaveformError) -> Self {
        Self::Usage(format!("publish: {error}"))
    }
}

/// The name of a file without its folders.
fn name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// Channels of members. A separate type, because the command line would read a list as many values.
#[derive(Debug, Clone, Default)]
struct Channels(Vec<Assignment>);

fn channels(text: &str) -> Result<Channels, units::Refusal> {
    replay::parse_assignments(text).map(Channels)
}

fn interpolation(text: &str) -> Result<Interpolation, String> {
    match text {
        "sinc" => Ok(Interpolation::Sinc),
        "linear" => Ok(Interpolation::Linear),
        _ => Err("use sinc or linear".into()),
    }
}

fn ending(text: &str) -> Result<Ending, String> {
    match text.split_once(':') {
        None if text == "cycles" => Ok(Ending::Cycles),
        None if text == "once" => Ok(Ending::Once),
        Some(("mute", duration)) => positive_duration(duration).map(Ending::Mute),
        _ => Err("use cycles, once, or mute:DURATION such as mute:500ms".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::{channels, ending};
    use waveform::replay::Ending;

    #[test]
    fn values_and_refusals() {
        assert_eq!(ending("cycles"), Ok(Ending::Cycles));
        assert_eq!(ending("mute:500ms"), Ok(Ending::Mute(500_000_000)));
        assert!(ending("mute").is_err() && ending("mute:0").is_err() && ending("again").is_err());
        assert_eq!(channels("Ia=IA_GC1, Ib=2").expect("two").0.len(), 2);
        assert!(channels("Ia").is_err());
    }
}
