//! GOOSE ping-pong with a small device whose delay is known, and relays that decide in parallel, over a veth pair.

#[path = "../common/mod.rs"]
mod common;
mod device;

use common::{Pair, Recorded, Run, can_run};
use device::{Device, DeviceKind, NAME, message, options};
use model::EventKind;
use probes::ping_pong::{Case, PingPongConfig, PingPorts, ping_port_options};
use probes::trip::goose_port_options;
use probes::watch::WatchConfig;
use probes::{Probe, ProbeError, Receive, publish};
use std::time::Duration;
use streamset::goose::parse;
use sys::packet::PacketPort;
use sys::thread::Policy;
use wire::ether::Mac;
use wire::goose::{Member, Message, Value};

const MS: i64 = 1_000_000;

fn pinging(pings: u32, cases: &[Case]) -> PingPongConfig {
    let file = r#"goose = [{ gocb_ref = "TRIPTIMELD0/LLN0$GO$gcbPing", dat_set = "d", dst = "01:0c:cd:01:01:7f", appid = 1,
        tal_factor = 100.0, member = [{ name = "ping", type = "boolean" }] }]"#;
    PingPongConfig {
        block: parse(file, "test").expect("a sound file").remove(0),
        ping_member: 0,
        device: NAME.into(),
        member: Member::numbered(0),
        cases: cases.to_vec(),
        pings,
        deadline_ns: 200_000_000,
        pause_ns: 5_000_000,
        seed: 1,
        goose_rate: 500,
        streams: vec![publish::StreamConfig::default()],
        class: None,
        application_ns: 0,
        frequency_hz: 50,
        duration_ns: None,
        receive: Receive::Block,
        policy: Policy::Other,
        cpu: None,
        load_cpu: None,
        label: None,
    }
}

/// Findings of a ping-pong about a device of this kind.
fn pinged(config: &PingPongConfig, kind: DeviceKind) -> (Recorded, Result<(), ProbeError>) {
    let pair = Pair::build();
    let device = Device::start(kind, pair.port_b(&options()));
    let mut run = Run::start();
    let ports = PingPorts {
        ping: pair.port_a(&ping_port_options()).into(),
        goose: pair.port_a(&goose_port_options()).into(),
        load: pair.port_a(&publish::port_options()).into(),
    };
    let running = config.start(ports, &mut run.recorder, &run.stop).expect("it starts");
    let ended = running.join();
    drop(device);
    (run.finish(), ended)
}

fn smallest(recorded: &Recorded, name: &str) -> i64 {
    let totals = recorded.file.totals(recorded.id(name)).expect("totals");
    totals.min_ns.expect("a sample")
}

fn texts(recorded: &Recorded, kind: EventKind) -> Vec<String> {
    let events = recorded.file.events().expect("events");
    let of_kind = events.into_iter().filter(|event| event.kind == kind);
    of_kind.map(|event| event.text).collect()
}

#[test]
fn a_planted_delay_is_measured_under_every_load() {
    if !can_run("a_planted_delay_is_measured_under_every_load") {
        return;
    }
    let kind = DeviceKind {
        delay_ns: 3 * MS,
        ..DeviceKind::default()
    };
    let cases = [Case::None, Case::Goose, Case::Subscribed, Case::Sv];
    let (recorded, ended) = pinged(&pinging(10, &cases), kind);
    ended.expect("it ends well");
    // Pings that are not counted because of a stall of this machine are reported.
    let not_counted = texts(&recorded, EventKind::NotCounted).len() as u64;
    for case in cases {
        let name = format!("pong/{case}");
        let counters = recorded.counters(&name);
        assert_eq!((counters.lost, counters.unwanted), (0, 0), "{name}");
        assert!(
            counters.received + not_counted >= 10 && counters.received > 0,
            "{name}: {counters:?}"
        );
        let min = smallest(&recorded, &name);
        assert!((3 * MS..100 * MS).contains(&min), "{name}: {min}");
        let own = smallest(&recorded, &format!("ping/{case}"));
        assert!((0..3 * MS).contains(&own), "{name}: {own}");
    }
    assert!(recorded.counters("publish/load").received > 500);
}

