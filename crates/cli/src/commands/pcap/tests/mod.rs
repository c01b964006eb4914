//! Captures of the test vectors, decoded.

mod avb;

use std::path::{Path, PathBuf};

use crate::arguments::PageArgs;
use capture::write::PcapWriter;
use serde_json::{Value, json};
use wire::ether::{EthernetView, Mac, VlanTag};
use wire::{goose, sv};

use super::analyse::list;
use super::counts::DecodeCounts;
use super::decode::decode;
use super::{PcapArgs, PcapError, run};

const START_NS: i64 = 1_790_000_000_000_000_000;

/// A capture that is removed with the value.
struct TestCapture(PathBuf);

impl TestCapture {
    fn new(name: &str, octets: &[u8]) -> Self {
        let path = std::env::temp_dir().join(format!("triptime-pcap-{}-{name}.pcap", std::process::id()));
        std::fs::write(&path, octets).unwrap();
        Self(path)
    }

    /// Frames 1 ms apart.
    fn of_frames<'a>(name: &str, frames: impl IntoIterator<Item = &'a [u8]>) -> Self {
        let mut writer = PcapWriter::new(Vec::new()).unwrap();
        for (index, frame) in frames.into_iter().enumerate() {
            writer.write(START_NS + index as i64 * 1_000_000, frame).unwrap();
        }
        Self::new(name, &writer.finish().unwrap())
    }
}

fn args(file: &Path, decode: bool) -> PcapArgs {
    PcapArgs {
        file: file.to_owned(),
        decode,
        rate: None,
        stamped_by: None,
        max_streams: 256,
        out: None,
        pages: PageArgs::default(),
        face: crate::face::FaceArgs::default(),
        limits: None,
        window: 20_000_000_000,
        file_budget: 32 << 20,
    }
}

