//! Plays COMTRADE records at their own rate.

use super::gaps;
use super::runner::Runner;
use super::{Records, Replayed, received};
use crate::config::{CHANNELS, Config};
use crate::disturbance::Stamp;
use crate::engine::{Engine, Sample};
use crate::error::ReplayError;
use units::Realtime;
use waveform::WaveformError;
use waveform::comtrade::ComtradeRecord;
use waveform::replay::{Assignment, Ending, Options, Side, describe, values};
use waveform::sample::Dataset;
use wire::quality::SvQuality;

/// Range of rates at which protection works; a record with another rate is converted to the nearer end.
const SLOWEST: f64 = 600.0;
const FASTEST: f64 = 20_000.0;

/// Largest difference of a time step from the mean, as a share, at which the time stamps have one rate.
const EVEN: f64 = 0.02;

/// Number of samples pushed at a time; a task may have more.
const PUSHED: u64 = 128;

/// Channels of a record for a stream, if phases and units do not show them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Channels {
    /// Name of the stream; `None` for the first or only one.
    pub stream: Option<String>,
    /// Channels of the stream.
    pub assignments: Vec<Assignment>,
}

/// Values of one stream, and their channels.
struct Fed {
    stream: usize,
    columns: Vec<Vec<f64>>,
}

/// Plays a record. Its samples go to the first stream by their phases and units, and to every stream in `channels`; other streams
/// get no samples.
///
/// A record with one rate is played sample by sample; a record with several rates is first converted to the highest. Records made
/// by the relay have the instants of the original record.
///
/// # Errors
/// A channel cannot be found, or the relay's settings do not allow the rate.
pub fn record(
    config: &Config,
    record: &ComtradeRecord,
    channels: &[Channels],
    side: Side,
    records: Records<'_>,
) -> Result<Replayed, ReplayError> {
    let mut notes = record.warnings.clone();
    let sampling = Sampling::of(record, &mut notes);
    let rate = sampling.rate;
    let engine = Engine::at_rate(config, rate)?;
    let mut inputs = Vec::new();
    let times_s = record.times_s();
    let start_s = times_s.first().copied().unwrap_or_default();
    let slow = gaps::slow(times_s, config.frequency_hz);
    notes.extend(gaps::notes(start_s, &slow));
    let mut fed = feeds(config, channels)?
        .into_iter()
        .map(|(stream, assignments)| feed(config, record, sampling, stream, assignments, side, &mut inputs))
        .collect::<Result<Vec<Fed>, _>>()?;
    for fed in &mut fed {
        gaps::blank(&mut fed.columns, rate, start_s, &slow);
    }
    if let Some(other) = record
        .config
        .frequency_hz
        .filter(|hz| (hz - config.frequency_hz).abs() > 0.5)
    {
        notes.push(format!(
            "the record says {other} Hz, the relay is for {} Hz",
            config.frequency_hz
        ));
    }
    if record.config.start.is_none() && records.is_some() {
        notes.push("the record has no start time: records of the relay begin in 1970".to_owned());
    }
    let samples = fed.first().and_then(|fed| fed.columns.first()).map_or(0, Vec::len) as u64;
    let begins = Stamp {
        newest: 0,
        came: record.config.start.unwrap_or(Realtime::from_ns(0)),
        top: None,
    };
    let mut runner = Runner::new(config, engine, records);
    play(config, &mut runner, &fed, samples, begins);
    Ok(Replayed {
        rate,
        samples,
        trigger_ns: record.config.trigger_ns,
        inputs,
        notes,
        streams: received(config, &runner.engine),
        story: runner.story,
    })
}

/// Sampling of the record for the relay.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Sampling {
    /// Samples a second.
    rate: f64,
    /// True if the samples are the record's own, without conversion.
    is_own: bool,
}

impl Sampling {
    /// Sampling of the record: its own, or converted to one rate at which protection works.
    fn of(record: &ComtradeRecord, notes: &mut Vec<String>) -> Self {
        let uniform = record.uniform();
        let own = match uniform.as_slice() {
            [] => Self::by_stamps(record, notes),
            [(_, rate)] => Self {
                rate: *rate,
                is_own: record.config.analog.iter().all(|channel| channel.skew_us == 0.0),
            },
            several => {
                let rate = several.iter().map(|(_, rate)| *rate).fold(0.0, f64::max);
                let count = several.len();
                notes.push(format!(
                    "the record has {count} stretches of different rates: converted to the highest, {rate:.2} samples a second"
                ));
                Self { rate, is_own: false }
            }
        };
        let rate = own.rate.clamp(SLOWEST, FASTEST);
        if rate == own.rate {
            return own;
        }
        let before = own.rate;
        notes.push(format!(
            "{before:.2} samples a second are converted to {rate}, a rate at which protection works"
        ));
        Self { rate, is_own: false }
    }

