//! GOOSE over a veth pair: what the publisher puts on the wire, and what the supervision makes of streams whose every fault is
//! known.

mod common;

use common::{Pair, Recorded, Run, can_run};
use probes::goose::{ExpectedBlock, GooseConfig, SuperviseConfig, parse};
use probes::publish::{self, PublishConfig, StreamConfig};
use probes::subscribe::{self, ClockRelation, SubscribeConfig};
use std::sync::atomic::Ordering;
use std::time::Duration;
use store::model::EventKind;
use sys::packet::{PacketPort, PortOptions};
use sys::thread::Policy;
use wire::ether::{EthernetView, Mac};
use wire::goose::{Expectation, Frame, Message, Simulation, Value};
use wire::time::UtcTime;

const TRIP: &str = r#"
[[goose]]
gocb_ref = "IED1LD0/LLN0$GO$gcbTrip"
dat_set = "IED1LD0/LLN0$dsTrip"
dst = "01:0c:cd:01:00:01"
appid = 1
vlan = 100
min_time = "10ms"
max_time = "100ms"
member = [
    { name = "trip", type = "boolean" },
    { name = "q", type = "quality" },
    { name = "t", type = "timestamp" },
]
change = [
    { at = "200ms", every = "400ms", set = { trip = true } },
    { at = "400ms", every = "400ms", set = { trip = false } },
]

[[goose]]
gocb_ref = "IED2LD0/LLN0$GO$gcbPos"
dat_set = "IED2LD0/LLN0$dsPos"
dst = "01:0c:cd:01:00:02"
appid = 2
max_time = "50ms"
member = [{ name = "pos", type = "dbpos", value = "off" }]
"#;

const TRIP_REF: &str = "IED1LD0/LLN0$GO$gcbTrip";

fn goose_config(duration_ns: u64) -> GooseConfig {
    GooseConfig {
        blocks: parse("test", TRIP).expect("a sound file"),
        spin_ahead_ns: 0,
        duration_ns: Some(duration_ns),
        policy: Policy::Other,
        cpu: None,
        threshold_ns: None,
    }
}

fn sender_options() -> PortOptions {
    PortOptions {
        ring_frames: 0,
        ..PortOptions::default()
    }
}

fn texts(recorded: &Recorded, series: &str) -> Vec<String> {
    let events = recorded.events(series).into_iter();
    events
        .filter(|event| event.kind == EventKind::Stream)
        .map(|event| event.text)
        .collect()
}

/// Everything that waits in the ring, parsed.
fn captured(mut port: PacketPort) -> Vec<Message> {
    let mut messages = Vec::new();
    while let Some(frame) = port.next() {
        let tag = frame.vlan().map(|tag| wire::ether::VlanTag {
            tpid: tag.tpid,
            tci: tag.tci,
        });
        let ethernet = EthernetView::with_tag(frame.data(), tag).expect("Ethernet");
        messages.push(Message::from(&Frame::parse(&ethernet).expect("GOOSE")));
    }
    messages
}

