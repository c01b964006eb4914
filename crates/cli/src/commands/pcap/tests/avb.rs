//! Verdicts of the limits of AVB on the spacing in a capture.

use std::path::PathBuf;

use capture::write::PcapWriter;
use capture::{Captured, Direction, PcapngWriter};
use serde_json::Value;
use wire::avtp::{AafStream, AafTemplate};
use wire::ether::{Mac, VlanTag};

use super::{START_NS, TestCapture, args};
use crate::commands::pcap::run;

const INTERVAL_NS: i64 = 125_000;

/// Makes 4000 frames of one stream, every 125 us and 100 ns less or more; the gap before frame 2000 is `gap_ns`. Stamps are cut to
/// multiples of `step_ns`.
fn frames(gap_ns: i64, step_ns: i64) -> Vec<(i64, Vec<u8>)> {
    let mut template = AafTemplate::new(&AafStream {
        dst: Mac([0x91, 0xe0, 0xf0, 0, 0xfe, 0]),
        src: Mac([2, 0, 0, 0, 0, 1]),
        tags: Vec::new(),
        unique_id: 1,
    });
    let mut time_ns = START_NS;
    let mut frame = |n: i64| {
        template.set_sequence_num(n as u8);
        let jitter_ns = [0, 37, 101, -53][n as usize % 4];
        time_ns += if n == 1_999 { gap_ns } else { INTERVAL_NS };
        ((time_ns + jitter_ns) / step_ns * step_ns, template.bytes().to_vec())
    };
    (0..4_000).map(&mut frame).collect()
}

fn pcap(name: &str, frames: &[(i64, Vec<u8>)]) -> TestCapture {
    let mut writer = PcapWriter::new(Vec::new()).unwrap();
    for (time_ns, octets) in frames {
        writer.write(*time_ns, octets).unwrap();
    }
    TestCapture::new(name, &writer.finish().unwrap())
}

/// Makes a capture as `listen --capture-all` writes it.
fn pcapng(name: &str, application: &str, frames: &[(i64, Vec<u8>)]) -> TestCapture {
    let mut writer = PcapngWriter::new(Vec::new(), application, "eth0").unwrap();
    for (time_ns, octets) in frames {
        let captured = Captured {
            time_ns: *time_ns,
            direction: Direction::Inbound,
            pieces: &[octets],
            original_len: octets.len() as u32,
            comment: None,
        };
        writer.write(&captured).unwrap();
    }
    let end_ns = frames.last().unwrap().0;
    TestCapture::new(name, &writer.finish(end_ns, 0).unwrap())
}

/// The result document.
fn judged(capture: &TestCapture, profile: &str, stamped_by: Option<&str>) -> Value {
    let out_file = capture.0.with_extension("triptime");
    let mut args = args(&capture.0, false);
    args.face.json = true;
    args.limits = Some(profile.to_owned());
    args.out = Some(out_file.clone());
    args.stamped_by = stamped_by.map(str::to_owned);
    let (mut out, mut messages) = (Vec::new(), Vec::new());
    run(&args, &mut out, &mut messages);
    let _ = std::fs::remove_file(out_file);
    serde_json::from_slice(&out).unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&messages)))
}

/// The check of the spacing: verdict, class, reason.
fn spacing(document: &Value) -> (String, String, String) {
    let checks = document["checks"].as_array().unwrap();
    let check = checks.iter().find(|check| check["limit"] == "spacing.excess").unwrap();
    let text = |key: &str| check[key].as_str().unwrap_or_default().to_owned();
    (text("verdict"), text("class"), text("why"))
}

const TAP: Option<&str> = Some("a tap");

#[test]
fn a_gap_of_670_us_in_a_stream_of_125_us_fails_whatever_is_known_of_the_stamps() {
    let whole = pcap("avb-gap", &frames(670_200, 1));
    let ours = pcapng("avb-gap-ours", "triptime 0.1.0", &frames(670_200, 1));
    let micro = pcap("avb-gap-us", &frames(670_200, 1_000));
    for (capture, by) in [(&whole, None), (&whole, TAP), (&ours, None), (&micro, None)] {
        let document = judged(capture, "avb", by);
        let (verdict, class, why) = spacing(&document);
        assert_eq!(
            (verdict.as_str(), document["verdict"].as_str()),
            ("fail", Some("fail")),
            "{why}"
        );
        assert_eq!(class, "likely not suitable (over 50.0 µs)");
        assert!(
            why.starts_with("1 of 3 999 gaps over 125 µs + 50.0 µs, the longest 670 µs"),
            "{why}"
        );
        let buffer = &document["series"][0]["listener_buffer"];
        assert_eq!(buffer["frames"], 5, "{buffer}");
        let text = buffer["text"].as_str().unwrap();
        assert!(text.starts_with("at least 545 µs, 5 frames of 125 µs"), "{text}");
    }
}

