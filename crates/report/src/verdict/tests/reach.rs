//! The series, steps and times that each kind of event affects. The words are those of the table in `docs/doubts.md`.

use super::{Quantity, event};
use crate::verdict::doubt;
use model::{Event, EventKind, RunView, SeriesClock, SeriesView};
use testing::synthetic::{run, series};

const SECOND_NS: u64 = 1_000_000_000;

/// A run of five steps of 10 s with a minute between them, and the series measured in each.
const STEPS: [&[&str]; 5] = [
    &["wakeup/cpu1", "wakeup/cpu2"],
    &["noise/cpu1", "send/a"],
    &["rtt/reflect", "turnaround/reflect"],
    &["publish/lateness", "spacing/MU01", "age/MU01", "hop/nic-to-app/MU01"],
    &["trip/F1", "task/relay", "goose/gcb", "clock/ptp"],
];

/// The series affected by an event that names no series and has an unknown time.
const REACH: [(EventKind, &str); 36] = [
    (EventKind::LoadStarted, NONE),
    (EventKind::LoadStopped, NONE),
    (EventKind::StepStarted, NONE),
    (EventKind::StepStopped, NONE),
    (EventKind::Action, NONE),
    (EventKind::ActionFailed, ALL),
    (EventKind::ClockStep, WALL_CLOCK),
    (EventKind::TimeSync, NONE),
    (EventKind::ClockDoubt, NONE),
    (EventKind::ClockGood, NONE),
    (EventKind::RtThrottled, ALL),
    (EventKind::HeldUp, ALL),
    (EventKind::HeldByUs, WAKING),
    (EventKind::Steal, NONE),
    (EventKind::PageFaults, ALL),
    (EventKind::Migration, ALL),
    (EventKind::ThreadChanged, ALL),
    (EventKind::SecondMeasurement, FRAMES),
    (EventKind::Emulated, ALL),
    (EventKind::RecorderOverrun, ALL),
    (EventKind::SocketDrop, RECEIVED),
    (EventKind::NicDrop, RECEIVED),
    (EventKind::Incomplete, ALL),
    (EventKind::HopGap, HOPS),
    (EventKind::Link, SENT),
    (EventKind::Relay, NONE),
    (EventKind::Stream, NONE),
    (EventKind::StreamDoubt, ALL),
    (EventKind::NotCounted, ALL),
    (EventKind::ControlFailed, ALL),
    (EventKind::Unproven, ALL),
    (EventKind::Refused, NONE),
    (EventKind::Interrupted, NONE),
    (EventKind::Break, NONE),
    (EventKind::Smi, NONE),
    (EventKind::Note, NONE),
];

const NONE: &str = "none";
const ALL: &str = "all";
const FRAMES: &str = "frames";
const RECEIVED: &str = "received frames";
const SENT: &str = "sent frames";
const HOPS: &str = "hops";
const WALL_CLOCK: &str = "wall clock";
const WAKING: &str = "threads that wake";

fn is_within(reach: &str, name: &str) -> bool {
    let is_one_of = |kinds: &[&str]| kinds.contains(&name.split('/').next().unwrap_or_default());
    let sent = ["publish", "send"];
    match reach {
        ALL => true,
        FRAMES => !is_one_of(&["wakeup", "noise", "task", "clock"]),
        RECEIVED => !is_one_of(&["wakeup", "noise", "task", "clock", "publish", "send"]),
        SENT => is_one_of(&sent),
        HOPS => is_one_of(&["hop"]),
        WALL_CLOCK => is_one_of(&["age"]),
        WAKING => !is_one_of(&["noise", "send", "clock"]),
        _ => false,
    }
}

fn starts_s(step: usize) -> u64 {
    70 * step as u64
}

/// A series that was measured in one step: it has windows only there.
fn measured(name: &str, step: usize) -> SeriesView {
    let mut one = series(name, 1_000, 60_000, 10);
    for window in one.windows.iter_mut() {
        window.start_ns += starts_s(step) * SECOND_NS;
        window.end_ns += starts_s(step) * SECOND_NS;
    }
    if name.starts_with("age/") {
        one.spec.clock = SeriesClock::Realtime;
    }
    one
}

fn five_steps() -> RunView {
    let steps = STEPS.iter().enumerate();
    run(steps
        .flat_map(|(step, names)| names.iter().map(move |name| measured(name, step)))
        .collect())
}

/// A quantity that events of this kind can put in doubt.
fn quantity_of(kind: EventKind) -> Quantity {
    match kind {
        EventKind::NicDrop => Quantity::Duplicate,
        _ => Quantity::Max,
    }
}

