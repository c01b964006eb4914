//! Pettitt's test for a change point.

use super::dependence::variance_factor;
use crate::ranks::{median, mid_ranks, tie_sizes};

/// The point at which a series changes most, by Pettitt's statistic.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pettitt {
    /// First value after the change, from 0; 0 if all are equal.
    pub at: usize,
    /// Largest absolute difference between the numbers of rising and falling pairs across a point.
    pub statistic: f64,
    /// `n^3 + n^2`, corrected for ties.
    scale: f64,
}

impl Pettitt {
    /// The change point of `values`, in order of time: A. N. Pettitt, "A non-parametric approach to the change-point
    /// problem", Applied Statistics 28 (1979). All values are finite.
    pub fn of(values: &[f64]) -> Self {
        let n = values.len() as f64;
        let (mut at, mut statistic, mut sum) = (0, 0.0f64, 0.0);
        for (index, rank) in mid_ranks(values).into_iter().enumerate() {
            // With mid-ranks, the number of rising pairs minus that of falling pairs across the point is this sum, ties included.
            sum += 2.0 * rank - (n + 1.0);
            if sum.abs() > statistic {
                (at, statistic) = (index + 1, sum.abs());
            }
        }
        let tied: f64 = tie_sizes(values)
            .into_iter()
            .map(|size| (size as f64).powi(3) - size as f64)
            .sum();
        let scale = (n.powi(3) + n.powi(2)) * (1.0 - tied / (n.powi(3) - n)).max(0.0);
        Self { at, statistic, scale }
    }

    /// Approximate p-value, if the ranks vary `factor` times as much as independent ones. At most 1.
    ///
    /// Pettitt's own approximation, with the variance of the ranks after ties. The sum of the ranks is a random walk, and
    /// autocorrelation widens it by the same factor as its variance.
    pub fn p(&self, factor: f64) -> f64 {
        if self.statistic == 0.0 {
            return 1.0;
        }
        (2.0 * (-6.0 * self.statistic.powi(2) / (self.scale * factor)).exp()).min(1.0)
    }
}

/// The change point of `values` with its p-value, and the values without the change.
pub(super) fn shift(values: &[f64]) -> (Pettitt, f64, Vec<f64>) {
    let change = Pettitt::of(values);
    let before = median(&mut values[..change.at].to_vec());
    let after = median(&mut values[change.at..].to_vec());
    let level = |index: usize| if index < change.at { before } else { after };
    let residuals: Vec<f64> = values.iter().enumerate().map(|(i, v)| v - level(i)).collect();
    (change, change.p(variance_factor(&residuals)), residuals)
}