#[test]
fn an_even_stream_passes_where_it_is_known_who_made_the_stamps() {
    let even = pcap("avb-even", &frames(INTERVAL_NS, 1));
    let (verdict, class, _) = spacing(&judged(&even, "avb", TAP));
    assert_eq!(
        (verdict.as_str(), class.as_str()),
        ("pass", "tolerable (under 10.0 µs)")
    );
    let (verdict, class, why) = spacing(&judged(&even, "avb", None));
    assert_eq!((verdict.as_str(), class.as_str()), ("inconclusive", ""));
    assert!(why.contains("does not say what made its stamps"), "{why}");

    let ours = pcapng("avb-even-ours", "triptime 0.1.0", &frames(INTERVAL_NS, 1));
    let document = judged(&ours, "avb", None);
    assert_eq!(document["verdict"], "pass");
    let by = document["series"][0]["settings"]["stamped by"].as_str().unwrap();
    assert!(by.starts_with("triptime: received frames by the kernel"), "{by}");
    let others = pcapng("avb-even-others", "Dumpcap 4.2", &frames(INTERVAL_NS, 1));
    assert_eq!(judged(&others, "avb", None)["verdict"], "inconclusive");
    let near = pcap("avb-near", &frames(134_000, 1));
    let (verdict, class, _) = spacing(&judged(&near, "avb", TAP));
    assert_eq!(
        (verdict.as_str(), class.as_str()),
        ("pass", "tolerable (under 10.0 µs)")
    );
    let between = pcap("avb-between", &frames(160_000, 1));
    let (verdict, class, _) = spacing(&judged(&between, "avb", TAP));
    assert_eq!(
        (verdict.as_str(), class.as_str()),
        ("pass", "between tolerable and not suitable (10.0 µs to 50.0 µs)")
    );
}

#[test]
fn stamps_too_coarse_for_the_limit_leave_it_open_and_finer_ones_do_not() {
    for (step_ns, wanted) in [
        (1_000, "pass"),
        (10_000, "pass"),
        (100_000, "inconclusive"),
        (1_000_000, "inconclusive"),
        (1_000_000_000, "inconclusive"),
    ] {
        let capture = pcap(&format!("avb-step-{step_ns}"), &frames(INTERVAL_NS, step_ns));
        let (verdict, _, why) = spacing(&judged(&capture, "avb", TAP));
        assert_eq!(verdict, wanted, "{step_ns}: {why}");
    }
    let coarse = pcap("avb-ms", &frames(INTERVAL_NS, 1_000_000));
    let (_, _, why) = spacing(&judged(&coarse, "avb", TAP));
    assert!(why.contains("the stamps come in steps of 1.00 ms"), "{why}");
    // A gap that the steps do not explain is beyond doubt.
    let outage = pcap("avb-outage", &frames(20_000_000, 1_000_000));
    let (verdict, _, why) = spacing(&judged(&outage, "avb", None));
    assert_eq!(verdict, "fail", "{why}");
    // 176 us exceed 175 us, but not by more than the error of stamps in microseconds.
    let edge = pcap("avb-edge", &frames(175_600, 1_000));
    let (verdict, _, why) = spacing(&judged(&edge, "avb", TAP));
    assert_eq!(verdict, "inconclusive", "{why}");
}

#[test]
fn other_profiles_ask_nothing_of_the_stamps_but_what_their_limits_need() {
    let profile: PathBuf = std::env::temp_dir().join(format!("triptime-spacing-{}.toml", std::process::id()));
    let limit = "name = \"site\"\nwhat = \"test\"\n[[limit]]\nid = \"spacing.max\"\nseries = \"spacing/*\"\n\
                 quantity = \"max\"\nallowed = \"500us\"\nsource = \"test\"\n";
    std::fs::write(&profile, limit).unwrap();
    let path = profile.to_str().unwrap();
    let verdict = |capture: &TestCapture, profile: &str| judged(capture, profile, None)["verdict"].clone();
    let micro = pcap("site-us", &frames(INTERVAL_NS, 1_000));
    assert_eq!(verdict(&micro, path), "pass");
    assert_eq!(verdict(&micro, "seapath"), "pass");
    // For these streams only the numbers are checked: nobody knows if one number had two contents.
    let open = judged(&micro, "substation", None);
    let undecided = |check: &&Value| check["verdict"] == "inconclusive";
    let undecided: Vec<&Value> = open["checks"].as_array().unwrap().iter().filter(undecided).collect();
    assert_eq!(undecided.len(), 1, "{undecided:?}");
    assert_eq!(undecided[0]["limit"], "spacing.conflicting");
    let edge = pcap("site-edge", &frames(500_500, 1_000));
    assert_eq!(verdict(&edge, path), "inconclusive", "it may have been 500.9 us");
    let exact = pcap("site-exact", &frames(499_800, 1));
    assert_eq!(verdict(&exact, path), "pass");
    let coarse = pcap("site-ms", &frames(INTERVAL_NS, 1_000_000));
    assert_eq!(verdict(&coarse, path), "inconclusive");
    std::fs::remove_file(&profile).unwrap();
}

