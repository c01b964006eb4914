//! Streams other than sampled values: GOOSE, test frames, AVTP.

use super::{Stamped, analyse};
use wire::ether::Mac;
use wire::test_frame::{TestFrame, TestFrameKind};

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
    let mut frames: Vec<Vec<u8>> = vec![test(TestFrameKind::Hello, 0xabcd, 999)];
    frames.extend([0, 1, 4, 3, 5, 5].map(|sequence| test(TestFrameKind::Probe, 0xabcd, sequence)));
    frames.extend((0..600_u32).filter(|n| n % 100 != 99).map(|n| avtp(n as u8)));
    let stamped: Vec<Stamped> = (0..).zip(frames).map(|(at, data)| (Some(at * 125_000), data)).collect();
    let (summary, kept) = analyse(&stamped);
    assert_eq!(kept.labels, ["test-0000abcd", "avtp-001b210000010007"]);
    let counts = |at: usize| {
        let counts = &summary.streams[at].tally.counters;
        (counts.received, counts.lost, counts.duplicate, counts.reordered)
    };
    assert_eq!(counts(0), (4, 1, 1, 1));
    assert_eq!(counts(1), (593, 5, 0, 0), "the last of them is not missed");
    assert_eq!(summary.other, 1, "a greeting is no sample");
}

#[test]
fn an_avtp_stream_that_stops_has_lost_what_was_due_and_gaps_have_their_place() {
    let avtp = |sequence: u8, id: u8| {
        let header = [2, 0x80, sequence, 0, 0, 0x1b, 0x21, 0, 0, 1, 0, id];
        [
            &[0x91, 0xe0, 0xf0, 0, 0xe, 0x80, 2, 0, 0, 0, 0, 1, 0x22, 0xf0][..],
            &header,
            &[0; 40],
        ]
        .concat()
    };
    let at = |n: i64| Some(n * 125_000);
    let mut stamped: Vec<Stamped> = (0..16_000).map(|n| (at(n), avtp(n as u8, 7))).collect();
    let stops = (0..8_000).filter(|n| !(200..210).contains(n));
    stamped.extend(stops.map(|n| (at(n).map(|ns| ns + 9), avtp(n as u8, 8))));
    stamped.sort_by_key(|(ns, _)| *ns);
    let (summary, kept) = analyse(&stamped);
    let lost: Vec<u64> = summary
        .streams
        .iter()
        .map(|stream| stream.tally.counters.lost)
        .collect();
    // The usual spacing is known to three digits.
    assert_eq!(lost[0], 0);
    assert!((8_000..=8_010).contains(&lost[1]), "{lost:?}");
    let loss = summary.streams[1].losses[0];
    assert_eq!(
        (loss.missing, loss.to - loss.from, loss.frame - loss.after_frame),
        (10, 11, 12)
    );
    assert!(
        kept.events
            .iter()
            .any(|event| event.text.starts_with("stopped 1.00 s before")),
        "{kept:?}"
    );
    // One frame from another address.
    stamped[3_000].1[11] = 9;
    let (_, kept) = analyse(&stamped);
    let doubts = kept
        .events
        .iter()
        .filter(|event| event.text.contains("a second talker?"));
    assert_eq!(doubts.count(), 2, "to it and back: {kept:?}");
}
