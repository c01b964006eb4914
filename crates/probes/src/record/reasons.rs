//! Asking for explanations, within bounds, and adding them up by cause.

use super::why::{Answer, Explain, Question};
use std::collections::BTreeMap;
use store::model::{Fact, SeriesId};
use store::{Cause, CauseTotal};

/// Explanations asked for between two looks at the rings, of samples that are kept and of others each: many small gaps must
/// not leave a spike unexplained, and a threshold set far too low must not keep the recorder from draining.
const PER_ROUND: u32 = 400;

/// Kept samples of each series that are looked at in a round however many of others came before: one stall makes samples of many
/// series large at once, and each is to say why.
const OF_EACH: u32 = 8;

/// Flights kept per series and window: they are the larger part of a run file in which much goes wrong.
const FLIGHTS_PER_WINDOW: usize = 20;

/// What of an answer stays in the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Keep {
    /// It is added to the totals.
    Nothing,
    /// Where the time went.
    Explanation,
    /// That, and the events around the sample.
    Flight,
}

/// The explainer, if there is one, and what it said so far.
pub(super) struct Reasons {
    explain: Option<Box<dyn Explain>>,
    /// Of others, and of samples that are kept.
    asked: [u32; 2],
    /// Of samples that are kept, by series.
    asked_of: BTreeMap<SeriesId, u32>,
    totals: BTreeMap<(SeriesId, Cause), CauseTotal>,
}

impl Reasons {
    pub(super) fn new(explain: Option<Box<dyn Explain>>) -> Self {
        Self {
            explain,
            asked: [0; 2],
            asked_of: BTreeMap::new(),
            totals: BTreeMap::new(),
        }
    }

    pub(super) fn can_explain(&self) -> bool {
        self.explain.is_some()
    }

    pub(super) fn watch(&mut self, cpu: u32, thread: i32) {
        if let Some(explain) = &mut self.explain {
            explain.watch(cpu, thread);
        }
    }

    /// A new round of draining begins.
    pub(super) fn observe(&mut self) {
        self.asked = [0; 2];
        self.asked_of.clear();
        if let Some(explain) = &mut self.explain {
            explain.observe();
        }
    }

    /// Where the time of a sample went; `None` where nobody can tell.
    pub(super) fn ask(&mut self, series: SeriesId, question: &Question, keep: Keep) -> Option<Answer> {
        let explain = self.explain.as_mut()?;
        let is_kept = keep != Keep::Nothing;
        let asked = &mut self.asked[usize::from(is_kept)];
        *asked += 1;
        let of_series = self.asked_of.entry(series).or_insert(0);
        *of_series += u32::from(is_kept);
        let is_among_first = is_kept && *of_series <= OF_EACH;
        let answer = if *asked > PER_ROUND && !is_among_first {
            Answer::unknown(question, "not looked at: too many at once")
        } else {
            explain.explain(question, keep == Keep::Flight)
        };
        let ns = u64::try_from(question.to - question.from).unwrap_or(0);
        let cause = answer.explanation.cause;
        let total = self.totals.entry((series, cause)).or_insert(CauseTotal {
            cause,
            count: 0,
            total_ns: 0,
            max_ns: 0,
        });
        total.count += 1;
        total.total_ns += ns;
        total.max_ns = total.max_ns.max(ns);
        Some(answer)
    }

    /// What was added up since the last call.
    pub(super) fn take_totals(&mut self) -> Vec<(SeriesId, CauseTotal)> {
        std::mem::take(&mut self.totals)
            .into_iter()
            .map(|((series, _), total)| (series, total))
            .collect()
    }

    /// What the explainer has to say about itself.
    pub(super) fn summary(&mut self) -> Vec<Fact> {
        self.explain
            .as_mut()
            .map(|explain| explain.summary())
            .unwrap_or_default()
    }
}

/// The flights of one window: the largest samples' stay.
#[derive(Debug, Default)]
pub(super) struct Flights(Vec<(i64, u64, Vec<u8>)>);

impl Flights {
    /// Whether the flight of a sample of this value would stay, as far as can be told now.
    pub(super) fn want(&self, value_ns: i64) -> bool {
        self.0.len() < FLIGHTS_PER_WINDOW || self.0.iter().any(|kept| kept.0 < value_ns)
    }

