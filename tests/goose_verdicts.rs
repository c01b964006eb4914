//! Findings of `subscribe` and `pcap` on the same GOOSE messages: one set of rules, one verdict, and no wrong pass.

use std::fs::File;
use std::path::Path;
use std::time::{Duration, Instant};
use testing::Running;

use capture::write::PcapWriter;
use rustix::process::Signal;
use serde_json::Value as Json;
use support::{end, json, namespace, root_or_skip, run, signal, start, stderr, until_thread};
use sys::netns::NetNs;
use sys::packet::{PacketPort, PortOptions};
use wire::ether::Mac;
use wire::goose::{Message, Value};
use wire::time::{TimeQuality, UtcTime};

const START_NS: i64 = 1_790_000_000_000_000_000;
const MS: i64 = 1_000_000;
const BLOCK: &str = "goose/IED1LD0/LLN0$GO$gcbTrip";
const NEIGHBOUR: &str = "goose/IED2LD0/LLN0$GO$gcbPos";
/// Instant of the neighbour's last heartbeat.
const END_MS: i64 = 1_500;

/// A message of the block's own publisher, whose state began at `t_ms`.
fn own(st_num: u32, sq_num: u32, t_ms: i64) -> Message {
    Message {
        dst: Mac([1, 0x0c, 0xcd, 1, 0, 1]),
        src: Mac([2, 0, 0, 0, 0, 1]),
        tags: Vec::new(),
        appid: 1,
        simulate: false,
        gocb_ref: b"IED1LD0/LLN0$GO$gcbTrip".to_vec(),
        time_allowed_to_live: 10_000,
        dat_set: b"IED1LD0/LLN0$dsTrip".to_vec(),
        go_id: None,
        t: UtcTime::from_ns(START_NS + t_ms * MS, TimeQuality(0)),
        st_num,
        sq_num,
        simulation: false,
        conf_rev: 1,
        nds_com: false,
        all_data: vec![Value::Integer(i64::from(st_num))],
    }
}

fn neighbour(sq_num: u32) -> Message {
    Message {
        dst: Mac([1, 0x0c, 0xcd, 1, 0, 2]),
        src: Mac([2, 0, 0, 0, 0, 3]),
        appid: 2,
        gocb_ref: b"IED2LD0/LLN0$GO$gcbPos".to_vec(),
        ..own(1, sq_num, 0)
    }
}

/// Heartbeats of one state, from its `first` sqNum on, each 100 ms from `from_ms` to `to_ms`.
fn heartbeats(st_num: u32, first: u32, t_ms: i64, from_ms: i64, to_ms: i64) -> Vec<(i64, Message)> {
    let times = (from_ms..=to_ms).step_by(100);
    (first..)
        .zip(times)
        .map(|(sq_num, ms)| (ms, own(st_num, sq_num, t_ms)))
        .collect()
}

/// Messages with their times in ms, their expected verdict, and the expected texts, live and in a capture.
struct Case {
    name: &'static str,
    messages: Vec<(i64, Message)>,
    verdict: &'static str,
    lost: u64,
    said: &'static str,
}

