//! `triptime relay --records DIR`: a COMTRADE record of each trip; and relays that are killed and restarted.

use rustix::process::Signal;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::time::Duration;
use support::feeder::{BESIDE, FAULTS, RELAY};
use support::{
    end, json, namespace, root_or_skip, run, signal, start, stderr, until_packet_socket, until_sent, until_thread, wait,
};
use sys::netns::NetNs;
use testing::Running;
use waveform::comtrade::{ComtradeRecord, open};

fn text(path: &Path) -> &str {
    path.to_str().expect("UTF-8")
}

fn started(namespace: &NetNs, arguments: &[&str], out: &Path) -> Running {
    let arguments = [arguments, &BESIDE, &[text(out)]].concat();
    namespace.run(|| start(&arguments)).expect("a thread in the namespace")
}

/// A merging unit on `v0` that publishes this waveform; returns when it sends.
fn publisher(namespace: &NetNs, directory: &Path, waveform: &str) -> Running {
    let path = directory.join("waveform.toml");
    std::fs::write(&path, waveform).expect("a file");
    let arguments = [
        "publish",
        "v0",
        "--streams",
        "1",
        "--rate",
        "4000",
        "--waveform",
        text(&path),
    ];
    let child = started(namespace, &arguments, &directory.join("publish.triptime"));
    until_sent(&child, "v0", 20);
    child
}

/// The configurations in a folder, in the order of their names, which is that of time.
fn configurations(folder: &Path) -> Vec<PathBuf> {
    let files = std::fs::read_dir(folder).expect("a folder");
    let mut files: Vec<PathBuf> = files.map(|file| file.expect("a file").path()).collect();
    assert!(files.len().is_multiple_of(2), "each has its data: {files:?}");
    files.retain(|file| file.extension().is_some_and(|extension| extension == "cfg"));
    files.sort();
    files
}

fn states(record: &ComtradeRecord, name: &str) -> Vec<bool> {
    let channel = record.config.digital.iter().position(|channel| channel.name == name);
    let channel = channel.unwrap_or_else(|| panic!("no channel {name}"));
    let samples = 0..record.times_s().len();
    samples
        .map(|sample| record.digital(channel, sample).expect("a state"))
        .collect()
}

/// The samples at which a record has the fault and the trip: where the current of phase A first is beyond that of the load, and where the
/// trip was decided.
fn fault_and_trip(record: &ComtradeRecord) -> (usize, usize) {
    let is_fault = |current: &f64| current.abs() > 300.0 * 1.5;
    let fault = record.analog(0).iter().position(is_fault).expect("a fault");
    let trip = states(record, "trip:Q0").into_iter().position(|state| state);
    (fault, trip.expect("a trip"))
}

/// In ms of the publisher's second.
fn ms(record: &ComtradeRecord, sample: usize) -> f64 {
    let start_ns = record.config.start.expect("a start").as_ns();
    let at_ns = start_ns + (record.times_s()[sample] * 1e9).round() as i64;
    at_ns.rem_euclid(1_000_000_000) as f64 / 1e6
}