    /// Rate computed from the time stamps. It is the record's own if the stamps are evenly spaced; small differences by rounding, or by a
    /// recorder that follows the frequency, are allowed.
    fn by_stamps(record: &ComtradeRecord, notes: &mut Vec<String>) -> Self {
        let times = record.times_s();
        let steps = times.len().saturating_sub(1).max(1) as f64;
        let mean = ((times[times.len() - 1] - times[0]) / steps).max(1e-9);
        let is_even = |pair: &[f64]| ((pair[1] - pair[0]) / mean - 1.0).abs() < EVEN;
        let is_own = times.windows(2).all(is_even);
        let (rate, how) = (
            1.0 / mean,
            if is_own {
                ""
            } else {
                " on average, and uneven: converted to even steps"
            },
        );
        notes.push(format!(
            "the record has no rate: by its time stamps it is {rate:.2} samples a second{how}"
        ));
        Self { rate, is_own }
    }
}

/// The streams that get samples, with the requested assignments.
fn feeds<'a>(config: &Config, channels: &'a [Channels]) -> Result<Vec<(usize, &'a [Assignment])>, ReplayError> {
    let mut feeds: Vec<(usize, &[Assignment])> = Vec::new();
    for asked in channels {
        let stream = match &asked.stream {
            None => Some(0),
            Some(name) => config.streams.iter().position(|stream| &stream.name == name),
        };
        let Some(stream) = stream else {
            let have: Vec<&str> = config.streams.iter().map(|stream| stream.name.as_str()).collect();
            let name = asked.stream.as_deref().unwrap_or_default();
            let have = have.join(", ");
            return Err(ReplayError::Channels(format!(
                "no stream \"{name}\" in the relay (have: {have})"
            )));
        };
        if feeds.iter().any(|(known, _)| *known == stream) {
            let name = &config.streams[stream].name;
            return Err(ReplayError::Channels(format!(
                "stream \"{name}\": its channels are given twice"
            )));
        }
        feeds.push((stream, &asked.assignments));
    }
    if feeds.is_empty() {
        feeds.push((0, &[]));
    }
    Ok(feeds)
}

fn feed(
    config: &Config,
    record: &ComtradeRecord,
    sampling: Sampling,
    stream: usize,
    assignments: &[Assignment],
    side: Side,
    inputs: &mut Vec<String>,
) -> Result<Fed, ReplayError> {
    let dataset = Dataset::default();
    let options = fitted(record, &dataset, assignments, side)?;
    let name = &config.streams[stream].name;
    let lines = describe(record, &dataset, &options)?;
    inputs.extend(lines.into_iter().map(|line| format!("{name}: {line}")));
    Ok(Fed {
        stream,
        columns: values(record, (!sampling.is_own).then_some(sampling.rate), &dataset, &options)?,
    })
}

/// Options for reading the record. If it has no current at all, or no voltage at all, those members have quality invalid:
/// functions that need them are blocked.
fn fitted(
    record: &ComtradeRecord,
    dataset: &Dataset,
    assignments: &[Assignment],
    side: Side,
) -> Result<Options, WaveformError> {
    let with_none = |none: &[&str]| {
        let is_free = |member: &&&str| {
            !assignments
                .iter()
                .any(|asked| asked.member.eq_ignore_ascii_case(member))
        };
        let nothing = none.iter().filter(is_free).map(|member| Assignment {
            member: (*member).to_owned(),
            channel: "none".to_owned(),
        });
        Options {
            assignments: assignments.iter().cloned().chain(nothing).collect(),
            side,
            ending: Ending::Once,
            ..Options::default()
        }
    };
    let whole = with_none(&[]);
    let refused = match describe(record, dataset, &whole) {
        Ok(_) => return Ok(whole),
        Err(refused) => refused,
    };
    let halves = [with_none(&CHANNELS[4..]), with_none(&CHANNELS[..4])];
    let fits = |options: &Options| describe(record, dataset, options).is_ok();
    halves.into_iter().find(fits).ok_or(refused)
}

fn play(config: &Config, runner: &mut Runner<'_>, fed: &[Fed], samples: u64, begins: Stamp) {
    let rate = runner.engine.rate();
    let turns = rate.round().max(1.0) as u64;
    let (mut pushed, mut tasks) = (0, 0u64);
    while pushed < samples {
        tasks += 1;
        let due = (tasks as f64 * config.task_ns as f64 * rate / 1e9 + 1e-6) as u64;
        let up_to = due.min(samples);
        while pushed < up_to {
            let end = up_to.min(pushed + PUSHED);
            for number in pushed..end {
                for fed in fed {
                    runner.engine.push(fed.stream, &sample(fed, number, turns));
                }
            }
            pushed = end;
            runner.align(pushed);
        }
        runner.decide(Some(begins));
    }
    runner.end(samples.saturating_sub(1));
}

/// Sample `number` of a stream. A missing value is NaN, which the measurement does not use.
fn sample(fed: &Fed, number: u64, turns: u64) -> Sample {
    Sample {
        smp_cnt: (number % turns) as u16,
        values: std::array::from_fn(|channel| fed.columns[channel][number as usize]),
        quality: [SvQuality::GOOD; 8],
        smp_synch: 2,
        simulated: false,
        conflicting: false,
    }
}
