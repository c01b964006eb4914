//! Limits whose verdict differs between two runs.

use crate::comparison::Comparison;
use crate::screen::limits::{Row, State, tally};

/// A limit with another verdict than in the first run.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct LimitChange {
    /// The run that differs.
    pub(crate) run: usize,
    pub(crate) id: String,
    /// Verdict, worst figure and limit, in the first run and in this one.
    pub(crate) a: (State, String, String),
    pub(crate) b: (State, String, String),
    /// Reason why it is undecided in one of the runs; may be empty.
    pub(crate) why: String,
}

/// All such limits, by run. A limit that did not apply to one of the runs is not a change.
pub(super) fn changes(comparison: &Comparison) -> Vec<LimitChange> {
    let mut all = Vec::new();
    let Some(first) = comparison.limits.first() else {
        return all;
    };
    for (run, rows) in comparison.limits.iter().enumerate().skip(1) {
        for row in rows {
            let before = first
                .iter()
                .find(|other| other.id == row.id && other.state != row.state);
            all.extend(before.map(|before| {
                LimitChange {
                    run,
                    id: row.id.clone(),
                    a: of(before),
                    b: of(row),
                    why: [row, before]
                        .into_iter()
                        .find(|row| row.state == State::Undecided)
                        .map_or_else(String::new, |row| row.why.clone()),
                }
            }));
        }
    }
    all
}

fn of(row: &Row) -> (State, String, String) {
    (row.state, row.worst.clone(), row.allowed.clone())
}

/// The sentence about these limits; `None` if no run is judged.
pub(super) fn text(comparison: &Comparison, changes: &[LimitChange]) -> Option<String> {
    let named = comparison.runs.iter().zip(&comparison.limits);
    let judged: Vec<(&str, &Vec<Row>)> = named
        .filter(|(_, rows)| !rows.is_empty())
        .map(|((name, _), rows)| (name.as_str(), rows))
        .collect();
    let (first, rows) = judged.first()?;
    if judged.len() < comparison.runs.len() {
        let names: Vec<&str> = judged.iter().map(|(name, _)| *name).collect();
        return Some(format!("only {} was judged by limits", names.join(", ")));
    }
    if changes.is_empty() {
        return Some(format!("no verdict changed; {first}: {}", tally(rows)));
    }
    let change = |one: &LimitChange| {
        let name = match comparison.runs.len() {
            2 => String::new(),
            _ => format!("{}: ", comparison.runs[one.run].0),
        };
        let why = match &one.why[..] {
            "" => String::new(),
            why => format!(", undecided for this: {why}"),
        };
        format!("{name}{} {} → {}{why}", one.id, side(&one.a, one), side(&one.b, one))
    };
    Some(changes.iter().map(change).collect::<Vec<_>>().join("; "))
}

/// Text such as `within (82.0 µs)`; with the limit, if it differs between the runs.
fn side((state, worst, allowed): &(State, String, String), change: &LimitChange) -> String {
    let of = match change.a.2 == change.b.2 {
        true => String::new(),
        false => format!(" of {allowed}"),
    };
    match state {
        State::NotMeasured => state.word().to_owned(),
        _ => format!("{} ({worst}{of})", state.word()),
    }
}
