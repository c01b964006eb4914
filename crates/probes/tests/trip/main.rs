//! The test set with a small relay whose delays are known, over a veth pair.

mod blind;
#[path = "../common/mod.rs"]
mod common;
mod hostile;
mod relay;
mod security;
mod subscriber;
mod wire;

use ::wire::goose::Member;
use common::{Pair, Recorded, Run, can_run_with};
use model::EventKind;
use probes::trip::{Ports, TripConfig, TripOptions, UnderTest, goose_port_options};
use probes::{Probe, ProbeError, publish};
use relay::{Relay, RelayKind};
use std::collections::BTreeMap;
use sys::privilege::Capability;
use sys::thread::Policy;

const MS: i64 = 1_000_000;

fn can_run(test: &str) -> bool {
    can_run_with(
        test,
        &[
            Capability::SysAdmin,
            Capability::NetAdmin,
            Capability::NetRaw,
            Capability::SysNice,
        ],
    )
}

fn few(shots: u32, scenarios: &[&str]) -> TripConfig {
    let options = TripOptions {
        scenario: scenarios.iter().map(|&name| name.to_owned()).collect(),
        shots: Some(shots),
        start_member: Some("1".parse().expect("a member")),
        ..TripOptions::default()
    };
    TripConfig {
        settle_ns: 100_000_000,
        policy: Policy::Fifo(50),
        ..options.config().expect("scenarios of the program")
    }
}

/// A relay of this kind with a known control block.
fn heard_of(kind: &RelayKind, label: Option<&str>) -> UnderTest {
    UnderTest {
        label: label.map(str::to_owned),
        goose: Some(kind.name.into()),
        trip: "0".parse().expect("a member"),
        start: Some("1".parse().expect("a member")),
        phases: None,
        functions: Vec::new(),
    }
}

/// Findings of the test set about relays of these kinds, and its result.
fn tested(config: &TripConfig, kinds: &[RelayKind]) -> (Recorded, Result<(), ProbeError>) {
    let (recorded, ended, _) = with_relays(config, kinds);
    (recorded, ended)
}

/// The same, also with the relays.
fn with_relays(config: &TripConfig, kinds: &[RelayKind]) -> (Recorded, Result<(), ProbeError>, Vec<Relay>) {
    over(&Pair::build(), config, kinds)
}

fn over(pair: &Pair, config: &TripConfig, kinds: &[RelayKind]) -> (Recorded, Result<(), ProbeError>, Vec<Relay>) {
    let relays: Vec<Relay> = kinds
        .iter()
        .map(|kind| Relay::start(kind.clone(), pair.port_b(&relay::options())))
        .collect();
    let mut run = Run::start();
    let ports = Ports {
        stream: pair.port_a(&publish::port_options()).into(),
        goose: pair.port_a(&goose_port_options()).into(),
    };
    let running = config.start(ports, &mut run.recorder, &run.stop).expect("it starts");
    let ended = running.join();
    (run.finish(), ended, relays)
}

fn texts(recorded: &Recorded, kind: EventKind) -> Vec<String> {
    let events = recorded.file.events().expect("events");
    let of_kind = events.into_iter().filter(|event| event.kind == kind);
    of_kind.map(|event| event.text).collect()
}

