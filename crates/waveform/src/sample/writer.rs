//! Conversion of amperes and volts to members.

use super::table::{Mark, SampleTable, check_size};
use super::{Dataset, Member, MemberRole, Quantity, Sampling};
use crate::WaveformError;
use wire::quality::SvQuality;

/// Source of a member's value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// From the signal.
    Given,
    /// The sum of the phases' published values.
    Sum,
    /// Always zero.
    Zero,
    /// Always zero and of quality invalid.
    Invalid,
}

impl Source {
    /// Sources if only the phases are given: residuals are summed, further members are zero.
    pub fn of_phases(dataset: &Dataset) -> Vec<Self> {
        let of = |place| match place {
            MemberRole::Phase(_) => Self::Given,
            MemberRole::Residual => Self::Sum,
            MemberRole::Further => Self::Zero,
        };
        dataset.members().iter().map(|member| of(member.place)).collect()
    }
}

/// Fills a table, sample by sample.
#[derive(Debug)]
pub struct Writer<'a> {
    sampling: &'a Sampling,
    sources: Vec<Source>,
    octets: Vec<u8>,
    row: Vec<Value>,
    saturated: u64,
    missing: u64,
    marks: Vec<Mark>,
}

/// A member in published form.
#[derive(Debug, Clone, Copy, Default)]
struct Value {
    number: i32,
    quality: u32,
}

impl<'a> Writer<'a> {
    /// A writer of a table of `samples` samples.
    ///
    /// # Errors
    /// The table would need more than [`super::MAX_OCTETS`].
    pub fn new(sampling: &'a Sampling, sources: Vec<Source>, samples: u64) -> Result<Self, WaveformError> {
        sampling.check()?;
        let stride = sampling.dataset.octets();
        check_size(samples, stride)?;
        Ok(Self {
            sampling,
            sources,
            octets: Vec::with_capacity(usize::try_from(samples).unwrap_or(0) * stride),
            row: Vec::with_capacity(sampling.dataset.members().len()),
            saturated: 0,
            missing: 0,
            marks: Vec::new(),
        })
    }

    /// Adds a sample: the value of every member in amperes or volts, NaN if missing. Uses only the values of members that are [`Source::Given`].
    /// `quality` is added to that of the sampling.
    pub fn push(&mut self, values: &[f64], quality: SvQuality) {
        let base = self.sampling.quality.0 | quality.0;
        self.row.clear();
        for (index, member) in self.sampling.dataset.members().iter().enumerate() {
            let value = match self.sources.get(index) {
                Some(Source::Given) => {
                    let physical = values.get(index).copied().unwrap_or(f64::NAN);
                    self.given(physical * member.quantity.per_unit(), base)
                }
                Some(Source::Invalid) => Value {
                    number: 0,
                    quality: base | SvQuality::INVALID.0,
                },
                _ => Value {
                    number: 0,
                    quality: base,
                },
            };
            self.row.push(value);
        }
        self.sum(Quantity::Current, base);
        self.sum(Quantity::Voltage, base);
        for value in &self.row {
            self.octets.extend_from_slice(&value.number.to_be_bytes());
            self.octets.extend_from_slice(&value.quality.to_be_bytes());
        }
    }

    /// Marks the next sample.
    pub fn mark(&mut self, name: &str) {
        self.marks.push(Mark {
            sample: (self.octets.len() / self.sampling.dataset.octets()) as u64,
            name: name.to_owned(),
        });
    }

    /// The table; its last `looped` samples are repeated.
    ///
    /// # Errors
    /// There is no sample to repeat.
    pub fn finish(self, looped: u64, frequency_hz: Option<f64>) -> Result<SampleTable, WaveformError> {
        let stride = self.sampling.dataset.octets();
        let samples = (self.octets.len() / stride) as u64;
        if looped == 0 || looped > samples {
            return Err(WaveformError::setting(
                "the waveform has no sample with which to continue at its end: make it longer",
            ));
        }
        Ok(SampleTable {
            octets: self.octets,
            stride,
            once: samples - looped,
            looped,
            saturated: self.saturated,
            missing: self.missing,
            marks: self.marks,
            frequency_hz,
        })
    }

    fn given(&mut self, lsb: f64, base: u32) -> Value {
        if lsb.is_nan() {
            self.missing += 1;
            return Value {
                number: 0,
                quality: base | SvQuality::INVALID.0,
            };
        }
        // Rounding half to even has no bias.
        self.limited(lsb.round_ties_even(), base)
    }

    fn limited(&mut self, lsb: f64, base: u32) -> Value {
        // The cast saturates.
        let number = lsb as i32;
        if f64::from(number) == lsb {
            return Value { number, quality: base };
        }
        self.saturated += 1;
        Value {
            number,
            quality: base | SvQuality::OVERFLOW | SvQuality::INVALID.0,
        }
    }

    /// Computes the residual of `quantity`, if it is a sum.
    fn sum(&mut self, quantity: Quantity, base: u32) {
        let members = self.sampling.dataset.members();
        let mut sources = members.iter().zip(&self.sources);
        let is_summed = |(member, source): (&Member, &Source)| member.quantity == quantity && *source == Source::Sum;
        let Some(residual) = sources.position(is_summed) else {
            return;
        };
        let mut sum = 0.0;
        let mut quality = base;
        for (value, member) in self.row.iter().zip(members) {
            if member.quantity == quantity && matches!(member.place, MemberRole::Phase(_)) {
                // The sum of three INT32 is exact in f64.
                sum += f64::from(value.number);
                quality |= value.quality;
            }
        }
        if self.sampling.derived {
            quality |= SvQuality::DERIVED;
        }
        self.row[residual] = self.limited(sum, quality);
    }
}
