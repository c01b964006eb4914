//! Mann-Kendall test and Theil-Sen slope.

use super::Trend;
use super::dependence::variance_factor;
use crate::ranks::{median, tie_sizes};
use statrs::function::erf::erfc;

/// The Mann-Kendall test of a series for a rise or fall (Mann, Econometrica 13, 1945; Kendall 1975).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MannKendall {
    /// Number of rising pairs minus that of falling pairs.
    pub score: i64,
    /// Variance of the score of independent values without trend, corrected for ties.
    pub variance: f64,
}

impl MannKendall {
    /// Score and variance of `values`, in order of time; all of them are finite. Takes n log n steps.
    pub fn of(values: &[f64]) -> Self {
        let n = values.len() as f64;
        let ties: f64 = tie_sizes(values)
            .into_iter()
            .map(|size| {
                let t = size as f64;
                t * (t - 1.0) * (2.0 * t + 5.0)
            })
            .sum();
        Self {
            score: score(values),
            variance: (n * (n - 1.0) * (2.0 * n + 5.0) - ties) / 18.0,
        }
    }

    /// Two-sided p-value by the normal approximation with continuity correction, if the variance is `factor` times that of
    /// independent values. 1 if all values are equal.
    pub fn p(&self, factor: f64) -> f64 {
        let distance = (self.score.unsigned_abs() as f64 - 1.0).max(0.0);
        if distance == 0.0 {
            return 1.0;
        }
        erfc(distance / (2.0 * self.variance * factor).sqrt())
    }
}

/// The trend of `values`, one for every `step` windows.
pub(super) fn trend(values: &[f64], step: usize) -> Trend {
    let slope = theil_sen(values);
    let residuals: Vec<f64> = values.iter().enumerate().map(|(i, v)| v - slope * i as f64).collect();
    Trend {
        slope_per_window: slope / step as f64,
        p: MannKendall::of(values).p(variance_factor(&residuals)),
    }
}

/// Median of the slopes between all pairs of values (Sen, Journal of the American Statistical Association 63, 1968), per
/// value.
fn theil_sen(values: &[f64]) -> f64 {
    let mut slopes: Vec<f64> = (0..values.len())
        .flat_map(|i| (i + 1..values.len()).map(move |j| (values[j] - values[i]) / (j - i) as f64))
        .collect();
    median(&mut slopes)
}

/// Number of rising pairs minus that of falling pairs, with a tree of counts by rank (Fenwick, 1994).
fn score(values: &[f64]) -> i64 {
    let mut distinct = values.to_vec();
    distinct.sort_unstable_by(f64::total_cmp);
    distinct.dedup();
    let mut counts = Counts(vec![0; distinct.len() + 1]);
    let mut score = 0;
    for (seen, value) in values.iter().enumerate() {
        let rank = distinct.partition_point(|other| other < value) + 1;
        let below = counts.up_to(rank - 1);
        let above = seen as i64 - counts.up_to(rank);
        score += below - above;
        counts.add(rank);
    }
    score
}

/// Counts by rank from 1, with sums in logarithmic time.
struct Counts(Vec<i64>);

impl Counts {
    fn add(&mut self, rank: usize) {
        let mut at = rank;
        while at < self.0.len() {
            self.0[at] += 1;
            at += at & at.wrapping_neg();
        }
    }

    fn up_to(&self, rank: usize) -> i64 {
        let mut at = rank;
        let mut sum = 0;
        while at > 0 {
            sum += self.0[at];
            at &= at - 1;
        }
        sum
    }
}