#[test]
fn pings_without_an_answer_are_lost_and_changes_without_a_ping_unwanted() {
    if !can_run("pings_without_an_answer_are_lost_and_changes_without_a_ping_unwanted") {
        return;
    }
    let deaf = DeviceKind {
        deaf_every: 6,
        ..DeviceKind::default()
    };
    let (recorded, ended) = pinged(&pinging(20, &[Case::None]), deaf);
    ended.expect("it ends well");
    let counters = recorded.counters("pong/none");
    assert!(counters.lost >= 2 && counters.received >= 10, "{counters:?}");
    assert!(
        texts(&recorded, EventKind::Note)
            .iter()
            .any(|text| text.contains("no class"))
    );
    let stutterer = DeviceKind {
        stutters_every: 4,
        ..DeviceKind::default()
    };
    let (recorded, ended) = pinged(&pinging(20, &[Case::None]), stutterer);
    ended.expect("it ends well");
    let counters = recorded.counters("pong/none");
    assert!(counters.unwanted >= 4 && counters.lost == 0, "{counters:?}");
}

/// Its period is longer than every pause between pings, so that it meets each ping with the awaited value.
#[test]
fn changes_that_no_ping_asked_for_are_no_answers() {
    if !can_run("changes_that_no_ping_asked_for_are_no_answers") {
        return;
    }
    let toggles = DeviceKind {
        toggles_ns: 60 * MS,
        ..DeviceKind::default()
    };
    let (recorded, ended) = pinged(&pinging(30, &[Case::None]), toggles);
    ended.expect("it ends well");
    let counters = recorded.counters("pong/none");
    assert!(counters.unwanted >= 1, "{counters:?}");
    let doubts = texts(&recorded, EventKind::StreamDoubt);
    assert!(
        doubts
            .iter()
            .any(|text| text.contains("without a ping: some answers may be such changes")),
        "{doubts:?}"
    );
}

#[test]
fn a_device_that_is_not_there_or_does_not_follow_is_named() {
    if !can_run("a_device_that_is_not_there_or_does_not_follow_is_named") {
        return;
    }
    let brief = |config: PingPongConfig| PingPongConfig {
        duration_ns: Some(1_000_000_000),
        ..config
    };
    let absent = PingPongConfig {
        device: "NOBODY".into(),
        ..pinging(5, &[Case::None])
    };
    let (_, ended) = pinged(&brief(absent), DeviceKind::default());
    let text = ended.expect_err("nobody").to_string();
    assert!(text.contains("no GOOSE message of NOBODY came"), "{text}");
    let deaf = DeviceKind {
        deaf_every: 1,
        ..DeviceKind::default()
    };
    let (_, ended) = pinged(&brief(pinging(5, &[Case::None])), deaf);
    let text = ended.expect_err("it does not follow").to_string();
    assert!(text.contains("does not follow member 0"), "{text}");
}

/// A relay that sends what the test gives it.
struct Speaker {
    message: Message,
}

impl Speaker {
    fn new(name: &str, number: u8) -> Self {
        Self {
            message: Message {
                appid: u16::from(number),
                ..message(name, Mac([2, 0, 0, 0, 0, number]))
            },
        }
    }

    fn say(&mut self, value: bool, port: &PacketPort) {
        self.message.all_data = vec![Value::Boolean(value)];
        self.message.st_num += 1;
        self.message.sq_num = 0;
        port.send(&self.message.encode().expect("a message")).expect("it goes");
    }
}

fn ms(ms: u64) {
    std::thread::sleep(Duration::from_millis(ms));
}

