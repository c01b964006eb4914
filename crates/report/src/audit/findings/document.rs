//! Findings in the document of an audit.

use crate::audit::row::Row;
use serde::Serialize;

#[derive(Serialize)]
pub(super) struct Finding<'a> {
    id: &'a str,
    group: &'a str,
    title: &'a str,
    outcome: &'static str,
    severity: &'static str,
    wanted: &'a str,
    booted: Option<&'a str>,
    live: &'a str,
    reason: &'a str,
    why: &'a str,
    worth: &'a str,
    how: &'a str,
    change: &'static str,
    risk: &'a str,
    causes: &'a [String],
    sources: &'a [String],
    traps: &'a [String],
    parts: Vec<Part<'a>>,
}

#[derive(Serialize)]
struct Part<'a> {
    name: &'a str,
    outcome: &'static str,
    live: &'a str,
}

pub(super) fn finding(row: &Row) -> Finding<'_> {
    Finding {
        id: &row.id,
        group: row.group,
        title: &row.title,
        outcome: row.outcome.word(),
        severity: row.severity.word(),
        wanted: &row.wanted,
        booted: row.booted.as_deref(),
        live: &row.live,
        reason: &row.reason,
        why: &row.why,
        worth: &row.worth,
        how: &row.how,
        change: row.change,
        risk: &row.risk,
        causes: &row.causes,
        sources: &row.sources,
        traps: &row.traps,
        parts: row
            .parts
            .iter()
            .map(|(name, outcome, live)| Part {
                name,
                outcome: outcome.word(),
                live,
            })
            .collect(),
    }
}
