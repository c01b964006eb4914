//! Silence, other sources, floods.

use crate::bay::{Bay, MS, RELAY, config, goose, of_relay};
use observation::Rule;
use sentinel::{AlarmKind, Found, Sentinel};
use wire::goose::Member;

#[test]
fn a_dead_relay_is_silent_and_its_missing_trip_unknown() {
    let mut bay = Bay::new(true);
    bay.beat_ns = i64::MAX / 2;
    bay.pass(1_000);
    assert_eq!(bay.kinds(), [(AlarmKind::Silent, RELAY.to_owned())]);
    bay.current = 20_000;
    bay.pass(300);
    bay.current = 1_000;
    bay.pass(1_000);
    assert_eq!(bay.kinds(), [of_relay(AlarmKind::Unknown)]);
    let (_, time) = bay.watch.watched().next().expect("a relay");
    assert!(time.unwatched_ns > 1_500_000_000, "{time:?}");
}

#[test]
fn a_message_that_allows_a_year_of_silence_is_silent_after_a_day() {
    let rule = Rule::Contact {
        gocb_ref: RELAY.into(),
        member: Member::numbered(0),
    };
    let mut bay = Bay::watching(rule);
    bay.take(&goose(RELAY, [1, 0], false, u32::MAX));
    let mut hours = 0;
    while !bay.kinds().contains(&(AlarmKind::Silent, RELAY.to_owned())) {
        hours += 1;
        assert!(hours < 30);
        bay.now_ns += 3_600_000 * MS;
        bay.look(0);
    }
    assert_eq!(hours, 25);
}

#[test]
fn silence_is_told_once_and_another_source_takes_its_place() {
    let mut bay = Bay::new(true);
    bay.silent(1_500);
    assert_eq!(bay.kinds(), [(AlarmKind::Silent, "MU01".to_owned())]);
    bay.source = 7;
    bay.pass(500);
    let told = bay.told();
    assert!(
        told.iter()
            .any(|(kind, _, text)| *kind == AlarmKind::Changed && text.contains("another one since now")),
        "{told:?}"
    );
    // The relay is watched again with the new source.
    bay.pass(2_000);
    bay.told();
    bay.fault(Some(60));
    assert_eq!(bay.kinds(), [of_relay(AlarmKind::Late)]);
}

#[test]
fn two_sources_at_once_are_told_and_the_first_one_stays() {
    let mut bay = Bay::new(true);
    bay.source = 7;
    bay.sv();
    bay.source = 1;
    bay.pass(100);
    let told = bay.told();
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(
        told[0].0 == AlarmKind::Changed && told[0].2.contains("two senders"),
        "{told:?}"
    );
    bay.fault(Some(20));
    assert_eq!(bay.told(), Vec::new());
}

#[test]
fn what_never_comes_is_told_after_its_time() {
    let rule = "above:5000".parse().expect("a rule");
    let mut watch = Sentinel::new(&config(rule, true), 0);
    let mut told = Vec::new();
    for second in 1..8 {
        watch.checked(second * 1_000 * MS, 0);
        watch.look(second * 1_000 * MS);
        while let Some(found) = watch.next_found() {
            if let Found::Alarm(alarm) = found {
                told.push((second, alarm.kind, alarm.subject));
            }
        }
    }
    let silent = |subject: &str| (6, AlarmKind::Silent, subject.to_owned());
    assert_eq!(told, [silent("MU01"), silent(RELAY)]);
    let (_, time) = watch.watched().next().expect("a relay");
    assert_eq!((time.watched_ns, time.unwatched_ns), (0, 6_000_000_000));
}

#[test]
fn a_publisher_that_alternates_fills_no_run_file_and_its_doubt_stays() {
    let mut bay = Bay::new(true);
    let begun_ns = bay.now_ns;
    for number in 0..2_000 {
        bay.synch = if number % 2 == 0 { 1 } else { 2 };
        bay.pass(1);
    }
    let told = bay.events("smpSynch from");
    assert_eq!(told.len(), 60, "{told:?}");
    bay.watch.settle(bay.now_ns);
    let told = bay.events("smpSynch from");
    let [(span, text)] = &told[..] else { panic!("{told:?}") };
    assert_eq!(*span, [begun_ns + 61 * MS, bay.now_ns]);
    assert!(text.contains("1939 like it before were counted only"), "{text}");
}
