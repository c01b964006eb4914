//! GOOSE streams.

mod identity;

use super::{analyse, sv};
use crate::Detail;
use wire::goose::{Frame, Message};

fn message(st_num: u32, sq_num: u32) -> Vec<u8> {
    let message = Message {
        st_num,
        sq_num,
        time_allowed_to_live: 100,
        ..goose_message()
    };
    message.encode().unwrap()
}

fn ms(ms: i64) -> Option<i64> {
    Some(ms * 1_000_000)
}

#[test]
fn goose_states_and_silence_become_events() {
    let frames = [
        (ms(0), message(4, 7)),
        (ms(50), message(4, 8)),
        (ms(60), message(5, 0)),
        (ms(60), message(5, 0)),
        (ms(64), message(5, 1)),
        (ms(264), message(7, 2)),
        // A frame of another protocol sets the end of the capture.
        (ms(400), sv("MU01", 0)),
    ];
    let (summary, kept) = analyse(&frames);
    let stream = &summary.streams[0];
    let Detail::Goose { counts, gaps } = stream.detail else {
        panic!("GOOSE")
    };
    assert_eq!((counts.states, counts.expired, counts.begun_late), (2, 2, 1));
    assert_eq!(gaps, 1, "two messages of one state");
    let tally = &stream.tally.counters;
    assert_eq!(
        (tally.lost, tally.duplicate, tally.received),
        (3, 1, 4),
        "a state and two messages"
    );
    assert_eq!((tally.late, stream.tally.max_ns), (2, Some(200_000_000)));
    let texts: Vec<&str> = kept.events.iter().map(|event| event.text.as_str()).collect();
    assert_eq!(
        texts,
        [
            "first seen with stNum 4, sqNum 7 (frame 1)",
            "stNum 4 -> 5 (frame 3)",
            "silent for 200 ms where timeAllowedtoLive was 100 ms (until frame 6)",
            "stNum 5 -> 7 (frame 6); 1 state between them never came; it begins with sqNum 2, not 0: messages were lost, or \
             the publisher does not reset it",
            "no message for 136 ms when the capture ended; timeAllowedtoLive was 100 ms"
        ]
    );
}

#[test]
fn what_is_missing_before_a_message_that_was_overtaken_is_told() {
    let frames = [
        (ms(0), message(4, 7)),
        (ms(50), message(5, 0)),
        (ms(51), message(4, 9)),
        (ms(60), message(5, 1)),
    ];
    let (summary, kept) = analyse(&frames);
    let tally = &summary.streams[0].tally.counters;
    assert_eq!((tally.lost, tally.reordered), (1, 1));
    let text = "1 missing before sqNum 9 of stNum 4, which the next state overtook (frame 3)";
    assert!(kept.events.iter().any(|event| event.text == text), "{:?}", kept.events);
}

#[test]
fn a_jump_of_goose_numbers_that_the_time_does_not_explain_is_told_and_no_loss() {
    let frames = [
        (ms(0), message(4, 7)),
        (ms(50), message(4, u32::MAX)),
        (ms(60), message(9_000, 0)),
        (ms(64), message(9_000, 3)),
    ];
    let (summary, kept) = analyse(&frames);
    let stream = &summary.streams[0];
    let Detail::Goose { counts, gaps } = stream.detail else {
        panic!("GOOSE")
    };
    assert_eq!((counts.restarts, gaps, stream.tally.counters.lost), (2, 1, 2));
    let texts: Vec<&str> = kept.events.iter().map(|event| event.text.as_str()).collect();
    assert_eq!(
        texts[1..],
        [
            "sqNum jumped from 7 to 4294967295 (frame 2), too far for the time since the last message: the publisher \
             restarted, or it is another one",
            "stNum jumped from 4 to 9000 (frame 3), too far for the time since the last message: the publisher \
             restarted, or it is another one",
            "2 missing between sqNum 0 and 3 of stNum 9000 (frame 4)",
        ]
    );
}

fn goose_message() -> Message {
    let octets = testing::vectors::vector("goose_initial");
    let ethernet = wire::ether::EthernetView::parse(&octets).unwrap();
    Message::from(&Frame::parse(&ethernet).unwrap())
}
