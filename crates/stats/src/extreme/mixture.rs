//! Decides if block maxima are of two kinds.
//!
//! Latency has steps: most windows end at the scheduler's own latency, some at the extra latency of a rare cause. No single
//! distribution describes both, but one with a heavy tail may seem to fit, since a tail has few values (TailID, ECRTS 2025, LIPIcs
//! 335). So the values are split in two, where that explains them best, and the split is compared with the fit.

use super::NoLevel;
use std::f64::consts::{SQRT_2, TAU};

/// A split is accepted if it makes the values more likely than the fit does by this much, in natural logarithms. It has three more
/// parameters, which Akaike's criterion counts as 3. About one in a hundred samples of one kind reaches it.
const GAIN: f64 = 5.0;

/// In addition, the means of the logarithms must differ by this much, in units of their spread (Ashman, Bird and Zepf, Astronomical
/// Journal 108, 1994). They require 2 for overlapping groups; a cut makes two halves of one normal distribution that are 2.7 apart,
/// and of the tail of a skewed one up to 4.
const APART: f64 = 4.0;

/// Number of the widest gaps between neighbours that are tried as the end of the lower group.
const GAPS: usize = 3;

/// Fewest values of a lower group for a fit of its own.
const FITTED: usize = 20;

/// Smallest share of the values, one part in so many, that counts as the lower group. Fewer values are low outliers, which do not
/// affect the tail.
const LOWER_SHARE: usize = 10;

/// Number of values from which the spread of a group is used unchanged.
const KNOWN: f64 = 11.0;

/// Refuses values of two kinds. `sorted` is in ascending order and above zero; `likelihood` fits the assumed distribution to values
/// in ascending order, and returns the logarithm of their likelihood.
pub(super) fn check(sorted: &[f64], likelihood: impl Fn(&[f64]) -> f64) -> Result<(), NoLevel> {
    match best_split(sorted, likelihood) {
        Some(split) if split.gain > GAIN && split.apart > APART => Err(NoLevel::Bimodal {
            lower_to_ns: sorted[sorted.len() - split.upper - 1],
            upper_from_ns: sorted[sorted.len() - split.upper],
            upper: split.upper,
            blocks: sorted.len(),
        }),
        _ => Ok(()),
    }
}

/// A split of the values into two groups.
#[derive(Debug, Clone, Copy)]
struct Split {
    /// Values in the upper group.
    upper: usize,
    /// Logarithm of the likelihood beyond that of one fit to all values.
    gain: f64,
    /// Distance between the means of the logarithms in units of their spread.
    apart: f64,
}

/// The split that explains the values best among those whose means differ by [`APART`], else the best one.
fn best_split(sorted: &[f64], likelihood: impl Fn(&[f64]) -> f64) -> Option<Split> {
    let n = sorted.len();
    let single = likelihood(sorted);
    let groups = Groups::of(sorted);
    let lognormal = (1..=n - n.div_ceil(LOWER_SHARE)).map(|upper| groups.split(upper, None, single));
    let behind_gaps = widest_gaps(sorted)
        .into_iter()
        .map(|upper| groups.split(upper, Some(likelihood(&sorted[..n - upper])), single));
    lognormal.chain(behind_gaps).max_by(|a, b| {
        let apart = (a.apart > APART).cmp(&(b.apart > APART));
        apart.then(a.gain.total_cmp(&b.gain))
    })
}

/// Number of values above each of the widest gaps, on a logarithmic scale, in the upper half of the values.
fn widest_gaps(sorted: &[f64]) -> Vec<usize> {
    let n = sorted.len();
    let mut gaps: Vec<(f64, usize)> = (1..n.saturating_sub(FITTED).min(n / 2))
        .map(|upper| (sorted[n - upper] / sorted[n - upper - 1], upper))
        .collect();
    gaps.sort_by(|a, b| b.0.total_cmp(&a.0));
    gaps.into_iter().take(GAPS).map(|(_, upper)| upper).collect()
}

/// Sums over the logarithms of the values, which give mean and variance of any consecutive ones.
struct Groups {
    sums: Vec<(f64, f64)>,
    /// Sum of the logarithms up to each value, because the density of a value is the density of its logarithm divided by the value.
    logs: Vec<f64>,
}

impl Groups {
    fn of(sorted: &[f64]) -> Self {
        // Taken relative to the middle, so that squares do not lose digits.
        let middle = sorted[sorted.len() / 2].ln();
        let mut sums = vec![(0.0, 0.0)];
        let mut logs = vec![0.0];
        for (index, value) in sorted.iter().enumerate() {
            let log = value.ln() - middle;
            sums.push((sums[index].0 + log, sums[index].1 + log * log));
            logs.push(logs[index] + value.ln());
        }
        Self { sums, logs }
    }

    /// Mean and variance of the logarithms of the values from `from` to before `to`.
    fn moments(&self, from: usize, to: usize) -> (f64, f64) {
        let count = (to - from) as f64;
        let mean = (self.sums[to].0 - self.sums[from].0) / count;
        let variance = (self.sums[to].1 - self.sums[from].1) / count - mean * mean;
        (mean, variance.max(0.0))
    }

    /// The split below the `upper` largest values: lognormal groups, or a lower group with the likelihood of a fit of its own.
    fn split(&self, upper: usize, fitted: Option<f64>, single: f64) -> Split {
        let n = self.sums.len() - 1;
        let lower = n - upper;
        let ((low_mean, low_seen), (high_mean, high_seen)) = (self.moments(0, lower), self.moments(lower, n));
        let (low_count, high_count) = (lower as f64, upper as f64);
        let low_variance = spread(low_count, low_seen, high_seen);
        let high_variance = spread(high_count, high_seen, low_seen);
        let lognormal = normal(low_count, low_seen, low_variance) - self.logs[lower];
        let low_likelihood = fitted.unwrap_or(lognormal);
        let high_likelihood = normal(high_count, high_seen, high_variance) - (self.logs[n] - self.logs[lower]);
        let shares = low_count * (low_count / n as f64).ln() + high_count * (high_count / n as f64).ln();
        Split {
            upper,
            gain: low_likelihood + high_likelihood + shares - single,
            apart: SQRT_2 * (high_mean - low_mean) / (low_variance + high_variance).sqrt(),
        }
    }
}

/// Variance of a group: the observed one. That of a few values is uncertain, and is moved towards the other group's.
fn spread(count: f64, seen: f64, other: f64) -> f64 {
    let known = ((count - 1.0) / (KNOWN - 1.0)).min(1.0);
    let variance = known * seen + (1.0 - known) * other.max(seen);
    variance.max(0.01 * other).max(f64::MIN_POSITIVE)
}

/// Logarithm of the likelihood of `count` values with the variance `seen` by a normal distribution of their mean.
fn normal(count: f64, seen: f64, variance: f64) -> f64 {
    -0.5 * count * ((TAU * variance).ln() + seen / variance)
}
