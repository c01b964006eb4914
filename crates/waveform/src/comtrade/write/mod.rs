//! Writing records: what a recorder says of them, and their samples as they come from its ring.

mod channel;
mod config;
mod data;
mod raw;

pub use channel::{Analog, Digital, Scale};

use super::config::{FileType, Rate};
use channel::Range;
use std::io;
use units::Realtime;

/// Year of the standard that a record is written by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Revision {
    /// IEEE C37.111-1999: ASCII and BINARY, instants in microseconds.
    Y1999,
    /// IEEE C37.111-2013 (IEC 60255-24): BINARY32 and FLOAT32 too, instants in nanoseconds.
    Y2013,
}

/// The origin of a record.
#[derive(Debug, Clone, PartialEq)]
pub struct Header {
    /// Station.
    pub station: String,
    /// Recording device.
    pub device: String,
    /// Year of the standard.
    pub revision: Revision,
    /// How the data are written.
    pub file_type: FileType,
    /// Analog channels, in the order of the samples.
    pub analog: Vec<Analog>,
    /// Digital channels, in the order of the samples.
    pub digital: Vec<Digital>,
    /// Nominal frequency in Hz.
    pub frequency_hz: f64,
    /// Stretches of one rate, each above 0; the last one ends with the last sample.
    pub rates: Vec<Rate>,
    /// When the first sample was taken, UTC.
    pub start: Realtime,
    /// When the recorder was triggered, UTC.
    pub trigger: Realtime,
    /// How far the recorder's clock may be off (the time quality of IEEE C37.118, 0 to 15): 0 locked to UTC, 4 within 1 us, 15 not
    /// to be relied on. Only the revision of 2013 has a place for it.
    pub time_quality: u8,
}

/// One sample.
#[derive(Debug, Clone, Copy)]
pub struct Sample<'a> {
    /// Of every analog channel its value in the channel's unit; not finite where missing.
    pub analog: &'a [f64],
    /// Of every digital channel its state.
    pub digital: &'a [bool],
}

/// The written files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Written {
    /// Samples.
    pub samples: u64,
    /// Values beyond the range of their scale, written as its end.
    pub clipped: u64,
    /// Values that were not finite, written as missing.
    pub missing: u64,
}

/// Why a record cannot be written.
#[derive(Debug, thiserror::Error)]
pub enum WriteError {
    /// The header or the samples cannot be written so; what, and what to do.
    #[error("COMTRADE: {0}")]
    Invalid(String),
    /// A file cannot be written.
    #[error("COMTRADE: {0}")]
    Io(#[from] io::Error),
}

/// Writes the configuration to `config` and the samples to `data`; give it buffered writers.
///
/// The samples are gone through twice if a channel's scale is automatic, which needs the largest value first. Time stamps follow
/// from the rates; their factor grows with the length of the record, so that they fit into 32 bits.
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
    /// Checks that a record of this can be written: to be asked before there is one.
    ///
    /// # Errors
    /// A file type that the revision does not have, a rate, scale, ratio or frequency that is none, or a text that cannot stand
    /// between commas.
    pub fn check(&self) -> Result<(), WriteError> {
        let is_of_2013 = matches!(self.file_type, FileType::Binary32 | FileType::Float32);
        if is_of_2013 && self.revision == Revision::Y1999 {
            return refuse(format!(
                "the revision of 1999 has no {:?}: use that of 2013, or Binary",
                self.file_type
            ));
        }
        if self.time_quality > 15 {
            return refuse(format!("time quality {} is none: use 0 to 15", self.time_quality));
        }
        above_zero("the nominal frequency", self.frequency_hz)?;
        self.check_rates()?;
        channel::check_text("the station", &self.station)?;
        channel::check_text("the device", &self.device)?;
        self.analog.iter().try_for_each(Analog::check)?;
        self.digital.iter().try_for_each(Digital::check)
    }

    /// Samples of the record.
    pub fn samples(&self) -> u64 {
        self.rates.last().map_or(0, |rate| rate.last)
    }

    fn check_rates(&self) -> Result<(), WriteError> {
        let mut before = 0;
        for rate in &self.rates {
            above_zero("the sampling rate", rate.per_second)?;
            if rate.last <= before {
                return refuse(format!(
                    "a rate ends with sample {}, after sample {before}: give it samples",
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

    /// Of every analog channel its multiplier, offset and limits.
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
