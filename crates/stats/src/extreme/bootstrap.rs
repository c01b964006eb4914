//! Checks a fit with samples drawn from the fitted distribution.
//!
//! The interval of a return level comes from its likelihood ratio: it contains every level that is not much less likely than the
//! best one. The threshold for "much" comes from the samples: mean and standard deviation of the signed root of the ratio, which is
//! nearly normal (T. DiCiccio, M. Martin and S. Stern, "Simple and accurate one-sided inference from signed roots of likelihood
//! ratios", Canadian Journal of Statistics 29, 2001). The usual percentile interval of the refitted levels is much too low: for
//! fifty maxima with a bounded tail, a nominal 95 % interval ended below the true level in 27 of 100 cases.

use super::gev::Maxima;
use super::near::{Fit, Near};
use crate::random::Random;
use statrs::distribution::{ContinuousCDF, Normal};

/// Total number of values drawn and fitted by all replicates of one fit: about 100 ms.
const DRAWS: usize = 300_000;

/// The number is arbitrary, but fixed, so that results are reproducible.
const SEED: u64 = 0x626c_6f63_6b73;

/// The interval's ends are found to this share of a standard error.
const PRECISE: f64 = 0.005;

/// The result of the replicates, in the units of the sample.
pub(super) struct Outcome {
    pub(super) level: f64,
    pub(super) low: f64,
    pub(super) high: f64,
    /// Share of the replicates that are at least as far from their fit as the data.
    pub(super) fit_p: f64,
}

/// Level, interval and goodness of a fit to `values` values.
pub(super) fn evaluate(sample: &Maxima, fit: &Fit, values: usize, ahead: f64, confidence: f64) -> Outcome {
    let near = Near::of(sample, &fit.0, ahead);
    let count = (DRAWS / values).clamp(150, 400);
    let mut random = Random::new(SEED);
    let replicates: Vec<(f64, f64)> = (0..count)
        .map(|_| {
            let drawn = sample.drawn(&fit.0, &mut random);
            let again = near.fit(&drawn);
            (drawn.distance(&again.0), near.root(&drawn, &again, near.level()))
        })
        .collect();
    let distance = sample.distance(&fit.0);
    let worse = replicates.iter().filter(|(other, _)| *other >= distance).count();
    let (mean, deviation) = mean_and_deviation(replicates.iter().map(|(_, root)| *root));
    let reach = Normal::standard().inverse_cdf(1.0 - (1.0 - confidence) / 2.0) * deviation;
    let root = |level: f64| near.root(sample, fit, level);
    Outcome {
        level: near.level(),
        low: end(root, near.level(), -1.0, mean + reach),
        high: end(root, near.level(), 1.0, mean - reach),
        fit_p: (worse + 1) as f64 / (count + 1) as f64,
    }
}

fn mean_and_deviation(values: impl Iterator<Item = f64> + Clone) -> (f64, f64) {
    let count = values.clone().count() as f64;
    let mean = values.clone().sum::<f64>() / count;
    let squares: f64 = values.map(|value| (value - mean).powi(2)).sum();
    (mean, (squares / (count - 1.0)).sqrt())
}

/// The level with the signed root `target`, searched from `level` in the direction `way`. The root falls as the level rises, and is
/// nearly straight close to the fit. Returns `level` itself if the target is on its other side.
fn end(root: impl Fn(f64) -> f64, level: f64, way: f64, target: f64) -> f64 {
    let beyond = |at: f64| (target - root(at)) * way;
    let (mut inner, mut outer, mut step) = (level, level, 0.25);
    if beyond(level) >= 0.0 {
        return level;
    }
    for _ in 0..60 {
        outer = inner + way * step;
        if beyond(outer) >= 0.0 {
            break;
        }
        inner = outer;
        step *= 1.5;
    }
    for _ in 0..40 {
        let middle = inner + (outer - inner) / 2.0;
        let distance = beyond(middle);
        if distance.abs() < PRECISE {
            return middle;
        }
        if distance < 0.0 {
            inner = middle;
        } else {
            outer = middle;
        }
    }
    outer
}
