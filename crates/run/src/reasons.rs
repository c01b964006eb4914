//! Asks for explanations of late samples, within bounds, and totals them by cause.

use crate::why::{Answer, Explain};
use model::{Cause, CauseTotal, Fact, Question, SeriesId};
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// Most explanations requested between two looks at the rings, for kept samples and for other samples each: many small gaps must
/// not leave a spike unexplained, and a threshold set far too low must not keep the recorder from draining.
const PER_ROUND: u32 = 400;

/// Longest time that a round spends on explanations of kept samples. A CPU with many events takes milliseconds to read, and during
/// that time new events overwrite the old ones in the flight recorder's rings.
const MOST_OF_ROUND: Duration = Duration::from_millis(60);

/// Longest time for the worst samples of each series whose window ends in this round, which could not be explained later. Each series
/// has its own: a slow machine, such as a guest whose host takes its CPUs away, needs milliseconds for one sample, and the series that
/// ends last is as important as the first.
const MOST_OF_AN_END: Duration = Duration::from_millis(250);

/// Longest time for all series together. The rings of the probes hold four seconds.
const MOST_OF_ROUND_WITH_ENDS: Duration = Duration::from_secs(2);

/// Explanation text for samples beyond these bounds.
const TOO_MANY: &str = "not looked at: too many at once";

/// Most flights kept per series and window: in a run with much trouble they are the larger part of the file.
const FLIGHTS_PER_WINDOW: usize = 20;

/// The explainer, if there is one, and its totals so far.
pub(crate) struct Reasons {
    explain: Option<Box<dyn Explain>>,
    /// Number of explanations requested for kept samples in this round.
    asked: u32,
    /// Time that this round has spent on them.
    spent: Duration,
    /// Number of explanations requested for other samples in this round.
    asked_in_passing: u32,
    totals: BTreeMap<(SeriesId, Cause), CauseTotal>,
}

impl Reasons {
    pub(crate) fn new(explain: Option<Box<dyn Explain>>) -> Self {
        Self {
            explain,
            asked: 0,
            spent: Duration::ZERO,
            asked_in_passing: 0,
            totals: BTreeMap::new(),
        }
    }

    pub(crate) fn can_explain(&self) -> bool {
        self.explain.is_some()
    }

    pub(crate) fn watch(&mut self, cpu: u32, thread: i32) {
        if let Some(explain) = &mut self.explain {
            explain.watch(cpu, thread);
        }
    }

    /// Begins a new round of draining.
    pub(crate) fn observe(&mut self) {
        self.asked = 0;
        self.spent = Duration::ZERO;
        self.asked_in_passing = 0;
        if let Some(explain) = &mut self.explain {
            explain.observe();
        }
    }

    /// True if this round has time for more kept samples.
    pub(crate) fn has_room(&self) -> bool {
        self.asked < PER_ROUND && self.spent < MOST_OF_ROUND
    }

    /// Time spent so far in this round.
    pub(crate) fn spent(&self) -> Duration {
        self.spent
    }

    /// True if this round has time for further samples among the worst of a series whose window ends, and which began when `begin` was
    /// spent.
    pub(crate) fn has_time_at_an_end(&self, begin: Duration) -> bool {
        self.spent < MOST_OF_ROUND_WITH_ENDS && self.spent.saturating_sub(begin) < MOST_OF_AN_END
    }

    /// Explains how the time of a kept sample was spent; `None` if no explanation is possible. The caller limits the time of the
    /// round.
    pub(crate) fn ask(&mut self, series: SeriesId, question: &Question, with_flight: bool) -> Option<Answer> {
        let explain = self.explain.as_mut()?;
        self.asked += 1;
        let began = Instant::now();
        let answer = explain.explain(question, with_flight);
        self.spent += began.elapsed();
        self.add(series, question, answer.explanation.cause);
        Some(answer)
    }

    /// Counts a sample that is not kept, under its cause if this round still has time for it.
    pub(crate) fn ask_in_passing(&mut self, series: SeriesId, question: &Question) {
        let Some(explain) = &mut self.explain else { return };
        self.asked_in_passing += 1;
        let cause = match self.asked_in_passing > PER_ROUND {
            true => Cause::Unexplained,
            false => explain.explain(question, false).explanation.cause,
        };
        self.add(series, question, cause);
    }

