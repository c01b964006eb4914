//! Trips in time, late, missing, false, and those of which nobody knows.

use crate::bay::{Bay, MS, RELAY, config, goose, of_relay};
use model::{Counter, EventKind};
use observation::Rule;
use sentinel::{AlarmKind, Found, Sentinel};
use wire::goose::Member;

/// An unknown shot or a gap is an event between samples: it puts a limit in doubt only if a window covers its time.
#[test]
fn windows_cover_the_time_without_a_sample() {
    let mut bay = Bay::new(true);
    let trips = |bay: &mut Bay, now_ns: i64, is_last: bool| {
        let (windows, _) = bay.watch.close_windows(0, now_ns, is_last);
        let found = windows.into_iter().find(|window| window.series.0 == 0);
        found.map(|window| (window.start_ns, window.end_ns, window.counters.received))
    };
    bay.fault(Some(20));
    let begin = bay.now_ns;
    let first = trips(&mut bay, begin, false).expect("a trip");
    assert_eq!((first.0, first.2), (0, 1));
    let idle = bay.now_ns + 1_000 * MS;
    assert_eq!(trips(&mut bay, idle, false), None);
    bay.fault(Some(20));
    let now = bay.now_ns;
    let second = trips(&mut bay, now, false).expect("a trip");
    assert_eq!((second.0, second.2), (first.1, 1));
    assert_eq!(
        trips(&mut bay, now + 1_000 * MS, true).map(|one| (one.0, one.2)),
        Some((second.1, 0))
    );
}

#[test]
fn a_trip_in_time_is_no_alarm_a_late_one_and_a_missing_one_are() {
    let mut bay = Bay::new(true);
    bay.fault(Some(20));
    assert_eq!(bay.told(), Vec::new());
    bay.fault(Some(60));
    assert_eq!(bay.kinds(), [of_relay(AlarmKind::Late)]);
    bay.fault(None);
    assert_eq!(bay.kinds(), [of_relay(AlarmKind::Missing)]);
    let (windows, _) = bay.watch.close_windows(0, bay.now_ns, false);
    let trips = windows.iter().find(|window| window.series.0 == 0).expect("trips");
    assert_eq!((trips.counters.received, trips.counters.lost), (2, 1));
    assert!(
        (59 * MS..62 * MS).contains(&trips.max_ns.expect("a trip")),
        "{:?}",
        trips.max_ns
    );
    let (_, time) = bay.watch.watched().next().expect("a relay");
    assert!(
        time.unwatched_ns < 200_000_000 && time.watched_ns > 5_000_000_000,
        "{time:?}"
    );
}

#[test]
fn a_start_without_a_trip_is_no_alarm_where_none_is_needed() {
    let mut bay = Bay::new(false);
    bay.fault(None);
    assert_eq!(bay.told(), Vec::new());
}

#[test]
fn a_trip_without_a_fault_is_false_only_if_all_was_heard() {
    let mut bay = Bay::new(true);
    bay.trip(true);
    bay.pass(300);
    bay.trip(false);
    bay.pass(1_500);
    assert_eq!(bay.kinds(), [of_relay(AlarmKind::False)]);
    // The same after samples that never came: a fault may have been in them.
    bay.silent(50);
    bay.pass(20);
    bay.trip(true);
    bay.pass(300);
    bay.trip(false);
    bay.pass(1_500);
    let told = bay.kinds();
    assert!(
        told.contains(&of_relay(AlarmKind::Unknown)) && told.contains(&(AlarmKind::Lost, "MU01".into())),
        "{told:?}"
    );
    assert!(!told.contains(&of_relay(AlarmKind::False)), "{told:?}");
}

#[test]
fn a_trip_whose_contact_is_dead_is_unknown() {
    let rule = Rule::Contact {
        gocb_ref: "LD0/LLN0$GO$contact".into(),
        member: Member::numbered(0),
    };
    for contact_ms in [0, 3_000] {
        let mut bay = Bay::watching(rule.clone());
        for ms in 0..6_000 {
            if ms < contact_ms && ms % 100 == 0 {
                let octets = goose("LD0/LLN0$GO$contact", [1, ms / 100], false, 300);
                bay.take(&octets);
            }
            bay.step(false);
        }
        bay.told();
        bay.trip(true);
        bay.silent(1_000);
        assert_eq!(bay.kinds(), [of_relay(AlarmKind::Unknown)], "{contact_ms}");
    }
}

