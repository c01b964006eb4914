//! How much less information a series of windows has than the same number of independent windows.
//!
//! A mean of windows that resemble their neighbours varies more than one of independent windows, by a factor that has to come
//! from the same windows. Any single estimate of it is too low for some kind of dependence, so the widest of four is taken. Too
//! wide costs power; too narrow calls equal runs different.

use crate::ranks::{autocorrelation, mid_ranks, unbiased};
use statrs::distribution::{ContinuousCDF, Normal, StudentsT};
use std::f64::consts::PI;

/// Standard errors by which a correlation is taken higher than it was found.
const MORE: f64 = 1.28;

/// Margins by which a dependence is taken worse than found: the correlation of neighbours, its fading, and the slowest fading.
#[derive(Debug, Clone, Copy)]
struct Care {
    more: f64,
    slower: f64,
    slowest: f64,
}

/// Of the windows of a run: a slower part of them shows as slow waves.
const WINDOWS: Care = Care {
    more: MORE,
    slower: 1.6,
    slowest: 4.0,
};

/// Of what is left when a trend or a shift was taken out of them: that takes some of the resemblance with it.
const RESIDUALS: Care = Care {
    more: 2.0,
    slower: MORE,
    slowest: 5.0,
};

/// A correlation of neighbours above so many standard errors of none is followed further out.
const FOLLOWED: f64 = 1.28;

/// Largest correlation that is reckoned with, as its distance from 1 in units of a window's share of the run: with it, the run
/// is hardly more than one value.
const MOST_ALIKE: f64 = 3.0;

/// Slow waves whose power is measured, and the slowest of them.
const WAVES: usize = 8;
const SLOWEST: usize = 3;

/// The dependence of a run's windows. All factors are of the variance of a mean, and at least 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Dependence {
    /// By the correlation of neighbours, and by how slowly it fades.
    by_neighbours: f64,
    /// By the power of slow waves: it takes Student's t with as many degrees of freedom.
    by_waves: f64,
    /// By the power of the slowest of them.
    by_slowest: f64,
    /// Windows.
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

    /// Factor by which the variance of a mean is larger than that of independent windows.
    pub(crate) fn factor(&self) -> f64 {
        self.by_neighbours.max(self.by_slowest).max(self.by_waves)
    }
}

/// Factor for what is left of values when a trend or a shift was taken out of them. That takes some of their resemblance with it,
/// so more is added.
pub(crate) fn factor_of_residuals(residuals: &[f64]) -> f64 {
    by_neighbours(&mid_ranks(residuals), RESIDUALS)
}

/// Factor for a series whose correlation falls from neighbour to neighbour in one ratio: `1 + 2 r / (1 - ratio)`. Where the
/// correlation is that of a slow part under quick noise, the ratio of the next correlations tells, not the first one itself.
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