impl Drop for TestCapture {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

fn vectors() -> Vec<Value> {
    serde_json::from_str(include_str!("../../../../../wire/tests/data/vectors.json")).unwrap()
}

fn frame_of(vector: &Value) -> Vec<u8> {
    let text = vector["hex"].as_str().unwrap();
    (0..text.len())
        .step_by(2)
        .map(|at| u8::from_str_radix(&text[at..at + 2], 16).unwrap())
        .collect()
}

fn vector(name: &str) -> Vec<u8> {
    frame_of(vectors().iter().find(|vector| vector["name"] == name).unwrap())
}

fn decoded(path: &Path) -> (Vec<Value>, DecodeCounts, String) {
    let (mut out, mut messages) = (Vec::new(), Vec::new());
    let counts = decode(path, &mut out, &mut messages).unwrap();
    let lines = String::from_utf8(out).unwrap();
    (
        lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect(),
        counts,
        String::from_utf8(messages).unwrap(),
    )
}

fn decode_one(name: &str) -> Value {
    let capture = TestCapture::of_frames(name, [&vector(name)[..]]);
    let mut lines = decoded(&capture.0).0;
    assert_eq!(lines.len(), 1, "{name}");
    lines.remove(0)
}

/// `line` has every field of `expect`, whatever else it has.
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
    let frames: Vec<Vec<u8>> = vectors.iter().map(frame_of).collect();
    let capture = TestCapture::of_frames("vectors", frames.iter().map(Vec::as_slice));
    let (lines, counts, messages) = decoded(&capture.0);
    for (index, vector) in vectors.iter().enumerate() {
        let name = vector["name"].as_str().unwrap();
        let of_frame: Vec<&Value> = lines.iter().filter(|line| line["frame"] == index + 1).collect();
        assert!(!of_frame.is_empty(), "{name} has no line");
        let dropped = vector["policy"] == "drop";
        for line in &of_frame {
            assert_eq!(line["kind"], vector["kind"], "{name}");
            assert_eq!(line["time_ns"], START_NS + index as i64 * 1_000_000, "{name}");
            assert_eq!(line.get("error").is_some(), dropped, "{name}");
            assert_eq!(line["offset"].is_u64(), dropped, "{name}");
        }
        assert!(!dropped || of_frame.len() == 1, "{name}: one line for a broken frame");
        if vector["expect"].is_object() {
            let asdus = vector["expect"]["asdus"].as_array();
            assert_eq!(of_frame.len(), asdus.map_or(1, Vec::len), "{name}");
            for (at, line) in of_frame.iter().enumerate() {
                assert_contains(line, &vector["expect"], name);
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
    let capture = TestCapture::of_frames("second-asdu", [&frame[..]]);
    let line = decoded(&capture.0).0.remove(0);
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

fn parsed(name: &str) -> sv::Message {
    let frame = vector(name);
    sv::Message::from(&sv::Frame::parse(&EthernetView::parse(&frame).unwrap()).unwrap())
}

#[test]
fn optional_fields_and_two_tags_are_shown() {
    let mut message = parsed("sv_smpsynch_2");
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
    let capture = TestCapture::of_frames("optional", [&message.encode().unwrap()[..]]);
    let line = decoded(&capture.0).0.remove(0);
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
    let capture = TestCapture::of_frames("numbers", [&message.encode().unwrap()[..]]);
    let line = decoded(&capture.0).0.remove(0);
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
    let capture = TestCapture::of_frames("others", [&arp[..], &arp[..5], &[], &sv]);
    let (lines, counts, _) = decoded(&capture.0);
    assert_eq!(lines.len(), 1);
    assert_eq!(lines[0]["frame"], 4);
    assert_eq!((counts.frames, counts.asdus, counts.errors), (4, 1, 0));

    let mut cooked = std::fs::read(&capture.0).unwrap();
    cooked[20] = 113;
    let capture = TestCapture::new("cooked", &cooked);
    let (lines, counts, messages) = decoded(&capture.0);
    assert_eq!((lines.len(), counts.not_ethernet), (0, 4));
    assert!(messages.contains("not Ethernet, so not decoded: 4"), "{messages}");
}

#[test]
fn a_cut_capture_prints_what_came_before_and_says_where() {
    let frame = vector("sv_smpsynch_1");
    let whole = TestCapture::of_frames("whole", [&frame[..], &frame]);
    let mut octets = std::fs::read(&whole.0).unwrap();
    octets.truncate(octets.len() - 1);
    let cut = TestCapture::new("cut", &octets);
    for decode in [true, false] {
        let (mut out, mut messages) = (Vec::new(), Vec::new());
        let status = run(&args(&cut.0, decode), &mut out, &mut messages);
        assert_eq!(status, 2);
        let out = String::from_utf8(out).unwrap();
        if decode {
            assert_eq!(out.lines().count(), 1);
        } else {
            assert!(
                out.contains("cut.pcap: 1 frame in") && out.contains("ABCDMU0101"),
                "{out}"
            );
        }
        assert_eq!(
            String::from_utf8(messages).unwrap(),
            format!(
                "triptime pcap: {}: the capture is cut: it ends at octet 299, inside the block that begins at octet 162, \
                 before frame 2 is whole\n",
                cut.0.display()
            )
        );
    }
}

#[test]
fn files_that_are_not_captures_end_with_one_message() {
    let text = TestCapture::new("text", b"key,value\n");
    for (file, part) in [
        (text.0.as_path(), "not a capture"),
        (Path::new("/nonexistent.pcap"), "No such file"),
    ] {
        let (mut out, mut messages) = (Vec::new(), Vec::new());
        assert_eq!(run(&args(file, true), &mut out, &mut messages), 2);
        let messages = String::from_utf8(messages).unwrap();
        assert!(
            out.is_empty() && messages.lines().count() == 1 && messages.contains(part),
            "{messages}"
        );
        assert_eq!(messages.matches(&*file.to_string_lossy()).count(), 1, "{messages}");
    }
}

/// An output whose reader has gone.
struct Closed;

impl std::io::Write for Closed {
    fn write(&mut self, _: &[u8]) -> std::io::Result<usize> {
        Err(std::io::ErrorKind::BrokenPipe.into())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_closed_output_ends_quietly() {
    let capture = TestCapture::of_frames("closed", [&vector("sv_smpsynch_1")[..]]);
    let mut messages = Vec::new();
    assert!(matches!(
        decode(&capture.0, &mut Closed, &mut messages),
        Err(PcapError::Output(_))
    ));
    assert_eq!(run(&args(&capture.0, true), &mut Closed, &mut messages), 0);
    assert!(messages.is_empty());
}

#[test]
fn the_listing_has_every_stream_and_what_is_wrong_with_it() {
    let mut message = parsed("sv_9_2le_4000_1asdu_vlan");
    let mut frames = Vec::new();
    for count in (3990..4000).chain([0, 1, 3]) {
        message.asdus[0].smp_cnt = count;
        frames.push(message.encode().unwrap());
    }
    message.dst = Mac([1, 0x0c, 0xcd, 4, 0, 9]);
    message.asdus[0].sv_id = b"other\x1b[2J".to_vec();
    frames.push(message.encode().unwrap());
    frames.push(vector("goose_initial"));
    frames.push(vector("bad_goose_utc_7"));
    let capture = TestCapture::of_frames("listing", frames.iter().map(Vec::as_slice));
    let mut out = Vec::new();
    assert_eq!(list(&args(&capture.0, false), &mut out).unwrap(), 0);
    let text = String::from_utf8(out).unwrap();
    let rows: Vec<Vec<&str>> = text.lines().map(|row| row.split_whitespace().collect()).collect();
    let row = |name: &str| rows.iter().find(|row| row.get(1) == Some(&name)).unwrap();
    let sv = row("ABCDMU0101");
    assert_eq!(
        sv[..7],
        ["sv", "ABCDMU0101", "01:0c:cd:04:00:01", "0", "0x4000", "13", "4000/s"]
    );
    assert_eq!(sv[7..15], ["1.00", "ms"].repeat(4), "min p50 p99 max");
    assert_eq!(sv[15..], ["1", "0", "0", "0"], "lost duplicate late, stamps back");
    assert_eq!(row("other\\u{1b}[2J")[5..7], ["1", "-"]);
    let goose = row("IED1LD0/LLN0$GO$gcbTrip");
    assert_eq!(
        goose[..6],
        [
            "goose",
            "IED1LD0/LLN0$GO$gcbTrip",
            "01:0c:cd:01:00:01",
            "0",
            "0x0001",
            "1"
        ]
    );
    for part in [
        "listing.pcap: 16 frames in 15.0 ms from 2026-09-21T14:13:20.000000000Z; 3 streams",
        "1 frame breaking a rule of the protocol; the first is frame 16: ",
        "ABCDMU0101: 1.00 ms before frame 2, 1.00 ms before frame 3, 1.00 ms before frame 4",
        "ABCDMU0101: smpCnt had 1 gap",
        "first seen with stNum 1",
    ] {
        assert!(text.contains(part), "no {part:?} in {text}");
    }
    assert!(!text.contains('\x1b'));
}
