//! Return level from block maxima.

use super::blocks::{check_steady, independent, joined, sorted};
use super::gev::{Gev, Maxima};
use super::{
    BLOCKS_NEEDED, FIT_SIGNIFICANCE, HeldBack, MOST_BLOCKS, NoLevel, ReturnLevel, bootstrap, check_question,
    check_reach, check_shape, mixture, tail, with_care,
};

/// The level that is exceeded once in `blocks_ahead` blocks on average, from the largest value of each block, in ns and in order of
/// time. `confidence`, such as 0.95, is the confidence of its interval.
///
/// If there are more than 2,000 blocks, or blocks that depend on their neighbours, they are joined into longer ones. The interval
/// accounts for the uncertainty of the fit alone: it cannot include a cause that did not show in the test.
///
/// # Errors
///
/// A [`NoLevel`] if the data do not support a level: fewer than 50 blocks, a return period of more than ten times the test, blocks
/// that change over the run, that depend on each other or that are of two kinds, a few largest ones outside the tail of the others, a distribution that does not fit, or a last part
/// of the run that contradicts a fit to the first.
pub fn return_level_of_maxima(maxima_ns: &[f64], blocks_ahead: f64, confidence: f64) -> Result<ReturnLevel, NoLevel> {
    check_question(maxima_ns, blocks_ahead, confidence)?;
    if maxima_ns.len() < BLOCKS_NEEDED {
        return Err(NoLevel::TooFewBlocks {
            have: maxima_ns.len(),
            need: BLOCKS_NEEDED,
        });
    }
    check_reach(blocks_ahead, maxima_ns.len() as f64)?;
    let group = maxima_ns.len().div_ceil(MOST_BLOCKS);
    let blocks = joined(maxima_ns, group);
    check_steady(&blocks)?;
    let (blocks, pairs) = independent(blocks)?;
    let ascending = sorted(&blocks)?;
    let level = level(&ascending, blocks_ahead / (group * pairs) as f64, confidence)?;
    let held_back = HeldBack::of(&blocks);
    tail::check(&ascending, held_back)?;
    let held_back = held_back.map(HeldBack::check).transpose()?;
    Ok(ReturnLevel { held_back, ..level })
}

/// The level for independent blocks of one kind, in ascending order.
fn level(sorted: &[f64], blocks_ahead: f64, confidence: f64) -> Result<ReturnLevel, NoLevel> {
    let gev = Gev::fit(sorted);
    mixture::check(sorted, |values| Gev::fit(values).log_likelihood(values))?;
    check_shape(gev.shape)?;
    let maxima = Maxima::around(sorted, &gev);
    let parameters = [0.0, 0.0, gev.shape];
    let fit = (parameters, maxima.with_gradient(&parameters).0);
    let outcome = bootstrap::evaluate(&maxima, &fit, sorted.len(), blocks_ahead, with_care(confidence));
    if outcome.fit_p < FIT_SIGNIFICANCE {
        return Err(NoLevel::BadFit { p: outcome.fit_p });
    }
    let in_ns = |level: f64| gev.location + gev.scale * level;
    // If some hundred blocks suggest that the tail ends, that end is not trusted for the upper end of the interval.
    let unbounded = Gev {
        shape: gev.shape.max(0.0),
        ..gev
    }
    .return_level(blocks_ahead);
    Ok(ReturnLevel {
        level_ns: in_ns(outcome.level),
        low_ns: in_ns(outcome.low),
        high_ns: in_ns(outcome.high).max(unbounded),
        confidence,
        shape: gev.shape,
        blocks: sorted.len(),
        fit_p: outcome.fit_p,
        held_back: None,
    })
}
