//! Tests that the worst hundred late samples of each series are explained, in whatever order they come.

use crate::stop::Stop;
use crate::test_run::TestRun;
use crate::why::{Answer, Explain};
use crate::{Describe, Feed, Recorder};
use model::{Fact, Question, QuestionKind, RunState, SeriesClock, SeriesSpec, Spike};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use units::Monotonic;

const LOOKED_AT: &str = "looked at";
const BURST: i64 = 3_000;

/// Answers every question, counts the questions, and takes a given time for each.
struct Counting {
    asked: Arc<AtomicU64>,
    takes: Duration,
}

impl Explain for Counting {
    fn watch(&mut self, _: u32, _: i32) {}
    fn observe(&mut self) {}
    fn explain(&mut self, question: &Question, _: bool) -> Answer {
        self.asked.fetch_add(1, Ordering::Relaxed);
        std::thread::sleep(self.takes);
        Answer::unknown(question, LOOKED_AT)
    }
    fn summary(&mut self) -> Vec<Fact> {
        Vec::new()
    }
}

struct Late;

impl Describe for Late {
    fn series(&self, _: u16, label: &str) -> SeriesSpec {
        SeriesSpec {
            what: "planted".into(),
            clock: SeriesClock::Monotonic,
            interval_ns: None,
            threshold_ns: Some(1),
            settings: Vec::new(),
            ..SeriesSpec::named(label)
        }
    }

    fn question(&self, _: u16, _: i64) -> Option<QuestionKind> {
        Some(QuestionKind::WakeUp)
    }
}

/// Records what `burst` pushes into two series, `many` and `few`, with an explainer that takes this long; returns their spikes and
/// the number of questions.
fn record(takes: Duration, burst: impl FnOnce(&mut Feed, Monotonic)) -> ([Vec<Spike>; 2], u64) {
    let file = TestRun::new();
    let asked = Arc::new(AtomicU64::new(0));
    let (writer, options) = file.begin(
        60_000_000_000,
        Some(Box::new(Counting {
            asked: Arc::clone(&asked),
            takes,
        })),
    );
    let start = options.start;
    let mut recorder = Recorder::start(writer, options, &Stop::new());
    let mut feed = recorder.feed(16_384, 2, Box::new(Late));
    feed.set_thread(0);
    feed.announce(0, "many");
    feed.announce(1, "few");
    burst(&mut feed, start);
    recorder.settle();
    drop(feed);
    recorder.finish(RunState::Complete).expect("a whole file");
    let run = file.read();
    let all = run.series().expect("series");
    let spikes = ["many", "few"].map(|name| {
        let (id, _) = all.iter().find(|(_, spec)| spec.name == name).expect("the series");
        let mut spikes = run.spikes(*id).expect("spikes");
        spikes.sort_by_key(|spike| -spike.value_ns);
        spikes
    });
    (spikes, asked.load(Ordering::Relaxed))
}

fn is_looked_at(spike: &Spike) -> bool {
    spike.explanation.as_ref().is_some_and(|why| why.text == LOOKED_AT)
}

#[test]
fn the_worst_of_a_burst_are_looked_at_in_whatever_order_they_come() {
    for is_ascending in [true, false] {
        let ([many, few], asked) = record(Duration::ZERO, |feed, start| {
            for number in 0..BURST {
                let value_ns = 1_000 + if is_ascending { number } else { BURST - number };
                let at = start + 10_000_000 + number;
                feed.sample(0, at, value_ns, number.unsigned_abs());
            }
            for number in 0..100 {
                let at = start + 20_000_000 + number;
                feed.sample(1, at, 500 + number, number.unsigned_abs());
            }
        });
        let unseen = |spikes: &[Spike]| spikes.iter().take(100).filter(|spike| !is_looked_at(spike)).count();
        assert_eq!((unseen(&many), unseen(&few)), (0, 0), "ascending: {is_ascending}");
        assert!(many.iter().all(|spike| spike.explanation.is_some()));
        assert!(asked < 2_000, "a burst is bounded work: {asked}");
        assert!(many.iter().any(|spike| !is_looked_at(spike)), "and the surplus is told");
    }
}

#[test]
fn a_window_that_closes_in_the_middle_of_a_burst_has_its_worst_looked_at() {
    let ([many, _], _) = record(Duration::ZERO, |feed, start| {
        for number in 0..BURST {
            // The first half is in the first minute, the other half in the second.
            let minute = 60_000_000_000 * (number * 2 / BURST);
            feed.sample(
                0,
                start + 10_000_000 + minute + number,
                1_000 + number,
                number.unsigned_abs(),
            );
        }
        feed.sample(1, start + 10_000_000, 1, 0);
    });
    let (first, second): (Vec<&Spike>, Vec<&Spike>) = many.iter().partition(|spike| spike.at_ns < 60_000_000_000);
    for half in [first, second] {
        assert!(half.iter().take(100).all(|spike| is_looked_at(spike)));
    }
}

#[test]
fn a_window_that_ends_waits_a_quarter_of_a_second_for_explanations() {
    let ([many, _], asked) = record(Duration::from_millis(5), |feed, start| {
        // Ten windows of a minute, all in the ring at once.
        for number in 0..1_000 {
            let at = start + 10_000_000 + 60_000_000_000 * (number / 100) + number;
            feed.sample(0, at, 1_000 + number, number.unsigned_abs());
        }
    });
    assert!((50..650).contains(&asked), "{asked} of a thousand");
    assert_eq!(many.len(), 1_000);
    assert!(
        many.iter().all(|spike| spike.explanation.is_some()),
        "the surplus is told"
    );
    assert!(many.iter().any(is_looked_at));
}

#[test]
fn a_series_that_ends_after_another_has_its_own_time() {
    let ([_, few], _) = record(Duration::from_millis(5), |feed, start| {
        for number in 0..200 {
            feed.sample(0, start + 10_000_000 + number, 1_000 + number, number.unsigned_abs());
        }
        // A tenth of the time that they may take, so that a machine that stands still does not matter.
        for number in 0..5 {
            feed.sample(1, start + 20_000_000 + number, 500 + number, number.unsigned_abs());
        }
        // Both windows end in the round that reads all of this.
        for slot in [0, 1] {
            feed.sample(slot, start + 61_000_000_000, 1, 1_000);
        }
    });
    let first: Vec<&Spike> = few.iter().filter(|spike| spike.at_ns < 60_000_000_000).collect();
    assert_eq!(first.len(), 5);
    assert!(first.iter().all(|spike| is_looked_at(spike)), "{first:?}");
}
