//! Intervals from resampled windows.
//!
//! Latency samples are not independent: a stall touches many, and a busy hour touches all of its windows. So whole windows
//! are drawn, not samples, and runs of neighbouring windows, not single ones: the circular block bootstrap (Politis and
//! Romano, "A circular block-resampling procedure for stationary data", 1992). Every figure is drawn from a fixed seed, so
//! the same run gives the same interval each time.

#[cfg(test)]
mod tests;

use crate::Histogram;
use crate::random::Random;
use crate::ranks::{autocorrelation, mid_ranks, unbiased};
use statrs::distribution::{ContinuousCDF, Normal, StudentsT};

/// Fewest windows that are resampled.
pub const WINDOWS_NEEDED: usize = 10;

/// Replicates of a quantile's interval: its ends at 95 % are the 25th smallest and largest.
const REPLICATES: usize = 1_000;

/// Any number does; a fixed one gives the same interval each time.
const SEED: u64 = 0x7472_6970_7469_6d65;

/// What one window adds to the share of samples above a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WindowShare {
    /// Samples in the window.
    pub samples: u64,
    /// Those above the value.
    pub above: u64,
}

/// Interval in ns of the quantile `q` of a run, with the given confidence, where samples depend on each other within windows
/// and neighbouring windows on each other. `whole` holds all samples; `windows` has, in order of time, how many of each
/// window's samples are above `whole.quantile(q)` (by [`Histogram::count_above`], which `whole` uses too).
///
/// The share above is resampled, and what it varies by is read off `whole` as quantiles (Woodruff, Journal of the American
/// Statistical Association 47, 1952), so 30 000 windows take milliseconds. The ends are quantiles of `whole`.
///
/// `None` where [`Histogram::supported_quantile`] is, with fewer than ten windows, where the windows hold no sample, and
/// where the confidence is not between 0 and 1.
pub fn quantile_interval(whole: &Histogram, windows: &[WindowShare], q: f64, confidence: f64) -> Option<(u64, u64)> {
    let middle = whole.supported_quantile(q)?;
    let samples: u64 = windows.iter().map(|window| window.samples).sum();
    if windows.len() < WINDOWS_NEEDED || samples == 0 || !(confidence > 0.0 && confidence < 1.0) {
        return None;
    }
    let above: u64 = windows.iter().map(|window| window.above).sum();
    let share = above as f64 / samples as f64;
    let shares: Vec<f64> = windows.iter().map(WindowShare::share).collect();
    let length = block_length(&shares);
    let wider = widening(windows.len() as f64 / length as f64, confidence);
    let mut changes: Vec<f64> = resampled_shares(windows, length)
        .into_iter()
        .map(|other| wider * (other - share))
        .collect();
    let (low, high) = percentiles(&mut changes, confidence);
    let at = |q: f64| whole.quantile(q).unwrap_or(middle);
    Some((at(q + low).min(middle), at(q + high).max(middle)))
}

impl WindowShare {
    fn share(&self) -> f64 {
        self.above as f64 / self.samples.max(1) as f64
    }
}

/// The share above, of every replicate.
fn resampled_shares(windows: &[WindowShare], length: usize) -> Vec<f64> {
    let n = windows.len();
    // Sums over the windows once around and once more, so that a block is a difference of two of them.
    let mut sums = vec![(0.0, 0.0)];
    for window in windows.iter().chain(windows) {
        let (samples, above) = sums[sums.len() - 1];
        sums.push((samples + window.samples as f64, above + window.above as f64));
    }
    let mut random = Random::new(SEED);
    let mut share = || {
        let (mut samples, mut above) = (0.0, 0.0);
        for (start, length) in blocks(&mut random, n, length) {
            samples += sums[start + length].0 - sums[start].0;
            above += sums[start + length].1 - sums[start].1;
        }
        above / f64::max(samples, 1.0)
    };
    (0..REPLICATES).map(|_| share()).collect()
}

/// Start and length of blocks of neighbours that make up one replicate of `n` values in a circle; the last is cut so that
/// their lengths add up to `n`.
pub fn blocks(random: &mut Random, n: usize, length: usize) -> impl Iterator<Item = (usize, usize)> + '_ {
    let mut left = n;
    std::iter::from_fn(move || {
        let length = length.max(1).min(left);
        left -= length;
        (length > 0).then(|| (random.below(n), length))
    })
}

/// Length of the blocks for a series: `n^(1/3)` times the factor that is best for a series in which each value resembles the
/// one before with correlation r, `(6 r^2 / (1 - r^2)^2)^(1/3)` (Carlstein, Annals of Statistics 14, 1986; for overlapping
/// blocks Sherman, Speed and Grimshaw, 1998), taken from the ranks. At least `n^(1/3)`, since latency also resembles itself over hours in a
/// way that neighbours do not show, and at most a fifth of the series.
pub fn block_length(values: &[f64]) -> usize {
    let n = values.len() as f64;
    let r = unbiased(autocorrelation(&mid_ranks(values), 1), values.len()).clamp(0.0, 0.99);
    let factor = (6.0 * r * r / (1.0 - r * r).powi(2)).cbrt();
    let length = n.cbrt() * factor.max(1.0);
    (length.round() as usize).clamp(1, (values.len() / 5).max(1))
}

/// By how much an interval from a few blocks has to be widened: their spread is known only as well as a standard deviation
/// from as many values is, so Student's t takes the place of the normal distribution. 1 for infinitely many.
pub(crate) fn widening(blocks: f64, confidence: f64) -> f64 {
    let q = 1.0 - (1.0 - confidence) / 2.0;
    StudentsT::new(0.0, 1.0, (blocks - 1.0).max(1.0))
        .map_or(1.0, |t| t.inverse_cdf(q) / Normal::standard().inverse_cdf(q))
}

/// The values between which the middle share `confidence` of the replicates lies. Sorts them; there is at least one.
pub(crate) fn percentiles(replicates: &mut [f64], confidence: f64) -> (f64, f64) {
    replicates.sort_unstable_by(f64::total_cmp);
    let beyond = (1.0 - confidence) / 2.0 * (replicates.len() + 1) as f64;
    // The rank is rounded outwards, so few replicates give a wider interval, not a narrower one.
    let rank = (beyond.floor() as usize).clamp(1, replicates.len().div_ceil(2));
    (replicates[rank - 1], replicates[replicates.len() - rank])
}
