//! Return level from block maxima.

use super::blocks::{check_steady, independent, joined, sorted};
use super::bootstrap::{self, Replicate};
use super::gev::Gev;
use super::{
    BLOCKS_NEEDED, FIT_SIGNIFICANCE, MOST_BLOCKS, Method, Refusal, ReturnLevel, anderson, check_question, check_reach,
    check_shape, mixture,
};
use crate::random::Random;

/// Any number does; a fixed one gives the same figures each time.
const SEED: u64 = 0x626c_6f63_6b73;

/// The level that is exceeded once in `blocks_ahead` blocks on average, from the largest value of each block, in ns and in
/// order of time. `confidence`, such as 0.95, is that of the interval.
///
/// More than 2,000 blocks are joined into longer ones, and so are blocks that depend on their neighbours. The interval is that
/// of the fit alone: it cannot know of a cause that did not show in the test.
///
/// # Errors
///
/// A [`Refusal`] where the data do not support a level: fewer than 50 blocks, a return period of more than ten times the test,
/// blocks that change over the run, that depend on each other or that are of two kinds, and a distribution that does not fit.
pub fn return_level_of_maxima(maxima_ns: &[f64], blocks_ahead: f64, confidence: f64) -> Result<ReturnLevel, Refusal> {
    check_question(maxima_ns, blocks_ahead, confidence)?;
    if maxima_ns.len() < BLOCKS_NEEDED {
        return Err(Refusal::TooFewBlocks {
            have: maxima_ns.len(),
            need: BLOCKS_NEEDED,
        });
    }
    check_reach(blocks_ahead, maxima_ns.len() as f64)?;
    let group = maxima_ns.len().div_ceil(MOST_BLOCKS);
    let blocks = joined(maxima_ns, group);
    check_steady(&blocks)?;
    let (blocks, pairs) = independent(blocks)?;
    level(&sorted(&blocks)?, blocks_ahead / (group * pairs) as f64, confidence)
}

/// The level for independent blocks of one kind, in ascending order.
fn level(sorted: &[f64], blocks_ahead: f64, confidence: f64) -> Result<ReturnLevel, Refusal> {
    let fit = Gev::fit(sorted);
    mixture::check(sorted, fit.log_likelihood(sorted), 3)?;
    check_shape(fit.shape)?;
    let replicates = replicates(&fit, sorted, blocks_ahead);
    let level_ns = fit.return_level(blocks_ahead);
    let outcome = bootstrap::outcome(level_ns, distance(&fit, sorted), &replicates, confidence);
    if outcome.fit_p < FIT_SIGNIFICANCE {
        return Err(Refusal::BadFit { p: outcome.fit_p });
    }
    Ok(ReturnLevel {
        level_ns,
        low_ns: outcome.low,
        high_ns: outcome.high,
        confidence,
        method: Method::BlockMaxima,
        shape: fit.shape,
        location: fit.location,
        scale: fit.scale,
        blocks: sorted.len(),
        fit_p: outcome.fit_p,
        threshold_ns: None,
        replicates: replicates.len(),
    })
}

fn replicates(fit: &Gev, sorted: &[f64], blocks_ahead: f64) -> Vec<Replicate> {
    let refits = fit.refits(sorted);
    let mut random = Random::new(SEED);
    let mut sample = vec![0.0; sorted.len()];
    (0..bootstrap::replicates(sorted.len()))
        .map(|_| {
            sample.fill_with(|| fit.draw(&mut random));
            sample.sort_unstable_by(f64::total_cmp);
            let again = refits.fit(&sample);
            Replicate {
                level: again.return_level(blocks_ahead),
                distance: distance(&again, &sample),
            }
        })
        .collect()
}

/// Anderson-Darling statistic of the fit.
fn distance(gev: &Gev, sorted: &[f64]) -> f64 {
    let logarithms: Vec<(f64, f64)> = sorted
        .iter()
        .map(|x| {
            let below = -(-gev.reduced(*x)).exp();
            (below, (-below.exp_m1()).ln())
        })
        .collect();
    anderson::statistic(&logarithms)
}
