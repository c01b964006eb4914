//! The table `[record]` of a scenario.

use super::laid::Laid;
use super::{Replayed, inception};
use crate::WaveformError;
use crate::comtrade::{self, ComtradeRecord};
use crate::replay::{self, Interpolation, Options, POSSIBLE_HZ, Side, members, parse_assignments};
use crate::sample::Sampling;
use crate::synth::Duration;
use serde::Deserialize;
use std::path::Path;
use units::{Refusal, refusal};

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::scenario) struct Keys {
    file: String,
    #[serde(default)]
    inception: Inception,
    prefault: Option<Duration>,
    until: Option<Duration>,
    channels: Option<String>,
    #[serde(default)]
    as_recorded: bool,
    frequency_hz: Option<f64>,
}

/// Start of the fault.
#[derive(Debug, Default, Deserialize)]
#[serde(try_from = "String")]
enum Inception {
    /// When a phase starts to differ from the cycle before.
    #[default]
    Found,
    /// At the record's trigger.
    Trigger,
    /// This long after the record's first sample, in ns.
    After(u64),
}

impl TryFrom<String> for Inception {
    type Error = Refusal;

    fn try_from(text: String) -> Result<Self, Refusal> {
        match text.as_str() {
            "found" => Ok(Self::Found),
            "trigger" => Ok(Self::Trigger),
            _ => units::parse_ns(&text)
                .map(Self::After)
                .map_err(|error| refusal!("{error}; or write \"found\" or \"trigger\"")),
        }
    }
}

impl Keys {
    /// The record as played, and a description of the choices made.
    pub(in crate::scenario) fn replayed(
        &self,
        folder: &Path,
        sampling: &Sampling,
    ) -> Result<(Replayed, Vec<String>), WaveformError> {
        let record = comtrade::open(&folder.join(&self.file))?;
        let options = self.options()?;
        let cycle = f64::from(sampling.rate) / self.frequency_hz(&record)?;
        let (inception, how) = self.inception(&record, sampling, &options, cycle)?;
        let (sources, columns) = members(&record, sampling, &options)?;
        let mut laid = Laid {
            sampling: sampling.clone(),
            begin: begin(self.prefault.as_ref(), inception, sampling, cycle)?,
            end: end(self.until.as_ref(), inception, sampling, columns[0].len(), cycle)?,
            sources,
            columns,
            cycle,
            inception,
            point_deg: 0.0,
        };
        let of = laid.find_point();
        let gap = laid.check_steady()?;
        let mut notes = vec![format!("{}: fault inception {how}", self.file), story(&laid, of, gap)];
        notes.extend(replay::describe(&record, &sampling.dataset, &options)?);
        notes.extend(
            record
                .warnings
                .iter()
                .map(|warning| format!("{}: {warning}", self.file)),
        );
        Ok((Replayed::of(laid), notes))
    }

    fn options(&self) -> Result<Options, WaveformError> {
        let assignments = parse_assignments(self.channels.as_deref().unwrap_or_default());
        Ok(Options {
            assignments: assignments
                .map_err(|problem| WaveformError::setting(format!("record.channels: {problem}")))?,
            side: if self.as_recorded {
                Side::AsRecorded
            } else {
                Side::Primary
            },
            ..Options::default()
        })
    }

    fn frequency_hz(&self, record: &ComtradeRecord) -> Result<f64, WaveformError> {
        let hz = self.frequency_hz.or(record.config.frequency_hz);
        hz.filter(|hz| POSSIBLE_HZ.contains(hz)).ok_or_else(|| {
            WaveformError::setting(
                "record.frequency_hz: the record states none that is possible: give that of its pre-fault",
            )
        })
    }