#[test]
fn frames_that_the_watch_lost_make_a_failure_unknown() {
    let mut bay = Bay::new(true);
    bay.current = 20_000;
    bay.pass(300);
    bay.look(3);
    bay.current = 1_000;
    bay.pass(1_000);
    let told = bay.kinds();
    assert_eq!(
        told,
        [(AlarmKind::Own, "watch".to_owned()), of_relay(AlarmKind::Unknown)]
    );
}

#[test]
fn the_watch_blames_nobody_for_frames_that_it_lost_itself() {
    let rule = "above:5000".parse().expect("a rule");
    let mut config = config(rule, true);
    config.streams[0].within_ns = Some(5_000_000);
    let mut bay = Bay::of(&config);
    bay.goose();
    bay.pass(1_500);
    let (lost, late) = (
        (AlarmKind::Lost, RELAY.to_owned()),
        (AlarmKind::Late, "MU01".to_owned()),
    );
    for dropped in [3, 0] {
        bay.silent(50);
        bay.step(true);
        bay.state = [bay.state[0] + 2, 0];
        bay.goose();
        // Only now it is known whether the watch lost them.
        bay.look(dropped);
        bay.pass(1_000);
        let told = bay.kinds();
        assert_eq!(
            told.contains(&(AlarmKind::Own, "watch".to_owned())),
            dropped > 0,
            "{told:?}"
        );
        assert_eq!(told.contains(&lost), dropped == 0, "{told:?}");
        assert_eq!(told.contains(&late), dropped == 0, "{told:?}");
    }
    let (windows, _) = bay.watch.close_windows(0, bay.now_ns, false);
    let all = |counter| windows.iter().map(|window| window.counters.get(counter)).sum::<u64>();
    assert_eq!(all(Counter::Late), 1, "{windows:?}");
}

#[test]
fn a_trip_around_a_sleep_of_the_machine_is_unknown() {
    let mut bay = Bay::new(true);
    bay.watch
        .jumped([bay.now_ns - 50 * MS, bay.now_ns], "the wall clock jumped");
    bay.trip(true);
    bay.pass(300);
    assert_eq!(
        bay.kinds(),
        [(AlarmKind::Own, "watch".to_owned()), of_relay(AlarmKind::Unknown)]
    );
}

#[test]
fn the_end_of_the_wake_ups_is_told_and_leaves_a_doubt() {
    let rule = "above:5000".parse().expect("a rule");
    let mut config = config(rule, true);
    config.wakeup_ns = Some(10_000_000);
    let mut watch = Sentinel::new(&config, 0);
    watch.woken_no_more(5);
    let wakeup = watch.series().position(|spec| spec.name == "wakeup/spare");
    let Some(Found::Event { series, kind, .. }) = watch.next_found() else {
        panic!("an event")
    };
    assert!(wakeup.is_some() && series == wakeup && kind == EventKind::Incomplete);
    let Some(Found::Alarm(alarm)) = watch.next_found() else {
        panic!("an alarm")
    };
    assert_eq!(alarm.kind, AlarmKind::Own);
}

#[test]
fn a_shot_under_way_at_the_end_is_unknown_and_all_else_ends_in_silence() {
    let mut bay = Bay::new(true);
    bay.watch.end();
    assert_eq!(bay.told(), Vec::new());
    let mut bay = Bay::new(true);
    bay.current = 20_000;
    bay.pass(100);
    bay.watch.end();
    assert_eq!(bay.kinds(), [of_relay(AlarmKind::Unknown)]);
    // A trip that is in time stands, though the fault goes on.
    let mut bay = Bay::new(true);
    bay.current = 20_000;
    bay.pass(20);
    bay.trip(true);
    bay.pass(100);
    bay.watch.end();
    assert_eq!(bay.told(), Vec::new());
    let (windows, _) = bay.watch.close_windows(0, bay.now_ns, false);
    let trips = windows.iter().find(|window| window.series.0 == 0).expect("trips");
    assert_eq!(trips.counters.received, 1);
}
