//! What samples drawn from a fitted distribution say about the fit.

use super::Refusal;
use super::{FIT_SIGNIFICANCE, SUPPORTED_SHAPES};
use crate::resample::percentiles;

/// Values that all replicates of one fit draw and fit together: about 100 ms.
const DRAWS: usize = 400_000;

/// One sample that was drawn from the fitted distribution, and fitted again.
pub(super) struct Replicate {
    /// Return level of the new fit.
    pub(super) level: f64,
    /// Anderson-Darling statistic of the new fit.
    pub(super) distance: f64,
}

/// What the replicates say.
pub(super) struct Outcome {
    pub(super) low: f64,
    pub(super) high: f64,
    pub(super) fit_p: f64,
}

/// How many replicates a fit to so many values gets: 200 to 1000.
pub(super) fn replicates(values: usize) -> usize {
    (DRAWS / values).clamp(200, 1_000)
}

/// Interval of the level, and share of the samples that fit worse than the data did.
pub(super) fn outcome(level: f64, distance: f64, replicates: &[Replicate], confidence: f64) -> Outcome {
    let worse = replicates.iter().filter(|replicate| replicate.distance >= distance).count();
    let mut levels: Vec<f64> = replicates.iter().map(|replicate| replicate.level).collect();
    let (low, high) = percentiles(&mut levels, confidence);
    Outcome {
        low: low.min(level),
        high: high.max(level),
        fit_p: (worse + 1) as f64 / (replicates.len() + 1) as f64,
    }
}