#[test]
fn the_publisher_keeps_the_rules_of_its_numbers() {
    if !can_run("the_publisher_keeps_the_rules_of_its_numbers") {
        return;
    }
    let pair = Pair::build();
    let far = pair.port_b(&PortOptions {
        ethertypes: vec![wire::ether::GOOSE],
        ring_frames: 1_024,
        frame_bytes: 512,
        ..PortOptions::default()
    });
    let mut run = Run::start();
    let config = goose_config(1_100_000_000);
    let port = pair.port_a(&publish::port_options()).into();
    let running = publish::start_all(None, Some((&config, port)), &mut run.recorder, &run.stop).expect("it starts");
    running.join().expect("it ends well");
    let all = captured(far);
    let recorded = run.finish();
    let counters = recorded.counters("publish/goose-lateness");
    assert_eq!(counters.received, all.len() as u64, "{counters:?}");

    let trips: Vec<&Message> = all.iter().filter(|message| message.appid == 1).collect();
    let states: Vec<(u32, Value)> = trips
        .iter()
        .filter(|message| message.sq_num == 0)
        .map(|message| (message.st_num, message.all_data[0].clone()))
        .collect();
    let expected = [true, false, true, false, true].map(Value::Boolean);
    assert_eq!(states, (2..).zip(expected).collect::<Vec<_>>());
    assert_eq!((trips[0].st_num, trips[0].sq_num), (1, 1));
    for pair in trips.windows(2) {
        let (before, now) = (pair[0], pair[1]);
        if before.st_num == now.st_num {
            assert_eq!((now.sq_num, now.t), (before.sq_num + 1, before.t), "a repetition");
            assert_eq!(now.all_data, before.all_data);
        } else {
            assert_eq!((now.st_num, now.sq_num), (before.st_num + 1, 0));
        }
        assert_eq!(now.all_data[2], Value::UtcTime(now.t));
        assert_eq!(now.tags[0].vid(), 100);
    }
    let times: Vec<i64> = trips.iter().filter(|m| m.sq_num == 0).map(|m| m.t.as_ns()).collect();
    for pair in times.windows(2) {
        let apart_ns = pair[1] - pair[0];
        assert!(
            (apart_ns - 200_000_000).abs() < 1_000_000,
            "t is when the change was due: {apart_ns}"
        );
    }
    let others: Vec<u32> = all.iter().filter(|m| m.appid == 2).map(|m| m.sq_num).collect();
    assert!(
        others.len() > 10 && others.iter().copied().eq(1..=others.len() as u32),
        "{others:?}"
    );
}

#[test]
fn goose_and_sampled_values_side_by_side() {
    if !can_run("goose_and_sampled_values_side_by_side") {
        return;
    }
    let pair = Pair::build();
    let mut run = Run::start();
    let receiver = SubscribeConfig {
        rate: Some(4_800),
        clock: ClockRelation::SameHost,
        goose: SuperviseConfig {
            // A busy machine holds the publisher up for longer than 20 ms.
            tal_factor: 500.0,
            ..SuperviseConfig::default()
        },
        ..SubscribeConfig::default()
    };
    let far = pair.port_b(&subscribe::port_options());
    let subscription = subscribe::start(&receiver, far, &mut run.recorder, &run.stop).expect("it starts");
    let streams = PublishConfig {
        streams: vec![StreamConfig::default()],
        duration_ns: Some(1_100_000_000),
        ..PublishConfig::default()
    };
    let goose = goose_config(1_100_000_000);
    let sv_port = pair.port_a(&publish::port_options()).into();
    let goose_port = pair.port_a(&publish::port_options()).into();
    let both = publish::start_all(
        Some((&streams, sv_port)),
        Some((&goose, goose_port)),
        &mut run.recorder,
        &run.stop,
    );
    both.expect("both start").join().expect("both end well");
    std::thread::sleep(Duration::from_millis(50));
    run.stop.request();
    subscription.running.join().expect("it ends well");
    let recorded = run.finish();

    let sent = recorded.counters("publish/goose-lateness").received;
    let [trip, pos] = ["IED1LD0/LLN0$GO$gcbTrip", "IED2LD0/LLN0$GO$gcbPos"].map(|name| {
        let counters = recorded.counters(&format!("goose/{name}"));
        assert_eq!(
            (counters.lost, counters.duplicate, counters.reordered, counters.late),
            (0, 0, 0, 0)
        );
        counters.received
    });
    assert_eq!(
        trip + pos + 2,
        sent,
        "the first of each has no distance to one before it"
    );
    let transfers = recorded.counters(&format!("goose-transfer/{TRIP_REF}"));
    assert_eq!(transfers.received, 5, "one for each change");
    let samples = recorded.counters("spacing/MU");
    let lateness = recorded.counters("publish/lateness");
    // Samples that were missed behind the last one are not known to be lost.
    assert_eq!(samples.received + 1, lateness.received);
    assert!(samples.lost <= lateness.missed, "{samples:?} {lateness:?}");
    let said = texts(&recorded, &format!("goose/{TRIP_REF}"));
    let begin = [": first seen with stNum 1, sqNum 1", ": stNum 1 -> 2", ": stNum 2 -> 3"];
    assert!(
        begin.iter().zip(&said).all(|(end, text)| text.ends_with(end)),
        "{said:?}"
    );
    assert!(
        said.last().is_some_and(|text| text.contains("5 changes of state")),
        "{said:?}"
    );
}

