//! Converts a run to the result that cyclictest would have measured.

use crate::cyclictest::{Bucket, CyclictestError, MOST_BUCKETS, Mean, Measurement, System, Thread};
use crate::import::{DOCUMENT, Source};
use model::fact::{HOST_NAME, KERNEL_ARCHITECTURE, KERNEL_RELEASE, KERNEL_VERSION, PREEMPTION};
use model::{Fact, FactOf, SeriesId, SeriesSpec, kind};
use stats::Histogram;
use std::collections::BTreeMap;
use store::{RunFile, SeriesTotals, StoreError};
use units::foreign::{self, Show};

/// Reasons why a run cannot be written in cyclictest's formats.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The run file cannot be read.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// No series of that kind.
    #[error("no wake-up series in the run: cyclictest's forms hold nothing else (triptime wakeup makes them)")]
    NoWakeup,
    /// The run's imported files cannot be written as one.
    #[error("the run was imported from several files: {0}; import and export them one by one")]
    Several(CyclictestError),
    /// The stored copy of the import cannot be parsed.
    #[error("the copy of the imported files in the run is damaged: {0}")]
    Damaged(String),
}

/// The wake-up series of a run, with each as one thread.
///
/// An imported run is exported unchanged, bucket by bucket. For a measured run, the counts are those of its histogram, whose buckets start at the
/// same values as cyclictest's up to three digits: a sample counts in the microsecond in which its histogram bucket starts, so below 1.048 ms it is
/// at most 1 us too low, and above at most 0.1 %. The extremes and the mean are exact, and the largest and the smallest sample are in their own
/// buckets.
///
/// # Errors
/// The run cannot be read or has no wake-up series.
pub fn measurement(run: &RunFile) -> Result<Measurement, RunError> {
    if let Some(text) = run.document(DOCUMENT)? {
        return imported(&text);
    }
    let mut threads = Vec::new();
    for (id, spec) in run.series()? {
        if spec.kind == Some(&kind::WAKEUP) {
            threads.push(thread(run, threads.len(), id, &spec)?);
        }
    }
    if threads.is_empty() {
        return Err(RunError::NoWakeup);
    }
    let info = run.info();
    let started_ns = info.started.as_ns();
    let lasted_ns = i64::try_from(run.duration_ns()).unwrap_or(i64::MAX);
    let beyond_the_last = |thread: &Thread| thread.buckets.last().map_or(0, |(k, _)| k + 1);
    Ok(Measurement {
        bucket: Bucket::Microsecond,
        range: threads.iter().map(beyond_the_last).max(),
        command_line: Some(command_line(&info.arguments)),
        version: None,
        started_ns: Some(started_ns),
        ended_ns: Some(started_ns.saturating_add(lasted_ns)),
        system: Some(system(&run.facts()?)),
        stopped: false,
        threads,
    })
}

/// Reads the imported measurement; several files are combined.
fn imported(text: &str) -> Result<Measurement, RunError> {
    let sources: Vec<Source> = serde_json::from_str(text).map_err(|error| RunError::Damaged(error.to_string()))?;
    let mut measurements = sources.into_iter().map(|source| source.measurement);
    let mut all = measurements.next().ok_or(RunError::NoWakeup)?;
    for later in measurements {
        all.add(&later).map_err(RunError::Several)?;
    }
    Ok(all)
}

/// The command line for display in other programs.
fn command_line(arguments: &[String]) -> String {
    let words = ["triptime"].into_iter().chain(arguments.iter().map(String::as_str));
    foreign::shown(&words.collect::<Vec<_>>().join(" ")).into_owned()
}

fn thread(run: &RunFile, number: usize, id: SeriesId, spec: &SeriesSpec) -> Result<Thread, StoreError> {
    let totals = run.totals(id)?;
    let mut histogram = run.histogram(id)?;
    let unsigned = |ns: Option<i64>| ns.map(|ns| u64::try_from(ns).unwrap_or(0));
    let (min, max) = (unsigned(totals.min_ns), unsigned(totals.max_ns));
    if let (Some(min), Some(max)) = (min, max) {
        histogram = histogram.with_extremes(min, max);
    }
    let unit = Bucket::Microsecond;
    Ok(Thread {
        number: u32::try_from(number).unwrap_or(u32::MAX),
        cpu: cpu(&spec.name),
        cycles: histogram.count(),
        min: min.map(|ns| unit.of_ns(ns)),
        max: max.map(|ns| unit.of_ns(ns)),
        mean: mean(&totals),
        buckets: buckets(&histogram),
        interval_ns: spec.interval_ns.filter(|ns| *ns >= 1.0).map(|ns| ns.round() as u64),
        priority: None,
    })
}

fn mean(totals: &SeriesTotals) -> Option<Mean> {
    totals.mean_ns().map(|ns| Mean {
        value: ns / Bucket::Microsecond.ns() as f64,
        resolution: 0.0,
    })
}

/// The counts by microsecond, up to cyclictest's largest bucket.
fn buckets(histogram: &Histogram) -> Vec<(u64, u64)> {
    let unit = Bucket::Microsecond;
    let (Some(min), Some(max)) = (histogram.min(), histogram.max()) else {
        return Vec::new();
    };
    let mut counts: BTreeMap<u64, u64> = BTreeMap::new();
    let mut add = |ns: u64, count: u64| *counts.entry(unit.of_ns(ns)).or_default() += count;
    for bucket in histogram.buckets() {
        let holds_the_largest = bucket.low_ns <= max && max <= bucket.high_ns;
        let largest = u64::from(holds_the_largest);
        add(bucket.low_ns.max(min), bucket.count - largest);
        add(max, largest);
    }
    let kept = counts.into_iter().filter(|(_, count)| *count > 0);
    kept.take_while(|(k, _)| *k < MOST_BUCKETS).collect()
}

/// The CPU in the name of a series.
fn cpu(name: &str) -> Option<u32> {
    name.strip_prefix("wakeup/cpu")?.parse().ok()
}

/// Reads the names of `uname` from the inventory. A missing name is an empty text.
fn system(facts: &[Fact]) -> System {
    let fact = |of: &FactOf<String>| of.of(facts).unwrap_or_default().shown();
    System {
        sysname: "Linux".into(),
        nodename: fact(&HOST_NAME),
        release: fact(&KERNEL_RELEASE),
        version: fact(&KERNEL_VERSION),
        machine: fact(&KERNEL_ARCHITECTURE),
        realtime: i64::from(fact(&PREEMPTION) == "PREEMPT_RT"),
    }
}
