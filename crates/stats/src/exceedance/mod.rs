//! Bounds that a count of samples over a limit proves: exact upper bounds at a stated confidence.
//!
//! The bounds on a probability are valid for independent samples. Stalls come in bursts, so latency samples are not independent:
//! state the bound on a rate over the time of exposure in addition ([`rate_upper_bound`]).

pub(crate) mod tail;
#[cfg(test)]
mod tests;

use tail::{binomial_at_least, binomial_at_most, poisson_at_least, poisson_at_most};

/// Upper bound of the probability that a sample exceeds a limit, when `over` of `n` samples did: the one-sided
/// Clopper-Pearson bound (Biometrika 26, 1934), exact at any `n`. With `over` = 0 it is `1 - (1 - confidence)^(1/n)`.
///
/// `confidence` is between 0 and 1, such as 0.95. Without samples, with `over` above `n`, or with an invalid confidence, nothing is
/// proved: the bound is 1.
pub fn upper_bound(over: u64, n: u64, confidence: f64) -> f64 {
    if !is_confidence(confidence) || over >= n {
        return 1.0;
    }
    let risk = 1.0 - confidence;
    if over == 0 {
        return -(risk.ln() / n as f64).exp_m1();
    }
    let reached = |p: f64| binomial_at_most(over, n, p) <= risk;
    bisect(over as f64 / n as f64, 1.0, reached).1
}

/// Two-sided Clopper-Pearson interval of the probability that a sample exceeds a limit, when `over` of `n` samples did. Arguments
/// as for [`upper_bound`]; if nothing is proved, it is from 0 to 1.
pub fn interval(over: u64, n: u64, confidence: f64) -> (f64, f64) {
    if !is_confidence(confidence) || over > n {
        return (0.0, 1.0);
    }
    let risk = (1.0 - confidence) / 2.0;
    (lower_bound(over, n, risk), upper_bound(over, n, 1.0 - risk))
}

/// The largest probability so small that `over` or more of `n` samples happen with at most `risk`.
fn lower_bound(over: u64, n: u64, risk: f64) -> f64 {
    if over == 0 {
        return 0.0;
    }
    if over == n {
        return (risk.ln() / n as f64).exp();
    }
    let exceeded = |p: f64| binomial_at_least(over, n, p) > risk;
    bisect(0.0, over as f64 / n as f64, exceeded).0
}

/// Upper bound of the rate of an event, in events per second, when `events` of them were seen in `exposure_ns`: the exact
/// Poisson bound (Garwood, Biometrika 28, 1936). At 95 %, no event in a time T bounds the rate by 3.00/T, one by 4.74/T, two
/// by 6.30/T, three by 7.75/T.
///
/// Independent machines add their exposure. Without exposure, or with an invalid confidence, the bound is infinite.
pub fn rate_upper_bound(events: u64, exposure_ns: u64, confidence: f64) -> f64 {
    if !is_confidence(confidence) || exposure_ns == 0 {
        return f64::INFINITY;
    }
    let risk = 1.0 - confidence;
    let seconds = exposure_ns as f64 / 1e9;
    if events == 0 {
        return -risk.ln() / seconds;
    }
    let reached = |mean: f64| poisson_at_most(events, mean) <= risk;
    let seen = events as f64;
    let mut high = 2.0 * seen;
    while !reached(high) {
        high *= 2.0;
    }
    bisect(seen, high, reached).1 / seconds
}

/// Lower bound of the rate of an event, in events per second, when `events` of them were seen in `exposure_ns`: the exact Poisson
/// bound, as [`rate_upper_bound`]. 0 without events, without exposure, or with an invalid confidence.
pub fn rate_lower_bound(events: u64, exposure_ns: u64, confidence: f64) -> f64 {
    if !is_confidence(confidence) || exposure_ns == 0 || events == 0 {
        return 0.0;
    }
    let risk = 1.0 - confidence;
    let exceeded = |mean: f64| poisson_at_least(events, mean) > risk;
    bisect(0.0, events as f64, exceeded).0 / (exposure_ns as f64 / 1e9)
}

fn is_confidence(confidence: f64) -> bool {
    confidence > 0.0 && confidence < 1.0
}

/// The two neighbouring numbers between which `reached` turns from false to true, given that it does so between `low` and
/// `high`, both positive or zero.
fn bisect(mut low: f64, mut high: f64, reached: impl Fn(f64) -> bool) -> (f64, f64) {
    loop {
        let middle = low + (high - low) / 2.0;
        // Also ends at two neighbouring numbers, which have nothing between them.
        if middle <= low || middle >= high || high - low <= high * 4.0 * f64::EPSILON {
            return (low, high);
        }
        if reached(middle) {
            high = middle;
        } else {
            low = middle;
        }
    }
}
