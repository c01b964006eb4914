//! Decodes captures of the test vectors into lines.

use capture::Reader;
use capture::write::PcapWriter;
use serde_json::{Value, json};
use testing::vectors::{vector, vectors};
use wire::ether::{EthernetView, VlanTag};
use wire::routed::SessionWriter;
use wire::{goose, sv};

use crate::{DecodeCounts, decode};

const START_NS: i64 = 1_790_000_000_000_000_000;

/// A capture of frames 1 ms apart.
fn capture_of<'a>(frames: impl IntoIterator<Item = &'a [u8]>) -> Vec<u8> {
    let mut writer = PcapWriter::new(Vec::new()).unwrap();
    for (index, frame) in frames.into_iter().enumerate() {
        writer.write(START_NS + index as i64 * 1_000_000, frame).unwrap();
    }
    writer.finish().unwrap()
}

/// The lines of a capture, the counts, and the counts in words.
fn decoded(capture: &[u8]) -> (Vec<Value>, DecodeCounts, String) {
    let (mut out, mut messages) = (Vec::new(), Vec::new());
    let counts = decode(&mut Reader::new(capture).unwrap(), &mut out).unwrap();
    counts.report(&mut messages).unwrap();
    let lines = String::from_utf8(out).unwrap();
    (
        lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect(),
        counts,
        String::from_utf8(messages).unwrap(),
    )
}

fn decode_one(name: &str) -> Value {
    let capture = capture_of([&vector(name)[..]]);
    let mut lines = decoded(&capture).0;
    assert_eq!(lines.len(), 1, "{name}");
    lines.remove(0)
}

/// Asserts that `line` has every field of `expect`; it may have more.
fn assert_contains(line: &Value, expect: &Value, name: &str) {
    for (key, value) in expect.as_object().unwrap() {
        if key != "asdus" {
            assert_eq!(without_notes(&line[key]), without_notes(value), "{name}: {key}");
        }
    }
}

fn without_notes(value: &Value) -> Value {
    match value {
        Value::Array(values) => values.iter().map(without_notes).collect(),
        Value::Object(fields) => Value::Object(
            fields
                .iter()
                .filter(|(k, _)| *k != "note")
                .map(|(k, v)| (k.clone(), without_notes(v)))
                .collect(),
        ),
        other => other.clone(),
    }
}

#[test]
fn every_vector_gives_its_lines() {
    let vectors = vectors();
    let capture = capture_of(vectors.iter().map(|vector| &vector.frame[..]));
    let (lines, counts, messages) = decoded(&capture);
    for (index, vector) in vectors.iter().enumerate() {
        let name = &vector.name;
        let of_frame: Vec<&Value> = lines.iter().filter(|line| line["frame"] == index + 1).collect();
        assert!(!of_frame.is_empty(), "{name} has no line");
        let dropped = vector.policy == "drop";
        for line in &of_frame {
            assert_eq!(line["kind"], vector.kind, "{name}");
            assert_eq!(line["time_ns"], START_NS + index as i64 * 1_000_000, "{name}");
            assert_eq!(line.get("error").is_some(), dropped, "{name}");
            assert_eq!(line["offset"].is_u64(), dropped, "{name}");
        }
        assert!(!dropped || of_frame.len() == 1, "{name}: one line for a broken frame");
        if vector.expect.is_object() {
            let asdus = vector.expect["asdus"].as_array();
            assert_eq!(of_frame.len(), asdus.map_or(1, Vec::len), "{name}");
            for (at, line) in of_frame.iter().enumerate() {
                assert_contains(line, &vector.expect, name);
                if let Some(asdus) = asdus {
                    assert_contains(line, &asdus[at], name);
                }
            }
        }
    }
    let expected = DecodeCounts {
        frames: 61,
        sv_frames: 41,
        asdus: 33,
        goose: 20,
        errors: 31,
        encrypted: 0,
        not_ethernet: 0,
    };
    assert_eq!(counts, expected);
    assert_eq!(
        messages,
        "frames: 61, sampled-value frames: 41 (ASDUs: 33), GOOSE messages: 20, breaking a rule: 31\n"
    );
}

