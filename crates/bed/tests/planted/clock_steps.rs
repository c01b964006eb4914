//! The wall clock jumps while frames are lost and doubled: counts stay exact, and the jump is reported.

use crate::bench::{ClockOfOurOwn, Counted, Recorded, bed, can_run_alone};
use crate::{listen, reflect, samples};
use bed::fault::{Direction, Fault, Rule, Which};
use model::EventKind;
use rustix::time::{ClockId, clock_gettime, clock_settime};
use std::time::Duration;

const STEPS_NS: [i64; 2] = [700_000_000, -700_000_000];

/// Interval of the faults in frames; it excludes the last of 1700, whose loss could not be detected.
const LOST: u64 = 47;
const DOUBLED: u64 = 37;

/// A moved `CLOCK_REALTIME`; dropping it moves it back.
struct MovedClock(i64);

impl MovedClock {
    fn by(ns: i64) -> Self {
        step(ns);
        Self(ns)
    }
}

impl Drop for MovedClock {
    fn drop(&mut self) {
        // The recorder reads the clocks five times a second.
        std::thread::sleep(Duration::from_millis(500));
        step(-self.0);
    }
}

fn step(ns: i64) {
    let mut time = clock_gettime(ClockId::Realtime);
    let sum = time.tv_nsec + ns;
    time.tv_sec += sum.div_euclid(1_000_000_000);
    time.tv_nsec = sum.rem_euclid(1_000_000_000);
    clock_settime(ClockId::Realtime, time).expect("the clock steps");
}

fn can_step(test: &str) -> Option<ClockOfOurOwn> {
    match clock_settime(ClockId::Realtime, clock_gettime(ClockId::Realtime)) {
        Ok(()) => can_run_alone(test),
        Err(error) => {
            testing::skip(test, &format!("the clock cannot be set (CAP_SYS_TIME): {error}"));
            None
        }
    }
}

fn rules(rule: impl Fn(Which, Fault) -> Rule) -> Vec<Rule> {
    vec![
        rule(Which::Every(LOST), Fault::Drop),
        rule(Which::Every(DOUBLED), Fault::Duplicate),
    ]
}

/// Of 1700 frames: one that is dropped is not doubled, too.
fn expected() -> Counted {
    let each = |of: u64| (1..=1_700).filter(move |number: &u64| number.is_multiple_of(of));
    Counted {
        sent: 1_700,
        lost: each(LOST).count() as u64,
        duplicate: each(DOUBLED).filter(|number| !number.is_multiple_of(LOST)).count() as u64,
        reordered: 0,
    }
}

fn assert_told(recorded: &Recorded) {
    let steps = recorded
        .events()
        .into_iter()
        .filter(|event| event.kind == EventKind::ClockStep);
    assert!(steps.count() >= 1, "{:#?}", recorded.events());
}

#[test]
fn a_subscriber_counts_what_was_lost_and_no_more() {
    let Some(_clock) = can_step("a_subscriber_counts_what_was_lost_and_no_more") else {
        return;
    };
    for ns in STEPS_NS {
        let (bed, journal) = bed(rules(samples::rule), Vec::new(), 1);
        let sender = samples::Sender::open(&bed);
        let subscriber = samples::Subscriber::start(&bed);
        // Across the wrap of smpCnt.
        sender.send(&bed, 4_000, 700);
        subscriber.wait_for(&journal);
        let stepped = MovedClock::by(ns);
        sender.send(&bed, 4_700, 700);
        subscriber.wait_for(&journal);
        drop(stepped);
        sender.send(&bed, 600, 300);
        subscriber.wait_for(&journal);
        let recorded = subscriber.finish();
        samples::assert_counted(&recorded, expected());
        assert_told(&recorded);
    }
}

#[test]
fn a_listener_counts_what_was_lost_and_no_more() {
    let Some(_clock) = can_step("a_listener_counts_what_was_lost_and_no_more") else {
        return;
    };
    for ns in STEPS_NS {
        let (bed, journal) = bed(rules(listen::rule), Vec::new(), 1);
        let sender = listen::Sender::open(&bed);
        let listener = listen::Listener::start(&bed, Duration::from_micros(125));
        sender.send(&bed, 1, 0, 700);
        listener.wait_for(&bed, &journal);
        let stepped = MovedClock::by(ns);
        sender.send(&bed, 1, 700, 700);
        listener.wait_for(&bed, &journal);
        drop(stepped);
        sender.send(&bed, 1, 1_400, 300);
        listener.wait_for(&bed, &journal);
        let recorded = listener.finish();
        listen::assert_counted(&recorded, expected());
        assert_told(&recorded);
    }
}

#[test]
fn a_round_trip_counts_what_was_lost_and_no_more() {
    let Some(_clock) = can_step("a_round_trip_counts_what_was_lost_and_no_more") else {
        return;
    };
    for ns in STEPS_NS {
        let (bed, journal) = bed(rules(reflect::early), rules(reflect::early), 1);
        let recorded = std::thread::scope(|scope| {
            scope.spawn(|| {
                std::thread::sleep(Duration::from_millis(700));
                drop(MovedClock::by(ns));
            });
            reflect::meet(&bed)
        });
        let found = reflect::of_the_sent(&recorded);
        let wanted = reflect::by_the_journal(&journal);
        assert_eq!(found, wanted);
        let injected = |way| bed.wire().counts(way).rules[0].injected;
        assert!(injected(Direction::ToDevice) >= 5 && injected(Direction::ToTestSet) >= 5);
        assert_told(&recorded);
    }
}
