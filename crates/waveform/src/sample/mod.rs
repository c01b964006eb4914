//! Samples in published form: the members of a dataset, scaled, rounded and encoded as bytes.

mod dataset;
mod flaw;
mod opening;
mod table;
mod writer;

pub use dataset::{Dataset, Member, MemberError, MemberRole, Quantity};
pub use flaw::Flaw;
pub(crate) use table::check_size;
pub use table::{MAX_OCTETS, Mark, SampleTable};
pub use writer::{Source, Writer};

use crate::WaveformError;
use wire::quality::SvQuality;

/// The highest rate that the 16-bit smpCnt can count.
const HIGHEST_RATE: u32 = 65_536;

/// Settings for sampling a signal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sampling {
    /// Samples a second.
    pub rate: u32,
    /// The members of every sample.
    pub dataset: Dataset,
    /// Quality of every member; the quality of single values is added to it.
    pub quality: SvQuality,
    /// Sets the bit `derived` in members that are calculated as the sum of the phases (9-2LE does, IEC 61869-9 does not).
    pub derived: bool,
}

impl Sampling {
    /// `rate` samples a second of four currents and four voltages, of good quality.
    pub fn new(rate: u32) -> Self {
        Self {
            rate,
            dataset: Dataset::default(),
            quality: SvQuality::GOOD,
            derived: false,
        }
    }

    /// Number of the first sample at or after `ns` nanoseconds.
    pub(crate) fn first_at(&self, ns: u64) -> u64 {
        let samples = (u128::from(ns) * u128::from(self.rate)).div_ceil(1_000_000_000);
        u64::try_from(samples).unwrap_or(u64::MAX)
    }

    pub(crate) fn check(&self) -> Result<(), WaveformError> {
        if !(1..=HIGHEST_RATE).contains(&self.rate) {
            return Err(WaveformError::setting(format!(
                "{} samples a second are not possible: use 4000, 4800, 14400 or another rate up to {HIGHEST_RATE}",
                self.rate
            )));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
