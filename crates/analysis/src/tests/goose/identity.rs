//! Second publishers and publishers that restart: the rules are those of `subscribe`, and each case is a doubt.

use super::{goose_message, ms};
use crate::EventKind;
use crate::tests::{Kept, analyse};
use wire::ether::Mac;
use wire::goose::{Message, Value};

/// A message with a timeAllowedtoLive of 10 s.
fn message(st_num: u32, sq_num: u32) -> Message {
    Message {
        st_num,
        sq_num,
        time_allowed_to_live: 10_000,
        ..goose_message()
    }
}

fn of(source: u8, message: Message) -> Message {
    Message {
        src: Mac([2, 0, 0, 0, 0, source]),
        ..message
    }
}

fn encoded(messages: &[(i64, Message)]) -> Vec<(Option<i64>, Vec<u8>)> {
    let frame = |(at_ms, message): &(i64, Message)| (ms(*at_ms), message.encode().unwrap());
    messages.iter().map(frame).collect()
}

fn doubts(kept: &Kept) -> Vec<&str> {
    let doubts = kept.events.iter().filter(|event| event.kind == EventKind::Uncountable);
    doubts.map(|event| event.text.as_str()).collect()
}

#[test]
fn a_second_source_takes_nothing_over_and_both_are_named() {
    let messages = [
        (0, of(1, message(4, 1))),
        (100, of(1, message(4, 2))),
        (150, of(2, message(5, 5))),
        (200, of(1, message(4, 3))),
        (250, of(2, message(5, 6))),
        (300, of(1, message(4, 5))),
    ];
    let (summary, kept) = analyse(&encoded(&messages));
    let counts = &summary.streams[0].tally.counters;
    assert_eq!((counts.lost, counts.received), (1, 3), "sqNum 4 of the first");
    assert_eq!(
        doubts(&kept),
        [
            "a second publisher: 02:00:00:00:00:02 sends messages while 02:00:00:00:00:01 is live; they are not accepted (frame 3)",
            "2 messages were refused: from a second source address"
        ]
    );
}

#[test]
fn a_restart_a_contradiction_and_a_flag_alone_are_doubts() {
    let later = Message {
        t: wire::time::UtcTime {
            seconds: goose_message().t.seconds + 5,
            ..goose_message().t
        },
        ..message(4, 1)
    };
    let contradicting = Message {
        all_data: vec![Value::Boolean(true)],
        ..message(4, 2)
    };
    let flag = Message {
        simulation: true,
        ..message(4, 3)
    };
    for (last, doubt) in [
        (
            later,
            "sqNum went back to 1 without a new stNum (frame 3): the publisher restarted",
        ),
        (
            contradicting,
            "a second message with stNum 4, sqNum 2 has other contents (frame 3)",
        ),
        (
            flag,
            "a message is refused: the simulation flag is set without the simulate bit (frame 3)",
        ),
    ] {
        let messages = [(0, message(4, 1)), (100, message(4, 2)), (200, last)];
        let (summary, kept) = analyse(&encoded(&messages));
        let counts = &summary.streams[0].tally.counters;
        assert_eq!((counts.lost, counts.reordered, counts.duplicate), (0, 0, 0), "{doubt}");
        let found = doubts(&kept);
        assert!(found[0].starts_with(doubt), "{doubt}: {found:?}");
    }
}

#[test]
fn no_time_to_live_a_lone_message_and_heartbeats_that_end_are_doubts() {
    let without_life = Message {
        time_allowed_to_live: 0,
        ..message(4, 1)
    };
    let end = (4_000, crate::tests::sv("MU01", 0));
    let beats: Vec<(i64, Message)> = (0..4).map(|n| (n * 300, message(4, n as u32))).collect();
    for (messages, doubt) in [
        (
            vec![
                (0, without_life.clone()),
                (
                    100,
                    Message {
                        sq_num: 2,
                        ..without_life
                    },
                ),
            ],
            "timeAllowedtoLive is 0",
        ),
        (vec![(0, message(4, 1))], "only one message came"),
        (beats, "no message for the last 3.10 s of the capture"),
    ] {
        let mut frames = encoded(&messages);
        frames.push((ms(end.0), end.1.clone()));
        let (_, kept) = analyse(&frames);
        let found = doubts(&kept);
        assert!(found.iter().any(|text| text.starts_with(doubt)), "{doubt}: {found:?}");
    }
}
