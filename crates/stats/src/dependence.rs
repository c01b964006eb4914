//! How much less information a series of windows has than the same number of independent windows.
//!
//! A mean of windows that resemble their neighbours varies more than a mean of independent windows, by a factor that must be
//! estimated from the same windows. Any single estimate is too low for some kind of dependence, so the largest of four is used. A
//! factor that is too large costs power; one that is too small calls equal runs different.

use crate::ranks::{autocorrelation, mid_ranks, unbiased};
use statrs::distribution::{ContinuousCDF, Normal, StudentsT};
use std::f64::consts::PI;

/// Number of standard errors added to an estimated correlation.
const MORE: f64 = 1.28;

/// Margins added to an estimated dependence: to the correlation of neighbours, to its decay, and to the slowest decay.
#[derive(Debug, Clone, Copy)]
struct Care {
    more: f64,
    slower: f64,
    slowest: f64,
}

/// Margins for the windows of a run: a slower component of them shows as slow waves.
const WINDOWS: Care = Care {
    more: MORE,
    slower: 1.6,
    slowest: 4.0,
};

/// Margins for residuals after a trend or a shift was removed, which removes some of the resemblance with it.
const RESIDUALS: Care = Care {
    more: 2.0,
    slower: MORE,
    slowest: 5.0,
};

/// A correlation of neighbours more than this many standard errors above zero is followed to larger distances.
const FOLLOWED: f64 = 1.28;

/// Largest correlation that is assumed, as its distance from 1 in units of a window's share of the run: at this correlation, the
/// run is hardly more than one value.
const MOST_ALIKE: f64 = 3.0;

/// Number of slow waves whose power is measured, beginning with the slowest.
const WAVES: usize = 8;
const SLOWEST: usize = 3;

/// The dependence of a run's windows. All factors apply to the variance of a mean, and are at least 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Dependence {
    /// Factor from the correlation of neighbours, and from its slow decay.
    by_neighbours: f64,
    /// Factor from the power of slow waves: used with Student's t with as many degrees of freedom as waves.
    by_waves: f64,
    /// Factor from the power of the slowest of them.
    by_slowest: f64,
    /// Number of windows.
    n: f64,
}

impl Dependence {
    /// Estimates it from values, one for each window in order of time. Needs at least three.
    pub(crate) fn of(values: &[f64]) -> Self {
        let ranks = mid_ranks(values);
        let powers = wave_powers(&ranks);
        let mean = |powers: &[f64]| (powers.iter().sum::<f64>() / powers.len().max(1) as f64).max(1.0);
        Self {
            by_neighbours: by_neighbours(&ranks, WINDOWS),
            by_waves: mean(&powers),
            by_slowest: mean(&powers[..SLOWEST.min(powers.len())]),
            n: values.len() as f64,
        }
    }

    /// Half the width of the interval of a mean at this confidence, in standard deviations of one window.
    pub(crate) fn half_width(&self, confidence: f64) -> f64 {
        let q = 1.0 - (1.0 - confidence) / 2.0;
        let normal = Normal::standard().inverse_cdf(q);
        let student = StudentsT::new(0.0, 1.0, WAVES as f64).map_or(f64::INFINITY, |t| t.inverse_cdf(q));
        let known = normal * self.by_neighbours.max(self.by_slowest).sqrt();
        known.max(student * self.by_waves.sqrt()) / self.n.sqrt()
    }

    /// Factor by which the variance of a mean is larger than for independent windows.
    pub(crate) fn factor(&self) -> f64 {
        self.by_neighbours.max(self.by_slowest).max(self.by_waves)
    }
}

/// Factor for the residuals after a trend or a shift was removed. The removal also lowers the
/// measured correlation of neighbours, so the factor allows for more.
pub(crate) fn factor_of_residuals(residuals: &[f64]) -> f64 {
    by_neighbours(&mid_ranks(residuals), RESIDUALS)
}

/// Factor for a series whose correlation falls by one ratio from neighbour to neighbour: `1 + 2 r / (1 - ratio)`. If the
/// correlation comes from a slow component under quick noise, the ratio of the next correlations is decisive, not the first
/// correlation itself.
fn by_neighbours(ranks: &[f64], care: Care) -> f64 {
    let n = ranks.len() as f64;
    let most = (1.0 - MOST_ALIKE / n).max(0.0);
    let r = |lag: usize| unbiased(autocorrelation(ranks, lag), ranks.len());
    let first = r(1).clamp(0.0, most);
    let upper = (first + care.more * ((1.0 - first * first) / n).sqrt()).min(most);
    let plain = (1.0 + upper) / (1.0 - upper);
    if first <= FOLLOWED / n.sqrt() {
        return plain;
    }
    let (second, third) = (r(2).max(0.0), r(3).max(0.0));
    let ratio = (second + third) / (first + second) + care.slower / (first * n.sqrt());
    let ratio = ratio.clamp(0.0, (1.0 - care.slowest / n).max(0.0));
    plain.max(1.0 + 2.0 * first / (1.0 - ratio))
}

/// Power of the slowest cosine waves in units of the variance: 1 on average for independent values (Müller, Journal of
/// Econometrics 141, 2007; Lazarus and others, Journal of Business and Economic Statistics 36, 2018).
fn wave_powers(ranks: &[f64]) -> Vec<f64> {
    let n = ranks.len() as f64;
    let mean = ranks.iter().sum::<f64>() / n;
    let variance = ranks.iter().map(|rank| (rank - mean).powi(2)).sum::<f64>() / n;
    if variance == 0.0 {
        return Vec::new();
    }
    let power = |wave: usize| {
        let step = PI * wave as f64 / n;
        let sum: f64 = ranks
            .iter()
            .enumerate()
            .map(|(index, rank)| (rank - mean) * (step * (index as f64 + 0.5)).cos())
            .sum();
        2.0 / n * sum * sum / variance
    };
    (1..=WAVES.min(ranks.len() / 2)).map(power).collect()
}
