//! Tests that a thread which blocks the CPU for a known time at known instants is found with its name and its time.

use super::printed::Printed;
use super::{alone, cpu, pinned, recorder};
use model::{Cause, Question, QuestionKind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::time::Duration;
use sys::clock::monotonic;
use sys::thread::Policy;
use sys::wait::sleep_until;
use trace::{Explained, FlightRecorder, What, flight};
use units::Monotonic;

const INTERVAL_NS: i64 = 1_000_000;
const BLOCKS: usize = 25;
const BLOCK_NS: i64 = 3_000_000;
/// Interval between blocks in ns: 8 % of the CPU, far below the kernel's real-time throttling.
const PERIOD_NS: i64 = 40_000_000;
/// A timer interrupt later than this, or a thread later than this after the block, is not caused by the block: the machine itself
/// stood still.
const STALL_NS: u64 = 250_000;

/// Largest difference between the recorder's and the kernel's stamps of the same switch: a hypervisor may run something else
/// between the two.
const APART_NS: i64 = 100_000;

/// Start and end of a block.
type Block = (Monotonic, Monotonic);

/// Blocks the CPU at known instants.
fn block() -> Vec<Block> {
    let start = monotonic() + PERIOD_NS;
    let blocks = (0..BLOCKS as i64).map(|number| {
        sleep_until(start + number * PERIOD_NS);
        let begin = monotonic();
        let mut now = begin;
        while now - begin < BLOCK_NS {
            now = monotonic();
        }
        (begin, now)
    });
    blocks.collect()
}

/// Sleeps from due instant to due instant and passes on wake-ups more than a millisecond late.
fn measure(late: &Sender<Question>, is_over: &AtomicBool) {
    let mut due = monotonic() + INTERVAL_NS;
    while !is_over.load(Ordering::Relaxed) {
        sleep_until(due);
        let now = monotonic();
        if now - due > INTERVAL_NS {
            let question = Question {
                cpu: cpu(),
                thread: sys::thread::number(),
                from: due,
                to: now,
                kind: QuestionKind::WakeUp,
            };
            late.send(question).expect("the test listens");
        }
        while due <= now {
            due = due + INTERVAL_NS;
        }
    }
}

/// The blocks, and every late sample with the recorder's answer.
fn plant(recorder: &FlightRecorder) -> (Vec<Block>, Vec<(Question, Explained)>) {
    let (late, questions) = channel();
    let is_over = Arc::new(AtomicBool::new(false));
    let is_over_too = Arc::clone(&is_over);
    let measuring = pinned("measuring", Policy::Fifo(94), move || measure(&late, &is_over_too));
    let blocking = pinned("blocker", Policy::Fifo(95), move || {
        let blocks = block();
        sleep_until(monotonic() + PERIOD_NS);
        is_over.store(true, Ordering::Relaxed);
        blocks
    });
    let mut answered = Vec::new();
    loop {
        match questions.recv_timeout(Duration::from_millis(20)) {
            Ok(question) => {
                answered.push((question, recorder.explain(&question).expect("an answer")));
            }
            Err(std::sync::mpsc::RecvTimeoutError::Timeout) => recorder.observe(),
            Err(std::sync::mpsc::RecvTimeoutError::Disconnected) => break,
        }
    }
    measuring.join().expect("no panic");
    (blocking.join().expect("no panic"), answered)
}

/// The late sample that a block caused: it was due while the CPU was blocked, and came after the block.
fn of_block<'a>(block: &Block, answered: &'a [(Question, Explained)]) -> Option<&'a (Question, Explained)> {
    answered
        .iter()
        .find(|(question, _)| question.from < block.1 && question.to >= block.1)
}

fn stage(answer: &Explained, name: &str) -> u64 {
    let stage = answer.explanation.stages.iter().find(|part| part.what == name);
    stage.map_or(0, |part| part.ns)
}

fn blocker_ns(answer: &Explained) -> u64 {
    let parts = answer.explanation.occupants.iter();
    let blockers = parts.filter(|part| part.what.contains("thread blocker (pid "));
    blockers.map(|part| part.ns).sum()
}

/// Checks the answer for a block.
fn check(block: &Block, question: &Question, answer: &Explained) {
    let explanation = &answer.explanation;
    let latency_ns = question.ns();
    let blocked_ns = u64::try_from(block.1 - block.0.max(question.from)).expect("positive");
    assert_eq!(explanation.cause, Cause::Thread, "{explanation:#?}");
    let named_ns = blocker_ns(answer);
    // The time until the timer interrupt belongs to no thread, and time that interrupts took from the blocker belongs to them.
    let interrupts = explanation
        .occupants
        .iter()
        .filter(|part| !part.what.contains("thread "));
    let elsewhere_ns = stage(answer, "timer interrupt") + interrupts.map(|part| part.ns).sum::<u64>();
    let at_least = (blocked_ns - blocked_ns / 10).saturating_sub(elsewhere_ns);
    assert!(
        (at_least..=blocked_ns + blocked_ns / 10).contains(&named_ns),
        "blocked for {blocked_ns} ns: {explanation:#?}"
    );
    assert!(explanation.text.contains("blocker (pid"), "{}", explanation.text);
    let sum = |parts: &[model::Part]| parts.iter().map(|part| part.ns).sum::<u64>();
    assert_eq!(sum(&explanation.stages), latency_ns);
    assert_eq!(sum(&explanation.occupants) + explanation.unexplained_ns, latency_ns);
    assert!(explanation.unexplained_ns < latency_ns / 10, "{explanation:#?}");
    let names: Vec<&str> = explanation.stages.iter().map(|part| part.what.as_str()).collect();
    assert_eq!(
        names,
        ["timer interrupt", "wake-up", "switch-in", "return to user space"]
    );
}

