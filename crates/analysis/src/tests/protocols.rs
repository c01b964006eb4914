//! Streams that are no sampled values: GOOSE, test frames, AVTP.

use super::{Stamped, analyse, sv};
use crate::Detail;
use wire::ether::Mac;
use wire::goose;
use wire::test_frame::{Kind as TestKind, TestFrame};

#[test]
fn test_frames_and_avtp_are_followed_by_their_counters() {
    let test = |kind, session, sequence| {
        let frame = TestFrame {
            kind,
            flags: 0,
            session,
            sequence,
            sent_ns: 0,
        };
        frame.encode(Mac([2, 0, 0, 0, 0, 2]), Mac([2, 0, 0, 0, 0, 1]), None, 64)
    };
    let avtp = |sequence: u8| {
        let header = [2, 0x80, sequence, 0, 0, 0x1b, 0x21, 0, 0, 1, 0, 7];
        [
            &[0x91, 0xe0, 0xf0, 0, 0xe, 0x80, 2, 0, 0, 0, 0, 1, 0x22, 0xf0][..],
            &header,
            &[0; 40],
        ]
        .concat()
    };
    let mut frames: Vec<Vec<u8>> = vec![test(TestKind::Hello, 0xabcd, 999)];
    frames.extend([0, 1, 4, 3, 5, 5].map(|sequence| test(TestKind::Probe, 0xabcd, sequence)));
    frames.extend((0..600_u32).filter(|n| n % 100 != 99).map(|n| avtp(n as u8)));
    let stamped: Vec<Stamped> = (0..).zip(frames).map(|(at, data)| (Some(at * 125_000), data)).collect();
    let (summary, kept) = analyse(&stamped);
    assert_eq!(kept.labels, ["test-0000abcd", "avtp-001b210000010007"]);
    let counts = |at: usize| {
        let counts = &summary.streams[at].tally.counts;
        (counts.received, counts.lost, counts.duplicate, counts.reordered)
    };
    assert_eq!(counts(0), (4, 1, 1, 1));
    assert_eq!(counts(1), (593, 5, 0, 0), "the last of them is not missed");
    assert_eq!(summary.other, 1, "a greeting is no sample");
}

#[test]
fn goose_states_and_silence_become_events() {
    let message = |st_num: u32, sq_num: u32| {
        let message = goose::Message {
            st_num,
            sq_num,
            time_allowed_to_live: 100,
            ..goose_message()
        };
        message.encode().unwrap()
    };
    let ms = |ms: i64| Some(ms * 1_000_000);
    let frames = [
        (ms(0), message(4, 7)),
        (ms(50), message(4, 8)),
        (ms(60), message(5, 0)),
        (ms(60), message(5, 0)),
        (ms(64), message(5, 1)),
        (ms(264), message(7, 2)),
        // Another protocol brings the end of the capture.
        (ms(400), sv("MU01", 0)),
    ];
    let (summary, kept) = analyse(&frames);
    let stream = &summary.streams[0];
    let Detail::Goose(counts) = stream.detail else {
        panic!("GOOSE")
    };
    assert_eq!((counts.states, counts.expired, counts.begun_late), (2, 2, 1));
    let tally = &stream.tally.counts;
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

fn goose_message() -> goose::Message {
    let vectors: &str = include_str!("../../../wire/tests/data/vectors.json");
    let at = vectors.find("\"goose_initial\"").unwrap();
    let hex = &vectors[at..];
    let hex = hex[hex.find("\"hex\"").unwrap() + 5..].split('"').nth(1).unwrap();
    let octets: Vec<u8> = (0..hex.len())
        .step_by(2)
        .map(|at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap())
        .collect();
    let ethernet = wire::ether::EthernetView::parse(&octets).unwrap();
    goose::Message::from(&goose::Frame::parse(&ethernet).unwrap())
}