    /// Counts a kept sample without explaining it.
    pub(crate) fn pass_over(&mut self, series: SeriesId, question: &Question) -> Answer {
        self.add(series, question, Cause::Unexplained);
        Answer::unknown(question, TOO_MANY)
    }

    fn add(&mut self, series: SeriesId, question: &Question, cause: Cause) {
        let ns = u64::try_from(question.to - question.from).unwrap_or(0);
        let total = self.totals.entry((series, cause)).or_insert(CauseTotal {
            cause,
            count: 0,
            total_ns: 0,
            max_ns: 0,
        });
        total.count += 1;
        total.total_ns += ns;
        total.max_ns = total.max_ns.max(ns);
    }

    /// Totals since the last call.
    pub(crate) fn take_totals(&mut self) -> Vec<(SeriesId, CauseTotal)> {
        std::mem::take(&mut self.totals)
            .into_iter()
            .map(|((series, _), total)| (series, total))
            .collect()
    }

    /// Facts of the explainer about its own cost and blind spots.
    pub(crate) fn summary(&mut self) -> Vec<Fact> {
        self.explain
            .as_mut()
            .map(|explain| explain.summary())
            .unwrap_or_default()
    }
}

/// The flights of one window: those of the largest samples are kept.
#[derive(Debug, Default)]
pub(crate) struct Flights(Vec<(i64, u64, Vec<u8>)>);

impl Flights {
    /// True if the flight of a sample of this value would be kept, as far as known now.
    pub(crate) fn want(&self, value_ns: i64) -> bool {
        self.0.len() < FLIGHTS_PER_WINDOW || self.0.iter().any(|kept| kept.0 < value_ns)
    }

    pub(crate) fn offer(&mut self, value_ns: i64, at_ns: u64, bytes: Vec<u8>) {
        self.0.push((value_ns, at_ns, bytes));
        if self.0.len() > FLIGHTS_PER_WINDOW
            && let Some(least) = (0..self.0.len()).min_by_key(|index| self.0[*index].0)
        {
            self.0.swap_remove(least);
        }
    }

    /// Takes the instant and the events of each.
    pub(crate) fn take(&mut self) -> impl Iterator<Item = (u64, Vec<u8>)> + use<> {
        std::mem::take(&mut self.0)
            .into_iter()
            .map(|(_, at_ns, bytes)| (at_ns, bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::{FLIGHTS_PER_WINDOW, Flights, MOST_OF_AN_END, MOST_OF_ROUND_WITH_ENDS, PER_ROUND, Reasons};
    use crate::why::{Answer, Explain};
    use model::{Cause, CauseTotal, Fact, Question, QuestionKind, SeriesId};
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
            reasons.ask_in_passing(series, &QUESTION);
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
        assert!(reasons.has_room(), "for samples that are kept");
        for _ in 0..PER_ROUND {
            let answer = reasons.ask(series, &QUESTION, false).expect("an answer");
            assert_eq!(answer.explanation.cause, Cause::Thread);
        }
        assert!(!reasons.has_room());
        reasons.pass_over(series, &QUESTION);
        let expected = [
            (series, total(Cause::Thread, PER_ROUND)),
            (series, total(Cause::Unexplained, 1)),
        ];
        assert_eq!(reasons.take_totals(), expected);
        reasons.observe();
        assert!(reasons.has_room());
        reasons.ask_in_passing(series, &QUESTION);
        assert_eq!(reasons.take_totals(), [(series, total(Cause::Thread, 1))]);
    }

    #[test]
    fn each_series_that_ends_has_its_own_time_within_that_of_the_round() {
        let mut reasons = Reasons::new(Some(Box::new(Always)));
        let mut ended = 0;
        while reasons.spent() < MOST_OF_ROUND_WITH_ENDS {
            let begin = reasons.spent();
            assert!(reasons.has_time_at_an_end(begin), "series {ended}");
            reasons.spent += MOST_OF_AN_END;
            assert!(!reasons.has_time_at_an_end(begin), "series {ended}");
            ended += 1;
        }
        assert_eq!(ended, 8);
        assert!(!reasons.has_time_at_an_end(reasons.spent()));
        reasons.observe();
        assert!(reasons.has_time_at_an_end(reasons.spent()));
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
