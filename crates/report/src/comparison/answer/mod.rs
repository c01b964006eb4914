//! The answer of a comparison: one sentence, limits whose verdict changed, differences in the set-up, and the largest
//! changes.

mod changes;
mod differs;
mod json;
mod limits;
mod sentence;
#[cfg(test)]
mod tests;
mod text;

use super::Comparison;
use changes::{Amount, Change, Sure};
pub(super) use json::AnswerSection;
use limits::LimitChange;

/// The contents of the screen.
#[derive(Debug)]
pub(super) struct AnswerScreen {
    /// One for each run after the first.
    pub(super) sentences: Vec<String>,
    /// Limits whose verdict differs.
    pub(super) limits: Vec<LimitChange>,
    /// The sentence about the limits.
    pub(super) of_limits: Option<String>,
    /// Differences in the set-up, most important first.
    pub(super) differs: Vec<String>,
    /// The largest changes, most certain first.
    pub(super) changes: Vec<Change>,
}

impl AnswerScreen {
    /// The answer of a comparison whose foreign texts are already safe to show.
    pub(super) fn of(comparison: &Comparison) -> Self {
        let changes = changes::largest(comparison);
        let limits = limits::changes(comparison);
        Self {
            sentences: (1..comparison.runs.len())
                .map(|run| sentence::sentence(comparison, run, &changes))
                .collect(),
            of_limits: limits::text(comparison, &limits),
            limits,
            differs: differs::differs(comparison),
            changes,
        }
    }
}