    pub(super) fn offer(&mut self, value_ns: i64, at_ns: u64, bytes: Vec<u8>) {
        self.0.push((value_ns, at_ns, bytes));
        if self.0.len() > FLIGHTS_PER_WINDOW
            && let Some(least) = (0..self.0.len()).min_by_key(|index| self.0[*index].0)
        {
            self.0.swap_remove(least);
        }
    }

    /// Instant and events of each.
    pub(super) fn take(&mut self) -> impl Iterator<Item = (u64, Vec<u8>)> + use<> {
        std::mem::take(&mut self.0)
            .into_iter()
            .map(|(_, at_ns, bytes)| (at_ns, bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::{FLIGHTS_PER_WINDOW, Flights, Keep, OF_EACH, PER_ROUND, Reasons};
    use crate::record::why::{Answer, Explain, Question, QuestionKind};
    use store::model::{Fact, SeriesId};
    use store::{Cause, CauseTotal};
    use units::Monotonic;

    const QUESTION: Question = Question {
        cpu: 1,
        thread: 7,
        from: Monotonic::from_ns(0),
        to: Monotonic::from_ns(10),
        kind: QuestionKind::WakeUp,
    };

    struct Always;

    impl Explain for Always {
        fn watch(&mut self, _: u32, _: i32) {}
        fn observe(&mut self) {}
        fn explain(&mut self, question: &Question, _: bool) -> Answer {
            let mut answer = Answer::unknown(question, "");
            answer.explanation.cause = Cause::Thread;
            answer
        }
        fn summary(&mut self) -> Vec<Fact> {
            Vec::new()
        }
    }

    #[test]
    fn totals_add_up_and_the_surplus_of_a_round_is_counted_as_unexplained() {
        let mut reasons = Reasons::new(Some(Box::new(Always)));
        let series = SeriesId(0);
        for _ in 0..PER_ROUND + 5 {
            reasons.ask(series, &QUESTION, Keep::Nothing);
        }
        let total = |cause, count: u32| CauseTotal {
            cause,
            count: u64::from(count),
            total_ns: u64::from(count) * 10,
            max_ns: 10,
        };
        let expected = [
            (series, total(Cause::Thread, PER_ROUND)),
            (series, total(Cause::Unexplained, 5)),
        ];
        assert_eq!(reasons.take_totals(), expected);
        assert_eq!(reasons.take_totals(), []);
        let answer = reasons.ask(series, &QUESTION, Keep::Explanation).expect("an answer");
        assert_eq!(
            answer.explanation.cause,
            Cause::Thread,
            "a kept sample is looked at all the same"
        );
        reasons.observe();
        let answer = reasons.ask(series, &QUESTION, Keep::Nothing).expect("an answer");
        assert_eq!(answer.explanation.cause, Cause::Thread);
    }

    #[test]
    fn a_few_kept_samples_of_each_series_are_looked_at() {
        let mut reasons = Reasons::new(Some(Box::new(Always)));
        let mut ask = |series| {
            let answer = reasons.ask(SeriesId(series), &QUESTION, Keep::Explanation);
            answer.expect("an answer").explanation.cause
        };
        (0..PER_ROUND).for_each(|_| assert_eq!(ask(0), Cause::Thread));
        assert_eq!(ask(0), Cause::Unexplained);
        (0..OF_EACH).for_each(|_| assert_eq!(ask(1), Cause::Thread));
        assert_eq!(ask(1), Cause::Unexplained);
    }

    #[test]
    fn the_flights_of_the_largest_samples_stay() {
        let mut flights = Flights::default();
        for value in 0..100 {
            assert!(flights.want(value));
            flights.offer(value, u64::try_from(value).expect("positive"), Vec::new());
        }
        assert!(!flights.want(100 - FLIGHTS_PER_WINDOW as i64));
        let mut kept: Vec<u64> = flights.take().map(|(at_ns, _)| at_ns).collect();
        kept.sort_unstable();
        let first = 100 - FLIGHTS_PER_WINDOW as u64;
        assert_eq!(kept, (first..100).collect::<Vec<_>>());
    }
}
