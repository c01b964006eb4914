//! Preparing block maxima for a fit.

use super::{BLOCKS_NEEDED, NoLevel};
use crate::random::Random;
use crate::ranks::{autocorrelation, mid_ranks};
use crate::stationarity::{self, Steadiness};

/// Largest rank correlation of neighbouring blocks, above which they are joined; or, if larger, the correlation that independent
/// blocks reach in one of two hundred cases.
const DEPENDENT: f64 = 0.15;

/// Fewest different values: with fewer, the resolution of the clock dominates the distribution.
const DISTINCT_NEEDED: usize = 20;

/// The number is arbitrary, but fixed, so that results are reproducible.
const SEED: u64 = 0x7469_636b;

/// Largest value of every `group` neighbours; the last group may be smaller.
pub(super) fn joined(maxima: &[f64], group: usize) -> Vec<f64> {
    let largest = |chunk: &[f64]| chunk.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    maxima.chunks(group.max(1)).map(largest).collect()
}

/// Joins maxima in pairs until neighbours hardly depend on each other; also returns how many of the given blocks each of them
/// covers.
pub(super) fn independent(maxima: Vec<f64>) -> Result<(Vec<f64>, usize), NoLevel> {
    let mut blocks = maxima;
    let mut group = 1;
    loop {
        let Some(autocorrelation) = dependence(&blocks) else {
            return Ok((blocks, group));
        };
        if blocks.len() / 2 < BLOCKS_NEEDED {
            return Err(NoLevel::Dependent { autocorrelation });
        }
        blocks = joined(&blocks, 2);
        group *= 2;
    }
}

/// Rank correlation of neighbours, if it is more than chance.
fn dependence(values: &[f64]) -> Option<f64> {
    let autocorrelation = autocorrelation(&mid_ranks(values), 1);
    let limit = DEPENDENT.max(2.576 / (values.len() as f64).sqrt());
    (autocorrelation > limit).then_some(autocorrelation)
}

/// Refuses values that change over the run. If there are too few to decide, the caller refuses them.
pub(super) fn check_steady(values: &[f64]) -> Result<(), NoLevel> {
    let check = stationarity::check(values);
    match check.verdict {
        Steadiness::Trend | Steadiness::Shift | Steadiness::TooAlike => Err(NoLevel::NotSteady(check.text())),
        Steadiness::Steady | Steadiness::TooShort => Ok(()),
    }
}

/// The values in ascending order, spread evenly within the clock's resolution: a value in whole microseconds, as cyclictest writes
/// it, becomes a value anywhere in that microsecond, so that ties do not look like a bad fit. Refuses values that are all equal, or
/// with too few different ones.
pub(super) fn sorted(values: &[f64]) -> Result<Vec<f64>, NoLevel> {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let distinct = sorted.chunk_by(|a, b| a == b).count();
    if distinct == 1 {
        return Err(NoLevel::Constant);
    }
    if distinct < DISTINCT_NEEDED {
        return Err(NoLevel::Coarse {
            distinct,
            need: DISTINCT_NEEDED,
        });
    }
    let step = sorted.iter().fold(0, |step, value| divisor(step, value.round() as u64)) as f64;
    let whole = sorted.iter().all(|value| value.fract() == 0.0);
    if whole && step > 1.0 {
        let mut random = Random::new(SEED);
        for value in &mut sorted {
            *value += step * random.unit();
        }
        sorted.sort_unstable_by(f64::total_cmp);
    }
    Ok(sorted)
}

/// Greatest common divisor (Euclid).
fn divisor(a: u64, b: u64) -> u64 {
    let (mut a, mut b) = (a, b);
    while b > 0 {
        (a, b) = (b, a % b);
    }
    a
}
