//! The trip-time budget in the result document.

use super::{Line, State, TRIP_TRANSFER_NS};
use crate::Report;
use crate::verdict::Verdict;
use serde::Serialize;

#[derive(Debug, Clone, Serialize)]
pub(super) struct BudgetEntry {
    lines: Vec<LineEntry>,
    beside: Vec<LineEntry>,
    sum_of_maxima: Option<i64>,
    added: Vec<&'static str>,
    own_lateness: Option<String>,
    covered: usize,
    trip_transfer: u64,
}

#[derive(Debug, Clone, Serialize)]
struct LineEntry {
    line: &'static str,
    what: &'static str,
    measured: bool,
    within: Option<&'static str>,
    max: Option<i64>,
    p999: Option<u64>,
    p999_view: Option<&'static str>,
    worst: Option<String>,
    samples: Option<u64>,
    allowed: Option<u64>,
    verdict: Option<&'static str>,
    note: String,
}

pub(super) fn budget(report: &Report) -> BudgetEntry {
    let budget = &report.budget;
    BudgetEntry {
        lines: budget.lines.iter().map(line).collect(),
        beside: budget.beside.iter().map(line).collect(),
        sum_of_maxima: budget.sum_ns,
        added: budget.added.clone(),
        own_lateness: budget.own.clone(),
        covered: budget.covered,
        trip_transfer: TRIP_TRANSFER_NS,
    }
}

fn line(line: &Line) -> LineEntry {
    let (measured, within) = match &line.state {
        State::Measured(measured) => (Some(measured), None),
        State::Within(other) => (None, Some(*other)),
        State::NotMeasured => (None, None),
    };
    LineEntry {
        line: line.title,
        what: line.what,
        measured: measured.is_some(),
        within,
        max: measured.map(|m| m.max_ns),
        p999: measured.and_then(|m| m.p999_ns),
        p999_view: measured.filter(|m| m.p999_ns.is_some()).map(|m| m.p999_view),
        worst: measured.map(|m| m.worst.clone()),
        samples: measured.map(|m| m.samples),
        allowed: line.allowed_ns,
        verdict: line.verdict.map(Verdict::word),
        note: measured.map(|m| m.note.clone()).unwrap_or_default(),
    }
}
