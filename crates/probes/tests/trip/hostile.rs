//! Attacks on subscribers of a second device's GOOSE: an honest one passes all, and each wrong one is found out by its case.

use super::relay::{self, Relay, RelayKind};
use super::subscriber::{NAME, Rule, Subscriber, port_options};
use super::{Pair, Recorded, Run, can_run, few, heard_of, texts};
use model::EventKind;
use probes::trip::{Control, Hostile, PeerConfig, PeerRole, Ports, TripConfig, UnderTest, goose_port_options};
use probes::{Probe, publish};
use std::collections::BTreeMap;
use sys::packet::PortOptions;
use wire::ether::{GOOSE, SV};

const PEER: &str = r#"
[[goose]]
gocb_ref = "PEERLD0/LLN0$GO$gcbBlock"
dat_set = "PEERLD0/LLN0$dsBlock"
dst = "01:0c:cd:01:00:09"
appid = 9
first_st_num = 1000
member = [
    { name = "order", type = "boolean" },
    { name = "q", type = "quality" },
]
"#;

/// A test of a subscriber with these attacks, each once.
fn config(hostile: &[Hostile]) -> TripConfig {
    let block = streamset::goose::parse(PEER, "test").expect("a sound file").remove(0);
    TripConfig {
        relays: vec![UnderTest {
            goose: Some(NAME.into()),
            start: None,
            ..heard_of(&RelayKind::default(), None)
        }],
        controls: Vec::new(),
        settle_ns: 200_000_000,
        peer: Some(PeerConfig {
            block,
            member: 0,
            role: PeerRole::Transfer,
            hostile: hostile.to_vec(),
        }),
        ..few(1, &["overcurrent"])
    }
}

fn tested(rule: Rule, hostile: &[Hostile]) -> Recorded {
    tested_by(&config(hostile), rule)
}

fn tested_by(config: &TripConfig, rule: Rule) -> Recorded {
    let pair = Pair::build();
    let subscriber = Subscriber::start(rule, "PEERLD0/LLN0$GO$gcbBlock", pair.port_b(&port_options()));
    let mut run = Run::start();
    let ports = Ports {
        stream: pair.port_a(&publish::port_options()).into(),
        goose: pair.port_a(&goose_port_options()).into(),
    };
    let running = config.start(ports, &mut run.recorder, &run.stop).expect("it starts");
    running.join().expect("it ends well");
    drop(subscriber);
    run.finish()
}

/// A relay that is blocked by the peer, and still measures a fault for 40 ms after it.
#[test]
fn a_relay_that_is_blocked_is_not_alarmed_about_at_the_end_of_a_fault() {
    let test = "a_relay_that_is_blocked_is_not_alarmed_about_at_the_end_of_a_fault";
    if !can_run(test) {
        return;
    }
    let kind = RelayKind {
        blocked_by: Some("PEERLD0/LLN0$GO$gcbBlock"),
        ..RelayKind::default()
    };
    let hostile = [Hostile::Replayed, Hostile::OlderState];
    let mut config = TripConfig {
        relays: vec![heard_of(&kind, None)],
        ..config(&hostile)
    };
    config.peer.as_mut().expect("a peer").role = PeerRole::Block;
    let pair = Pair::build();
    let both = PortOptions {
        ethertypes: vec![SV, GOOSE],
        ..relay::options()
    };
    let relay = Relay::start(kind, pair.port_b(&both));
    let mut run = Run::start();
    let ports = Ports {
        stream: pair.port_a(&publish::port_options()).into(),
        goose: pair.port_a(&goose_port_options()).into(),
    };
    let running = config.start(ports, &mut run.recorder, &run.stop).expect("it starts");
    running.join().expect("it ends well");
    drop(relay);
    assert_eq!(faults(&run.finish(), &hostile), BTreeMap::new());
}

/// Faults of each series: trips that did not come, and unwanted ones. Shots that the test set itself spoiled are left out.
fn faults(recorded: &Recorded, hostile: &[Hostile]) -> BTreeMap<String, [u64; 2]> {
    let cases = hostile.iter().flat_map(|case| {
        let trips = ["-trip", "-after"].map(|end| format!("trip/goose/{case}{end}"));
        [format!("security/goose/{case}")].into_iter().chain(trips)
    });
    let honest = ["trip/goose/honest-trip", "security/goose/honest"].map(str::to_owned);
    let found = honest.into_iter().chain(cases).filter_map(|name| {
        recorded.names().contains(&name).then_some(())?;
        let counters = recorded.counters(&name);
        Some((name, [counters.lost, counters.unwanted]))
    });
    found.filter(|(_, faults)| *faults != [0, 0]).collect()
}

