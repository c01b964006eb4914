//! Interfaces and streams that disappear while they are traced, frames cut short, second publishers: each is reported at once, for the affected hops,
//! and prevents a pass.

use super::{bed, inside, publishing};
use serde_json::Value;
use std::process::{Command, Output, Stdio};
use std::time::Duration;
use support::{generous_limits, json, root_or_skip, stderr};
use sys::link::{delete, set_down, set_up};
use sys::netns::NetNs;
use sys::packet::{PacketPort, PortOptions};
use testing::Running;
use wire::ether::Mac;
use wire::quality::SvQuality;
use wire::sv::{Message, OwnedAsdu};

/// Streams at `ts0`, which end when this value is dropped.
struct Publisher {
    running: Running,
    _directory: tempfile::TempDir,
}

impl Publisher {
    fn start(namespace: &NetNs, sv_id: &str) -> Self {
        let directory = tempfile::tempdir().expect("tempdir");
        let out = directory.path().join("sent.triptime");
        Self {
            running: publishing(namespace, out.to_str().expect("UTF-8"), &["--sv-id", sv_id]),
            _directory: directory,
        }
    }
}

/// Traces from the port to the device while `work` is done, half a second after the tracing began.
fn traced(beds: &[NetNs; 3], work: impl FnOnce()) -> (Output, Value) {
    let [_, switch, device] = beds;
    let directory = tempfile::tempdir().expect("tempdir");
    let out = directory.path().join("traced.triptime");
    let out = out.to_str().expect("UTF-8");
    let edge = format!("edge=dut0@{}:rx", device.path().display());
    let mut trace: Command = inside(switch, &["trace", "p-ts", "--window", "1s", "--json"]);
    trace.args([
        "--limits",
        &generous_limits(directory.path()),
        "--duration",
        "3s",
        "--out",
        out,
        "--point",
        "port=p-dut:tx",
        "--point",
        &edge,
    ]);
    let tracing = Running::start(trace.stdout(Stdio::piped()).stderr(Stdio::piped()));
    super::loss::until_traced(out, "hop/nic-to-edge/MU01");
    std::thread::sleep(Duration::from_millis(500));
    work();
    let output = tracing.output().expect("a child");
    let document = json(&output);
    (output, document)
}

/// The checks of a stream's transit.
fn transit<'a>(document: &'a Value, stream: &str) -> &'a Value {
    let checks = document["checks"].as_array().expect("checks");
    let is_of = |check: &&Value| {
        check["limit"] == "transit.max" && check["series"].as_str().is_some_and(|name| name.ends_with(stream))
    };
    checks.iter().find(is_of).expect("a check of the transit")
}

/// Series with an event of a gap with this text, and the time of the first such event.
fn told(document: &Value, text: &str) -> (Vec<String>, f64) {
    let events = document["events"].as_array().expect("events").iter();
    let found: Vec<&Value> = events
        .filter(|event| event["kind"] == "hop-gap" && event["text"].as_str().is_some_and(|said| said.contains(text)))
        .collect();
    let at_s = found
        .first()
        .and_then(|event| event["at_s"].as_f64())
        .unwrap_or(f64::MAX);
    let series = found
        .iter()
        .map(|event| event["series"].as_str().unwrap_or("all").to_owned());
    (series.collect(), at_s)
}

const ALL: [&str; 3] = ["hop/nic-to-edge/MU01", "hop/nic-to-port/MU01", "hop/port-to-edge/MU01"];

fn assert_told(document: &Value, text: &str, wanted: &[&str]) -> f64 {
    let (mut series, at_s) = told(document, text);
    series.sort();
    series.dedup();
    assert_eq!(series, wanted, "{text}: {:#}", document["events"]);
    at_s
}

#[test]
fn an_interface_that_is_deleted_is_told_at_once_and_leaves_no_pass() {
    if !root_or_skip("an_interface_that_is_deleted_is_told_at_once_and_leaves_no_pass") {
        return;
    }
    let beds = bed();
    let _publishing = Publisher::start(&beds[0], "MU");
    let (output, document) = traced(&beds, || {
        beds[1].run(|| delete("p-ts")).expect("entered").expect("deleted");
    });
    let duration_s = document["run"]["duration_s"].as_f64().expect("a number");
    for text in ["p-ts is gone", "nothing has come to nic for"] {
        let wanted = match text {
            "p-ts is gone" => &[ALL[0], ALL[1]][..],
            _ => &ALL[..],
        };
        let at_s = assert_told(&document, text, wanted);
        assert!(at_s < duration_s - 0.5, "{text}: at {at_s} s of {duration_s}");
    }
    let check = transit(&document, "MU01");
    assert_eq!(check["verdict"], "inconclusive", "{check}");
    assert_eq!(output.status.code(), Some(3), "{}", stderr(&output));
}

#[test]
fn the_devices_end_that_goes_down_and_comes_back_is_a_doubt_of_its_hops() {
    if !root_or_skip("the_devices_end_that_goes_down_and_comes_back_is_a_doubt_of_its_hops") {
        return;
    }
    let beds = bed();
    let _publishing = Publisher::start(&beds[0], "MU");
    let (_, document) = traced(&beds, || {
        beds[2].run(|| set_down("dut0")).expect("entered").expect("down");
        std::thread::sleep(Duration::from_millis(400));
        beds[2].run(|| set_up("dut0")).expect("entered").expect("up");
    });
    // The veth's carrier goes with its peer's, and both are points.
    assert_told(&document, "dut0 was brought down", &[ALL[0], ALL[2]]);
    assert_told(&document, "p-dut lost its carrier", &ALL);
    assert_ne!(transit(&document, "MU01")["verdict"], "pass");
}

