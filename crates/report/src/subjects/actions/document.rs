//! Actions of a plan, in the result document.

use super::cost::{Cost, Row, Span, Worst, rows};
use crate::document::seconds;
use model::RunView;
use serde::Serialize;

#[derive(Debug, Clone, Serialize)]
pub(super) struct ActionEntry {
    name: String,
    step: u64,
    number: u64,
    part: &'static str,
    command: String,
    /// Seconds since the start of the run, as all instants here.
    due_s: Option<f64>,
    began_s: Option<f64>,
    ended_s: Option<f64>,
    settle_s: f64,
    end: &'static str,
    status: Option<i32>,
    said: String,
    shots: ShotsEntry,
    /// Begin and end of the spans; null for a command that did not begin.
    spans: Option<SpansEntry>,
    costs: Vec<CostEntry>,
}

#[derive(Debug, Clone, Serialize)]
struct ShotsEntry {
    played: u64,
    failed: u64,
    not_counted: u64,
}

#[derive(Debug, Clone, Serialize)]
struct SpansEntry {
    before_s: [f64; 2],
    under_s: [f64; 2],
    after_s: [f64; 2],
    /// True if a window is longer than the span under the action.
    is_coarse: bool,
}

#[derive(Debug, Clone, Serialize)]
struct CostEntry {
    kind: &'static str,
    before: WorstEntry,
    under: WorstEntry,
    after: WorstEntry,
}

/// In ns; equal if the value is exact, null without samples.
#[derive(Debug, Clone, Serialize)]
struct WorstEntry {
    worst: Option<i64>,
    at_most: Option<i64>,
}

impl From<Worst> for WorstEntry {
    fn from(worst: Worst) -> Self {
        Self {
            worst: worst.known_ns,
            at_most: worst.at_most_ns,
        }
    }
}

/// Every execution of the run, in order of time.
pub(super) fn actions(run: &RunView) -> Vec<ActionEntry> {
    rows(run).into_iter().map(entry).collect()
}

fn entry(row: Row<'_>) -> ActionEntry {
    let action = row.action;
    ActionEntry {
        name: action.name.clone(),
        step: action.step,
        number: action.number,
        part: action.part.word(),
        command: action.line.clone(),
        due_s: action.due_ns.map(seconds),
        began_s: action.began_ns.map(seconds),
        ended_s: action.ended_ns.map(seconds),
        settle_s: seconds(action.settle_ns),
        end: action.end.word(),
        status: action.end.status(),
        said: action.said.clone(),
        shots: ShotsEntry {
            played: row.shots.played,
            failed: row.shots.failed,
            not_counted: row.shots.not_counted,
        },
        spans: row.spans.map(|spans| {
            let both = |span: Span| [span.from_ns, span.to_ns].map(seconds);
            let [before_s, under_s, after_s] = spans.map(both);
            SpansEntry {
                before_s,
                under_s,
                after_s,
                is_coarse: row.is_coarse,
            }
        }),
        costs: row.costs.into_iter().map(cost).collect(),
    }
}

fn cost(cost: Cost) -> CostEntry {
    let [before, under, after] = cost.worst.map(WorstEntry::from);
    CostEntry {
        kind: cost.kind.name,
        before,
        under,
        after,
    }
}
