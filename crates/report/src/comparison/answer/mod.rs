//! The answer of a comparison: a sentence, limits that changed their verdict, what was set up otherwise, and the largest changes.

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
    /// Limits whose verdict is not the same.
    pub(super) limits: Vec<LimitChange>,
    /// The sentence about the limits.
    pub(super) of_limits: Option<String>,
    /// Differences in the set-up, the most decisive first.
    pub(super) differs: Vec<String>,
    /// The largest changes, the surest first.
    pub(super) changes: Vec<Change>,
}

impl AnswerScreen {
    /// Of a comparison whose foreign texts are safe to show.
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
