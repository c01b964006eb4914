//! Planted stalls: the wake-up and the noise probe must find them, with their number and length.

mod common;

use common::{Recorded, Run, can_run_with};
use model::{Cause, CauseTotal, EventKind, Fact, Question, QuestionKind, Spike};
use probes::noise::{NoiseConfig, NoiseOptions};
use probes::wakeup::{WakeupConfig, WakeupOptions};
use probes::{OnCpus, Probe, Rest};
use run::{Answer, Explain};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use sys::privilege::Capability;
use sys::thread::{Policy, RtThread};
use sys::wait::sleep_until;
use units::{Monotonic, Period};

/// Makes the tests take turns, since their planted threads would disturb each other.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

fn alone() -> MutexGuard<'static, ()> {
    ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Interval at which the planted thread takes the CPU.
const EVERY_NS: i64 = 97_300_000;

/// Time for which it keeps the CPU.
const BLOCK_NS: i64 = 3_000_000;

/// Number of times that it takes the CPU.
const BLOCKS: i64 = 12;

/// Tolerance of a planted stall's length; a machine whose host takes CPUs away adds stalls of its own.
const TOLERANCE_NS: i64 = 400_000;

/// Starts a thread with a higher priority than the probes, which blocks `cpu` from each of the returned instants on.
fn plant(cpu: u32, first: Monotonic) -> std::thread::JoinHandle<Vec<Monotonic>> {
    std::thread::spawn(move || {
        let blocker = RtThread {
            policy: Policy::Fifo(70),
            cpu: Some(cpu),
            stack_bytes: 0,
        };
        blocker.enter().expect("a real-time thread");
        let blocks = (0..BLOCKS).map(|block| {
            sleep_until(first + block * EVERY_NS);
            let begin = sys::clock::monotonic();
            while sys::clock::monotonic() - begin < BLOCK_NS {
                std::hint::spin_loop();
            }
            begin
        });
        blocks.collect()
    })
}

fn last_cpu() -> u32 {
    sys::thread::allowed_cpus().iter().last().expect("a CPU")
}

/// Sample that contains each planted block, if there is one.
fn found(recorded: &Recorded, name: &str, run_start: Monotonic, blocks: &[Monotonic]) -> Vec<Option<Spike>> {
    let spikes = recorded.spikes(name);
    let of_block = |begin: &Monotonic| {
        spikes
            .iter()
            .find(|spike| {
                let end = run_start + i64::try_from(spike.at_ns).expect("small");
                end - spike.value_ns <= *begin + TOLERANCE_NS + 1_000_000 && end >= *begin + BLOCK_NS - TOLERANCE_NS
            })
            .cloned()
    };
    blocks.iter().map(of_block).collect()
}

fn assert_lengths(found: &[Option<Spike>], least_ns: i64) {
    let missing = found.iter().filter(|spike| spike.is_none()).count();
    assert_eq!(missing, 0, "blocks that were not found");
    let mut lengths: Vec<i64> = found.iter().flatten().map(|spike| spike.value_ns).collect();
    lengths.sort_unstable();
    assert!(lengths[0] >= least_ns, "{lengths:?}");
    let median = lengths[lengths.len() / 2];
    assert!(median <= BLOCK_NS + TOLERANCE_NS, "{lengths:?}");
}

#[test]
fn noise_sees_every_planted_gap_at_its_length() {
    if !can_run_with("noise_sees_every_planted_gap_at_its_length", &[Capability::SysNice]) {
        return;
    }
    let _alone = alone();
    let mut run = Run::start();
    let cpu = last_cpu();
    let config = NoiseConfig {
        options: NoiseOptions {
            policy: Policy::Fifo(50),
            gaps_above: 2_000,
            threshold: Some(1_000_000),
        },
        on: OnCpus {
            duration_ns: Some(1_500_000_000),
            rest: Rest::below_throttling(950_000, 1_000_000),
            ..OnCpus::of([cpu].into_iter().collect())
        },
    };
    let blocker = plant(cpu, sys::clock::monotonic() + 300_000_000);
    let running = config.start((), &mut run.recorder, &run.stop).expect("noise starts");
    running.join().expect("noise ends well");
    let blocks = blocker.join().expect("no panic");
    let start = run.start;
    let recorded = run.finish();
    let name = format!("noise/cpu{cpu}");
    let counters = recorded.counters(&name);
    assert!(
        (1_300_000_000..1_500_000_000).contains(&counters.watched_ns),
        "pauses are not watched: {}",
        counters.watched_ns
    );
    // A block during a pause is not seen, since the measuring thread was asleep.
    let seen: Vec<Option<Spike>> = found(&recorded, &name, start, &blocks)
        .into_iter()
        .filter(Option::is_some)
        .collect();
    assert!(seen.len() >= blocks.len() - 2, "{} of {}", seen.len(), blocks.len());
    assert_lengths(&seen, BLOCK_NS);
}

