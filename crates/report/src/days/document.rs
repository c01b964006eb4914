//! Verdicts per day, in the result document.

use super::{Day, LimitDays};
use crate::Report;
use crate::document::seconds;
use serde::Serialize;

#[derive(Debug, Clone, Serialize)]
pub(super) struct DaysEntry {
    profile: String,
    limit: String,
    allowed: u64,
    /// Start of the step in seconds since the start of the run, as all instants here.
    start_s: f64,
    within: usize,
    of: usize,
    days: Vec<DayEntry>,
}

#[derive(Debug, Clone, Serialize)]
struct DayEntry {
    day: u64,
    from_s: f64,
    to_s: f64,
    verdict: &'static str,
    series: String,
    measured: Option<f64>,
    why: String,
}

/// The days of every limit of the run.
pub(super) fn days(report: &Report) -> Vec<DaysEntry> {
    report.days.iter().map(entry).collect()
}

fn entry(days: &LimitDays) -> DaysEntry {
    DaysEntry {
        profile: days.profile.clone(),
        limit: days.limit.id.clone(),
        allowed: days.limit.allowed,
        start_s: seconds(days.start_ns),
        within: days.within(),
        of: days.days.len(),
        days: days.days.iter().map(day).collect(),
    }
}

fn day(day: &Day) -> DayEntry {
    DayEntry {
        day: day.number,
        from_s: seconds(day.span_ns.0),
        to_s: seconds(day.span_ns.1),
        verdict: day.verdict.word(),
        series: day.series.clone(),
        measured: day.measured,
        why: day.why.clone(),
    }
}
