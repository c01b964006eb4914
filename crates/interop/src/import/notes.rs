//! Notes about reconstructed and unknown values: the events of an imported run.

use super::Source;
use super::check::lasted_ns;
use super::threads::Rebuilt;
use crate::cyclictest::Bucket;
use model::{Event, EventKind, SeriesId};
use units::{Ns, format_ns};

/// Share of the time from start to end below which the run was either not measured all the time, or the interval is wrong.
const WHOLE_PART: f64 = 0.9;

/// Describes a file and the gaps of its format.
pub(super) fn of_file(source: &Source, threads: &[Rebuilt<'_>], at_ns: u64) -> Event {
    let measurement = &source.measurement;
    let unit = match measurement.bucket {
        Bucket::Microsecond => "microseconds",
        Bucket::Nanosecond => "nanoseconds",
    };
    let count = threads.len();
    let threads = if count == 1 { "thread" } else { "threads" };
    let mut text = format!(
        "imported from {}: cyclictest, {count} {threads}; samples in whole {unit}, each counted as the largest \
         latency that it can be; skipped periods are rebuilt from histogram and interval. Such a file does not say \
         when the samples were taken, nor does it describe load, idle states, page faults or throttling",
        source.file
    );
    if measurement.started_ns.is_none() {
        text.push_str(". It has no date: the run starts with the import");
    }
    if measurement.stopped {
        text.push_str(". cyclictest stopped at its first sample above its own limit (-b)");
    }
    Event {
        at_ns,
        since_ns: None,
        kind: if measurement.stopped {
            EventKind::Interrupted
        } else {
            EventKind::Note
        },
        series: None,
        text,
    }
}

/// Notes about the assumptions for one thread.
pub(super) fn of_thread(source: &Source, rebuilt: &Rebuilt<'_>, series: SeriesId, at_ns: u64) -> Vec<Event> {
    [
        unknown(source, rebuilt),
        no_samples(rebuilt),
        ordinary(rebuilt),
        short(source, rebuilt),
    ]
    .into_iter()
    .flatten()
    .map(|text| Event {
        at_ns,
        since_ns: None,
        kind: EventKind::Note,
        series: Some(series),
        text,
    })
    .collect()
}

/// The note that the number of samples over the threshold is unknown.
pub(super) fn untold(threshold_ns: u64, series: SeriesId, at_ns: u64) -> Event {
    let threshold = Ns(threshold_ns);
    Event {
        at_ns,
        since_ns: None,
        kind: EventKind::Note,
        series: Some(series),
        text: format!(
            "the number of samples over {threshold} is not known: some samples of the file may be on either side, in its bucket or \
             in none. They are not counted as overflow"
        ),
    }
}

/// The note about samples that are in no bucket.
fn unknown(source: &Source, rebuilt: &Rebuilt<'_>) -> Option<String> {
    let measurement = &source.measurement;
    let (unknown, max) = (rebuilt.unknown, rebuilt.thread.max?);
    if unknown == 0 {
        return None;
    }
    let from = measurement.least_overflow(rebuilt.thread);
    let ns = |k: u64| Ns(k.saturating_mul(measurement.bucket.ns())).to_string();
    let mut text = if rebuilt.thread.buckets.is_empty() {
        format!(
            "the file has no histogram: each of {} samples counts as the largest, so quantiles and their bounds are \
             no better than the maximum",
            rebuilt.thread.cycles
        )
    } else {
        format!(
            "{unknown} samples beyond the histogram, between {} and {}: each counts as clipped, and as the largest",
            ns(from),
            ns(max)
        )
    };
    if rebuilt.missed_at_most > rebuilt.missed {
        text.push_str(&format!(
            "; the periods they skipped are not known: {} are certain, {} possible",
            rebuilt.missed, rebuilt.missed_at_most
        ));
    }
    Some(text)
}

fn no_samples(rebuilt: &Rebuilt<'_>) -> Option<String> {
    (rebuilt.thread.cycles == 0).then(|| "the thread took no sample".to_owned())
}

fn ordinary(rebuilt: &Rebuilt<'_>) -> Option<String> {
    let text = "priority 0 (P: 0): this was an ordinary thread, and it waited for every real-time one; a relay has a real-time priority, which -p \
                gives to cyclictest";
    (rebuilt.thread.priority == Some(0)).then(|| text.to_owned())
}

/// The note about activations that do not fill the time between start and end.
fn short(source: &Source, rebuilt: &Rebuilt<'_>) -> Option<String> {
    let lasted_ns = lasted_ns(source)?;
    // Start and end are in whole seconds.
    let at_least = (lasted_ns as f64 - 2e9) * WHOLE_PART;
    let (duration, most) = (
        rebuilt.duration_ns() as f64,
        rebuilt.thread.cycles.saturating_add(rebuilt.missed_at_most) as f64 * rebuilt.interval_ns as f64,
    );
    (most < at_least).then(|| {
        format!(
            "its activations take {}, but the file says that all took {}: the interval of {} may be too short",
            format_ns(duration),
            Ns(lasted_ns),
            Ns(rebuilt.interval_ns)
        )
    })
}