fn cases() -> Vec<Case> {
    let whole = heartbeats(4, 1, 0, 0, END_MS);
    let case = |name, messages, verdict, lost, said| Case {
        name,
        messages,
        verdict,
        lost,
        said,
    };
    let with = |others: Vec<(i64, Message)>| [whole.clone(), others].concat();
    let ahead = |source: u8| {
        let moved = heartbeats(5, 0, 1, 350, END_MS - 100).into_iter();
        let foreign = moved.map(|(ms, message)| {
            (
                ms,
                Message {
                    src: Mac([2, 0, 0, 0, 0, source]),
                    ..message
                },
            )
        });
        foreign.collect::<Vec<_>>()
    };
    let simulated = heartbeats(9, 0, 1, 350, END_MS - 100).into_iter().map(|(ms, message)| {
        let message = Message {
            src: Mac([2, 0, 0, 0, 0, 9]),
            simulate: true,
            simulation: true,
            ..message
        };
        (ms, message)
    });
    let contradicting = Message {
        all_data: vec![Value::Integer(77)],
        ..own(4, 4, 0)
    };
    let short = |tal: u32, messages: Vec<(i64, Message)>| {
        let short = messages.into_iter().map(|(ms, message)| {
            let message = Message {
                time_allowed_to_live: tal,
                ..message
            };
            (ms, message)
        });
        short.collect::<Vec<_>>()
    };
    let changes = [heartbeats(4, 1, 0, 0, 600), heartbeats(5, 0, 650, 650, END_MS)].concat();
    let doubled = whole
        .iter()
        .cloned()
        .flat_map(|(ms, message)| [(ms, message.clone()), (ms + 1, message)]);
    let restarted = [heartbeats(4, 1, 0, 0, 600), heartbeats(4, 1, 690, 700, END_MS)].concat();
    vec![
        case("a state and the next", changes, "pass", 0, "stNum 4 -> 5"),
        case("every message twice", doubled.collect(), "pass", 0, "first seen"),
        case("one lost", without(&whole, 5), "fail", 1, "first seen"),
        case(
            "another source a state ahead",
            with(ahead(2)),
            "inconclusive",
            0,
            "02:00:00:00:00:02 sends messages while 02:00:00:00:00:01 is live",
        ),
        case(
            "the same source a state ahead",
            with(ahead(1)),
            "inconclusive",
            0,
            "an old message of stNum 4",
        ),
        case(
            "simulated ones beside real ones",
            with(simulated.collect()),
            "inconclusive",
            0,
            "another publisher",
        ),
        case(
            "a number with other contents",
            with(vec![(350, contradicting)]),
            "inconclusive",
            0,
            "stNum 4, sqNum 4 has other contents",
        ),
        case(
            "begun again with a later time",
            restarted,
            "inconclusive",
            0,
            "the publisher restarted",
        ),
        case(
            "no time to live, and dead",
            short(0, heartbeats(4, 1, 0, 0, 300)),
            "inconclusive",
            0,
            "timeAllowedtoLive is 0",
        ),
        case(
            "one message, and dead",
            short(200, heartbeats(4, 1, 0, 0, 0)),
            "fail",
            0,
            "only one message came",
        ),
        case(
            "dead",
            short(400, heartbeats(4, 1, 0, 0, 300)),
            "fail",
            0,
            "timeAllowedtoLive was 400 ms",
        ),
    ]
}

fn without(messages: &[(i64, Message)], number: usize) -> Vec<(i64, Message)> {
    let kept = messages.iter().enumerate().filter(|(at, _)| *at != number);
    kept.map(|(_, message)| message.clone()).collect()
}

/// All sent messages, in order.
fn frames(messages: &[(i64, Message)]) -> Vec<(i64, Vec<u8>)> {
    let beside = (1_u32..)
        .zip((0..=END_MS).step_by(100))
        .map(|(sq_num, ms)| (ms + 20, neighbour(sq_num)));
    let mut all: Vec<(i64, Message)> = messages.iter().cloned().chain(beside).collect();
    all.sort_by_key(|(ms, _)| *ms);
    all.into_iter()
        .map(|(ms, message)| (ms, message.encode().expect("it can be encoded")))
        .collect()
}

/// The worst verdict of a series.
fn verdict(document: &Json, series: &str) -> &'static str {
    let checks = document["checks"].as_array().expect("checks");
    let of_series = checks.iter().filter(|check| check["series"] == series);
    let verdicts: Vec<&str> = of_series.filter_map(|check| check["verdict"].as_str()).collect();
    assert!(!verdicts.is_empty(), "{series} is judged");
    ["fail", "inconclusive"]
        .into_iter()
        .find(|word| verdicts.contains(word))
        .unwrap_or("pass")
}

fn assert_as_expected(case: &Case, how: &str, document: &Json) {
    let events = document["events"].as_array().expect("events");
    let texts: Vec<&str> = events.iter().filter_map(|event| event["text"].as_str()).collect();
    let about = format!("{how}: {}: {:#?}", case.name, texts);
    assert_eq!(verdict(document, BLOCK), case.verdict, "{about}");
    assert_eq!(verdict(document, NEIGHBOUR), "pass", "{about}");
    assert_eq!(support::series(document, BLOCK)["lost"], case.lost, "{about}");
    assert!(
        texts.iter().any(|text| text.contains(case.said)),
        "{:?} in {about}",
        case.said
    );
}

fn text(path: &Path) -> &str {
    path.to_str().expect("UTF-8")
}

#[test]
fn captures_are_judged_as_expected() {
    let directory = tempfile::tempdir().expect("tempdir");
    for (number, case) in cases().iter().enumerate() {
        let path = directory.path().join(format!("{number}.pcap"));
        let mut writer = PcapWriter::new(File::create(&path).expect("writable")).expect("begun");
        for (ms, frame) in frames(&case.messages) {
            writer.write(START_NS + ms * MS, &frame).expect("written");
        }
        writer.finish().expect("whole");
        let out = path.with_extension("triptime");
        let output = run(&[
            "pcap",
            text(&path),
            "--limits",
            "substation",
            "--json",
            "--out",
            text(&out),
        ]);
        assert_as_expected(case, "pcap", &json(&output));
    }
}