#[test]
fn wakeup_sees_every_planted_stall_and_counts_what_was_missed() {
    if !can_run_with("wakeup_sees_every_planted_stall", &[Capability::SysNice]) {
        return;
    }
    let _alone = alone();
    let mut run = Run::start();
    let cpu = last_cpu();
    let config = WakeupConfig {
        options: WakeupOptions {
            policy: Policy::Fifo(50),
            interval: "4800/s".parse().expect("a period"),
            threshold: Some(1_000_000),
            ..WakeupOptions::default()
        },
        on: OnCpus {
            duration_ns: Some(1_500_000_000),
            ..OnCpus::of([cpu].into_iter().collect())
        },
    };
    let blocker = plant(cpu, sys::clock::monotonic() + 300_000_000);
    let running = config.start((), &mut run.recorder, &run.stop).expect("wakeup starts");
    running.join().expect("wakeup ends well");
    let blocks = blocker.join().expect("no panic");
    let start = run.start;
    let recorded = run.finish();
    let name = format!("wakeup/cpu{cpu}");
    let counters = recorded.counters(&name);
    assert_eq!(counters.expected, 7_200, "1.5 s at 4800/s");
    assert_eq!(counters.received + counters.missed, counters.expected);
    // A stall of 3 ms contains 14.4 periods, of which one is measured.
    assert!(
        counters.missed >= u64::try_from(BLOCKS).expect("small") * 13,
        "{}",
        counters.missed
    );
    let found = found(&recorded, &name, start, &blocks);
    assert_lengths(&found, BLOCK_NS - 208_334);
}

/// CPU and number of each reported thread, and the questions asked.
type Heard = (Vec<(u32, i32)>, Vec<Question>);

/// Answers that every cause was a thread, and records the questions.
#[derive(Clone, Default)]
struct Witness(Arc<Mutex<Heard>>);

impl Explain for Witness {
    fn watch(&mut self, cpu: u32, thread: i32) {
        self.0.lock().expect("whole").0.push((cpu, thread));
    }

    fn observe(&mut self) {}

    fn explain(&mut self, question: &Question, with_flight: bool) -> Answer {
        self.0.lock().expect("whole").1.push(*question);
        let mut answer = Answer::unknown(question, "planted");
        answer.explanation.cause = Cause::Thread;
        answer.flight = with_flight.then(|| vec![1, 2, 3]);
        answer
    }

    fn summary(&mut self) -> Vec<Fact> {
        vec![Fact {
            group: "flight recorder".into(),
            name: "cost".into(),
            value: Ok("nothing".into()),
            source: "a test".into(),
        }]
    }
}

#[test]
fn each_kept_sample_is_asked_about_and_what_is_said_is_in_the_file() {
    if !can_run_with("each_kept_sample_is_asked_about", &[Capability::SysNice]) {
        return;
    }
    let _alone = alone();
    let witness = Witness::default();
    let mut run = Run::explained_by(Some(Box::new(witness.clone())));
    let cpu = last_cpu();
    let config = WakeupConfig {
        options: WakeupOptions {
            policy: Policy::Fifo(50),
            interval: Period::of_ns(500_000),
            threshold: Some(1_000_000),
            ..WakeupOptions::default()
        },
        on: OnCpus {
            duration_ns: Some(1_000_000_000),
            ..OnCpus::of([cpu].into_iter().collect())
        },
    };
    let blocker = plant(cpu, sys::clock::monotonic() + 300_000_000);
    let running = config.start((), &mut run.recorder, &run.stop).expect("wakeup starts");
    running.join().expect("wakeup ends well");
    blocker.join().expect("no panic");
    let recorded = run.finish();
    let (watched, questions) = witness.0.lock().expect("whole").clone();
    let [(watched_cpu, thread)] = watched[..] else {
        panic!("one thread measures: {watched:?}");
    };
    assert_eq!(watched_cpu, cpu);
    assert!(questions.iter().all(|question| question.thread == thread
        && question.cpu == cpu
        && question.kind == QuestionKind::WakeUp
        && question.to > question.from));
    let name = format!("wakeup/cpu{cpu}");
    let spikes = recorded.spikes(&name);
    assert!(spikes.iter().all(|spike| spike.explanation.is_some()));
    let totals: Vec<CauseTotal> = recorded.file.causes(recorded.id(&name)).expect("causes");
    let asked: u64 = totals.iter().map(|total| total.count).sum();
    assert_eq!(asked, questions.len() as u64);
    let flights = recorded.file.flights(recorded.id(&name)).expect("flights");
    assert!(!flights.is_empty() && flights.iter().all(|flight| flight.bytes == [1, 2, 3]));
    let facts = recorded.file.facts().expect("facts");
    assert!(facts.iter().any(|fact| fact.group == "flight recorder"));
}

#[test]
fn the_first_sample_above_the_break_value_ends_the_measurement() {
    if !can_run_with("the_first_sample_above_the_break_value", &[Capability::SysNice]) {
        return;
    }
    let _alone = alone();
    let mut run = Run::start();
    let cpu = last_cpu();
    let config = WakeupConfig {
        options: WakeupOptions {
            policy: Policy::Fifo(50),
            break_above: Some(2_500_000),
            ..WakeupOptions::default()
        },
        on: OnCpus {
            duration_ns: Some(60_000_000_000),
            ..OnCpus::of([cpu].into_iter().collect())
        },
    };
    let blocker = plant(cpu, sys::clock::monotonic() + 300_000_000);
    let running = config.start((), &mut run.recorder, &run.stop).expect("wakeup starts");
    running.join().expect("wakeup ends well");
    blocker.join().expect("no panic");
    assert!(run.stop.requested());
    let recorded = run.finish();
    let name = format!("wakeup/cpu{cpu}");
    let events = recorded.events(&name);
    let breaks: Vec<_> = events.iter().filter(|event| event.kind == EventKind::Break).collect();
    assert_eq!(breaks.len(), 1, "{events:?}");
    assert!(recorded.spikes(&name)[0].value_ns > 2_500_000);
    assert!(recorded.counters(&name).received < 10_000, "it went on");
}
