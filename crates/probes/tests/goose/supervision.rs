//! Supervision of streams whose every fault is known.

use crate::common::{self, Pair, Recorded, Run, can_run};
use crate::{TRIP_REF, sender_options, texts};
use probes::Probe;
use probes::subscribe::{self, SubscribeConfig, SuperviseConfig};
use std::sync::atomic::Ordering;
use std::time::Duration;
use streamset::goose::ExpectedBlock;
use wire::ether::{EthernetView, Mac};
use wire::goose::{Expectation, Frame, Message, Simulation, Value};
use wire::time::UtcTime;

pub(crate) fn message(st_num: u32, sq_num: u32) -> Message {
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

pub(crate) fn encoded(message: &Message) -> Vec<u8> {
    message.encode().expect("the message can be encoded")
}

/// Sends each frame after the one before has been accounted for, and waits `pause` before the last.
pub(crate) fn supervise(goose: SuperviseConfig, frames: &[Vec<u8>], pause: Duration) -> Recorded {
    let pair = Pair::build();
    let sender = pair.port_a(&sender_options());
    let mut run = Run::start();
    let config = SubscribeConfig {
        goose,
        ..SubscribeConfig::default()
    };
    let port = pair.port_b(&subscribe::port_options());
    let subscription = config.start(port, &mut run.recorder, &run.stop).expect("it starts");
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
pub(crate) fn said(recorded: &Recorded) -> Vec<String> {
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
    // Measured: all but the first, the duplicate and the two old messages.
    assert_eq!(counters.received, 8);
    let expected = [
        "first seen with stNum 3, sqNum 7",
        "stNum 3 -> 4",
        "stNum 4 -> 6",
        "1 states before stNum 6 never came",
        "an old message of stNum 5 while stNum 6 is live: replayed, or sent by a second publisher; it is not accepted",
        "stNum 6 -> 8",
        "1 states before stNum 8 never came",
        "state 8 begins with sqNum 2, not 0: its first messages were lost, or the publisher does not reset it",
        "3 changes of state, 6 repetitions",
        "2 old messages were not accepted",
        "1 unreadable messages may belong to it",
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
        said[1].ends_with("ms; timeAllowedtoLive was 100 ms; 2 times this is allowed"),
        "{said:?}"
    );
    assert!(said[2].starts_with("messages come again after "), "{said:?}");
    assert_eq!(said[3], "the publisher restarted with stNum 1, sqNum 1");
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
        "a second publisher: 02:00:00:00:00:02 sends messages while 02:00:00:00:00:01 is live; they are not accepted",
        "the values changed without a new stNum (sqNum 3): a second publisher sent them, or the publisher breaks the rules",
        "confRev changed from 1 to 2",
        "needs commissioning: its values must not be used",
        "numDatSetEntries changed from 1 to 0",
        "datSet changed",
        "a message is refused: the simulation flag is set without the simulate bit (Edition 1 publishers do so: \
         --goose-edition-1)",
        "another publisher takes over the block with stNum 2, sqNum 0",
        "simulated messages from here on",
        "confRev changed from 2 to 1",
        "no longer needs commissioning",
        "numDatSetEntries changed from 0 to 1",
        "datSet changed",
        "a message is refused: real, while simulated ones are taken",
        "0 changes of state, 3 repetitions",
        "restarts of the publisher: 1",
        "0 messages contradicted one with the same numbers, 1 contradicted the values of their state",
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
        ["2 GOOSE messages came from control blocks beyond the limit of 2"]
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
    let never = format!("{second}: is in the configuration, but no message of it came");
    assert_eq!(said_of(&format!("goose/{second}")), [never]);
    let third = said_of(&format!("goose/{TRIP_REF}#3"));
    assert_eq!(third[0], format!("{TRIP_REF}#3: is not in the configuration"));
}
