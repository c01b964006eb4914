//! Compares a series' totals with its histogram and its worst samples.

use super::{Findings, Precision};
use crate::text::{count, plural};
use model::SeriesView;
use stats::{Bucket, Histogram};
use units::format_ns;

pub(super) fn look(series: &SeriesView, precision: Precision, found: &mut Findings) {
    number(series, precision, found);
    extremes(series, precision, found);
    clipped(series, found);
    overflow(series, precision, found);
    spikes(series, found);
    if precision == Precision::Exact {
        sum(series, found);
    }
}

/// Each received sample must be in the histogram once. Imported samples may be missing.
fn number(series: &SeriesView, precision: Precision, found: &mut Findings) {
    let (held, received) = (series.histogram.count(), series.counters.received);
    if held > received || (held < received && precision != Precision::Imported) {
        found.add("number", || {
            format!(
                "its histogram holds {}, and {} were received",
                plural(held, "sample"),
                count(received)
            )
        });
    }
}

/// The value as a histogram stores it: from 1 ns to 60 s.
fn kept(ns: i64) -> u64 {
    u64::try_from(ns)
        .unwrap_or(0)
        .clamp(Histogram::LOWEST_NS, Histogram::HIGHEST_NS)
}

fn ends(histogram: &Histogram) -> Option<(Bucket, Bucket)> {
    let mut buckets = histogram.buckets();
    let first = buckets.next()?;
    Some((first, buckets.last().unwrap_or(first)))
}

fn ns(value: impl Into<i128>) -> String {
    format_ns(value.into() as f64)
}

fn extremes(series: &SeriesView, precision: Precision, found: &mut Findings) {
    let Some((first, last)) = ends(&series.histogram) else {
        return;
    };
    let (Some(min), Some(max)) = (series.min_ns, series.max_ns) else {
        found.add("no extremes", || {
            format!(
                "its histogram holds {}, but the smallest or the largest sample is missing",
                plural(series.histogram.count(), "sample")
            )
        });
        return;
    };
    if last.low_ns > kept(max) {
        let (max, over, from) = (ns(max), plural(last.count, "sample"), ns(last.low_ns));
        found.add("max below", || {
            format!("its largest sample is {max}, and its histogram holds {over} of {from} or more")
        });
    }
    // In an imported file, the largest sample may be known although its bucket is not.
    if last.high_ns < kept(max) && precision != Precision::Imported {
        let (max, to) = (ns(max), ns(last.high_ns));
        found.add("max above", || {
            format!("its largest sample is {max}, and its histogram holds none over {to}")
        });
    }
    if first.high_ns < kept(min) {
        let (min, under, to) = (ns(min), plural(first.count, "sample"), ns(first.high_ns));
        found.add("min above", || {
            format!("its smallest sample is {min}, and its histogram holds {under} of {to} or less")
        });
    }
    if first.low_ns > kept(min) && precision == Precision::Exact {
        let (min, from) = (ns(min), ns(first.low_ns));
        found.add("min below", || {
            format!("its smallest sample is {min}, and its histogram holds none under {from}")
        });
    }
}

/// Samples beyond the histogram must be counted as clipped.
fn clipped(series: &SeriesView, found: &mut Findings) {
    let highest = i64::try_from(Histogram::HIGHEST_NS).unwrap_or(i64::MAX);
    let beyond = [
        series.min_ns.filter(|min| *min < 0),
        series.max_ns.filter(|max| *max > highest),
    ];
    if series.counters.clipped > 0 {
        return;
    }
    for value in beyond.into_iter().flatten() {
        found.add("clipped", || {
            format!(
                "it has a sample of {}, and none is counted as outside the histogram's range",
                ns(value)
            )
        });
    }
}

/// Compares the number of samples over the threshold with the histogram's buckets above and below it.
fn overflow(series: &SeriesView, precision: Precision, found: &mut Findings) {
    let Some(threshold) = series.spec.threshold_ns else {
        return;
    };
    let counted = series.counters.overflow;
    let over = |is_over: &dyn Fn(&Bucket) -> bool| -> u64 {
        let buckets = series.histogram.buckets().filter(is_over);
        buckets.map(|bucket| bucket.count).sum()
    };
    let certain = over(&|bucket| bucket.low_ns > threshold);
    let possible = over(&|bucket| bucket.high_ns > threshold);
    if (counted < certain && precision == Precision::Exact) || counted > possible {
        let held = match counted > possible {
            true => possible,
            false => certain,
        };
        found.add("overflow", || {
            format!(
                "{} over its threshold of {} are counted, and its histogram holds {}",
                plural(counted, "sample"),
                ns(threshold),
                count(held)
            )
        });
    }
}

fn spikes(series: &SeriesView, found: &mut Findings) {
    let Some(max) = series.max_ns else { return };
    for spike in series.spikes.iter().filter(|spike| spike.value_ns > max) {
        found.add("spike", || {
            format!(
                "its largest sample is {}, and one of {} at {} is kept",
                ns(max),
                ns(spike.value_ns),
                ns(spike.at_ns)
            )
        });
    }
}

/// Compares the sum of the samples with the range that the histogram's buckets allow.
fn sum(series: &SeriesView, found: &mut Findings) {
    if series.counters.clipped > 0 {
        return;
    }
    let (mut least, mut most) = (0i128, 0i128);
    for bucket in series.histogram.buckets() {
        // The histogram stores 0 as 1 ns.
        let low = if bucket.low_ns <= 1 { 0 } else { bucket.low_ns };
        least += i128::from(low) * i128::from(bucket.count);
        most += i128::from(bucket.high_ns) * i128::from(bucket.count);
    }
    if !(least..=most).contains(&series.sum_ns) {
        let samples = series.histogram.count().max(1) as f64;
        let mean = |sum: i128| format_ns(sum as f64 / samples);
        found.add("sum", || {
            format!(
                "the sum of its samples makes a mean of {}, and its histogram one of {} to {}",
                mean(series.sum_ns),
                mean(least),
                mean(most)
            )
        });
    }
}
