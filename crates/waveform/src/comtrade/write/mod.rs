//! Writing records: their description, and their samples as a stream.

mod channel;
mod config;
mod data;
mod raw;

pub use channel::{Analog, Digital, Scale};

use super::config::{FileType, Rate};
use channel::Range;
use std::io;
use units::Realtime;

/// Year of the standard for a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Revision {
    /// IEEE C37.111-1999: ASCII and BINARY, instants in microseconds.
    Y1999,
    /// IEEE C37.111-2013 (IEC 60255-24): BINARY32 and FLOAT32 too, instants in nanoseconds.
    Y2013,
}

/// The description of a record.
#[derive(Debug, Clone, PartialEq)]
pub struct Header {
    /// Station.
    pub station: String,
    /// Recording device.
    pub device: String,
    /// Year of the standard.
    pub revision: Revision,
    /// Format of the data.
    pub file_type: FileType,
    /// Analog channels, in the order of the samples.
    pub analog: Vec<Analog>,
    /// Digital channels, in the order of the samples.
    pub digital: Vec<Digital>,
    /// Nominal frequency in Hz.
    pub frequency_hz: f64,
    /// Ranges of one rate, each above 0; the last one ends with the last sample.
    pub rates: Vec<Rate>,
    /// Time of the first sample, UTC.
    pub start: Realtime,
    /// Time of the trigger, UTC.
    pub trigger: Realtime,
    /// Possible error of the recorder's clock (the time quality of IEEE C37.118, 0 to 15): 0 locked to UTC, 4 within 1 us, 15 unreliable. Only the
    /// revision of 2013 has a field for it.
    pub time_quality: u8,
}

/// One sample.
#[derive(Debug, Clone, Copy)]
pub struct Sample<'a> {
    /// The value of every analog channel, in the channel's unit; not finite if missing.
    pub analog: &'a [f64],
    /// The state of every digital channel.
    pub digital: &'a [bool],
}

/// Statistics of the written files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Written {
    /// Samples.
    pub samples: u64,
    /// Number of values that were clipped to the range of their scale.
    pub clipped: u64,
    /// Number of values that were not finite, and were written as missing.
    pub missing: u64,
}

/// Reasons why a record cannot be written.
#[derive(Debug, thiserror::Error)]
pub enum WriteError {
    /// The header or the samples are not valid; the text has the problem and advice.
    #[error("COMTRADE: {0}")]
    Invalid(String),
    /// A file cannot be written.
    #[error("COMTRADE: {0}")]
    Io(#[from] io::Error),
}

/// Writes the configuration to `config` and the samples to `data`; both should be buffered writers.
///
/// An automatic scale needs two passes over the samples, because it needs the largest value first. Time stamps are computed from the rates; their
/// factor grows with the length of the record, so that they fit into 32 bits.
///
/// # Errors
/// Errors of [`Header::check`], samples that do not fit the header, and errors of the writers.
pub fn write<'a>(
    header: &Header,
    samples: impl Iterator<Item = Sample<'a>> + Clone,
    config: &mut impl io::Write,
    data: &mut impl io::Write,
) -> Result<Written, WriteError> {
    header.check()?;
    let ranges = header.ranges(samples.clone());
    let clock = data::Clock::of(header);
    config::write(header, &ranges, clock.factor, config)?;
    data::write(header, &ranges, clock, samples, data)
}

impl Header {
    /// Checks that a record with this header can be written, before any sample exists.
    ///
    /// # Errors
    /// A file type that the revision does not have, an invalid rate, scale, ratio or frequency, or a text that cannot be a field between commas.
    pub fn check(&self) -> Result<(), WriteError> {
        let is_of_2013 = matches!(self.file_type, FileType::Binary32 | FileType::Float32);
        if is_of_2013 && self.revision == Revision::Y1999 {
            return refuse(format!(
                "the revision of 1999 has no {:?}: use that of 2013, or Binary",
                self.file_type
            ));
        }
        if self.time_quality > 15 {
            return refuse(format!("time quality {} is not valid: use 0 to 15", self.time_quality));
        }
        above_zero("the nominal frequency", self.frequency_hz)?;
        self.check_rates()?;
        channel::check_text("the station", &self.station)?;
        channel::check_text("the device", &self.device)?;
        self.analog.iter().try_for_each(Analog::check)?;
        self.digital.iter().try_for_each(Digital::check)
    }

    /// Number of samples of the record.
    pub fn samples(&self) -> u64 {
        self.rates.last().map_or(0, |rate| rate.last)
    }

    fn check_rates(&self) -> Result<(), WriteError> {
        let mut before = 0;
        for rate in &self.rates {
            above_zero("the sampling rate", rate.per_second)?;
            if rate.last <= before {
                return refuse(format!(
                    "a rate ends with sample {}, after sample {before}: give it at least one sample",
                    rate.last
                ));
            }
            before = rate.last;
        }
        match u32::try_from(before) {
            Ok(1..) => Ok(()),
            _ => refuse(format!("{before} samples: a record has 1 to {}", u32::MAX)),
        }
    }

    /// Multiplier, offset and limits of every analog channel.
    fn ranges<'a>(&self, samples: impl Iterator<Item = Sample<'a>>) -> Vec<Range> {
        let mut largest = vec![0.0; self.analog.len()];
        if self.analog.iter().any(|channel| channel.scale == Scale::Automatic) {
            for sample in samples {
                for (largest, value) in largest.iter_mut().zip(sample.analog) {
                    *largest = f64::max(*largest, if value.is_finite() { value.abs() } else { 0.0 });
                }
            }
        }
        let channels = self.analog.iter().zip(largest);
        channels
            .map(|(channel, largest)| Range::of(channel.scale, self.file_type, largest))
            .collect()
    }
}

fn above_zero(what: &str, value: f64) -> Result<(), WriteError> {
    if value.is_finite() && value > 0.0 {
        return Ok(());
    }
    refuse(format!("{what} is {value}: it must be above 0"))
}

fn refuse<T>(problem: String) -> Result<T, WriteError> {
    Err(WriteError::Invalid(problem))
}