    /// The first sample of the fault, and a description of how it was found.
    fn inception(
        &self,
        record: &ComtradeRecord,
        sampling: &Sampling,
        options: &Options,
        cycle: f64,
    ) -> Result<(usize, String), WaveformError> {
        let sample = |ns: u64| usize::try_from(sampling.first_at(ns)).unwrap_or(usize::MAX);
        let text = |ns: u64| ms(ns as f64);
        match self.inception {
            Inception::After(ns) => Ok((sample(ns), format!("{} after the first sample, as given", text(ns)))),
            Inception::Trigger => {
                let trigger = record.config.trigger_ns.and_then(|ns| u64::try_from(ns).ok());
                let ns = trigger.filter(|ns| *ns > 0).ok_or_else(|| {
                    WaveformError::setting(
                        "record.inception: the record has no trigger after its first sample: give the instant",
                    )
                })?;
                Ok((
                    sample(ns),
                    format!("{} after the first sample, at the record's trigger", text(ns)),
                ))
            }
            Inception::Found => {
                // A sinc rings before a step.
                let linear = Options {
                    interpolation: Interpolation::Linear,
                    ..options.clone()
                };
                let (_, columns) = members(record, sampling, &linear)?;
                let found = inception::found(&columns, &sampling.dataset, cycle).ok_or_else(|| {
                    WaveformError::setting(
                        "record.inception: no phase differs from the cycle before: give the instant, or \"trigger\"",
                    )
                })?;
                let ns = found.0 as f64 / f64::from(sampling.rate) * 1e9;
                let member = &sampling.dataset.members()[found.1].name;
                let how = format!(
                    "{} after the first sample, where {member} begins to differ from the cycle before",
                    ms(ns)
                );
                Ok((found.0, how))
            }
        }
    }
}

/// The first played sample: at least one cycle before the inception.
fn begin(
    prefault: Option<&Duration>,
    inception: usize,
    sampling: &Sampling,
    cycle: f64,
) -> Result<usize, WaveformError> {
    let ms = |samples: f64| ms(samples / f64::from(sampling.rate) * 1e9);
    let least = cycle.ceil() as usize + 1;
    let own = match prefault {
        Some(prefault) => usize::try_from(sampling.first_at(prefault.0)).unwrap_or(usize::MAX),
        None => inception,
    };
    if inception < least || own < least {
        let (key, has) = if own < inception {
            ("prefault", own)
        } else {
            ("inception", inception)
        };
        return Err(WaveformError::setting(format!(
            "record.{key}: {} before the fault are too short: a cycle ({}) and a sample are needed, and are repeated as the steady state",
            ms(has as f64),
            ms(cycle)
        )));
    }
    inception.checked_sub(own).ok_or_else(|| {
        WaveformError::setting(format!(
            "record.prefault: the record has only {} before the fault",
            ms(inception as f64)
        ))
    })
}

/// The end of the played samples: at least one cycle after the inception.
fn end(
    until: Option<&Duration>,
    inception: usize,
    sampling: &Sampling,
    samples: usize,
    cycle: f64,
) -> Result<usize, WaveformError> {
    let wanted = until.map(|until| usize::try_from(sampling.first_at(until.0)).unwrap_or(usize::MAX));
    let end = wanted
        .map_or(samples, |wanted| inception.saturating_add(wanted))
        .min(samples);
    let most = super::super::LONGEST_NS / 1_000_000_000 * u64::from(sampling.rate);
    if end.saturating_sub(inception) < cycle.ceil() as usize {
        return Err(WaveformError::setting(
            "record: less than a cycle is played after the fault inception: correct record.inception or record.until",
        ));
    }
    if end as u64 > most {
        return Err(WaveformError::setting(
            "record.until: more than a minute would be played: make it shorter",
        ));
    }
    Ok(end)
}

/// Nanoseconds in milliseconds, as finely as records are sampled.
fn ms(ns: f64) -> String {
    format!("{:.1} ms", ns / 1e6)
}

fn story(laid: &Laid, of: Option<&str>, gap: f64) -> String {
    let ms = |samples: u64| ms(samples as f64 / f64::from(laid.sampling.rate) * 1e9);
    let point = match of {
        Some(of) => format!(
            "{:.0} degrees behind the rise of phase a's {of} through zero",
            (laid.point_deg + 90.0).rem_euclid(360.0)
        ),
        None => "not known, phase a has neither voltage nor current".to_owned(),
    };
    format!(
        "plays {} of its own pre-fault, before that its first cycle of {:.2} Hz again and again (its ends are {:.1} % apart and drawn together), \
         and {} from the inception on; point on wave, the same in all shots: {point}",
        ms(laid.own()),
        laid.frequency_hz(),
        100.0 * gap,
        ms(laid.length() - laid.own()),
    )
}
