//! The answer to the question the program is named after, where trips were timed.

use crate::verdict::{Judgement, Verdict};
use model::{RunView, SeriesView, kind};
use units::format_ns;

/// What became of the faults that a test set planted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// In a sentence, without a verdict.
    pub text: String,
    /// Over all limits of the trips and of what must not trip; `None`: there is none.
    pub verdict: Option<Verdict>,
}

impl Answer {
    /// That of a run; `None` where no trip was timed.
    pub fn of(run: &RunView, judgement: &Judgement) -> Option<Self> {
        let of_kind = |wanted: &'static kind::Kind| {
            let is_of = move |series: &&SeriesView| series.kind().is_some_and(|kind| kind == wanted);
            run.series.iter().filter(is_of)
        };
        let longest_ns = of_kind(&kind::TRIP).filter_map(|series| series.max_ns).max()?;
        let (mut shots, mut trips, mut unwanted) = (0, 0, 0);
        for series in of_kind(&kind::TRIP) {
            shots += series.counters.expected;
            trips += series.counters.received;
            unwanted += series.counters.unwanted;
        }
        unwanted += of_kind(&kind::SECURITY)
            .map(|series| series.counters.unwanted)
            .sum::<u64>();
        let is_of_trips = |name: &str| {
            let mut all = of_kind(&kind::TRIP).chain(of_kind(&kind::SECURITY));
            all.any(|series| series.spec.name == name)
        };
        let checks = judgement.checks.iter().filter(|check| is_of_trips(&check.series));
        let verdicts: Vec<Verdict> = checks.map(|check| check.verdict).collect();
        Some(Self {
            text: format!(
                "the trip came in {trips} of {shots} shots, after {} at most; false trips: {unwanted}",
                format_ns(longest_ns as f64)
            ),
            verdict: (!verdicts.is_empty()).then(|| Verdict::over(verdicts)),
        })
    }
}