/// Names of the series that this event puts in doubt.
fn doubted(event: Event) -> Vec<String> {
    let quantity = quantity_of(event.kind);
    let mut run = five_steps();
    run.events = vec![event].into();
    let is_doubted = |one: &&SeriesView| !doubt::of(&run, one, quantity, None).is_empty();
    let found = run.series.iter().filter(is_doubted);
    found.map(|one| one.spec.name.clone()).collect()
}

/// The series within a reach that were measured in one of these steps.
fn expected(reach: &str, steps: &[usize]) -> Vec<String> {
    let names = steps.iter().flat_map(|step| STEPS[*step]);
    names
        .filter(|name| is_within(reach, name))
        .map(|name| (*name).to_owned())
        .collect()
}

fn between(kind: EventKind, since_s: u64, at_s: u64) -> Event {
    Event {
        since_ns: Some(since_s * SECOND_NS),
        at_ns: at_s * SECOND_NS,
        ..event(kind)
    }
}

#[test]
fn the_table_has_every_kind_of_event() {
    assert_eq!(REACH.map(|(kind, _)| kind), EventKind::ALL);
}

#[test]
fn an_event_of_which_nothing_is_known_touches_all_that_its_kind_can() {
    for (kind, reach) in REACH {
        assert_eq!(doubted(event(kind)), expected(reach, &[0, 1, 2, 3, 4]), "{kind:?}");
    }
}

#[test]
fn an_event_with_a_time_touches_what_was_measured_then() {
    for (kind, reach) in REACH {
        for step in 0..STEPS.len() {
            // An event within the step, one beyond its end, and one noticed a minute after it.
            for (since_s, at_s) in [(4, 5), (9, 20), (2, 69)] {
                let found = doubted(between(kind, starts_s(step) + since_s, starts_s(step) + at_s));
                assert_eq!(
                    found,
                    expected(reach, &[step]),
                    "{kind:?} in step {step}, {since_s} to {at_s} s"
                );
            }
        }
        // An event between two steps, and one that spans three steps.
        assert_eq!(doubted(between(kind, 12, 69)), expected(reach, &[]), "{kind:?}");
        assert_eq!(doubted(between(kind, 75, 215)), expected(reach, &[1, 2, 3]), "{kind:?}");
    }
}

#[test]
fn an_event_of_a_series_touches_that_one_alone() {
    let series = five_steps().series;
    for (kind, reach) in REACH {
        for one in &series {
            let of_one = Event {
                series: Some(one.id),
                ..event(kind)
            };
            let name = one.spec.name.clone();
            // If it names the series of a CPU, that is more than its kind implies, which then refers to an interface.
            let reach = if kind == EventKind::SecondMeasurement {
                ALL
            } else {
                reach
            };
            let reach = if kind == EventKind::HeldByUs { ALL } else { reach };
            let wanted: Vec<String> = vec![name].into_iter().filter(|name| is_within(reach, name)).collect();
            assert_eq!(doubted(of_one), wanted, "{kind:?}");
        }
    }
}

#[test]
fn a_series_without_a_window_is_touched_whenever_it_was() {
    let mut run = five_steps();
    run.series[0].windows.clear();
    run.events = vec![between(EventKind::RtThrottled, 100, 101)].into();
    assert!(!doubt::of(&run, &run.series[0], Quantity::Max, None).is_empty());
    assert!(doubt::of(&run, &run.series[1], Quantity::Max, None).is_empty());
}

/// A frame that the NIC dropped may have been a copy, or of another publisher. A lost one is counted, and its time is that of a loss.
#[test]
fn what_the_nic_dropped_hides_what_it_was() {
    let mut run = five_steps();
    run.events = vec![event(EventKind::NicDrop)].into();
    let stream = run.series_named("spacing/MU01").expect("a stream");
    let is_doubted = |quantity| !doubt::of(&run, stream, quantity, None).is_empty();
    for quantity in [
        Quantity::Duplicate,
        Quantity::Conflicting,
        Quantity::Reordered,
        Quantity::Unwanted,
        Quantity::Wrong,
        Quantity::Received,
    ] {
        assert!(is_doubted(quantity), "{quantity:?}");
    }
    for quantity in [Quantity::Lost, Quantity::Max, Quantity::Late, Quantity::Missed] {
        assert!(!is_doubted(quantity), "{quantity:?}");
    }
}

/// The page has a row for each kind that causes a doubt, with the same reach as here.
#[test]
fn the_page_of_doubts_says_the_same() {
    let page = include_str!("../../../../../docs/doubts.md");
    let row = |word: &str| page.lines().find(|line| line.starts_with(&format!("| `{word}`")));
    for (kind, reach) in REACH {
        match row(kind.word()) {
            None => assert_eq!(reach, NONE, "{kind:?} has no row"),
            Some(row) => assert!(row.contains(&format!("| {reach}")), "{kind:?}, {reach}: {row}"),
        }
    }
}