fn message(st_num: u32, sq_num: u32) -> Message {
    Message {
        dst: Mac([1, 0x0c, 0xcd, 1, 0, 1]),
        src: Mac([2, 0, 0, 0, 0, 1]),
        tags: Vec::new(),
        appid: 1,
        simulate: false,
        gocb_ref: TRIP_REF.into(),
        time_allowed_to_live: 60_000,
        dat_set: b"IED1LD0/LLN0$dsTrip".to_vec(),
        go_id: None,
        t: UtcTime::default(),
        st_num,
        sq_num,
        simulation: false,
        conf_rev: 1,
        nds_com: false,
        all_data: vec![Value::Boolean(false)],
    }
}

fn encoded(message: &Message) -> Vec<u8> {
    message.encode().expect("the message can be encoded")
}

/// Sends each frame when the one before has been accounted for, and waits `pause` before the last.
fn supervise(goose: SuperviseConfig, frames: &[Vec<u8>], pause: Duration) -> Recorded {
    let pair = Pair::build();
    let sender = pair.port_a(&sender_options());
    let mut run = Run::start();
    let config = SubscribeConfig {
        goose,
        ..SubscribeConfig::default()
    };
    let port = pair.port_b(&subscribe::port_options());
    let subscription = subscribe::start(&config, port, &mut run.recorder, &run.stop).expect("it starts");
    let mut accepted = 0;
    for (number, frame) in frames.iter().enumerate() {
        if number + 1 == frames.len() {
            std::thread::sleep(pause);
        }
        sender.send(frame).expect("a frame is sent");
        accepted += u64::from(EthernetView::parse(frame).is_ok_and(|ethernet| Frame::parse(&ethernet).is_ok()));
        common::wait_until("the message is accepted", || {
            subscription.frames.load(Ordering::Relaxed) >= accepted
        });
    }
    run.stop.request();
    subscription.running.join().expect("it ends well");
    run.finish()
}

/// The events of the control block, without its name.
fn said(recorded: &Recorded) -> Vec<String> {
    let prefix = format!("{TRIP_REF}: ");
    let texts = texts(recorded, &format!("goose/{TRIP_REF}"));
    texts
        .iter()
        .map(|text| text.strip_prefix(&prefix).unwrap_or(text).to_owned())
        .collect()
}

#[test]
fn every_fault_is_counted_and_named() {
    if !can_run("every_fault_is_counted_and_named") {
        return;
    }
    let sequence = [
        (3, 7),
        (3, 8),
        (3, 8),
        (4, 0),
        (4, 3),
        (4, 2),
        (6, 0),
        (5, 1),
        (5, 2),
        (6, 1),
        (8, 2),
    ];
    let mut frames: Vec<Vec<u8>> = sequence
        .iter()
        .map(|(st_num, sq_num)| encoded(&message(*st_num, *sq_num)))
        .collect();
    let mut cut = encoded(&message(8, 3));
    cut.truncate(60);
    frames.push(cut);
    frames.push(encoded(&message(8, 3)));
    let recorded = supervise(SuperviseConfig::default(), &frames, Duration::ZERO);
    let counters = recorded.counters(&format!("goose/{TRIP_REF}"));
    // Lost: (4, 1), state 5, state 7, and (8, 0) and (8, 1). Reordered: (4, 2), and two of state 5.
    assert_eq!(
        (counters.lost, counters.duplicate, counters.reordered, counters.late),
        (5, 1, 3, 0)
    );
    // Measured: all but the first, the duplicate and the two old ones.
    assert_eq!(counters.received, 8);
    let expected = [
        "first seen with stNum 3, sqNum 7",
        "stNum 3 -> 4",
        "stNum 4 -> 6",
        "1 states before stNum 6 never came",
        "an old message of stNum 5 while stNum 6 is live: replayed, or of a second publisher; not taken",
        "stNum 6 -> 8",
        "1 states before stNum 8 never came",
        "state 8 begins with sqNum 2, not 0: its first messages were lost, or the publisher does not reset it",
        "3 changes of state, 6 repetitions",
        "2 old messages were not taken",
    ];
    assert_eq!(said(&recorded), expected);
    let common = texts(&recorded, "delivery/subscribe");
    assert!(
        common[0].starts_with("1 malformed GOOSE messages; in the first, octet"),
        "{common:?}"
    );
    assert_eq!(recorded.names().len(), 2, "{:?}", recorded.names());
}

