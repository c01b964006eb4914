//! The bytes of every sample.

use super::{Dataset, Quantity};
use crate::WaveformError;
use wire::sv::MEMBER;

/// Memory limit of a table in bytes. A second of 4I4U at 4800 samples a second takes 0.3 MiB, so this is nearly half an hour.
pub const MAX_OCTETS: u64 = 512 << 20;

/// A sample at which a state or record starts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mark {
    /// Number of the sample, from 0.
    pub sample: u64,
    /// Name of the state that starts.
    pub name: String,
}

/// seqData of every sample of a run: first the samples that are played once, then those that are repeated.
///
/// Reading allocates nothing.
#[derive(Debug, Clone, PartialEq)]
pub struct SampleTable {
    pub(super) octets: Vec<u8>,
    pub(super) stride: usize,
    pub(super) once: u64,
    pub(super) looped: u64,
    pub(super) saturated: u64,
    pub(super) missing: u64,
    pub(super) marks: Vec<Mark>,
    pub(super) frequency_hz: Option<f64>,
}

impl SampleTable {
    /// Zeros of good quality, repeated forever.
    pub fn zeros(dataset: &Dataset) -> Self {
        Self {
            octets: vec![0; dataset.octets()],
            stride: dataset.octets(),
            once: 0,
            looped: 1,
            saturated: 0,
            missing: 0,
            marks: Vec::new(),
            frequency_hz: None,
        }
    }

    /// Samples of `stride` bytes each, as many as `octets` holds, repeated forever. Panics without a complete sample.
    pub fn repeated(octets: Vec<u8>, stride: usize) -> Self {
        let looped = octets.len().checked_div(stride).unwrap_or(0) as u64;
        assert!(looped > 0, "{} octets hold no sample of {stride}", octets.len());
        Self {
            octets,
            stride,
            once: 0,
            looped,
            saturated: 0,
            missing: 0,
            marks: Vec::new(),
            frequency_hz: None,
        }
    }

    /// Bytes of all members of sample number `sample`, counted from the start of the run.
    #[inline]
    pub fn seq_data(&self, sample: u64) -> &[u8] {
        let place = if sample < self.once + self.looped {
            sample
        } else {
            self.once + (sample - self.once) % self.looped
        };
        // Less than `once + looped`, which is the number of samples in memory.
        let at = place as usize * self.stride;
        &self.octets[at..at + self.stride]
    }

    /// A table whose samples have the members of this one and then those of the other, which is repeated after as many samples.
    ///
    /// # Errors
    /// The repeated parts have different lengths, or the table is too large.
    pub(crate) fn beside(&self, other: &Self) -> Result<Self, WaveformError> {
        if self.looped != other.looped {
            return Err(WaveformError::setting(
                "the two sides of a line have different frequencies",
            ));
        }
        let once = self.once.max(other.once);
        let (samples, stride) = (once + self.looped, self.stride + other.stride);
        check_size(samples, stride)?;
        let rows = (0..samples).flat_map(|sample| [self.seq_data(sample), other.seq_data(sample)]);
        Ok(Self {
            octets: rows.flatten().copied().collect(),
            stride,
            once,
            looped: self.looped,
            saturated: self.saturated + other.saturated,
            missing: self.missing + other.missing,
            marks: self.marks.clone(),
            frequency_hz: self.frequency_hz,
        })
    }

    /// The samples of one side alone, the first being 0.
    #[must_use]
    pub fn side(&self, number: usize, dataset: &Dataset) -> Self {
        let stride = dataset.octets();
        let rows = self.octets.chunks_exact(self.stride.max(1));
        let part = rows.flat_map(|row| row.get(number * stride..(number + 1) * stride).unwrap_or_default());
        Self {
            octets: part.copied().collect(),
            stride,
            marks: self.marks.clone(),
            ..*self
        }
    }

    /// Number of sides.
    pub fn sides(&self, dataset: &Dataset) -> usize {
        self.stride / dataset.octets().max(1)
    }

    /// Size of seqData in bytes; of two sides together.
    pub fn stride(&self) -> usize {
        self.stride
    }

    /// Number of samples that are played once, at the start of the run.
    pub fn once(&self) -> u64 {
        self.once
    }

    /// Number of samples that are repeated after those; at least one.
    pub fn looped(&self) -> u64 {
        self.looped
    }

    /// Memory size of the samples, in bytes.
    pub fn octets(&self) -> usize {
        self.octets.len()
    }

    /// Number of values beyond the range of INT32; they are clipped, with quality overflow and invalid.
    pub fn saturated(&self) -> u64 {
        self.saturated
    }

    /// Number of values that are missing in the record; they are 0, with quality invalid.
    pub fn missing(&self) -> u64 {
        self.missing
    }

    /// Largest magnitude of a quantity in all samples of all sides, in LSB; 0 if the dataset has no such member.
    pub fn largest(&self, quantity: Quantity, dataset: &Dataset) -> u32 {
        let members = dataset.members().iter().enumerate();
        let places = members
            .filter(|(_, member)| member.quantity == quantity)
            .map(|(place, _)| place);
        let places: Vec<usize> = places.collect();
        let rows = self.octets.chunks_exact(dataset.octets().max(1));
        let values = rows.flat_map(|row| {
            places
                .iter()
                .filter_map(|place| row.get(MEMBER * place..)?.first_chunk())
        });
        let magnitudes = values.map(|octets| i32::from_be_bytes(*octets).unsigned_abs());
        magnitudes.max().unwrap_or(0)
    }

    /// Starts of states and records, in order. Marks in the repeated samples are repeated with them.
    pub fn marks(&self) -> &[Mark] {
        &self.marks
    }

    /// Frequency of the repeated samples in Hz; within 2 parts in 10^5 of the requested one, so that the loop has whole cycles. `None` if they have
    /// no single frequency.
    pub fn frequency_hz(&self) -> Option<f64> {
        self.frequency_hz
    }
}

/// Refuses a table of `samples` that would need too much memory.
pub(crate) fn check_size(samples: u64, stride: usize) -> Result<(), WaveformError> {
    let octets = samples.saturating_mul(stride as u64);
    if octets <= MAX_OCTETS {
        return Ok(());
    }
    Err(WaveformError::setting(format!(
        "the waveform takes {} MiB of memory, {} MiB at most are possible: make it shorter",
        octets >> 20,
        MAX_OCTETS >> 20
    )))
}
