//! Tests the events in the rings, and that the rings report when events are no longer there.

use super::{alone, cpu, pinned, recorder};
use std::time::Duration;
use sys::clock::monotonic;
use sys::thread::Policy;
use sys::wait::sleep_until;
use trace::What;
use units::Monotonic;

/// Events that the kernel records when a thread sleeps and wakes: at least two switches, the wake-up and a timer.
const EVENTS_PER_SLEEP: i64 = 4;

/// Sleeps this often for 20 us. Returns start and end, the thread's number, and how often it gave up its CPU for a sleep by the
/// kernel's count.
fn sleep_often(times: i64) -> (Monotonic, Monotonic, i32, usize) {
    let sleeping = pinned("sleeper", Policy::Fifo(90), move || {
        let (begin, before) = (monotonic(), sys::thread::usage());
        for _ in 0..times {
            sleep_until(monotonic() + 20_000);
        }
        let asleep = sys::thread::usage().voluntary_switches - before.voluntary_switches;
        (begin, monotonic(), sys::thread::number(), asleep as usize)
    });
    sleeping.join().expect("no panic")
}

#[test]
fn the_switches_of_a_sleeping_thread_are_all_there() {
    let _alone = alone();
    let Some(recorder) = recorder("rings") else {
        return;
    };
    let before = recorder.events_recorded().expect("a count");
    let (from, to, number, asleep) = sleep_often(500);
    let snapshot = recorder.snapshot(cpu(), from, to).expect("a snapshot");
    assert!(snapshot.complete);
    assert!(snapshot.events.is_sorted_by_key(|event| event.at));
    assert!(snapshot.events.iter().all(|event| event.cpu == cpu()));
    // The switch after one to the thread is one away from it.
    let turns = snapshot.turns();
    assert!(turns.iter().all(|turn| turn.thread.pid != number || turn.is_certain));
    let recorded = recorder.events_recorded().expect("a count") - before;
    assert!(recorded >= snapshot.events.len() as u64);
    let count = |wanted: fn(&What) -> Option<i32>| {
        let events = snapshot.events.iter();
        events.filter(|event| wanted(&event.what) == Some(number)).count()
    };
    let switches = count(|what| match what {
        What::Switch { next, .. } => Some(next.pid),
        _ => None,
    });
    let wakings = count(|what| match what {
        What::Waking(thread) => Some(thread.pid),
        _ => None,
    });
    // On a machine that stands still now and then, a sleep may be over before the thread is off the CPU, so the kernel's own count
    // is used. The thread may be pre-empted a few times more.
    let all = asleep.saturating_sub(1)..=asleep + 5;
    assert!(asleep > 0 && all.contains(&switches), "{switches} of {asleep}");
    assert!(
        (asleep.saturating_sub(1)..=501).contains(&wakings),
        "{wakings} of {asleep}"
    );
}

#[test]
fn a_ring_says_when_it_was_overwritten() {
    let _alone = alone();
    let Some(recorder) = recorder("overwriting") else {
        return;
    };
    let before_the_start = monotonic() - 1_000_000_000;
    let snapshot = recorder
        .snapshot(cpu(), before_the_start, monotonic())
        .expect("a snapshot");
    assert!(!snapshot.complete, "it did not run then");

    // One and a half times the capacity of the ring.
    let (from, to, _, _) = sleep_often(32_768 * 3 / 2 / EVENTS_PER_SLEEP);
    let whole = recorder.snapshot(cpu(), from, to).expect("a snapshot");
    assert!(!whole.complete, "{} events", whole.events.len());
    assert!(whole.events.len() > 16_384, "{} events", whole.events.len());
    assert!(whole.events.is_sorted_by_key(|event| event.at));
    let lately = recorder.snapshot(cpu(), to - 10_000_000, to).expect("a snapshot");
    assert!(lately.complete && lately.opening.is_some());
}

#[test]
fn wake_ups_of_normal_threads_are_recorded_when_watched() {
    let _alone = alone();
    let Some(recorder) = recorder("watching") else {
        return;
    };
    let (tell, told) = std::sync::mpsc::channel();
    let (go, gone) = std::sync::mpsc::channel::<()>();
    let sleeping = pinned("normal", Policy::Other, move || {
        tell.send(sys::thread::number()).expect("the test listens");
        let mut spans = Vec::new();
        while gone.recv().is_ok() {
            let from = monotonic();
            for _ in 0..20 {
                sleep_until(monotonic() + 200_000);
            }
            spans.push((from, monotonic()));
        }
        spans
    });
    let number = told.recv().expect("the thread lives");
    go.send(()).expect("the thread lives");
    std::thread::sleep(Duration::from_millis(100));
    recorder.watch(cpu(), number).expect("watched");
    go.send(()).expect("the thread lives");
    drop(go);
    let spans = sleeping.join().expect("no panic");
    let wakings = |(from, to): (Monotonic, Monotonic)| {
        let snapshot = recorder.snapshot(cpu(), from, to).expect("a snapshot");
        let events = snapshot.events.iter();
        events
            .filter(|event| matches!(event.what, What::Waking(thread) if thread.pid == number))
            .count()
    };
    assert_eq!(wakings(spans[0]), 0);
    assert!(wakings(spans[1]) >= 15);
}
