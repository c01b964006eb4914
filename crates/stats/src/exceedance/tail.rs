//! Tails of the binomial and the Poisson distribution that stay accurate for thousands of millions of trials.
//!
//! The binomial tail is the regularised incomplete beta function with whole arguments. The usual evaluation takes differences of
//! log-gamma functions, which at 6e9 trials are 1e11 each and cancel to a few digits. Here the probability of a single value comes
//! from C. Loader, "Fast and Accurate Computation of Binomial Probabilities" (2000), which has no such cancellation. The tail is
//! summed from it by the ratio of neighbouring terms, always towards falling terms.

use std::f64::consts::TAU;

/// P(X <= k) of `n` trials with probability `p`; `0 < k < n`, `0 < p < 1`.
pub(crate) fn binomial_at_most(k: u64, n: u64, p: f64) -> f64 {
    if k as f64 <= n as f64 * p {
        binomial_down(k, n, p)
    } else {
        1.0 - binomial_up(k + 1, n, p)
    }
}

/// P(X >= k) of `n` trials with probability `p`; `0 < k < n`, `0 < p < 1`.
pub(crate) fn binomial_at_least(k: u64, n: u64, p: f64) -> f64 {
    if k as f64 >= n as f64 * p {
        binomial_up(k, n, p)
    } else {
        1.0 - binomial_down(k - 1, n, p)
    }
}

/// P(X <= k) of a Poisson variable with the given mean; `k > 0`, `mean >= k`.
pub(crate) fn poisson_at_most(k: u64, mean: f64) -> f64 {
    let ratios = (1..=k).rev().map(|i| i as f64 / mean);
    poisson(k, mean) * falling_sum(ratios)
}

/// P(X >= k) of a Poisson variable with the given mean; `k > 0`, `0 < mean <= k`.
pub(crate) fn poisson_at_least(k: u64, mean: f64) -> f64 {
    let ratios = (k + 1..).map(|i| mean / i as f64);
    poisson(k, mean) * falling_sum(ratios)
}

/// P(X <= k) below the mean: downwards from k.
fn binomial_down(k: u64, n: u64, p: f64) -> f64 {
    let odds = p / (1.0 - p);
    let ratios = (1..=k).rev().map(|i| i as f64 / ((n - i + 1) as f64 * odds));
    binomial(k, n, p) * falling_sum(ratios)
}

/// P(X >= k) above the mean: upwards from k.
fn binomial_up(k: u64, n: u64, p: f64) -> f64 {
    let odds = p / (1.0 - p);
    let ratios = (k..n).map(|i| (n - i) as f64 * odds / (i + 1) as f64);
    binomial(k, n, p) * falling_sum(ratios)
}

/// 1 + r1 + r1*r2 + …, until the terms no longer matter.
fn falling_sum(ratios: impl Iterator<Item = f64>) -> f64 {
    let (mut sum, mut term) = (1.0, 1.0);
    for ratio in ratios {
        term *= ratio;
        sum += term;
        // The ratios fall from term to term, so the rest is less than a geometric series.
        if ratio < 1.0 && term * ratio < sum * (1.0 - ratio) * f64::EPSILON {
            break;
        }
    }
    sum
}

/// P(X = k) of `n` trials with probability `p`.
fn binomial(k: u64, n: u64, p: f64) -> f64 {
    let (successes, trials) = (k as f64, n as f64);
    if k == 0 {
        return (trials * (-p).ln_1p()).exp();
    }
    if k == n {
        return (trials * p.ln()).exp();
    }
    let failures = (n - k) as f64;
    let exponent = stirling_error(n)
        - stirling_error(k)
        - stirling_error(n - k)
        - deviance(successes, trials * p)
        - deviance(failures, trials * (1.0 - p));
    exponent.exp() * (trials / (TAU * successes * failures)).sqrt()
}

/// P(X = k) of a Poisson variable with the given mean; `k > 0`.
fn poisson(k: u64, mean: f64) -> f64 {
    let x = k as f64;
    (-stirling_error(k) - deviance(x, mean)).exp() / (TAU * x).sqrt()
}

/// ln(n!) minus Stirling's formula `ln(sqrt(2 pi n) (n/e)^n)`; `n > 0`.
fn stirling_error(n: u64) -> f64 {
    let x = n as f64;
    if n < 16 {
        let factorial: f64 = (1..=n).map(|i| i as f64).product();
        return factorial.ln() - ((x + 0.5) * x.ln() - x + 0.5 * TAU.ln());
    }
    let inverse_square = 1.0 / (x * x);
    let series = 1.0 / 1680.0 - inverse_square / 1188.0;
    let series = 1.0 / 1260.0 - inverse_square * series;
    let series = 1.0 / 360.0 - inverse_square * series;
    (1.0 / 12.0 - inverse_square * series) / x
}

/// `x ln(x/m) + m - x`, without cancellation if x is near m.
fn deviance(x: f64, m: f64) -> f64 {
    let v = (x - m) / (x + m);
    if v.abs() >= 0.1 {
        return x * (x / m).ln() + m - x;
    }
    let mut sum = (x - m) * v;
    let mut power = 2.0 * x * v;
    for odd in (3..).step_by(2) {
        power *= v * v;
        let next = sum + power / f64::from(odd);
        if next == sum {
            break;
        }
        sum = next;
    }
    sum
}
