//! Changes of the machine, in the result document.

use super::drift::{Drift, drift};
use super::sample::MARGIN_NS;
use super::{Row, Sample, rows};
use crate::Report;
use crate::document::seconds;
use crate::text::rfc3339;
use model::ChangeWatch;
use serde::Serialize;
use units::Realtime;

/// Number of changes in the document.
const ENTRIES: usize = 1_000;

/// The changes of a run, and the watches for them. Without a watch, an empty list says nothing.
#[derive(Debug, Serialize)]
pub(super) struct ChangesEntry {
    watched: bool,
    watches: Vec<WatchEntry>,
    found: usize,
    margin_s: f64,
    list: Vec<ChangeEntry>,
    /// `None` if the facts were not read a second time.
    drift: Option<Vec<DriftEntry>>,
}

/// A fact that was different at the end.
#[derive(Debug, Serialize)]
struct DriftEntry {
    group: String,
    name: String,
    before: Option<String>,
    after: Option<String>,
    before_unknown_because: Option<String>,
    after_unknown_because: Option<String>,
}

/// A watch, with instants in s since the run's start.
#[derive(Debug, Serialize)]
struct WatchEntry {
    place: Option<String>,
    from_s: f64,
    to_s: f64,
    looks: u64,
    longest_gap_s: f64,
    cpu_s: f64,
    not_stored: u64,
    not_watched: Vec<String>,
    audited_s: Option<f64>,
}

#[derive(Debug, Serialize)]
struct ChangeEntry {
    at: String,
    since_s: f64,
    at_s: f64,
    subject: &'static str,
    name: String,
    before: Option<String>,
    after: Option<String>,
    who: Option<String>,
    cpus: Option<String>,
    place: Option<String>,
    sample: Option<SampleEntry>,
}

/// The worst sample at the time of a change, in ns.
#[derive(Debug, Serialize)]
struct SampleEntry {
    series: String,
    at_s: f64,
    value: u64,
    cpu: Option<u32>,
    limit: Option<u64>,
    over_limit: u64,
    otherwise_max: Option<u64>,
}

pub(super) fn changes(report: &Report) -> ChangesEntry {
    let rows = rows(report);
    let watches: Vec<WatchEntry> = report.run.watches.iter().map(watch).collect();
    ChangesEntry {
        watched: !watches.is_empty(),
        watches,
        found: rows.len(),
        margin_s: seconds(MARGIN_NS),
        list: rows.iter().take(ENTRIES).map(|row| entry(report, row)).collect(),
        drift: report
            .run
            .watches
            .iter()
            .any(|watch| watch.audited_ns.is_some())
            .then(|| drift(report).iter().map(drift_entry).collect()),
    }
}

fn drift_entry(drift: &Drift<'_>) -> DriftEntry {
    let before_why = match drift.before {
        Some(before) => before.as_ref().err().cloned(),
        None => Some("not read at the beginning".to_owned()),
    };
    DriftEntry {
        group: drift.group.to_owned(),
        name: drift.name.to_owned(),
        before: drift.before.and_then(|before| before.as_ref().ok().cloned()),
        after: drift.after.as_ref().ok().cloned(),
        before_unknown_because: before_why,
        after_unknown_because: drift.after.as_ref().err().cloned(),
    }
}

fn watch(watch: &ChangeWatch) -> WatchEntry {
    WatchEntry {
        place: watch.place.clone(),
        from_s: seconds(watch.from_ns),
        to_s: seconds(watch.to_ns),
        looks: watch.looks,
        longest_gap_s: seconds(watch.longest_ns),
        cpu_s: seconds(watch.cpu_ns),
        not_stored: watch.dropped,
        not_watched: watch.unread.clone(),
        audited_s: watch.audited_ns.map(seconds),
    }
}

fn entry(report: &Report, row: &Row<'_>) -> ChangeEntry {
    let change = row.change;
    let after_ns = i64::try_from(change.at_ns).unwrap_or(i64::MAX);
    let started_ns = report.run.info.started.as_ns();
    ChangeEntry {
        at: rfc3339(Realtime::from_ns(started_ns.saturating_add(after_ns))),
        since_s: seconds(change.since_ns),
        at_s: seconds(change.at_ns),
        subject: change.subject.word(),
        name: change.name.clone(),
        before: change.before.clone(),
        after: change.after.clone(),
        who: row.who.clone(),
        cpus: change.cpus.as_ref().map(ToString::to_string),
        place: change.place.clone(),
        sample: row.sample.as_ref().map(sample),
    }
}

fn sample(sample: &Sample) -> SampleEntry {
    SampleEntry {
        series: sample.series.clone(),
        at_s: seconds(sample.at_ns),
        value: sample.value_ns,
        cpu: sample.cpu,
        limit: sample.limit_ns,
        over_limit: sample.over,
        otherwise_max: sample.elsewhere_ns,
    }
}
