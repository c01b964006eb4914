//! Asking for explanations, within bounds, and adding them up by cause.

use crate::why::{Answer, Explain};
use model::{Cause, CauseTotal, Fact, Question, SeriesId};
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// Explanations asked for between two looks at the rings, of samples that are kept and of others each: many small gaps must
/// not leave a spike unexplained, and a threshold set far too low must not keep the recorder from draining.
const PER_ROUND: u32 = 400;

/// How long a round asks about samples that are kept. A CPU with many events takes milliseconds to read, and what comes meanwhile is
/// overwritten in the rings that tell why.
const MOST_OF_ROUND: Duration = Duration::from_millis(60);

/// How long it asks where windows end meanwhile, whose worst samples would not be looked at otherwise: draining comes first, and what is
/// older is mostly overwritten.
const MOST_OF_ROUND_WITH_ENDS: Duration = Duration::from_millis(250);

/// Text for the surplus.
const TOO_MANY: &str = "not looked at: too many at once";

/// Flights kept per series and window: they are the larger part of a run file in which much goes wrong.
const FLIGHTS_PER_WINDOW: usize = 20;

/// The explainer, if there is one, and what it said so far.
pub(crate) struct Reasons {
    explain: Option<Box<dyn Explain>>,
    /// Of samples that are kept, in this round.
    asked: u32,
    /// How long this round has asked about them.
    spent: Duration,
    /// Of others.
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

    /// A new round of draining begins.
    pub(crate) fn observe(&mut self) {
        self.asked = 0;
        self.spent = Duration::ZERO;
        self.asked_in_passing = 0;
        if let Some(explain) = &mut self.explain {
            explain.observe();
        }
    }

    /// True if this round has time for more samples that are kept.
    pub(crate) fn has_room(&self) -> bool {
        self.asked < PER_ROUND && self.spent < MOST_OF_ROUND
    }

    /// True if it has time for the worst of a window that ends.
    pub(crate) fn has_time_at_an_end(&self) -> bool {
        self.spent < MOST_OF_ROUND_WITH_ENDS
    }

    /// Where the time of a sample that is kept went; `None` where nobody can tell. Whoever asks sees to it that a round does not
    /// take too long.
    pub(crate) fn ask(&mut self, series: SeriesId, question: &Question, with_flight: bool) -> Option<Answer> {
        let explain = self.explain.as_mut()?;
        self.asked += 1;
        let began = Instant::now();
        let answer = explain.explain(question, with_flight);
        self.spent += began.elapsed();
        self.add(series, question, answer.explanation.cause);
        Some(answer)
    }

    /// Counts a sample that is not kept, under its cause as long as this round has time for it.
    pub(crate) fn ask_in_passing(&mut self, series: SeriesId, question: &Question) {
        let Some(explain) = &mut self.explain else { return };
        self.asked_in_passing += 1;
        let cause = match self.asked_in_passing > PER_ROUND {
            true => Cause::Unexplained,
            false => explain.explain(question, false).explanation.cause,
        };
        self.add(series, question, cause);
    }

    /// Counts a sample that is kept and not looked at.
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

    /// Facts of the explainer about itself.
    pub(crate) fn summary(&mut self) -> Vec<Fact> {
        self.explain
            .as_mut()
            .map(|explain| explain.summary())
            .unwrap_or_default()
    }
}

/// The flights of one window: the largest samples' stay.
#[derive(Debug, Default)]
pub(crate) struct Flights(Vec<(i64, u64, Vec<u8>)>);

impl Flights {
    /// True if the flight of a sample of this value would stay, as far as can be told now.
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

    /// Instant and events of each.
    pub(crate) fn take(&mut self) -> impl Iterator<Item = (u64, Vec<u8>)> + use<> {
        std::mem::take(&mut self.0)
            .into_iter()
            .map(|(_, at_ns, bytes)| (at_ns, bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::{FLIGHTS_PER_WINDOW, Flights, PER_ROUND, Reasons};
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
