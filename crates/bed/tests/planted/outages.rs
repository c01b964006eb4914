//! Streams that become silent: an interface goes down, or a publisher restarts.

use crate::bench::{Recorded, can_run, wait_until};
use crate::samples::{RATE, Subscriber, rule, smp_cnt};
use crate::subscribe_ends::publish_for;
use bed::fault::{Direction, Fault, Faults, Rule, Side, Which};
use bed::{End, FaultBed};
use model::Counters;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use units::Monotonic;

/// Samples that a receiver compares a new one with, and one more.
const REMEMBERED: u64 = 17;

/// Numbers of the samples that left the wire, counted from 1970.
#[derive(Clone, Default)]
struct Numbers(Arc<Mutex<Vec<u64>>>);

impl Numbers {
    fn bed(&self, to_device: Vec<Rule>) -> FaultBed {
        let numbers = Arc::clone(&self.0);
        let faults = Faults {
            to_device,
            observer: Some(Box::new(move |way, side, frame| {
                if let (Direction::ToDevice, Side::Leaving, Some(count)) = (way, side, smp_cnt(frame)) {
                    numbers.lock().expect("no panic").push(number(count));
                }
            })),
            ..Faults::default()
        };
        FaultBed::build(faults).expect("the bed is built")
    }

    /// Samples from the first to the last, and how many of them came out.
    fn span(&self) -> (u64, u64) {
        let numbers = self.0.lock().expect("no panic");
        let (first, last) = (numbers.iter().min().expect("some"), numbers.iter().max().expect("some"));
        (last - first + 1, numbers.len() as u64)
    }

    /// Pauses of whole seconds, within the samples that a receiver remembers: the first sample after one has the number and the contents of a
    /// remembered one, and is a copy of it as far as anybody can tell.
    fn whole_seconds(&self) -> u64 {
        let numbers = self.0.lock().expect("no panic");
        let is_whole = |pause: u64| pause > RATE / 2 && (pause + REMEMBERED) % RATE <= 2 * REMEMBERED;
        let pauses = numbers.windows(2).map(|pair| pair[1].saturating_sub(pair[0]));
        pauses.filter(|pause| is_whole(*pause)).count() as u64
    }
}

/// The latest sample with this smpCnt. A frame is never early, and is on the wire within the second.
fn number(smp_cnt: u64) -> u64 {
    let now_ns = sys::clock::realtime().as_ns() as u64 + 1_000_000;
    let second = (now_ns - smp_cnt * 1_000_000_000 / RATE) / 1_000_000_000;
    second * RATE + smp_cnt
}

/// Subscribes while `work` goes on, which says when its publisher ended, and until nothing more comes.
fn subscribe(bed: &FaultBed, work: impl FnOnce() -> Monotonic) -> (Recorded, Counters, Vec<String>) {
    let subscriber = Subscriber::start(bed);
    subscriber.sender.tell(work());
    let mut frames = 0;
    wait_until("nothing more comes", || {
        std::thread::sleep(Duration::from_millis(80));
        let before = std::mem::replace(&mut frames, subscriber.subscription.frames.load(Ordering::Relaxed));
        frames == before
    });
    let recorded = subscriber.finish();
    let age = recorded.counters("age/MU01");
    let events = recorded.events().into_iter().map(|event| event.text).collect();
    (recorded, age, events)
}

fn assert_silent_without_restart(events: &[String], times: usize) {
    let silent = events.iter().filter(|event| event.starts_with("MU01: silent for "));
    assert!(silent.count() >= times, "{events:#?}");
    assert!(!events.iter().any(|event| event.contains("restarted")), "{events:#?}");
}

#[test]
fn an_outage_costs_the_samples_of_its_time_however_long_it_is() {
    let Some(_clock) = can_run("an_outage_costs_the_samples_of_its_time_however_long_it_is") else {
        return;
    };
    // The counter alone shows 0.7 s as a jump back, 1 s as nothing, and 1.6 s as a jump back again.
    for down_ms in [200, 700, 1_000, 1_600] {
        let numbers = Numbers::default();
        let bed = numbers.bed(Vec::new());
        let (_recorded, age, events) = subscribe(&bed, || {
            std::thread::scope(|scope| {
                let publisher = scope.spawn(|| publish_for(&bed, Duration::from_millis(2_400)));
                wait_until("frames pass", || bed.wire().counts(Direction::ToDevice).left > 1_000);
                bed.set_link(End::Device, false).expect("down");
                std::thread::sleep(Duration::from_millis(down_ms));
                bed.set_link(End::Device, true).expect("up");
                publisher.join().expect("no panic")
            })
        });
        let (span, came_out) = numbers.span();
        assert_eq!(age.received + age.lost, span, "down for {down_ms} ms: {age:?}");
        // Just as an interface goes down or comes up, frames may leave the wire that the socket does not get.
        assert!(
            (came_out.saturating_sub(100)..=came_out).contains(&age.received),
            "{age:?} {came_out}"
        );
        assert!(age.lost >= RATE * down_ms * 9 / 10_000, "{age:?}");
        assert_eq!((age.duplicate, age.reordered), (0, 0));
        for text in ["dut0 is down: no frames arrive", "frames arrive again on dut0"] {
            assert!(events.iter().any(|event| event == text), "{events:#?}");
        }
        assert_silent_without_restart(&events, 1);
    }
}

#[test]
fn a_publisher_that_starts_again_owes_the_samples_of_the_time_between() {
    let Some(_clock) = can_run("a_publisher_that_starts_again_owes_the_samples_of_the_time_between") else {
        return;
    };
    let numbers = Numbers::default();
    let bed = numbers.bed(vec![rule(Which::Every(50), Fault::Drop)]);
    let (_recorded, age, events) = subscribe(&bed, || {
        let publish = || publish_for(&bed, Duration::from_millis(300));
        publish();
        publish();
        publish()
    });
    let (span, came_out) = numbers.span();
    // The kernel may exchange two frames of a publisher that changes its CPU. The first sample of all, exchanged, is none of the stream that the second begins.
    let before = span.saturating_sub(age.expected);
    assert!(before <= age.reordered && age.reordered <= 1, "{age:?} {span}");
    let expected = Counters {
        expected: span - before,
        received: came_out - age.duplicate - before,
        lost: span - came_out + age.duplicate,
        duplicate: age.duplicate,
        reordered: age.reordered,
        clipped: age.clipped,
        ..Counters::default()
    };
    assert_eq!(age, expected);
    assert!(age.duplicate <= numbers.whole_seconds(), "{age:?}");
    assert!(span >= 2 * RATE, "{span}");
    assert_silent_without_restart(&events, 2);
}
