//! The answer to the central question of triptime, if trips were timed.

use crate::text::plural;
use crate::verdict::{Judgement, Verdict};
use model::kind::Kind;
use model::{RunView, kind};
use units::SignedNs;

/// The relay's answers to the planted faults of a test set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TripAnswer {
    /// One sentence without a verdict.
    pub text: String,
    /// The verdict over all limits on trips and on signals that must not trip; `None` if there are no such limits.
    pub verdict: Option<Verdict>,
}

impl TripAnswer {
    /// The answer of a run; `None` if no trip was requested.
    pub fn of(run: &RunView, judgement: &Judgement) -> Option<Self> {
        let of_kind = |wanted: &'static Kind| run.series.iter().filter(move |series| series.is(wanted));
        let both = || of_kind(&kind::TRIP).chain(of_kind(&kind::SECURITY));
        let told = || of_kind(&kind::PHASE).chain(of_kind(&kind::ZONE));
        let trips: u64 = of_kind(&kind::TRIP).map(|series| series.counters.received).sum();
        let shots: u64 = of_kind(&kind::TRIP).map(|series| series.counters.expected).sum();
        let unwanted: u64 = both().map(|series| series.counters.unwanted).sum();
        let after = of_kind(&kind::TRIP).filter_map(|series| series.max_ns).max();
        let after = after.map_or_else(String::new, |ns| format!(", after {} at most", SignedNs(ns)));
        let wrong = told().map(|series| series.counters.wrong).sum();
        let is_of_them = |name: &str| both().chain(told()).any(|series| series.spec.name == name);
        let checks = judgement.checks.iter().filter(|check| is_of_them(&check.series));
        let verdicts: Vec<Verdict> = checks.map(|check| check.verdict).collect();
        let came = match shots {
            0 => "no shot counts".to_owned(),
            _ => format!("the trip came in {trips} of {shots} shots that count{after}"),
        };
        of_kind(&kind::TRIP).next().map(|_| Self {
            text: format!(
                "{came}; {}{}",
                plural(unwanted, "false trip"),
                wrongly(told().next().map(|_| wrong))
            ),
            verdict: (!verdicts.is_empty()).then(|| Verdict::over(verdicts)),
        })
    }

    /// The sentence after its verdict, which `word` formats.
    pub fn sentence(&self, word: impl Fn(Verdict) -> String) -> String {
        match self.verdict {
            Some(verdict) => format!("{}: {}", word(verdict), self.text),
            None => self.text.clone(),
        }
    }
}

/// Number of trips with the wrong phase or zone, if the relay reported these.
fn wrongly(wrong: Option<u64>) -> String {
    wrong.map_or_else(String::new, |wrong| {
        format!("; {} with the wrong phase or zone", plural(wrong, "trip"))
    })
}
