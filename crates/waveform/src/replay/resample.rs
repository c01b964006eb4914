//! Interpolation between samples.

use super::Interpolation;
use std::f64::consts::PI;
use std::ops::Range;

/// Number of samples on either side that contribute to a value, at the lower of the two rates.
const HALF: f64 = 16.0;

/// Share of the distance between two samples below which a time counts as that of the sample.
const ON_SAMPLE: f64 = 1e-6;

/// The sample times of a record.
#[derive(Debug)]
pub(super) struct Resampler<'a> {
    pub(super) times_s: &'a [f64],
    /// Ranges of one rate, in order; see [`crate::comtrade::Record::uniform`].
    pub(super) uniform: Vec<(Range<usize>, f64)>,
    pub(super) interpolation: Interpolation,
    /// Output samples per second.
    pub(super) rate: f64,
}

impl Resampler<'_> {
    /// The value at `seconds` of a channel with `values` at the record's times; NaN if missing. Before the first and after the last sample it is the
    /// value of that sample.
    pub(super) fn at(&self, values: &[f64], seconds: f64) -> f64 {
        let behind = self.times_s.partition_point(|time| *time <= seconds);
        let Some(left) = behind.checked_sub(1) else {
            return values[0];
        };
        if behind == self.times_s.len() {
            return values[left];
        }
        let share = (seconds - self.times_s[left]) / (self.times_s[behind] - self.times_s[left]);
        if self.interpolation == Interpolation::Sinc
            && let Some(value) = self.sinc(values, left, share)
        {
            return value;
        }
        linear(values[left], values[behind], share)
    }

    /// `None` if the neighbouring samples are incomplete or not equally spaced.
    fn sinc(&self, values: &[f64], left: usize, share: f64) -> Option<f64> {
        let stretch = self.uniform.partition_point(|(range, _)| range.end <= left);
        let (range, rate) = self.uniform.get(stretch)?;
        let cutoff = (self.rate / rate).min(1.0);
        let half = HALF / cutoff;
        let reach = half.ceil() as usize;
        let from = left.checked_sub(reach).filter(|from| *from >= range.start)?;
        let to = left.checked_add(reach + 1).filter(|to| *to < range.end)?;
        let (mut sum, mut weights) = (0.0, 0.0);
        for (value, index) in values[from..=to].iter().zip(from..) {
            let distance = index as f64 - left as f64 - share;
            let weight = kernel(distance * cutoff, distance / half);
            sum += weight * value;
            weights += weight;
        }
        // One missing value makes the sum NaN.
        Some(sum / weights).filter(|value| value.is_finite())
    }
}

fn linear(left: f64, right: f64, share: f64) -> f64 {
    if share < ON_SAMPLE {
        left
    } else if share > 1.0 - ON_SAMPLE {
        right
    } else {
        left + (right - left) * share
    }
}

/// A sinc of `x` with a Blackman window whose ends are at `u` = -1 and 1.
fn kernel(x: f64, u: f64) -> f64 {
    if u.abs() >= 1.0 {
        return 0.0;
    }
    let window = 0.42 + 0.5 * (PI * u).cos() + 0.08 * (2.0 * PI * u).cos();
    let sinc = if x.abs() < 1e-9 { 1.0 } else { (PI * x).sin() / (PI * x) };
    sinc * window
}