fn sender(namespace: &NetNs) -> PacketPort {
    let options = PortOptions {
        ring_frames: 0,
        ..PortOptions::default()
    };
    let opened = namespace.run(|| PacketPort::open("v0", &options));
    opened.expect("a thread in the namespace").expect("a packet socket")
}

fn subscribe(out: &Path) -> [&str; 9] {
    [
        "subscribe",
        "v1",
        "--policy",
        "other",
        "--limits",
        "substation",
        "--json",
        "--out",
        text(out),
    ]
}

/// Sends each frame at its time; calls `meanwhile` with the time before each.
fn send(port: &PacketPort, frames: &[(i64, Vec<u8>)], mut meanwhile: impl FnMut(i64)) {
    let start = Instant::now();
    for (ms, frame) in frames {
        let due = Duration::from_millis(ms.unsigned_abs());
        std::thread::sleep(due.saturating_sub(start.elapsed()));
        meanwhile(*ms);
        port.send(frame).expect("a frame is sent");
    }
}

/// Result at an end three seconds after the first frame: a block that is no longer sent has expired by then.
fn finished(child: Running, sent: Instant, arguments: &[&str]) -> Json {
    std::thread::sleep(Duration::from_secs(3).saturating_sub(sent.elapsed()));
    let output = end(child, arguments);
    assert!(!output.stdout.is_empty(), "{}", stderr(&output));
    json(&output)
}

#[test]
fn what_is_received_is_judged_as_expected() {
    if !root_or_skip("what_is_received_is_judged_as_expected") {
        return;
    }
    let directory = tempfile::tempdir().expect("tempdir");
    for (number, case) in cases().iter().enumerate() {
        let namespace = namespace();
        let out = directory.path().join(format!("{number}.triptime"));
        let arguments = subscribe(&out);
        let mut subscriber = namespace.run(|| start(&arguments)).expect("a thread in the namespace");
        until_thread(&mut subscriber, "subscribe");
        let begin = Instant::now();
        send(&sender(&namespace), &frames(&case.messages), |_| {});
        assert_as_expected(case, "subscribe", &finished(subscriber, begin, &arguments));
    }
}

/// Messages of the block, while the subscriber is stopped from 350 ms to 1250 ms; returns how often it reported the block as expired.
fn expired_while_held_up(messages: &[(i64, Message)]) -> u64 {
    let directory = tempfile::tempdir().expect("tempdir");
    let namespace = namespace();
    let out = directory.path().join("held-up.triptime");
    let arguments = subscribe(&out);
    let mut subscriber = namespace.run(|| start(&arguments)).expect("a thread in the namespace");
    until_thread(&mut subscriber, "subscribe");
    let begin = Instant::now();
    let (mut is_stopped, mut was_stopped) = (false, false);
    send(&sender(&namespace), &frames(messages), |ms| {
        let is_to_stop = (350..1_250).contains(&ms);
        if is_to_stop != is_stopped {
            is_stopped = is_to_stop;
            was_stopped = true;
            let [stop, go_on] = [Signal::STOP, Signal::CONT];
            signal(&subscriber, if is_stopped { stop } else { go_on });
        }
    });
    assert!(was_stopped && !is_stopped);
    let document = finished(subscriber, begin, &arguments);
    support::series(&document, BLOCK)["late"].as_u64().expect("a counter")
}

#[test]
fn an_application_that_was_held_up_neither_hides_an_expiry_nor_makes_one() {
    if !root_or_skip("an_application_that_was_held_up_neither_hides_an_expiry_nor_makes_one") {
        return;
    }
    let living = |tal: u32, messages: Vec<(i64, Message)>| {
        let with_tal = messages.into_iter().map(|(ms, message)| {
            let message = Message {
                time_allowed_to_live: tal,
                ..message
            };
            (ms, message)
        });
        // The last message may come without a further one.
        let mut all: Vec<(i64, Message)> = with_tal.collect();
        if let Some((_, last)) = all.last_mut() {
            last.time_allowed_to_live = 10_000;
        }
        all
    };
    let silent = [heartbeats(4, 1, 0, 0, 400), heartbeats(4, 6, 0, 1_200, END_MS)].concat();
    assert_eq!(expired_while_held_up(&living(400, silent)), 1, "0.8 s of silence");
    let heard = heartbeats(4, 1, 0, 0, END_MS);
    assert_eq!(expired_while_held_up(&living(400, heard)), 0, "heard all the time");
}
