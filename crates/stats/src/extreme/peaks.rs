//! Return level from peaks over a threshold.

use super::blocks::{check_steady, dependence, sorted};
use super::gpd::{Excesses, Gpd};
use super::sample::Sample;
use super::threshold::{excesses, peaks_to_take};
use super::{
    BLOCKS_NEEDED, FIT_SIGNIFICANCE, Method, Refusal, ReturnLevel, bootstrap, check_question, check_reach, check_shape,
    mixture, with_care,
};

/// The level that is exceeded once in `blocks_ahead` blocks on average, when `peaks_ns`, in ns and in order of time, are all
/// that was above some level in `observed_blocks` blocks: all of them, not the largest of each window. Peaks of one stall count
/// once: see [`super::decluster`]. `confidence`, such as 0.95, is that of the interval, which knows that the number of peaks
/// was chance, too.
///
/// The threshold is chosen by the data, and at most 2,000 peaks are taken. Exceedances of the level are then of stalls, not of
/// samples.
///
/// # Errors
///
/// A [`Refusal`] where the data do not support a level: 50 peaks or fewer, a return period of more than ten times the test or
/// shorter than it takes from peak to peak, peaks that change over the run, that depend on each other or that are of two kinds,
/// and a distribution that does not fit.
pub fn return_level_of_peaks(
    peaks_ns: &[f64],
    observed_blocks: f64,
    blocks_ahead: f64,
    confidence: f64,
) -> Result<ReturnLevel, Refusal> {
    check_question(peaks_ns, blocks_ahead, confidence)?;
    if !(observed_blocks > 0.0 && observed_blocks.is_finite()) {
        return Err(Refusal::BadQuestion("the length of the test has to be above zero"));
    }
    // One more than is fitted: it is the threshold.
    if peaks_ns.len() <= BLOCKS_NEEDED {
        return Err(Refusal::TooFewPeaks {
            have: peaks_ns.len(),
            need: BLOCKS_NEEDED + 1,
        });
    }
    check_reach(blocks_ahead, observed_blocks)?;
    check_steady(peaks_ns)?;
    if let Some(autocorrelation) = dependence(peaks_ns) {
        return Err(Refusal::Clustered { autocorrelation });
    }
    let sorted = sorted(peaks_ns)?;
    let count = peaks_to_take(&sorted);
    let between = observed_blocks / count as f64;
    if blocks_ahead <= between {
        return Err(Refusal::TooNear {
            asked: blocks_ahead,
            between,
        });
    }
    let threshold = sorted[sorted.len() - count - 1];
    level(threshold, &excesses(&sorted, count), blocks_ahead / between, confidence)
}

/// The level that is exceeded by one of `ahead` excesses.
fn level(threshold: f64, excesses: &[f64], ahead: f64, confidence: f64) -> Result<ReturnLevel, Refusal> {
    let gpd = Gpd::fit(excesses);
    let values: Vec<f64> = excesses.iter().map(|excess| threshold + excess).collect();
    mixture::check(&values, |values| {
        let excesses: Vec<f64> = values.iter().map(|value| value - threshold).collect();
        Gpd::fit(&excesses).log_likelihood(&excesses)
    })?;
    check_shape(gpd.shape)?;
    let sample = Excesses::of(excesses, gpd.scale);
    let parameters = [0.0, 0.0, gpd.shape];
    let fit = (parameters, sample.with_gradient(&parameters).0);
    let outcome = bootstrap::evaluate(&sample, &fit, excesses.len(), ahead, with_care(confidence));
    if outcome.fit_p < FIT_SIGNIFICANCE {
        return Err(Refusal::BadFit { p: outcome.fit_p });
    }
    let in_ns = |level: f64| threshold + gpd.scale * level;
    Ok(ReturnLevel {
        level_ns: in_ns(outcome.level),
        low_ns: in_ns(outcome.low),
        high_ns: in_ns(outcome.high),
        confidence,
        method: Method::PeaksOverThreshold,
        shape: gpd.shape,
        location: threshold,
        scale: gpd.scale,
        blocks: excesses.len(),
        fit_p: outcome.fit_p,
        threshold_ns: Some(threshold),
        held_back: None,
        replicates: outcome.replicates,
    })
}