#[test]
fn a_broken_frame_shows_what_stands_before_the_violation() {
    let line = decode_one("bad_sv_smpcnt_4_octets");
    assert_eq!((&line["svID"], &line["appid"]), (&json!("ABCDMU0101"), &json!(0x4000)));
    assert_eq!(
        (&line["error"], &line["offset"]),
        (&json!("smpCnt is 4 octets long; it must be 2"), &json!(43))
    );
    assert!(line.get("confRev").is_none() && line.get("seqData").is_none());

    let line = decode_one("bad_sv_truncated_in_seqdata");
    assert_eq!(
        (&line["smpCnt"], &line["smpSynch"], &line["offset"]),
        (&json!(100), &json!(2), &json!(16))
    );

    let line = decode_one("bad_goose_struct_overrun");
    assert_eq!((&line["stNum"], &line["numDatSetEntries"]), (&json!(2), &json!(2)));
    assert_eq!(line["allData"], json!([{"type": "boolean", "value": true}]));

    let mut frame = vector("sv_61869_4800_2asdu_untagged");
    let at = frame
        .windows(4)
        .rposition(|octets| octets == [0x82, 2, 0x12, 0xbf])
        .unwrap();
    frame[at] = 0x62;
    let capture = capture_of([&frame[..]]);
    let line = decoded(&capture).0.remove(0);
    assert_eq!((&line["asdu"], &line["svID"]), (&json!(1), &json!("MU01_SV1")));
    assert_eq!(
        (&line["asdusBefore"][0]["smpCnt"], &line["offset"]),
        (&json!(4798), &json!(at))
    );
}

#[test]
fn deviations_that_a_subscriber_counts_are_flagged() {
    let flags = |name: &str| decode_one(name)["flags"].clone();
    assert_eq!(flags("sv_9_2le_4000_1asdu_vlan"), Value::Null);
    assert_eq!(flags("sv_no_smpsynch"), json!(["smpSynch-absent"]));
    assert_eq!(flags("sv_smpsynch_3"), json!(["smpSynch-reserved"]));
    assert_eq!(flags("sv_unknown_extension_field"), json!(["unknown-fields"]));
    assert_eq!(flags("bad_sv_appid_out_of_range"), json!(["appid-out-of-range"]));
    assert_eq!(
        flags("bad_goose_simulation_without_sbit"),
        json!(["simulation-without-simulate-bit"])
    );
    assert_eq!(flags("bad_goose_stnum_zero"), json!(["stNum-zero"]));
    assert_eq!(flags("bad_goose_tal_zero"), json!(["timeAllowedtoLive-zero"]));
    assert_eq!(flags("bad_goose_negative_stnum"), json!(["stNum-negative"]));
}

#[test]
fn optional_fields_and_two_tags_are_shown() {
    let frame = vector("sv_smpsynch_2");
    let mut message = sv::Message::from(&sv::Frame::parse(&EthernetView::parse(&frame).unwrap()).unwrap());
    message.tags = vec![
        VlanTag {
            tpid: 0x88a8,
            tci: 0x7005,
        },
        VlanTag::new(4, false, 100),
    ];
    let asdu = &mut message.asdus[0];
    asdu.dat_set = Some(b"MU01/LLN0$ds".to_vec());
    asdu.refr_tm = Some(wire::time::UtcTime::from_bytes([
        0x6a, 0xb1, 0x3b, 0x81, 6, 0x24, 0xdd, 10,
    ]));
    (asdu.smp_rate, asdu.smp_mod) = (Some(4800), Some(1));
    asdu.gm_identity = Some([0, 1, 2, 3, 4, 5, 6, 0xff]);
    asdu.seq_data = vec![0, 0, 1, 2];
    let capture = capture_of([&message.encode().unwrap()[..]]);
    let line = decoded(&capture).0.remove(0);
    let expect = json!({
        "vlan": {"pcp": 3, "dei": 1, "vid": 5}, "vlan2": {"pcp": 4, "dei": 0, "vid": 100}, "datSet": "MU01/LLN0$ds",
        "refrTm": "6ab13b810624dd0a", "smpRate": 4800, "smpMod": 1, "gmIdentity": "00010203040506ff", "seqData": "00000102",
    });
    assert_contains(&line, &expect, "optional");
    assert!(line.get("values").is_none(), "seqData is not INT32 and quality");
}

