//! Signatures of datagrams that are checked, and authentication values of layer 2 that are recognised.

use super::{CONFIG, Kept, SPACING_NS, analyse_by, sv};
use crate::{EventKind, Summary};
use wire::routed::{Algorithm, Key, Route, Wrapper};

fn key(id: u32, secret: u8) -> Key {
    Key::new(id, Algorithm::HmacSha256_128, &[secret; 16]).expect("a key")
}

fn wrapper(key: Option<Key>) -> Wrapper {
    Wrapper::new(Route {
        source: [10, 0, 0, 1].into(),
        group: [239, 192, 0, 7].into(),
        ttl: 64,
        dscp: 0,
        key,
    })
}

fn analyse(frames: &[Vec<u8>], keys: Vec<Key>) -> (Summary, Kept) {
    let stamped: Vec<_> = (0..)
        .zip(frames)
        .map(|(at, frame)| (Some(at * SPACING_NS), frame.clone()))
        .collect();
    analyse_by(CONFIG, Kept::default(), &stamped, keys)
}

/// A hundred samples of the stream, in datagrams.
fn datagrams(key: Option<Key>) -> Vec<Vec<u8>> {
    let mut wrapper = wrapper(key);
    let wrapped = (0..100).map(|count| wrapper.wrap(&sv("MU01", count)).expect("short").expect("SV").to_vec());
    wrapped.collect()
}

#[test]
fn only_what_a_given_key_has_signed_is_followed() {
    for (signed_by, keys, used, why) in [
        (Some(key(7, 1)), vec![key(7, 1)], 100, ""),
        (Some(key(7, 1)), Vec::new(), 100, ""),
        (None, Vec::new(), 100, ""),
        (Some(key(7, 1)), vec![key(7, 2)], 0, "wrong signature"),
        (Some(key(8, 1)), vec![key(7, 1)], 0, "not given"),
        (None, vec![key(7, 1)], 0, "are not signed"),
    ] {
        let (summary, kept) = analyse(&datagrams(signed_by), keys);
        assert_eq!(summary.streams.len(), 1, "{why}");
        assert_eq!(summary.streams[0].frames, used, "{why}");
        let counts = summary.routed;
        assert_eq!(counts.right + counts.signed + counts.unsigned, used, "{why}");
        assert_eq!(counts.wrong + counts.refused, 100 - used, "{why}");
        let doubts = kept.events.iter().filter(|event| event.kind == EventKind::Uncountable);
        let doubts: Vec<&str> = doubts.map(|event| event.text.as_str()).collect();
        match used {
            0 => assert!(doubts.len() == 1 && doubts[0].contains(why), "{doubts:?}"),
            _ => assert!(doubts.is_empty(), "{doubts:?}"),
        }
    }
}

#[test]
fn a_doubt_reaches_the_stream_that_it_names_and_no_other() {
    let (right, wrong) = (key(7, 1), key(7, 2));
    let [mut genuine, mut forged] = [&right, &wrong].map(|key| wrapper(Some(key.clone())));
    let frames: Vec<Vec<u8>> = (0..100)
        .flat_map(|count| {
            let other = genuine.wrap(&sv("MU02", count)).expect("short").expect("SV").to_vec();
            let own = genuine.wrap(&sv("MU01", count)).expect("short").expect("SV").to_vec();
            let false_one = forged.wrap(&sv("MU01", count)).expect("short").expect("SV").to_vec();
            [other, own, false_one]
        })
        .collect();
    let (summary, kept) = analyse(&frames, vec![right]);
    let frames: Vec<u64> = summary.streams.iter().map(|stream| stream.frames).collect();
    assert_eq!(frames, [100, 100]);
    assert!(
        summary
            .streams
            .iter()
            .all(|stream| stream.tally.counters.duplicate == 0)
    );
    let doubts = kept.events.iter().filter(|event| event.kind == EventKind::Uncountable);
    let named: Vec<&str> = doubts.map(|event| kept.labels[event.stream].as_str()).collect();
    assert_eq!(named, ["MU01"]);
}

/// A recording of the publisher, sent again when it is silent: the right signature, and smpCnt goes on.
#[test]
fn recorded_datagrams_are_a_doubt_although_their_signature_is_right() {
    let mut wrapper = wrapper(Some(key(7, 1)));
    let mut wrapped = |count: u16| wrapper.wrap(&sv("MU01", count)).expect("short").expect("SV").to_vec();
    let genuine: Vec<Vec<u8>> = (0..4_800).map(|count| wrapped(count % 4_000)).collect();
    let doubts = |frames: &[Vec<u8>]| -> Vec<String> {
        let (_, kept) = analyse(frames, vec![key(7, 1)]);
        let events = kept.events.iter().filter(|event| event.text.contains("SPDU"));
        events.map(|event| event.text.clone()).collect()
    };
    assert_eq!(doubts(&genuine), Vec::<String>::new());
    // The sample after the last one came 4 000 datagrams ago; the one before is beyond what a network holds back.
    let recorded = genuine[..703].iter().cloned();
    let both: Vec<Vec<u8>> = genuine.iter().cloned().chain(recorded).collect();
    let found = doubts(&both);
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].contains("left behind"), "{found:?}");
}

#[test]
fn an_authentication_value_of_layer_2_is_recognised_by_its_length() {
    let extended = |octets: u8| {
        let mut frame = sv("MU01", 0);
        // After two addresses, a VLAN tag and the EtherType: APPID, Length, Reserved1.
        let length = u16::from_be_bytes([frame[20], frame[21]]) + u16::from(octets);
        frame[20..22].copy_from_slice(&length.to_be_bytes());
        frame[23] = 16;
        frame.extend(vec![0x5a; usize::from(octets)]);
        frame
    };
    let (summary, _) = analyse(&[extended(16)], Vec::new());
    assert_eq!(
        (summary.extended, summary.malformed, summary.streams[0].frames),
        (1, 0, 1)
    );
    let (summary, _) = analyse(&[extended(15)], Vec::new());
    assert_eq!(
        (summary.extended, summary.malformed),
        (0, 1),
        "not the length that it says"
    );
    let (summary, _) = analyse(&[sv("MU01", 0)], Vec::new());
    assert_eq!((summary.extended, summary.malformed), (0, 0));
}