fn names(faults: &BTreeMap<String, [u64; 2]>) -> Vec<&str> {
    faults.keys().map(String::as_str).collect()
}

fn every_attack() -> Vec<Hostile> {
    clap::ValueEnum::value_variants().to_vec()
}

#[test]
fn a_subscriber_by_the_standard_passes_every_attack() {
    let test = "a_subscriber_by_the_standard_passes_every_attack";
    if !can_run(test) {
        return;
    }
    let all = every_attack();
    let recorded = tested(Rule::Standard, &all);
    assert_eq!(faults(&recorded, &all), BTreeMap::new());
    let not_counted = texts(&recorded, EventKind::NotCounted);
    let received = |series: &str| recorded.counters(series).received;
    let left_out = |series: &str| not_counted.iter().filter(|text| text.starts_with(series)).count() as u64;
    for series in [
        "trip/goose/honest-trip",
        "trip/goose/jump-after",
        "trip/goose/storm-trip",
        "security/goose/simulated",
    ] {
        let begin = format!("{series}:");
        assert_eq!(received(series) + left_out(&begin), 1, "{series}: {not_counted:?}");
    }
}

#[test]
fn each_wrong_subscriber_is_found_out_by_its_attack() {
    let test = "each_wrong_subscriber_is_found_out_by_its_attack";
    if !can_run(test) {
        return;
    }
    let found = |rule: Rule, hostile: &[Hostile]| faults(&tested(rule, hostile), hostile);
    let trusting = found(Rule::None, &[Hostile::Simulated]);
    assert!(names(&trusting).contains(&"security/goose/simulated"), "{trusting:?}");
    let other_state = found(Rule::OtherState, &[Hostile::Replayed, Hostile::Padded]);
    assert!(
        names(&other_state).contains(&"security/goose/replayed"),
        "{other_state:?}"
    );
    assert!(
        !names(&other_state).iter().any(|name| name.contains("padded")),
        "{other_state:?}"
    );
    let highest = found(Rule::HighestSeen, &[Hostile::NeedsCommissioning]);
    let misses = |end: &str| highest.contains_key(&format!("trip/goose/needs-commissioning{end}"));
    assert!(misses("-trip") || misses("-after"), "{highest:?}");
    let longer = found(Rule::Longer, &[Hostile::Padded]);
    assert!(names(&longer).contains(&"trip/goose/honest-trip"), "{longer:?}");
    assert!(!longer.contains_key("trip/goose/padded-trip"), "{longer:?}");
}

/// A device that reads no sample, and trips when it gets the permission, or some time after.
#[test]
fn a_device_that_trips_for_a_permission_alone_is_found_out() {
    if !can_run("a_device_that_trips_for_a_permission_alone_is_found_out") {
        return;
    }
    let mut config = TripConfig {
        controls: vec![Control::NoFault, Control::OtherSvId],
        ..config(&[])
    };
    config.peer.as_mut().expect("a peer").role = PeerRole::Permission;
    let recorded = tested_by(&config, Rule::Standard);
    let failed = texts(&recorded, EventKind::ControlFailed);
    for control in ["no-fault", "other-sv-id"] {
        let text = format!("control {control} failed: the relay tripped");
        assert!(failed.iter().any(|failed| failed.contains(&text)), "{failed:?}");
    }
    assert_eq!(recorded.counters("security/goose/permission-alone").unwanted, 1);
}

#[test]
fn the_silence_of_a_device_that_subscribes_to_nothing_proves_nothing() {
    let test = "the_silence_of_a_device_that_subscribes_to_nothing_proves_nothing";
    if !can_run(test) {
        return;
    }
    let recorded = tested(Rule::Deaf, &[Hostile::Replayed]);
    let missed = ["honest-trip", "replayed-trip", "replayed-after"]
        .map(|label| recorded.counters(&format!("trip/goose/{label}")).lost);
    assert!(missed.iter().sum::<u64>() > 0, "{missed:?}");
    let unproven = texts(&recorded, EventKind::Unproven);
    let is_said = |text: &String| text.starts_with("security/goose/") && text.contains("prove nothing");
    assert!(unproven.iter().any(is_said), "{unproven:?}");
}