/// 800 frames of class A, of which each eighth frame and its successors come `early_ns` before their interval.
fn early(pcp: u8, early_ns: i64) -> Vec<(i64, Vec<u8>)> {
    let mut template = AafTemplate::new(&AafStream {
        dst: Mac([0x91, 0xe0, 0xf0, 0, 0xfe, 0]),
        src: Mac([2, 0, 0, 0, 0, 1]),
        tags: vec![VlanTag::new(pcp, false, 2)],
        unique_id: 1,
    });
    let frame = |n: i64| {
        template.set_sequence_num(n as u8);
        let early_ns = if n % 8 == 0 { 0 } else { early_ns };
        (START_NS + n * INTERVAL_NS - early_ns, template.bytes().to_vec())
    };
    (0..800).map(frame).collect()
}

/// The listing's words about their shaping.
fn shaping(name: &str, pcp: u8, early_ns: i64) -> Option<String> {
    let capture = pcap(name, &early(pcp, early_ns));
    let (mut out, mut messages) = (Vec::new(), Vec::new());
    run(&args(&capture.0, false), &mut out, &mut messages);
    let text = String::from_utf8(out).unwrap();
    let section = text.split_once("Shaping (IEEE 802.1Qav")?.1;
    section.lines().nth(1).map(|line| line.trim().to_owned())
}

#[test]
fn a_stream_of_an_sr_class_is_judged_by_the_credit_of_a_shaper() {
    for (pcp, early_ns, says) in [
        (
            3,
            0,
            "class A by its priority 3; no frame before its 125 µs: within the credit of a shaper at 1 Gbit/s (12.3 µs)",
        ),
        (3, 10_000, "within the credit of a shaper at 1 Gbit/s (12.3 µs)"),
        (
            3,
            60_000,
            "within the credit of a shaper at 100 Mbit/s (123 µs), more than that at 1 Gbit/s",
        ),
        (3, 124_000, "no shaper lets that through at 100 Mbit/s (123 µs) or more"),
        // Twice the frames of class B.
        (2, 0, "no shaper lets that through"),
    ] {
        let text = shaping(&format!("avb-shaping-{pcp}-{early_ns}"), pcp, early_ns).expect("a section");
        assert!(text.contains(says), "{pcp} {early_ns}: {text}");
    }
    assert_eq!(shaping("avb-shaping-none", 0, 0), None, "no SR class");
}

/// The verdict on the credit, and the number of frames over it; the reason if nothing was measured.
fn credit(name: &str, frames: &[(i64, Vec<u8>)], port_rate: Option<u32>) -> (String, u64) {
    let capture = pcap(name, frames);
    let out_file = capture.0.with_extension("triptime");
    let mut args = args(&capture.0, false);
    args.face.json = true;
    args.limits = Some("avb".to_owned());
    args.out = Some(out_file.clone());
    args.stamped_by = TAP.map(str::to_owned);
    args.port_rate = port_rate;
    let (mut out, mut messages) = (Vec::new(), Vec::new());
    run(&args, &mut out, &mut messages);
    let _ = std::fs::remove_file(out_file);
    let document: Value = serde_json::from_slice(&out).expect("a document");
    let of = |key: &str| {
        let mut all = document[key].as_array().expect("a list").iter();
        all.find(|one| one["limit"] == "credit.overflow").cloned()
    };
    match of("checks") {
        Some(check) => (
            check["verdict"].as_str().expect("a word").to_owned(),
            check["measured"].as_u64().unwrap_or(0),
        ),
        None => (
            of("not_measured").expect("open")["why"]
                .as_str()
                .expect("a reason")
                .to_owned(),
            0,
        ),
    }
}

#[test]
fn the_rate_of_the_port_decides_on_the_credit_of_a_capture() {
    let verdict = |early_ns, port_rate| credit(&format!("avb-credit-{early_ns}"), &early(3, early_ns), port_rate);
    assert_eq!(verdict(10_000, Some(1_000)), ("pass".to_owned(), 0));
    // 100 times a frame comes early; its successors are early by the same, and so in their time.
    let (failed, over) = verdict(60_000, Some(1_000));
    assert!(failed == "fail" && over >= 100, "{failed} {over}");
    assert_eq!(verdict(60_000, Some(100)), ("pass".to_owned(), 0));
    let (why, _) = verdict(60_000, None);
    assert!(why.contains("--port-rate 1000"), "{why}");
    // A stamp that goes back takes away no failed stream.
    let mut back = early(3, 60_000);
    back[700].0 -= 10_000_000;
    assert_ne!(credit("avb-credit-back", &back, Some(1_000)).0, "pass");
    let mut back = early(3, 0);
    back[700].0 -= 10_000_000;
    assert_eq!(credit("avb-credit-doubt", &back, Some(1_000)).0, "inconclusive");
    // Stamps in steps of 100 us show frames before their time that were not.
    let coarse: Vec<(i64, Vec<u8>)> = early(3, 0)
        .into_iter()
        .map(|(at, frame)| (at / 100_000 * 100_000, frame))
        .collect();
    assert_eq!(credit("avb-credit-coarse", &coarse, Some(1_000)).0, "inconclusive");
}