#[test]
fn numbers_that_json_cannot_hold_show_their_octets() {
    let frame = vector("goose_trip_retx1");
    let mut message = goose::Message::from(&goose::Frame::parse(&EthernetView::parse(&frame).unwrap()).unwrap());
    let nested = goose::Value::Array(vec![goose::Value::Float64(f64::INFINITY)]);
    message.all_data = vec![goose::Value::Float32(f32::NAN), goose::Value::Float32(0.5), nested];
    message.gocb_ref = b"\"\x01\xff".to_vec();
    let capture = capture_of([&message.encode().unwrap()[..]]);
    let line = decoded(&capture).0.remove(0);
    let expect = json!([
        {"type": "float32", "value": null, "raw": "7fc00000"}, {"type": "float32", "value": 0.5},
        {"type": "array", "value": [{"type": "float64", "value": null, "raw": "7ff0000000000000"}]},
    ]);
    assert_eq!(line["allData"], expect);
    assert_eq!(line["gocbRef"], "\"\u{1}\u{fffd}");
}

#[test]
fn other_traffic_is_passed_over() {
    let mut arp = [0xff; 60];
    arp[12..14].copy_from_slice(&[8, 6]);
    let sv = vector("sv_smpsynch_1");
    let capture = capture_of([&arp[..], &arp[..5], &[], &sv]);
    let (lines, counts, _) = decoded(&capture);
    assert_eq!(lines.len(), 1);
    assert_eq!(lines[0]["frame"], 4);
    assert_eq!((counts.frames, counts.asdus, counts.errors), (4, 1, 0));

    let mut capture = capture;
    capture[20] = 113;
    let (lines, counts, messages) = decoded(&capture);
    assert_eq!((lines.len(), counts.not_ethernet), (0, 4));
    assert!(messages.contains("not Ethernet, so not decoded: 4"), "{messages}");
}

#[test]
fn datagrams_have_the_lines_of_their_messages_and_broken_ones_a_line_of_their_own() {
    let writer = SessionWriter {
        source: [10, 0, 0, 1].into(),
        destination: [239, 192, 0, 7].into(),
        number: 1,
        key_id: 0,
    };
    let good = writer.write(&vector("sv_smpsynch_1"), |_| Vec::new()).expect("SV");
    // Another version, the length of the APDU one less, and an initialisation vector of one octet.
    let changed = |at: usize, by: u8| {
        let mut octets = good.clone();
        octets[at] = octets[at].wrapping_sub(by);
        octets
    };
    let mut encrypted = good.clone();
    encrypted[68] = 1;
    let length = u32::from_be_bytes(good[69..73].try_into().unwrap()) - 1;
    encrypted[70..74].copy_from_slice(&length.to_be_bytes());
    let frames = [good.clone(), changed(57, 1), changed(78, 1), encrypted];
    let version_0 = {
        let mut octets = good.clone();
        octets[57] = 0;
        octets
    };
    let all = frames.iter().chain([&version_0]).map(Vec::as_slice);
    let (lines, counts, said) = decoded(&capture_of(all));
    assert_eq!(
        (lines[0]["kind"].as_str(), lines[0]["frame"].as_u64()),
        (Some("sv"), Some(1))
    );
    let of = |frame: u64| lines.iter().find(|line| line["frame"] == frame).expect("a line");
    assert_eq!((&of(3)["kind"], &of(3)["offset"]), (&json!("datagram"), &json!(77)));
    assert_eq!(of(4)["flags"], json!(["encrypted"]));
    assert_eq!((&of(5)["kind"], &of(5)["offset"]), (&json!("datagram"), &json!(56)));
    assert_eq!((counts.encrypted, counts.errors >= 2), (1, true));
    assert!(said.contains("encrypted datagrams, so not decoded: 1"), "{said}");
}
