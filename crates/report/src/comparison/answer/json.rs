//! The answer in the document of a comparison.

use super::{Amount, AnswerScreen};
use crate::comparison::Comparison;
use crate::screen::limits::State;
use crate::section::{Fields, Section};
use serde_json::{Value, json};
use std::io;

/// The answer; it has a separate screen and is in the head of the page.
pub(crate) struct AnswerSection;

impl Section<Comparison> for AnswerSection {
    fn json(&self, comparison: &Comparison, fields: &mut Fields<'_, '_>) -> io::Result<()> {
        fields.field("answer", entry(comparison))
    }
}

fn entry(comparison: &Comparison) -> Value {
    let answer = AnswerScreen::of(comparison);
    let name = |run: usize| comparison.runs[run].0.clone();
    let side = |(state, worst, allowed): &(State, String, String)| json!({"state": state.word(), "worst": worst, "allowed": allowed});
    json!({
        "sentences": answer.sentences,
        "limits": answer.limits.iter().map(|one| json!({
            "run": name(one.run), "limit": one.id, "of": side(&one.a), "and": side(&one.b),
        })).collect::<Vec<_>>(),
        "set_up": answer.differs,
        "changes": answer.changes.iter().map(|one| json!({
            "of": name(one.runs.0), "and": name(one.runs.1), "series": one.series, "kind": one.family,
            "figure": one.figure, "unit": match one.a { Amount::Ns(_) => "ns", Amount::Times(_) => "count" },
            "a": one.a.number(), "b": one.b.number(), "times": one.times.is_finite().then_some(one.times),
            "sure": one.sure.word(), "worse": one.is_worse, "like_with_like": !one.is_unfair, "others": one.others,
        })).collect::<Vec<_>>(),
    })
}
