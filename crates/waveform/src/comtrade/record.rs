//! A record: the configuration and its samples in the channels' units.

use super::config::{Config, Rate};
use super::data::Data;
use super::error::Problem;
use super::states::States;

/// A whole record.
#[derive(Debug, Clone)]
pub struct ComtradeRecord {
    /// The recorded channels.
    pub config: Config,
    /// Parts that were skipped while reading, for the user.
    pub warnings: Vec<String>,
    times_s: Vec<f64>,
    analog: Vec<Vec<f64>>,
    digital: Vec<States>,
}

impl ComtradeRecord {
    pub(super) fn new(config: Config, data: Data) -> Result<Self, Problem> {
        let times_s = times(&config, &data.stamps)?;
        let mut analog = data.analog;
        for (values, channel) in analog.iter_mut().zip(&config.analog) {
            for value in values.iter_mut() {
                *value = channel.gain * *value + channel.offset;
            }
        }
        let mut warnings = config.warnings.clone();
        warnings.extend(data.warnings);
        Ok(Self {
            config,
            warnings,
            times_s,
            analog,
            digital: data.digital,
        })
    }

    /// Times of the samples in seconds after the first one; strictly increasing.
    pub fn times_s(&self) -> &[f64] {
        &self.times_s
    }

    /// Values of analog channel `index`, from 0, in the channel's unit; NaN if missing. Empty if there is no such channel.
    pub fn analog(&self, index: usize) -> &[f64] {
        self.analog.get(index).map_or(&[], Vec::as_slice)
    }

    /// State of digital channel `index`, from 0, at `sample`. `None` if there is no such channel or sample, or its state is unknown.
    pub fn digital(&self, index: usize, sample: usize) -> Option<bool> {
        self.digital.get(index)?.get(sample)
    }

    /// Ranges of sample numbers, from 0, with equal distances, and their rates. Empty if time stamps determine the times.
    pub fn uniform(&self) -> Vec<(std::ops::Range<usize>, f64)> {
        let rates = &self.config.rates;
        if stamps_rule(rates) {
            return Vec::new();
        }
        let count = self.times_s.len();
        let mut from = 0;
        let mut stretches = Vec::new();
        for (index, rate) in rates.iter().enumerate() {
            let last = usize::try_from(rate.last).unwrap_or(usize::MAX);
            let end = if index + 1 == rates.len() {
                count
            } else {
                last.min(count)
            };
            if from < end {
                stretches.push((from..end, rate.per_second));
            }
            from = end;
        }
        stretches
    }
}

fn stamps_rule(rates: &[Rate]) -> bool {
    rates.iter().any(|rate| rate.per_second <= 0.0)
}

fn times(config: &Config, stamps: &[Option<f64>]) -> Result<Vec<f64>, Problem> {
    let times = if stamps_rule(&config.rates) {
        stamped(config, stamps)?
    } else {
        instants_s(&config.rates).take(stamps.len()).collect()
    };
    let backwards = times.windows(2).position(|pair| pair[0] >= pair[1]);
    match backwards {
        None => Ok(times),
        Some(at) => Err(Problem::at(
            at as u64 + 2,
            "its time is not after that of the sample before it: the record cannot be laid out in time",
        )),
    }
}

fn stamped(config: &Config, stamps: &[Option<f64>]) -> Result<Vec<f64>, Problem> {
    let seconds = config.stamp_ns / 1e9;
    let with_number = stamps.iter().zip(1u64..);
    with_number
        .map(|(stamp, number)| {
            stamp.map(|stamp| stamp * seconds).ok_or_else(|| {
                Problem::at(
                    number,
                    "has no time stamp, and the configuration has no rate: give it a rate if you know one",
                )
            })
        })
        .collect()
}

/// Times of samples in seconds, the first at 0: each is one step of its range's rate after the previous sample. They continue endlessly at the last
/// rate. Empty without a rate.
pub(super) fn instants_s(rates: &[Rate]) -> impl Iterator<Item = f64> {
    let mut stretches = rates.iter().peekable();
    let (mut start_s, mut start) = (0.0, 0);
    (0..).map_while(move |sample: u64| {
        let mut rate = *stretches.peek()?;
        while sample >= rate.last && stretches.len() > 1 {
            let last = rate.last.saturating_sub(1);
            start_s += last.saturating_sub(start) as f64 / rate.per_second;
            start = last;
            stretches.next();
            rate = stretches.peek()?;
        }
        Some(start_s + (sample - start) as f64 / rate.per_second)
    })
}