#[test]
fn planted_delays_are_measured_and_the_relay_is_found() {
    if !can_run("planted_delays_are_measured_and_the_relay_is_found") {
        return;
    }
    let (recorded, ended) = tested(&few(3, &["overcurrent", "load"]), &[RelayKind::default()]);
    ended.expect("it ends well");
    let trips = recorded.counters("trip/overcurrent");
    let not_counted = texts(&recorded, EventKind::NotCounted);
    // If the test set was held up, it counts fewer shots, and reports that.
    let left_out = |series: &str| not_counted.iter().filter(|text| text.starts_with(series)).count() as u64;
    assert_eq!(trips.received + left_out("trip/"), 3, "{not_counted:?}");
    assert_eq!((trips.lost, trips.unwanted), (0, 0));
    for spike in recorded.spikes("trip/overcurrent") {
        assert!((10 * MS..60 * MS).contains(&spike.value_ns), "{spike:?}");
    }
    for spike in recorded.spikes("start/overcurrent") {
        assert!((2 * MS..50 * MS).contains(&spike.value_ns), "{spike:?}");
    }
    let quiet = recorded.counters("security/load");
    assert_eq!(
        (quiet.received + left_out("security/"), quiet.unwanted),
        (3, 0),
        "{not_counted:?}"
    );
    assert_eq!(texts(&recorded, EventKind::ControlFailed), Vec::<String>::new());
    let notes = texts(&recorded, EventKind::Note);
    assert!(
        notes
            .iter()
            .any(|text| text.contains("GOOSE found") && text.contains("gcbTrip")),
        "{notes:?}"
    );
    assert_eq!(
        notes
            .iter()
            .filter(|text| text.contains("no trip, as required"))
            .count(),
        4,
        "{notes:?}"
    );
}

#[test]
fn a_relay_that_takes_any_stream_fails_a_control() {
    if !can_run("a_relay_that_takes_any_stream_fails_a_control") {
        return;
    }
    let kind = RelayKind {
        sv_id: None,
        ..RelayKind::default()
    };
    let (recorded, ended) = tested(&few(1, &["overcurrent"]), &[kind]);
    ended.expect("it ends well");
    // Each event is written for every series that it concerns, at the instant of its fault; two events may have the same text.
    let events = recorded.file.events().expect("events").into_iter();
    let failed = events.filter(|event| event.kind == EventKind::ControlFailed);
    // On a busy machine the test set does not send every control in time.
    let failed: BTreeMap<u64, String> = failed
        .map(|event| (event.at_ns, event.text))
        .filter(|(_, text)| !text.contains("could not be made"))
        .collect();
    assert_eq!(failed.len(), 2, "{failed:?}");
    let tripped = |text: &String| text.starts_with("control other-sv-id failed: the relay tripped");
    assert!(failed.values().any(tripped), "{failed:?}");
}

#[test]
fn a_relay_that_does_not_trip_or_trips_for_load_is_found_out() {
    if !can_run("a_relay_that_does_not_trip_or_trips_for_load_is_found_out") {
        return;
    }
    let config = TripConfig {
        relays: vec![heard_of(&RelayKind::default(), None)],
        controls: Vec::new(),
        ..few(2, &["overcurrent", "load"])
    };
    let deaf = RelayKind {
        delay_ns: None,
        ..RelayKind::default()
    };
    let (recorded, ended) = tested(&config, &[deaf]);
    ended.expect("it ends well");
    let trips = recorded.counters("trip/overcurrent");
    let not_counted = texts(&recorded, EventKind::NotCounted);
    let left_out = not_counted.iter().filter(|text| text.starts_with("trip/")).count() as u64;
    assert_eq!((trips.lost + left_out, trips.received), (2, 0));
    assert_eq!(
        recorded.counters("start/overcurrent").received,
        trips.lost,
        "start is kept apart"
    );
    // A load of 500 A has a peak of 707 A, the one before of 566 A.
    let nervous = RelayKind {
        threshold_ma: 600_000,
        ..RelayKind::default()
    };
    let (recorded, ended) = tested(&config, &[nervous]);
    ended.expect("it ends well");
    let quiet = recorded.counters("security/load");
    assert_eq!((quiet.received, quiet.unwanted), (2, 2));
    assert!(recorded.counters("trip/overcurrent").received > 0);
}