#[test]
fn each_trip_has_a_record() {
    if !root_or_skip("each_trip_has_a_record") {
        return;
    }
    let directory = tempfile::tempdir().expect("a directory");
    let folder = directory.path().join("records");
    let namespace = namespace();
    let sender = publisher(&namespace, directory.path(), FAULTS);
    let arguments = ["relay", RELAY, "v1", "--duration", "4s", "--records", text(&folder)];
    let out = directory.path().join("relay.triptime");
    let output = wait(started(&namespace, &arguments, &out), &arguments);
    signal(&sender, Signal::INT);
    end(sender, &["publish"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let document = json(&output);
    let files = configurations(&folder);
    // A stall of this machine may block the functions in one of the four.
    assert!((2..=4).contains(&files.len()), "{files:?}");
    for (number, file) in files.iter().enumerate() {
        let record = open(file).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(record.warnings, Vec::<String>::new());
        let samples = record.times_s().len();
        // The relay ends at a full second: its last record, of the fault half a second before, ends then.
        let is_last = number + 1 == files.len();
        assert!(
            samples == 2801 || is_last && (1000..2801).contains(&samples),
            "{samples}"
        );
        let missing = states(&record, "missing:bay1");
        let (fault_at, trip_at) = fault_and_trip(&record);
        let (fault, trip) = (ms(&record, fault_at), ms(&record, trip_at));
        let begin = (0..samples).find(|sample| ms(&record, *sample) >= 500.0);
        // If this machine delayed the relay, samples are missing: the fault is seen in a later one, and the functions wait until they
        // have seen a whole cycle again.
        let was_held_up = missing[begin.expect("half a second")..trip_at].contains(&true);
        let (seen_ms, within_ms) = if was_held_up { (600.0, 300.0) } else { (503.0, 60.0) };
        // The sample of 500 ms is the first one; with a sine, some further samples may be below the threshold.
        assert!((500.0..seen_ms).contains(&fault), "{fault} ms");
        assert!((1.0..within_ms).contains(&(trip - fault)), "{fault} ms, {trip} ms");
        for (value, is_missing) in record.analog(0).iter().zip(missing) {
            assert_eq!(value.is_nan(), is_missing);
        }
    }
    let events = document["events"].as_array().expect("events").iter();
    let said: Vec<&str> = events
        .filter(|event| event["kind"] == "relay")
        .filter_map(|event| event["text"].as_str())
        .filter(|text| text.contains("disturbance record"))
        .collect();
    assert_eq!(said.len(), files.len(), "{said:?}");
    for (said, file) in said.iter().zip(&files) {
        assert!(
            said.starts_with("F1: trip:Q0 at ") && said.contains(text(file)),
            "{said}"
        );
    }
    // The run file has all events, and so has its report.
    let report = json(&run(&["report", text(&out), "--json"]))["events"].to_string();
    for wanted in [
        "F1: bay1, LSVS: samples: good",
        "F1: bay1, LSVS: smpSynch",
        "F1: I>>, PIOC (50): blocked: ",
        "F1: I>>, PIOC (50): released",
        "F1: I>>, PIOC (50): start A",
        "F1: I>>, PIOC (50): operate A",
        "F1: I>>, PIOC (50): reset",
        "F1: Q0, PTRC (94): operate ABC",
        "F1: Q0, PTRC (94): reset",
        "disturbance record",
    ] {
        assert!(report.contains(wanted), "no {wanted}: {report}");
    }
}

/// A relay on `v1`, killed some time after it began to work, and the next one, `lives` times. The last one is stopped.
fn killed_and_started(namespace: &NetNs, directory: &Path, lives: u32) {
    for life in 1..=lives {
        let out = directory.join(format!("relay{life}.triptime"));
        let mut relay = started(namespace, &["relay", RELAY, "v1"], &out);
        // It begins with the next second or the second after that.
        until_thread(&mut relay, "relay");
        std::thread::sleep(Duration::from_millis(1900 + 330 * u64::from(life)));
        if life == lives {
            end(relay, &["relay"]);
        } else {
            signal(&relay, Signal::KILL);
            relay.output().expect("it ends");
        }
    }
}

/// Result of a subscriber on `v0`, and the messages that it had, while relays were killed and started on `v1`.
fn heard(waveform: &str, lives: u32) -> (Value, Vec<Value>) {
    let directory = tempfile::tempdir().expect("a directory");
    let namespace = namespace();
    let (out, capture) = (
        directory.path().join("subscribe.triptime"),
        directory.path().join("goose.pcapng"),
    );
    let arguments = ["subscribe", "v0", "--capture-all", "--capture", text(&capture)];
    let mut subscriber = started(&namespace, &arguments, &out);
    until_thread(&mut subscriber, "subscribe");
    until_packet_socket(&subscriber);
    let sender = publisher(&namespace, directory.path(), waveform);
    killed_and_started(&namespace, directory.path(), lives);
    signal(&sender, Signal::INT);
    end(sender, &["publish"]);
    let output = end(subscriber, &arguments);
    let decoded = run(&["pcap", text(&capture), "--decode"]);
    let lines = String::from_utf8(decoded.stdout).expect("UTF-8");
    let messages = lines.lines().map(|line| serde_json::from_str(line).expect("JSON"));
    let messages: Vec<Value> = messages.filter(|message: &Value| message["kind"] == "goose").collect();
    (json(&output), messages)
}

/// First messages of each start of a relay.
fn beginnings(messages: &[Value]) -> Vec<&Value> {
    let is_first = |message: &&Value| message["stNum"] == 1 && message["sqNum"] == 1;
    messages.iter().filter(is_first).collect()
}

/// Times of trips, in ms of the second: messages with the trip set after a message without it.
fn trips_ms(messages: &[Value]) -> Vec<i64> {
    let is_trip = |message: &Value| message["allData"][0]["value"] == true;
    let pairs = messages
        .windows(2)
        .filter(|pair| !is_trip(&pair[0]) && is_trip(&pair[1]));
    pairs
        .map(|pair| pair[1]["time_ns"].as_i64().expect("a time").rem_euclid(1_000_000_000) / 1_000_000)
        .collect()
}

/// Number of restarts of the publisher that the subscriber reported.
fn restarts(document: &Value) -> usize {
    let events = document["events"].as_array().expect("events").iter();
    let texts = events.filter_map(|event| event["text"].as_str());
    texts
        .filter(|text| text.contains("the publisher restarted with stNum 1, sqNum 1"))
        .count()
}

#[test]
fn a_relay_that_is_killed_begins_again_and_trips_for_faults_alone() {
    if !root_or_skip("a_relay_that_is_killed_begins_again_and_trips_for_faults_alone") {
        return;
    }
    let (document, messages) = heard(FAULTS, 4);
    let first = beginnings(&messages);
    assert_eq!(first.len(), 4, "{first:?}");
    for message in first {
        assert_eq!(message["allData"][0]["value"], false);
    }
    assert_eq!(restarts(&document), 3, "{document}");
    let trips = trips_ms(&messages);
    assert!(trips.len() >= 4, "{trips:?}");
    assert!(
        trips.iter().all(|ms| (500..800).contains(ms)),
        "none without a fault: {trips:?}"
    );
}

#[test]
fn a_relay_that_is_killed_does_not_trip_for_load() {
    if !root_or_skip("a_relay_that_is_killed_does_not_trip_for_load") {
        return;
    }
    let (document, messages) = heard("currents_a = 300\n", 3);
    assert_eq!(beginnings(&messages).len(), 3);
    assert_eq!(restarts(&document), 2, "{document}");
    assert_eq!(trips_ms(&messages), [] as [i64; 0]);
}

/// A fault that exists when the relay starts causes a trip after one cycle.
#[test]
fn a_relay_that_is_started_onto_a_fault_trips() {
    if !root_or_skip("a_relay_that_is_started_onto_a_fault_trips") {
        return;
    }
    let (_, messages) = heard("currents_a = [6000, 300, 300]\n", 3);
    let at = |message: &Value| message["time_ns"].as_i64().expect("a time");
    let begins: Vec<i64> = beginnings(&messages).into_iter().map(at).collect();
    assert_eq!(begins.len(), 3);
    let is_trip = |message: &&Value| message["allData"][0]["value"] == true;
    let trips: Vec<i64> = messages.iter().filter(is_trip).map(at).collect();
    let ends = begins.iter().skip(1).copied().chain([i64::MAX]);
    let mut waits_ms = Vec::new();
    for (begin, end) in begins.iter().zip(ends) {
        let trip = trips.iter().find(|trip| (*begin..end).contains(*trip));
        waits_ms.extend(trip.map(|trip| (trip - begin) / 1_000_000));
    }
    // A machine with constant stalls loses samples, which blocks the functions.
    assert!(!waits_ms.is_empty(), "no trip");
    assert!(waits_ms.iter().all(|ms| *ms >= 20), "{waits_ms:?}");
}