/// True if the machine stood still before, during or after the block.
fn stood_still(block: &Block, question: &Question, answer: &Explained) -> bool {
    let after_ns = u64::try_from(question.to - block.1).expect("it came after the block");
    let longest_ns = BLOCK_NS.unsigned_abs() + STALL_NS;
    stage(answer, "timer interrupt") >= STALL_NS
        || after_ns >= STALL_NS
        || question.ns() > longest_ns
        || answer.explanation.text.contains("without an event")
}

/// True if events are missing and the answer states it: the ring was overwritten because a hundred threads ran before its reader,
/// or this kernel excludes some threads from tracing.
fn admits(answer: &Explained) -> bool {
    let admitted = [
        "no longer held",
        "did not record every switch",
        "do not show how thread",
    ];
    admitted.iter().any(|text| answer.explanation.text.contains(text))
}

/// Checks the answers, and that few blocks were disturbed; returns the number of answers that admit missing events.
fn check_all(blocks: &[Block], answered: &[(Question, Explained)]) -> usize {
    let (mut undisturbed, mut admitted) = (0, 0);
    for block in blocks {
        let (question, answer) = of_block(block, answered).expect("a late sample for every block");
        if admits(answer) {
            admitted += 1;
        } else if !stood_still(block, question, answer) {
            check(block, question, answer);
            undisturbed += 1;
        }
    }
    assert!(
        (undisturbed + admitted) * 2 >= blocks.len(),
        "only {undisturbed} of {} blocks",
        blocks.len()
    );
    admitted
}

/// Checks that the recorder saw each of these switches around the late sample; returns their number.
fn compare_switches(question: &Question, answer: &Explained, printed: &[(Monotonic, i32)]) -> usize {
    let around = question.from - INTERVAL_NS..=question.to;
    let seen = answer.events.iter().filter_map(|event| match event.what {
        What::Switch { next, .. } if event.cpu == question.cpu => Some((event.at, next.pid)),
        _ => None,
    });
    let seen: Vec<(Monotonic, i32)> = seen.collect();
    let printed: Vec<_> = printed.iter().filter(|(at, _)| around.contains(at)).collect();
    for (at, pid) in &printed {
        let is_same = |other: &(Monotonic, i32)| other.1 == *pid && (other.0 - *at).abs() < APART_NS;
        // A switch that the recorder saw may be on the other side of the window's edge.
        let is_at_the_edge = *at - (question.from - INTERVAL_NS) < APART_NS || question.to - *at < APART_NS;
        assert!(
            is_at_the_edge || seen.iter().any(is_same),
            "{pid} at {at:?} in {seen:#?}"
        );
    }
    printed.len()
}

#[test]
fn every_planted_block_is_explained() {
    let _alone = alone();
    let Some(recorder) = recorder("planted blocks") else {
        return;
    };
    let (blocks, answered) = plant(&recorder);
    let admitted = check_all(&blocks, &answered);
    assert!(
        admitted * 10 <= blocks.len() * 3,
        "{admitted} of {BLOCKS} blocks not seen"
    );
    for (question, answer) in answered.iter().filter(|(_, answer)| !admits(answer)) {
        let events = &answer.events;
        let span = question.from - 1_000_000..=question.to + 200_000;
        assert!(events.len() > 5 && events.len() <= flight::MOST_EVENTS);
        assert!(events.iter().filter(|event| span.contains(&event.at)).count() > 5);
        assert!(events.is_sorted_by_key(|event| event.at));
    }
}

#[test]
fn every_switch_that_the_kernel_prints_is_recorded() {
    let _alone = alone();
    let test = "every_switch_that_the_kernel_prints_is_recorded";
    let (Some(recorder), Some(printed)) = (recorder(test), Printed::start(test)) else {
        return;
    };
    let (blocks, answered) = plant(&recorder);
    let printed = printed.switches(cpu());
    let of_blocks = blocks
        .iter()
        .map(|block| of_block(block, &answered).expect("a late sample"));
    let switches: usize = of_blocks
        .map(|(question, answer)| compare_switches(question, answer, &printed))
        .sum();
    assert!(switches > blocks.len(), "{switches} switches in {BLOCKS} answers");
}