#[test]
fn a_publisher_that_stops_expires_and_begins_again() {
    if !can_run("a_publisher_that_stops_expires_and_begins_again") {
        return;
    }
    let short = |st_num, sq_num| {
        let message = Message {
            time_allowed_to_live: 100,
            ..message(st_num, sq_num)
        };
        encoded(&message)
    };
    let config = SuperviseConfig {
        tal_factor: 2.0,
        ..SuperviseConfig::default()
    };
    let recorded = supervise(config, &[short(9, 4), short(1, 1)], Duration::from_millis(500));
    let counters = recorded.counters(&format!("goose/{TRIP_REF}"));
    assert!(matches!(counters.late, 1..=2), "{counters:?}");
    let said = said(&recorded);
    assert!(
        said[1].starts_with("TAL expired: no message for 2") || said[1].starts_with("TAL expired: no message for 3"),
        "{said:?}"
    );
    assert!(
        said[1].ends_with("ms; timeAllowedtoLive was 100 ms, and 2 times that is allowed"),
        "{said:?}"
    );
    assert!(said[2].starts_with("messages come again after "), "{said:?}");
    assert_eq!(said[3], "the publisher began again, with stNum 1, sqNum 1");
}

#[test]
fn two_publishers_of_one_name_and_what_changes() {
    if !can_run("two_publishers_of_one_name_and_what_changes") {
        return;
    }
    let other = |sq_num| Message {
        src: Mac([2, 0, 0, 0, 0, 2]),
        ..message(900_000, sq_num)
    };
    let changed = Message {
        conf_rev: 2,
        nds_com: true,
        all_data: Vec::new(),
        dat_set: b"IED1LD0/LLN0$other".to_vec(),
        ..message(1, 3)
    };
    let flag_alone = Message {
        simulation: true,
        ..message(1, 4)
    };
    let simulated = |sq_num| Message {
        simulate: true,
        simulation: true,
        ..message(2, sq_num)
    };
    let messages = [
        message(1, 1),
        other(5),
        message(1, 2),
        other(6),
        changed,
        flag_alone,
        simulated(0),
        message(1, 5),
        simulated(1),
    ];
    let frames: Vec<Vec<u8>> = messages.iter().map(encoded).collect();
    let recorded = supervise(SuperviseConfig::default(), &frames, Duration::ZERO);
    let counters = recorded.counters(&format!("goose/{TRIP_REF}"));
    assert_eq!(
        (counters.lost, counters.duplicate, counters.reordered, counters.received),
        (0, 0, 0, 4)
    );
    let expected = [
        "first seen with stNum 1, sqNum 1",
        "a second publisher: messages come from 02:00:00:00:00:02 too, while 02:00:00:00:00:01 is live; not taken",
        "confRev changed from 1 to 2",
        "needs commissioning: its values must not be used",
        "numDatSetEntries changed from 1 to 0",
        "datSet changed",
        "a message is refused: the simulation flag is set without the simulate bit (Edition 1 publishers do so: \
         --goose-edition-1)",
        "stNum 1 -> 2",
        "simulated messages from here on",
        "confRev changed from 2 to 1",
        "no longer needs commissioning",
        "numDatSetEntries changed from 0 to 1",
        "datSet changed",
        "a message is refused: real, while simulated ones are taken",
        "1 changes of state, 3 repetitions",
        "1 messages were refused: real, while simulated ones are taken",
        "1 messages were refused: the simulation flag is set without the simulate bit (Edition 1 publishers do so: \
         --goose-edition-1)",
        "2 messages were refused: from a second source address",
    ];
    assert_eq!(said(&recorded), expected);
}

