//! Late samples of all series, grouped in time, in the result document.

use super::Stall;
use crate::Report;
use crate::document::seconds;
use serde::Serialize;

/// Number of stalls in the document; the longest are listed.
const STALLS: usize = 100;

/// A stall, with durations in ns and instants in s since the run's start.
#[derive(Debug, Clone, Serialize)]
pub(super) struct StallEntry {
    from_s: f64,
    to_s: f64,
    samples: u64,
    longest: u64,
    series: String,
    in_series: usize,
    cpus: Vec<u32>,
    cause: Option<&'static str>,
    explanation: Option<String>,
    sender_late: Option<u64>,
    events: Vec<usize>,
    text: String,
}

/// The longest stalls; the document also states the number found.
pub(super) fn stalls(report: &Report) -> Vec<StallEntry> {
    let listed = report.stalls.iter().take(STALLS);
    listed.map(|stall| StallEntry::of(report, stall)).collect()
}

impl StallEntry {
    fn of(report: &Report, stall: &Stall) -> Self {
        let explanation = stall.explanation.as_ref();
        Self {
            from_s: seconds(stall.from_ns),
            to_s: seconds(stall.to_ns),
            samples: stall.samples,
            longest: stall.longest_ns,
            series: stall.series.clone(),
            in_series: stall.in_series,
            cpus: stall.cpus.clone(),
            cause: explanation.map(|why| why.cause.word()),
            explanation: explanation.map(|why| why.text.clone()),
            sender_late: stall.sender_ns,
            events: stall.events.clone(),
            text: format!("{}: {}", stall.size(), stall.why(&report.run)),
        }
    }
}
