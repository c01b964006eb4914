//! The uncertainty of a quantile.

use super::Histogram;
use crate::exceedance::tail::{binomial_at_least, binomial_at_most};
use statrs::function::erf::erfc_inv;

impl Histogram {
    /// Lower and upper edge, within the extremes, of the bucket that contains the sample of this rank, from 1.
    pub(super) fn at_rank(&self, rank: u64) -> (u64, u64) {
        let mut seen = 0u64;
        for bucket in self.buckets() {
            seen = seen.saturating_add(bucket.count);
            if seen >= rank {
                return (bucket.low_ns.max(self.min_ns), bucket.high_ns.min(self.max_ns));
            }
        }
        (self.max_ns, self.max_ns)
    }
}

/// Ranks, from 1, of the order statistics between which the quantile `q` lies: the largest lower rank and the smallest upper one
/// that each miss it with at most half of the risk.
pub(crate) fn ranks(q: f64, count: u64, confidence: f64) -> Option<(u64, u64)> {
    if !(confidence > 0.0 && confidence < 1.0 && q > 0.0 && q < 1.0) {
        return None;
    }
    let risk = (1.0 - confidence) / 2.0;
    // The sample of rank r is above the quantile if fewer than r samples are below it, and below the quantile if r or more are.
    let too_high = |r: u64| r > 0 && at_most(r - 1, count, q) > risk;
    let high_enough = |r: u64| r > count || at_least(r, count, q) <= risk;
    let (low_guess, high_guess) = near(q, count, risk);
    let low = first_that(low_guess, count + 1, too_high) - 1;
    let high = first_that(high_guess, count + 1, high_enough);
    (low >= 1 && high <= count).then_some((low, high))
}

/// The two ranks by the normal approximation. It may be off by a few ranks; the exact sum over a tail of 6e9 trials takes a
/// millisecond.
fn near(q: f64, count: u64, risk: f64) -> (u64, u64) {
    let mean = q * count as f64;
    let half = erfc_inv(2.0 * risk) * (2.0 * mean * (1.0 - q)).sqrt();
    let whole = |rank: f64| (rank.max(0.0) as u64).min(count);
    (whole(mean - half), whole(mean + half + 1.0))
}

fn at_most(k: u64, n: u64, p: f64) -> f64 {
    match k {
        0 => (n as f64 * (-p).ln_1p()).exp(),
        k if k >= n => 1.0,
        k => binomial_at_most(k, n, p),
    }
}

fn at_least(k: u64, n: u64, p: f64) -> f64 {
    match k {
        0 => 1.0,
        k if k >= n => (n as f64 * p.ln()).exp(),
        k => binomial_at_least(k, n, p),
    }
}

/// The smallest rank from 1 to `end` for which `holds` is true, searched in doubling steps from `guess`. It is true for every rank
/// above the answer, and for `end`.
fn first_that(guess: u64, end: u64, holds: impl Fn(u64) -> bool) -> u64 {
    let guess = guess.clamp(1, end);
    let mut step = 1;
    let (mut below, mut at);
    if holds(guess) {
        (below, at) = (guess - 1, guess);
        while below > 0 && holds(below) {
            at = below;
            step *= 2;
            below = below.saturating_sub(step);
        }
    } else {
        (below, at) = (guess, (guess + 1).min(end));
        while at < end && !holds(at) {
            below = at;
            step *= 2;
            at = at.saturating_add(step).min(end);
        }
    }
    while at - below > 1 {
        let middle = below + (at - below) / 2;
        if holds(middle) {
            at = middle;
        } else {
            below = middle;
        }
    }
    at
}