#[test]
fn simulated_messages_are_refused_while_sim_is_off() {
    if !can_run("simulated_messages_are_refused_while_sim_is_off") {
        return;
    }
    let simulated = Message {
        simulate: true,
        simulation: true,
        ..message(7, 0)
    };
    let frames = [message(1, 1), simulated, message(1, 2)].map(|message| encoded(&message));
    let config = SuperviseConfig {
        simulation: Simulation::Off,
        ..SuperviseConfig::default()
    };
    let recorded = supervise(config, &frames, Duration::ZERO);
    let said = said(&recorded);
    assert_eq!(said[1], "a message is refused: simulated, and Sim is off");
    assert_eq!(recorded.counters(&format!("goose/{TRIP_REF}")).lost, 0);
}

#[test]
fn more_control_blocks_than_have_room_are_counted() {
    if !can_run("more_control_blocks_than_have_room_are_counted") {
        return;
    }
    let named = |appid: u16| Message { appid, ..message(1, 1) };
    let frames: Vec<Vec<u8>> = [1, 2, 3, 3].map(|appid| encoded(&named(appid))).into();
    let config = SuperviseConfig {
        max_blocks: 2,
        ..SuperviseConfig::default()
    };
    let recorded = supervise(config, &frames, Duration::ZERO);
    let mut names = recorded.names();
    names.sort();
    let second = format!("goose/{TRIP_REF}#2");
    assert_eq!(
        names,
        ["delivery/subscribe".into(), format!("goose/{TRIP_REF}"), second]
    );
    let common = texts(&recorded, "delivery/subscribe");
    assert_eq!(
        common,
        ["2 GOOSE messages of more control blocks than the 2 that are told apart"]
    );
}

#[test]
fn what_the_configuration_says_is_held_against_what_comes() {
    if !can_run("what_the_configuration_says_is_held_against_what_comes") {
        return;
    }
    let expected = |appid, conf_rev| ExpectedBlock {
        destination: message(1, 1).dst,
        appid,
        gocb_ref: TRIP_REF.into(),
        expectation: Expectation {
            conf_rev: Some(conf_rev),
            ..Expectation::default()
        },
    };
    let config = SuperviseConfig {
        expected: vec![expected(1, 1), expected(2, 1)],
        ..SuperviseConfig::default()
    };
    let other = Message {
        conf_rev: 2,
        ..message(1, 2)
    };
    let stray = Message {
        appid: 9,
        ..message(1, 1)
    };
    let frames = [message(1, 1), other.clone(), other, message(1, 3), stray].map(|message| encoded(&message));
    let recorded = supervise(config, &frames, Duration::ZERO);
    let said_of = |series: &str| texts(&recorded, series);
    let refusal = "a message is refused: confRev is not the configured one (2)";
    assert_eq!(said(&recorded)[1], refusal);
    assert_eq!(
        recorded.counters(&format!("goose/{TRIP_REF}")).lost,
        1,
        "sqNum 2, which was refused"
    );
    let second = format!("{TRIP_REF}#2");
    let never = format!("{second}: is in the configuration, and no message of it came");
    assert_eq!(said_of(&format!("goose/{second}")), [never]);
    let third = said_of(&format!("goose/{TRIP_REF}#3"));
    assert_eq!(third[0], format!("{TRIP_REF}#3: is not in the configuration"));
}