#[test]
fn what_does_not_tell_a_trip_is_no_trip() {
    if !can_run("what_does_not_tell_a_trip_is_no_trip") {
        return;
    }
    let named = TripConfig {
        relays: vec![heard_of(&RelayKind::default(), None)],
        controls: Vec::new(),
        ..few(2, &["overcurrent"])
    };
    let latched = RelayKind {
        latches: true,
        ..RelayKind::default()
    };
    let (recorded, ended) = tested(&named, &[latched]);
    ended.expect("it ends well");
    assert!(recorded.counters("trip/overcurrent").received <= 1);
    let why = texts(&recorded, EventKind::NotCounted);
    assert!(
        why.iter()
            .any(|text| text.contains("shot 2 not measured: the trip bit was set already")),
        "{why:?}"
    );
    let simulated = RelayKind {
        simulates: true,
        ..RelayKind::default()
    };
    let (_, ended) = tested(&named, &[simulated]);
    let why = ended.expect_err("nothing to measure").to_string();
    assert!(why.contains("test or simulated messages"), "{why}");
}

#[test]
fn a_link_of_the_test_set_that_is_down_is_no_failure_to_trip() {
    if !can_run("a_link_of_the_test_set_that_is_down_is_no_failure_to_trip") {
        return;
    }
    let kind = RelayKind::default();
    let config = TripConfig {
        relays: vec![heard_of(&kind, None)],
        controls: Vec::new(),
        ..few(4, &["overcurrent"])
    };
    let pair = Pair::build();
    let relay = Relay::start(kind, pair.port_b(&relay::options()));
    let mut run = Run::start();
    let ports = Ports {
        stream: pair.port_a(&publish::port_options()).into(),
        goose: pair.port_a(&goose_port_options()).into(),
    };
    let running = config.start(ports, &mut run.recorder, &run.stop).expect("it starts");
    // The carrier goes down with the far end, and the kernel still accepts frames for longer than a shot.
    common::wait_until("a fault comes", || relay.longest_ns() > 0);
    pair.set_b(false);
    std::thread::sleep(std::time::Duration::from_millis(900));
    pair.set_b(true);
    running.join().expect("it ends well");
    let recorded = run.finish();
    let trips = recorded.counters("trip/overcurrent");
    let not_counted = texts(&recorded, EventKind::NotCounted);
    assert_eq!(trips.lost, 0, "{not_counted:?}");
    assert!(
        not_counted
            .iter()
            .any(|text| text.contains("the link of the test set (a0) was down")),
        "{not_counted:?}"
    );
}

#[test]
fn two_relays_that_trip_are_not_told_apart_by_chance() {
    if !can_run("two_relays_that_trip_are_not_told_apart_by_chance") {
        return;
    }
    let second = RelayKind {
        name: "IED2LD0/LLN0$GO$gcbTrip",
        ..RelayKind::default()
    };
    let (_, ended) = tested(&few(1, &["overcurrent"]), &[RelayKind::default(), second]);
    let why = ended.expect_err("which one?").to_string();
    assert!(
        why.contains("several") && why.contains("IED1LD0") && why.contains("IED2LD0"),
        "{why}"
    );
    let (_, ended) = tested(&few(1, &["overcurrent"]), &[]);
    let why = ended.expect_err("no relay").to_string();
    assert!(why.contains("no GOOSE came"), "{why}");
}

#[test]
fn a_breaker_ends_the_fault() {
    if !can_run("a_breaker_ends_the_fault") {
        return;
    }
    let lasted_ms = |breaker_ns| {
        let config = TripConfig {
            relays: vec![heard_of(&RelayKind::default(), None)],
            controls: Vec::new(),
            breaker_ns,
            ..few(2, &["overcurrent"])
        };
        let (recorded, ended, relays) = with_relays(&config, &[RelayKind::default()]);
        ended.expect("it ends well");
        assert!(recorded.counters("trip/overcurrent").lost == 0);
        relays[0].longest_ns() / MS
    };
    // The fault of the scenario lasts 200 ms; 10 ms after its start there is a trip, and after 30 ms the current is zero.
    let (without, with) = (lasted_ms(None), lasted_ms(Some(30_000_000)));
    assert!((180..220).contains(&without), "{without} ms");
    assert!((30..130).contains(&with), "{with} ms");
}

