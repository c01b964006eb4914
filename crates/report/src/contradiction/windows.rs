//! Compares the figures of one window with each other.

use super::{Findings, Precision};
use crate::text::{count, plural};
use model::{Counters, SeriesView, WindowRow};
use units::{Ns, SignedNs, format_ns};

/// Relative width of a histogram bucket (three digits): a quantile is the upper edge of its bucket.
const BUCKET_WIDTH: f64 = 1.0 / 1_000.0;

pub(super) fn look(series: &SeriesView, precision: Precision, found: &mut Findings) {
    for window in &series.windows {
        account(window, found);
        over(window, found);
        order(window, found);
        if precision != Precision::Imported {
            number(window, found);
        }
        if precision == Precision::Exact {
            mean(window, found);
        }
    }
}

fn at(window: &WindowRow) -> String {
    format!("in the window at {}", Ns(window.start_ns))
}

/// Every sample received, lost or skipped must have been due.
fn account(window: &WindowRow, found: &mut Findings) {
    let Counters {
        expected,
        received,
        lost,
        missed,
        ..
    } = window.counters;
    let accounted = u128::from(received) + u128::from(lost) + u128::from(missed);
    if accounted > u128::from(expected) {
        let at = at(window);
        let parts = [(received, "received"), (lost, "lost"), (missed, "skipped")];
        let parts = parts.into_iter().filter(|(n, _)| *n > 0);
        let parts: Vec<String> = parts.map(|(n, what)| format!("{} {what}", count(n))).collect();
        found.add("account", || {
            format!("{at} {} were due, and {}", plural(expected, "sample"), parts.join(", "))
        });
    }
}

/// Every sample over the threshold must have been received, even if the threshold is not known.
fn over(window: &WindowRow, found: &mut Findings) {
    let (overflow, received) = (window.counters.overflow, window.counters.received);
    if overflow > received {
        found.add("over", || {
            format!(
                "{} {} over the threshold are counted, and {} were received",
                at(window),
                plural(overflow, "sample"),
                count(received)
            )
        });
    }
}

fn number(window: &WindowRow, found: &mut Findings) {
    let (samples, received) = (window.samples, window.counters.received);
    if samples != received {
        found.add("window's number", || {
            format!(
                "{} there are {}, and {} were received",
                at(window),
                plural(samples, "sample"),
                count(received)
            )
        });
    }
}

/// The smallest sample, the quantiles and the largest sample must be in ascending order.
fn order(window: &WindowRow, found: &mut Findings) {
    if window.end_ns <= window.start_ns && window.samples > 0 {
        found.add("end", || {
            format!(
                "a window begins at {} and ends at {}",
                Ns(window.start_ns),
                Ns(window.end_ns)
            )
        });
    }
    let (Some(min), Some(max)) = (window.min_ns, window.max_ns) else {
        return;
    };
    if min > max {
        found.add("extremes", || {
            format!("{} the smallest is {min} ns, and the largest {max} ns", at(window))
        });
        return;
    }
    // A value below zero is in the histogram as the smallest value it can hold.
    let quantiles = [window.p50_ns, window.p99_ns, window.p999_ns];
    let quantiles: Vec<f64> = quantiles.into_iter().flatten().map(|ns| ns as f64).collect();
    let (low, high) = (min.max(1) as f64, max.max(1) as f64);
    let named = [("smallest", low)].into_iter();
    let named = named.chain(quantiles.into_iter().map(|ns| ("quantile", ns)));
    let named: Vec<(&str, f64)> = named.chain([("largest", high)]).collect();
    for pair in named.windows(2) {
        let [(before, smaller), (after, larger)] = pair else {
            continue;
        };
        if *smaller > larger * (1.0 + BUCKET_WIDTH) + 1.0 {
            found.add("order", || {
                format!(
                    "{} the {before} is {}, and the {after} {}",
                    at(window),
                    format_ns(*smaller),
                    format_ns(*larger)
                )
            });
        }
    }
}

/// The mean must agree with the sum, and be between the extremes.
fn mean(window: &WindowRow, found: &mut Findings) {
    let Some(mean) = window.mean_ns else { return };
    let samples = window.samples.max(1) as f64;
    let of_sum = window.sum_ns as f64 / samples;
    if (mean - of_sum).abs() > 1.0 + of_sum.abs() * 1e-9 {
        found.add("mean", || {
            format!(
                "{} the mean is {}, and that of the sum {}",
                at(window),
                format_ns(mean),
                format_ns(of_sum)
            )
        });
    }
    let (Some(min), Some(max)) = (window.min_ns, window.max_ns) else {
        return;
    };
    let outside = |ns: f64| ns < min as f64 - 1.0 || ns > max as f64 + 1.0;
    if outside(mean) || outside(of_sum) {
        found.add("mean's place", || {
            format!(
                "{} the mean is {}, and the samples are {} to {}",
                at(window),
                format_ns(if outside(mean) { mean } else { of_sum }),
                SignedNs(min),
                SignedNs(max)
            )
        });
    }
}