/// Findings about two relays that send the messages of `story`.
fn watched(story: impl FnOnce(&mut Speaker, &mut Speaker, &PacketPort)) -> Recorded {
    let pair = Pair::build();
    let far = pair.port_b(&options());
    let mut run = Run::start();
    let relays = ["MAINLD0/LLN0$GO$gcb", "PILOTLD0/LLN0$GO$gcb"].map(|name| name.parse().expect("a relay"));
    let config = WatchConfig::of(relays.to_vec(), 200 * MS.unsigned_abs()).expect("two relays");
    let port = pair.port_a(&goose_port_options());
    let running = config.start(port, &mut run.recorder, &run.stop).expect("it starts");
    let (mut main, mut pilot) = (
        Speaker::new("MAINLD0/LLN0$GO$gcb", 1),
        Speaker::new("PILOTLD0/LLN0$GO$gcb", 2),
    );
    // The thread first discards the waiting frames.
    ms(200);
    main.say(false, &far);
    pilot.say(false, &far);
    story(&mut main, &mut pilot, &far);
    ms(500);
    run.stop.request();
    running.join().expect("it ends well");
    run.finish()
}

#[test]
fn decisions_are_paired_and_those_of_one_alone_are_listed() {
    if !can_run("decisions_are_paired_and_those_of_one_alone_are_listed") {
        return;
    }
    let recorded = watched(|main, pilot, port| {
        main.say(true, port);
        ms(20);
        pilot.say(true, port);
        main.say(false, port);
        pilot.say(false, port);
        ms(300);
        pilot.say(true, port);
        main.say(true, port);
        main.say(false, port);
        pilot.say(false, port);
        ms(300);
        main.say(true, port);
    });
    let both = recorded.counters("decision/MAINLD0-PILOTLD0");
    assert_eq!((both.expected, both.received, both.lost), (3, 2, 1));
    let lead = smallest(&recorded, "lead/MAINLD0-PILOTLD0");
    assert!((20 * MS..200 * MS).contains(&lead), "{lead}");
    assert_eq!(recorded.counters("lead/MAINLD0-PILOTLD0").received, 1);
    assert_eq!(recorded.counters("lead/PILOTLD0-MAINLD0").received, 1);
    let alone = texts(&recorded, EventKind::Note);
    let is_listed = |text: &String| text.contains("decision/MAINLD0-PILOTLD0: only MAINLD0 decided");
    assert_eq!(alone.iter().filter(|text| is_listed(text)).count(), 1, "{alone:?}");
}

#[test]
fn what_a_relay_does_not_say_for_itself_is_a_doubt() {
    if !can_run("what_a_relay_does_not_say_for_itself_is_a_doubt") {
        return;
    }
    let recorded = watched(|main, pilot, port| {
        pilot.message.simulate = true;
        pilot.message.simulation = true;
        main.say(true, port);
        pilot.say(true, port);
    });
    // The simulated message does not count, so the main relay's decision has no pair.
    assert_eq!(recorded.counters("decision/MAINLD0-PILOTLD0").lost, 1);
    let doubts = texts(&recorded, EventKind::StreamDoubt);
    assert!(
        doubts
            .iter()
            .any(|text| text.contains("PILOTLD0: 1 messages were refused: simulated")),
        "{doubts:?}"
    );
    let silent = watched(|main, pilot, port| {
        pilot.message.time_allowed_to_live = 20;
        pilot.say(false, port);
        ms(100);
        main.say(true, port);
    });
    assert_eq!(
        silent.counters("decision/MAINLD0-PILOTLD0").lost,
        0,
        "its decision is not known"
    );
    let not_counted = texts(&silent, EventKind::NotCounted);
    assert!(
        not_counted
            .iter()
            .any(|text| text.contains("PILOTLD0 was not received")),
        "{not_counted:?}"
    );
    let doubts = texts(&silent, EventKind::StreamDoubt);
    assert!(
        doubts.iter().any(|text| text.contains("PILOTLD0: 1 silences")),
        "{doubts:?}"
    );
}