#[test]
fn relays_side_by_side_are_told_apart_and_the_fault_lasts_for_each() {
    if !can_run("relays_side_by_side_are_told_apart_and_the_fault_lasts_for_each") {
        return;
    }
    let quick = RelayKind::default();
    let slow = |delay_ns| RelayKind {
        delay_ns,
        name: "IED2LD0/LLN0$GO$gcbTrip",
        ..RelayKind::default()
    };
    let telling = |kind: &RelayKind, label: &str, phases: [u8; 3]| UnderTest {
        phases: Some(phases.map(Member::numbered)),
        ..heard_of(kind, Some(label))
    };
    let mut config = TripConfig {
        // Its messages have two members: the slow relay does not report phase c.
        relays: vec![
            telling(&quick, "quick", [0; 3]),
            telling(&slow(None), "slow", [0, 0, 2]),
        ],
        breaker_ns: Some(1_000_000),
        ..few(2, &["overcurrent", "load"])
    };
    config.scenarios[0].selection.phases = Some([true; 3]);
    let (recorded, ended, _) = with_relays(&config, &[quick.clone(), slow(Some(60_000_000))]);
    ended.expect("it ends well");
    let of = |name: &str| recorded.counters(name);
    for name in ["trip/quick-overcurrent", "trip/slow-overcurrent"] {
        assert_eq!(of(name).lost, 0, "{name}: {:?}", texts(&recorded, EventKind::Note));
        assert!(of(name).received > 0, "{name}");
    }
    let least = |name: &str| {
        let all = recorded.spikes(name).into_iter().map(|spike| spike.value_ns);
        all.min().expect("a trip")
    };
    assert!(least("trip/quick-overcurrent") >= 10 * MS);
    assert!(
        least("trip/slow-overcurrent") >= 60 * MS,
        "after the other's breaker time"
    );
    let [told, untold] = ["phase/quick-overcurrent", "phase/slow-overcurrent"].map(of);
    let trips = ["trip/quick-overcurrent", "trip/slow-overcurrent"].map(|name| of(name).received);
    assert_eq!(
        [(told.received, told.lost), (untold.received, untold.lost)],
        [(trips[0], 0), (0, trips[1])]
    );
    let left_out = |series: &str| {
        let not_counted = texts(&recorded, EventKind::NotCounted).into_iter();
        not_counted.filter(|text| text.starts_with(series)).count() as u64
    };
    assert_eq!(of("security/slow-load").received + left_out("security/slow"), 2);
    let started = of("start/quick-overcurrent");
    assert_eq!(started.received + started.lost + left_out("trip/quick"), 2);
    // Shots that only one relay fails are counted only for that relay.
    let (recorded, ended, _) = with_relays(&config, &[quick, slow(None)]);
    ended.expect("it ends well");
    assert!(recorded.counters("trip/quick-overcurrent").received > 0);
    let failed = recorded.counters("trip/slow-overcurrent");
    let not_counted = texts(&recorded, EventKind::NotCounted);
    let left_out = not_counted.iter().filter(|text| text.starts_with("trip/slow")).count() as u64;
    assert_eq!((failed.lost + left_out, failed.received), (2, 0), "{not_counted:?}");
}

#[test]
fn relays_that_cannot_be_told_apart_are_refused() {
    let one = heard_of(&RelayKind::default(), Some("one"));
    let unnamed = UnderTest {
        label: Some("two".into()),
        goose: None,
        ..one.clone()
    };
    let same_block = UnderTest {
        label: Some("two".into()),
        ..one.clone()
    };
    if !can_run("relays_that_cannot_be_told_apart_are_refused") {
        return;
    }
    for relays in [vec![], vec![one.clone(), unnamed], vec![one.clone(), same_block]] {
        let config = TripConfig {
            relays,
            ..few(1, &["overcurrent"])
        };
        let pair = Pair::build();
        let mut run = Run::start();
        let ports = Ports {
            stream: pair.port_a(&publish::port_options()).into(),
            goose: pair.port_a(&goose_port_options()).into(),
        };
        let refused = config.start(ports, &mut run.recorder, &run.stop).map(drop);
        assert!(matches!(refused, Err(ProbeError::Usage(_))), "{refused:?}");
    }
}
