//! `triptime relay FILE INTERFACE`: faults on a stream become trips in GOOSE, and nothing else does.

use rustix::process::Signal;
use serde_json::Value;
use std::path::Path;
use support::feeder::{BESIDE, FAULTS, RELAY};
use support::{
    end, json, namespace, root_or_skip, run, series, signal, start, stderr, until_packet_socket, until_sent, wait,
};
use sys::netns::NetNs;

fn text(path: &Path) -> &str {
    path.to_str().expect("UTF-8")
}

/// Output of `relay`, and the frames on the wire, while `publish` sent with these further options.
fn play(namespace: &NetNs, directory: &Path, publish: &[&str]) -> (Value, Vec<Value>) {
    let (out, sent, capture) = (
        directory.join("relay.triptime"),
        directory.join("publish.triptime"),
        directory.join("relay.pcapng"),
    );
    let relay = [
        "relay",
        RELAY,
        "v1",
        "--clock",
        "same-host",
        "--duration",
        "4s",
        "--capture-all",
        "--capture",
    ];
    let relay: Vec<&str> = [&relay[..], &[text(&capture)], &BESIDE, &[text(&out)]].concat();
    let sender = ["publish", "v0", "--streams", "1", "--rate", "4000"];
    let sender: Vec<&str> = [&sender[..], publish, &BESIDE, &[text(&sent)]].concat();
    let (sender, relay) = namespace
        .run(|| {
            let sender = start(&sender);
            until_sent(&sender, "v0", 20);
            (sender, start(&relay))
        })
        .expect("a thread in the namespace");
    until_packet_socket(&relay);
    let output = wait(relay, &["relay"]);
    signal(&sender, Signal::INT);
    end(sender, &["publish"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let decoded = run(&["pcap", text(&capture), "--decode"]);
    let lines = String::from_utf8(decoded.stdout).expect("UTF-8");
    let messages = lines.lines().map(|line| serde_json::from_str(line).expect("JSON"));
    (json(&output), messages.collect())
}

/// Time from each first sample of a fault until the first message with the trip, in ns.
fn trip_times(messages: &[Value]) -> Vec<i64> {
    let at = |message: &Value| message["time_ns"].as_i64().expect("a time");
    let begins = messages.iter().filter(|message| message["smpCnt"] == 2000);
    let trips: Vec<i64> = messages.iter().filter(|message| is_trip(message)).map(at).collect();
    let first_after = |begin: i64| trips.iter().find(|trip| (begin..begin + 500_000_000).contains(*trip));
    begins
        .filter_map(|begin| first_after(at(begin)).map(|trip| trip - at(begin)))
        .collect()
}

fn is_trip(message: &Value) -> bool {
    message["kind"] == "goose" && message["allData"][0]["value"] == true
}

#[test]
fn faults_become_trips() {
    if !root_or_skip("faults_become_trips") {
        return;
    }
    let directory = tempfile::tempdir().expect("a directory");
    let waveform = directory.path().join("faults.toml");
    std::fs::write(&waveform, FAULTS).expect("a file");
    let (document, messages) = play(&namespace(), directory.path(), &["--waveform", text(&waveform)]);
    assert!(series(&document, "task/F1")["received"].as_u64().expect("a count") > 1_000);
    for name in ["use/MU01", "arrival/MU01", "spacing/MU01", "delivery/F1"] {
        assert!(
            series(&document, name)["received"].as_u64().expect("a count") > 1_000,
            "{name}"
        );
    }
    let trips = trip_times(&messages);
    // A stall of this machine may block the functions in one of the four; the relay's own time is measured elsewhere.
    assert!(trips.len() >= 2, "{trips:?}");
    let fastest = trips.iter().min().expect("a trip");
    assert!((1_000_000..60_000_000).contains(fastest), "{trips:?}");
    let said = |wanted: &str| {
        let events = document["events"].as_array().expect("events");
        events
            .iter()
            .any(|event| event["kind"] == "relay" && event["text"].as_str().is_some_and(|text| text.contains(wanted)))
    };
    assert!(
        said("F1: I>>, PIOC (50): operate A") && said("F1: Q0, PTRC (94): operate ABC"),
        "{document}"
    );
    // With or without a ptp4l, the relay reports the state of its clock.
    let events = document["events"].as_array().expect("events");
    assert!(events.iter().any(|event| event["kind"] == "time-sync"), "{document}");
}

#[test]
fn load_is_no_trip_and_another_stream_is_not_worked_on() {
    if !root_or_skip("load_is_no_trip_and_another_stream_is_not_worked_on") {
        return;
    }
    let directory = tempfile::tempdir().expect("a directory");
    let (document, messages) = play(&namespace(), directory.path(), &[]);
    assert!(series(&document, "use/MU01")["received"].as_u64().expect("a count") > 1_000);
    let is_goose = |message: &&Value| message["kind"] == "goose";
    assert!(messages.iter().filter(is_goose).count() > 1, "it says that it is there");
    assert!(!messages.iter().any(is_trip));

    let waveform = directory.path().join("faults.toml");
    std::fs::write(&waveform, FAULTS).expect("a file");
    let out = directory.path().join("other.triptime");
    let sent = directory.path().join("other-publish.triptime");
    let sender = [
        "publish",
        "v0",
        "--streams",
        "1",
        "--rate",
        "4000",
        "--sv-id",
        "XX",
        "--waveform",
        text(&waveform),
    ];
    let relay = ["relay", RELAY, "v1", "--duration", "2s"];
    let output = namespace()
        .run(|| {
            let sender = start(&[&sender[..], &BESIDE, &[text(&sent)]].concat());
            until_sent(&sender, "v0", 20);
            let relay = start(&[&relay[..], &BESIDE, &[text(&out)]].concat());
            let output = wait(relay, &["relay"]);
            signal(&sender, Signal::INT);
            end(sender, &["publish"]);
            output
        })
        .expect("a thread in the namespace");
    let document = json(&output);
    assert!(series(&document, "spacing/MU01")["lost"].as_u64().expect("a count") > 1_000);
    assert_eq!(series(&document, "spacing/MU01")["received"], 0);
    assert!(!document.to_string().contains("operate"), "{document}");
}

/// Results of a relay with these further options, and of the test set that played five faults to it.
fn timed(directory: &Path, options: &[&str]) -> [Value; 2] {
    let (relay_out, trip_out) = (directory.join("relay.triptime"), directory.join("trip.triptime"));
    let relay = ["relay", RELAY, "v1", "--clock", "same-host"];
    let trip = [
        "trip",
        "v0",
        "--scenario",
        "overcurrent",
        "--shots",
        "5",
        "--profile",
        "F4000S1I4U4",
        // The block is named, because a stall in the first shot, which would find it, would end the run.
        "--goose",
        "F1LD0/LLN0$GO$gcbTrip",
    ];
    namespace()
        .run(|| {
            let relay = start(&[&relay[..], options, &BESIDE, &[text(&relay_out)]].concat());
            until_packet_socket(&relay);
            let trip = start(&[&trip[..], &BESIDE, &[text(&trip_out)]].concat());
            let output = wait(trip, &["trip"]);
            signal(&relay, Signal::INT);
            [end(relay, &["relay"]), output].map(|output| json(&output))
        })
        .expect("a thread in the namespace")
}

/// Checks that the test set timed trips of the relay, and that nothing else made it trip.
fn check_trips(document: &Value) {
    let trips = series(document, "trip/overcurrent");
    // Not every shot counts on a machine with stalls; the counted shots are right.
    assert!(trips["received"].as_u64().expect("a count") >= 1, "{document}");
    assert_eq!(trips["unwanted"], 0, "{document}");
    let fastest = trips["min"].as_u64().expect("a trip");
    assert!((1_000_000..60_000_000).contains(&fastest), "{fastest} ns");
    let text = document["events"].to_string();
    for control in ["control no-fault: no trip", "control other-sv-id: no trip"] {
        assert!(text.contains(control), "{text}");
    }
}

/// The relay of this project, tested by the test set of this project, directly connected.
#[test]
fn the_test_set_times_the_relay() {
    if !root_or_skip("the_test_set_times_the_relay") {
        return;
    }
    let directory = tempfile::tempdir().expect("a directory");
    let [_, trip] = timed(directory.path(), &[]);
    check_trips(&trip);
}

/// The same with its tasks on different CPUs: with two CPUs, the functions have one of them alone.
#[test]
fn the_test_set_times_a_relay_in_three_threads() {
    const NAME: &str = "the_test_set_times_a_relay_in_three_threads";
    let cpus: Vec<u32> = sys::thread::cpuset_cpus().iter().collect();
    if !root_or_skip(NAME) {
        return;
    }
    let (Some(first), Some(last)) = (cpus.first(), cpus.last().filter(|_| cpus.len() > 1)) else {
        testing::skip(NAME, "needs two CPUs");
        return;
    };
    let directory = tempfile::tempdir().expect("a directory");
    let tasks = format!("receive={first},functions={last},output={first}");
    let [relay, trip] = timed(directory.path(), &["--cpu", &tasks]);
    check_trips(&trip);
    let received = |name: &str| series(&relay, name)["received"].as_u64().expect("a count");
    for name in [
        "task/F1/receive",
        "task/F1/functions",
        "age/MU01",
        "use/MU01",
        "delivery/F1",
    ] {
        assert!(received(name) > 1_000, "{name}: {relay}");
    }
    // There is a message for each change, and repetitions in between.
    assert!(received("task/F1/output") > received("task-stage/F1/wake"), "{relay}");
    assert!(received("task-stage/F1/wake") >= 2, "{relay}");
    // A task that works on samples once a cycle has them later than one that waits for them.
    let mean = |name: &str| series(&relay, name)["mean"].as_f64().expect("a mean");
    assert!(mean("use/MU01") > mean("age/MU01") + 100_000.0, "{relay}");
    for (task, cpu) in [("receive", first), ("functions", last), ("output", first)] {
        let settings = &series(&relay, &format!("task/F1/{task}"))["settings"];
        assert_eq!(settings["cpu"], cpu.to_string(), "{task}");
    }
}
