//! Tests the segments that result from given events.

use super::{Segment, Who, segments};
use crate::event::{Event, Left, Name, Thread, Vector, What};
use crate::flight::tests::any_event;
use crate::snapshot::Snapshot;
use proptest::prelude::{prop_assert, prop_assert_eq, proptest};
use units::Monotonic;

/// Placeholder for the thread of the switch before.
const CHAINED: u16 = u16::MAX;

fn thread(pid: i32) -> Thread {
    Thread {
        pid,
        priority: 120,
        name: Name::from("x"),
    }
}

fn switch(pid: i32) -> What {
    What::Switch {
        next: thread(pid),
        left: Left::CouldRun,
        left_with: None,
        previous: CHAINED,
    }
}

/// Occupants of the CPU from 100 to 200, as `(until, who)`.
fn line(events: &[(i64, What)]) -> Vec<(i64, Who)> {
    let at = Monotonic::from_ns;
    let mut running = 0;
    let chained = |(when, what): &(i64, What)| {
        let mut what = *what;
        if let What::Switch { next, previous, .. } = &mut what {
            if *previous == CHAINED {
                *previous = running;
            }
            running = next.tag();
        }
        Event {
            at: at(*when),
            cpu: 0,
            what,
        }
    };
    let events: Vec<Event> = events.iter().map(chained).collect();
    let snapshot = Snapshot::of(0, at(100), at(200), &events, true);
    let shown = segments(&snapshot)
        .into_iter()
        .map(|segment| (segment.to.as_ns(), segment.who));
    shown.collect()
}

#[test]
fn the_innermost_has_the_cpu() {
    let entry = What::InterruptEntry {
        number: 24,
        name: "eth0".into(),
    };
    let interrupt = Who::Interrupt {
        number: 24,
        name: "eth0".into(),
    };
    let shown = line(&[
        (50, switch(7)),
        (110, What::SoftirqEntry(3)),
        (120, entry),
        (130, What::InterruptExit { number: 24 }),
        (140, What::SoftirqExit(3)),
        (150, switch(0)),
    ]);
    assert_eq!(
        shown,
        [
            (110, Who::Thread(thread(7))),
            (120, Who::Softirq(3)),
            (130, interrupt),
            (140, Who::Softirq(3)),
            (150, Who::Thread(thread(7))),
            (200, Who::Idle),
        ]
    );
}

#[test]
fn a_timer_belongs_to_the_interrupt_that_serves_it_and_has_a_name_of_its_own_only_without_one() {
    let timer = [(120, What::TimerEntry { due_ns: None }), (130, What::TimerExit)];
    let vector = Who::Vector(Vector::LocalTimer);
    let mut within = vec![(50, switch(0)), (110, What::VectorEntry(Vector::LocalTimer))];
    within.extend(timer);
    within.push((140, What::VectorExit(Vector::LocalTimer)));
    assert_eq!(line(&within), [(110, Who::Idle), (140, vector), (200, Who::Idle)]);
    let mut alone = vec![(50, switch(0))];
    alone.extend(timer);
    assert_eq!(line(&alone), [(120, Who::Idle), (130, Who::Timer), (200, Who::Idle)]);
}

#[test]
fn what_began_before_is_known_by_its_end_and_nobody_is_named_without_evidence() {
    assert_eq!(
        line(&[(150, What::SoftirqExit(9)), (160, switch(3))]),
        [
            (150, Who::Softirq(9)),
            (160, Who::Unknown),
            (200, Who::Thread(thread(3)))
        ]
    );
}

#[test]
fn a_lost_end_does_not_outlast_the_next_switch() {
    let shown = line(&[(50, switch(1)), (110, What::SoftirqEntry(1)), (150, switch(2))]);
    assert_eq!(
        shown,
        [
            (110, Who::Thread(thread(1))),
            (150, Who::Softirq(1)),
            (200, Who::Thread(thread(2)))
        ]
    );
}

#[test]
fn a_missing_switch_makes_the_turn_before_it_nobodys() {
    let from_another = What::Switch {
        next: thread(3),
        left: Left::CouldRun,
        left_with: None,
        previous: 9,
    };
    let events = [
        (50, switch(1)),
        (110, switch(2)),
        (120, What::SoftirqEntry(1)),
        (130, What::SoftirqExit(1)),
        (150, from_another),
    ];
    assert_eq!(
        line(&events),
        [
            (110, Who::Thread(thread(1))),
            (120, Who::Lost),
            (130, Who::Softirq(1)),
            (150, Who::Lost),
            (200, Who::Thread(thread(3)))
        ]
    );
}

#[test]
fn a_non_maskable_interrupt_is_laid_over_what_it_interrupted() {
    let shown = line(&[(50, switch(1)), (120, switch(2)), (130, What::Nmi { lasted_ns: 20 })]);
    assert_eq!(
        shown,
        [
            (110, Who::Thread(thread(1))),
            (130, Who::Nmi),
            (200, Who::Thread(thread(2)))
        ]
    );
}

proptest! {
    #[test]
    fn segments_cover_the_span_without_gaps_whatever_the_events(
        mut events in proptest::collection::vec(any_event(), 0..60),
        instants in proptest::collection::vec(0_i64..1_000, 60),
        from in 0_i64..500,
        length in 0_i64..500,
    ) {
        for (event, at) in events.iter_mut().zip(instants) {
            event.at = Monotonic::from_ns(at);
        }
        events.sort_by_key(|event| event.at);
        let (from, to) = (Monotonic::from_ns(from), Monotonic::from_ns(from + length));
        let line: Vec<Segment> = segments(&Snapshot::of(0, from, to, &events, false));
        let mut at = from;
        for segment in &line {
            prop_assert_eq!(segment.from, at);
            prop_assert!(segment.to > segment.from);
            at = segment.to;
        }
        prop_assert_eq!(at, to);
    }
}
