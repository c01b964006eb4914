//! The answer to the question the program is named after, where trips were timed.

use crate::text::plural;
use crate::verdict::{Judgement, Verdict};
use model::kind::Kind;
use model::{RunView, kind};
use units::SignedNs;

/// The relay's answers to the faults that a test set planted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TripAnswer {
    /// In a sentence, without a verdict.
    pub text: String,
    /// Over all limits of the trips and of what must not trip; `None`: there is none.
    pub verdict: Option<Verdict>,
}

impl TripAnswer {
    /// That of a run; `None` where no trip was asked for.
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

    /// The sentence behind its verdict, as `word` gives it.
    pub fn sentence(&self, word: impl Fn(Verdict) -> String) -> String {
        match self.verdict {
            Some(verdict) => format!("{}: {}", word(verdict), self.text),
            None => self.text.clone(),
        }
    }
}

/// How many trips had the wrong phase or zone, where any was told.
fn wrongly(wrong: Option<u64>) -> String {
    wrong.map_or_else(String::new, |wrong| {
        format!("; {} with the wrong phase or zone", plural(wrong, "trip"))
    })
}
