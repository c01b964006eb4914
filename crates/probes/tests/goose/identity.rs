//! Second publishers, publishers that restart, and unreadable messages: each is a doubt about its block.

use crate::TRIP_REF;
use crate::common::{Recorded, can_run};
use crate::supervision::{encoded, message, said, supervise};
use model::EventKind;
use probes::subscribe::SuperviseConfig;
use std::time::Duration;
use wire::ether::Mac;
use wire::goose::{Message, Value};
use wire::time::{TimeQuality, UtcTime};

/// Doubts about a series.
fn doubts(recorded: &Recorded, series: &str) -> Vec<String> {
    let events = recorded.events(series).into_iter();
    let doubts = events.filter(|event| event.kind == EventKind::Incomplete);
    doubts.map(|event| event.text).collect()
}

fn of_block(messages: &[Message]) -> Recorded {
    let frames: Vec<Vec<u8>> = messages.iter().map(encoded).collect();
    supervise(SuperviseConfig::default(), &frames, Duration::ZERO)
}

#[test]
fn what_puts_a_block_in_doubt_is_an_event_of_its_series() {
    if !can_run("what_puts_a_block_in_doubt_is_an_event_of_its_series") {
        return;
    }
    let later = |sq_num| Message {
        t: UtcTime::from_ns(5_000_000_000, TimeQuality(0)),
        ..message(4, sq_num)
    };
    let other = Message {
        src: Mac([2, 0, 0, 0, 0, 2]),
        ..message(5, 0)
    };
    let contradicting = Message {
        all_data: vec![Value::Boolean(true)],
        ..message(4, 8)
    };
    let without_life = Message {
        time_allowed_to_live: 0,
        ..message(4, 9)
    };
    let cases: [(&[Message], &str); 6] = [
        (&[message(4, 7), message(4, 8)], ""),
        (
            &[message(4, 7), later(1)],
            "the publisher restarted with stNum 4, sqNum 1",
        ),
        (
            &[message(4, 7), other, message(4, 8)],
            "a second publisher: 02:00:00:00:00:02 sends messages",
        ),
        (
            &[message(4, 7), message(4, 8), contradicting],
            "a second message with stNum 4, sqNum 8 has other contents",
        ),
        (&[message(4, 8), without_life], "timeAllowedtoLive is 0"),
        (&[message(4, 7)], "only one message came"),
    ];
    for (messages, doubt) in cases {
        let recorded = of_block(messages);
        let found = doubts(&recorded, &format!("goose/{TRIP_REF}"));
        assert_eq!(found.is_empty(), doubt.is_empty(), "{found:?}");
        assert!(found.iter().all(|text| text.starts_with(TRIP_REF)), "{found:?}");
        assert!(doubt.is_empty() || found[0].contains(doubt), "{doubt:?} in {found:?}");
        assert_eq!(recorded.counters(&format!("goose/{TRIP_REF}")).lost, 0);
    }
}

#[test]
fn many_states_take_no_place_of_a_doubt() {
    if !can_run("many_states_take_no_place_of_a_doubt") {
        return;
    }
    let mut messages: Vec<Message> = (1..300).map(|st_num| message(st_num, 0)).collect();
    messages.push(Message {
        src: Mac([2, 0, 0, 0, 0, 2]),
        ..message(400, 0)
    });
    let recorded = of_block(&messages);
    let found = doubts(&recorded, &format!("goose/{TRIP_REF}"));
    assert!(found[0].contains("a second publisher"), "{found:?}");
    assert!(
        said(&recorded)
            .iter()
            .any(|text| text.ends_with("more events are not listed"))
    );
}

#[test]
fn a_block_whose_messages_cannot_be_read_has_a_series_and_a_doubt() {
    if !can_run("a_block_whose_messages_cannot_be_read_has_a_series_and_a_doubt") {
        return;
    }
    let broken = |appid: u16| {
        let mut frame = encoded(&Message { appid, ..message(1, 2) });
        // Its length field is larger than the data.
        frame.truncate(frame.len() - 2);
        frame
    };
    let healthy = [1, 2].map(|sq_num| encoded(&message(1, sq_num)));
    let frames: Vec<Vec<u8>> = [broken(9), broken(9)].into_iter().chain(healthy).collect();
    let recorded = supervise(SuperviseConfig::default(), &frames, Duration::ZERO);
    let first = format!("goose/{TRIP_REF}");
    let found = doubts(&recorded, &first);
    assert_eq!(found, [format!("{TRIP_REF}: none of its 2 messages could be read")]);
    let second = doubts(&recorded, &format!("{first}#2"));
    assert!(second.is_empty(), "it is another block: {second:?}");
}

#[test]
fn control_blocks_beyond_the_most_leave_a_doubt() {
    if !can_run("control_blocks_beyond_the_most_leave_a_doubt") {
        return;
    }
    let of = |appid: u16, sq_num| {
        encoded(&Message {
            appid,
            ..message(1, sq_num)
        })
    };
    let config = SuperviseConfig {
        max_blocks: 1,
        ..SuperviseConfig::default()
    };
    let recorded = supervise(config, &[of(1, 1), of(2, 1), of(1, 2)], Duration::ZERO);
    let found = doubts(&recorded, &format!("goose/{TRIP_REF}"));
    assert!(
        found[0].contains("1 messages came from control blocks beyond"),
        "{found:?}"
    );
}