#[test]
fn a_stream_that_stops_is_told_and_another_that_goes_on_is_not_touched() {
    if !root_or_skip("a_stream_that_stops_is_told_and_another_that_goes_on_is_not_touched") {
        return;
    }
    let beds = bed();
    let mut ending = Publisher::start(&beds[0], "MU");
    let _going_on = Publisher::start(&beds[0], "MV");
    let (_, document) = traced(&beds, || ending.running.kill().expect("killed"));
    let at_s = assert_told(&document, "MU01: nothing has come to nic for", &ALL);
    let duration_s = document["run"]["duration_s"].as_f64().expect("a number");
    assert!(at_s < duration_s - 0.5, "at {at_s} s of {duration_s}");
    assert_eq!(transit(&document, "MU01")["verdict"], "inconclusive");
    let other = transit(&document, "MV01");
    assert!(
        other["why"].as_str().is_some_and(|why| !why.contains("MU01")),
        "{other}"
    );
}

/// A frame of `MU01` that differs from the publisher's only in its source.
fn frame(source: Mac, smp_cnt: u16) -> Vec<u8> {
    let asdu = OwnedAsdu {
        smp_cnt,
        ..OwnedAsdu::new("MU01", 1, 2, &[(0, SvQuality(0)); 8])
    };
    let message = Message {
        dst: Mac([1, 0x0c, 0xcd, 4, 0, 1]),
        src: source,
        tags: Vec::new(),
        appid: 0x4000,
        simulate: false,
        asdus: vec![asdu],
    };
    message.encode().expect("a frame")
}

#[test]
fn frames_cut_short_and_a_second_publisher_are_doubts() {
    if !root_or_skip("frames_cut_short_and_a_second_publisher_are_doubts") {
        return;
    }
    let beds = bed();
    let options = PortOptions {
        ring_frames: 0,
        ..PortOptions::default()
    };
    let port = beds[0]
        .run(|| PacketPort::open("ts0", &options))
        .expect("entered")
        .expect("a port");
    let [one, other] = [7, 8].map(|last| Mac([2, 0, 0, 0, 0, last]));
    let is_over = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for smp_cnt in (0..1_000).cycle() {
                if is_over.load(std::sync::atomic::Ordering::Relaxed) {
                    break;
                }
                port.send(&frame(one, smp_cnt)).expect("sent");
                std::thread::sleep(Duration::from_millis(1));
            }
        });
        let (_, document) = traced(&beds, || {
            port.send(&frame(one, 5)[..70]).expect("sent");
            port.send(&frame(other, 5)).expect("sent");
        });
        is_over.store(true, std::sync::atomic::Ordering::Relaxed);
        assert_told(
            &document,
            "MU01: 1 frames at nic are shorter than their header says",
            &[ALL[0], ALL[1]],
        );
        assert_told(
            &document,
            "MU01: 1 frames at edge are shorter than their header says",
            &[ALL[0], ALL[2]],
        );
        let (series, _) = told(&document, "two publishers under one identity");
        assert!(
            ALL.iter().all(|name| series.contains(&(*name).to_owned())),
            "{series:?}"
        );
        assert_eq!(transit(&document, "MU01")["verdict"], "inconclusive");
    });
}

#[test]
fn what_never_came_is_no_loss_of_a_recording_of_hops() {
    if !root_or_skip("what_never_came_is_no_loss_of_a_recording_of_hops") {
        return;
    }
    let [publisher, switch, device] = bed();
    let options = PortOptions {
        ring_frames: 0,
        ..PortOptions::default()
    };
    let port = publisher.run(|| PacketPort::open("ts0", &options));
    let port = port.expect("entered").expect("a port");
    let directory = tempfile::tempdir().expect("tempdir");
    let edge = format!("edge=dut0@{}:rx", device.path().display());
    let mut trace = inside(
        &switch,
        &["trace", "p-ts", "--duration", "2s", "--record", "-q", "--point", &edge],
    );
    let is_over = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            // The same two of each turn are never sent.
            for smp_cnt in (0..1_000).cycle().filter(|count| !matches!(count, 300 | 301)) {
                if is_over.load(std::sync::atomic::Ordering::Relaxed) {
                    break;
                }
                port.send(&frame(Mac([2, 0, 0, 0, 0, 7]), smp_cnt)).expect("sent");
                std::thread::sleep(Duration::from_millis(1));
            }
        });
        let output = trace
            .arg("--out")
            .arg(directory.path().join("traced.triptime"))
            .output();
        is_over.store(true, std::sync::atomic::Ordering::Relaxed);
        let output = output.expect("started");
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let recording = text
            .split("Recording")
            .nth(1)
            .unwrap_or_else(|| panic!("{text}{}", stderr(&output)));
        let first = recording.lines().nth(1).expect("a line");
        assert!(
            first.contains("samples without a record: they never came to nic")
                || first.contains("none without a record"),
            "{first}"
        );
        let heads = recording.lines().find(|line| line.contains("restarts"));
        let heads = heads.expect("the table of streams");
        assert!(heads.contains("no record") && !heads.contains("lost"), "{heads}");
    });
}
