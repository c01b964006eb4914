//! Sampled values with software of another project: open61850 as publisher, with and without its real-time engine, as supervisor, and at both ends of
//! our relay.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::Duration;
use support::feeder::RELAY;
use support::{end, json, namespace, root_or_skip, series, start, stderr, until_packet_socket, until_thread, wait};
use sys::netns::NetNs;
use testing::Running;

/// The interpreter with open61850; `None` if the test was skipped.
fn open61850(test: &str) -> Option<PathBuf> {
    let python = root_or_skip(test).then(|| testing::python(test)).flatten()?;
    let found = Command::new(&python)
        .args(["-c", "import open61850.sv_publisher"])
        .output();
    if found.is_ok_and(|output| output.status.success()) {
        return Some(python);
    }
    testing::skip(test, "open61850 is not installed: run scripts/need.sh test");
    None
}

fn peer(namespace: &NetNs, python: &Path, module: &str, words: &str) -> Running {
    let mut command = Command::new(python);
    command.args(["-m", module]).args(words.split_whitespace());
    command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let started = namespace.run(move || Running::start(&mut command));
    started.expect("a thread in the namespace")
}

fn ours(namespace: &NetNs, directory: &Path, words: &str) -> Running {
    let out = directory.join("run.triptime");
    let mut all: Vec<&str> = words.split_whitespace().collect();
    let options = [
        "--policy",
        "other",
        "--json",
        "--quiet",
        "--no-flight-recorder",
        "--out",
    ];
    all.extend(options);
    all.push(out.to_str().expect("UTF-8"));
    namespace.run(|| start(&all)).expect("a thread in the namespace")
}

/// The number after `before` in a text.
fn number_after(text: &str, before: &str) -> u64 {
    let at = text.find(before).unwrap_or_else(|| panic!("no {before:?} in {text}"));
    let digits: String = text[at + before.len()..]
        .chars()
        .take_while(char::is_ascii_digit)
        .collect();
    digits
        .parse()
        .unwrap_or_else(|_| panic!("no number after {before:?} in {text}"))
}

/// The number right before `after` in a text.
fn number_before(text: &str, after: &str) -> u64 {
    let at = text.find(after).unwrap_or_else(|| panic!("no {after:?} in {text}"));
    let word = text[..at].rsplit([' ', '(']).next().unwrap_or_default();
    word.parse()
        .unwrap_or_else(|_| panic!("no number before {after:?} in {text}"))
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &stderr(output)
}

/// Samples that open61850 sent for a second with this engine are received by triptime, and read by its own supervisor in our capture.
fn subscribed(test: &str, engine: &str) {
    let Some(python) = open61850(test) else { return };
    let namespace = namespace();
    let directory = tempfile::tempdir().expect("a directory");
    let capture = directory.path().join("seen.pcapng");
    let words = format!("subscribe v1 --capture-all --capture {}", capture.display());
    let mut near = ours(&namespace, directory.path(), &words);
    until_thread(&mut near, "subscribe");
    let words = format!(
        "v0 02:00:00:00:00:01 01:0c:cd:04:00:01 PEER --appid 0x4001 --conf-rev 1 --rate 4800 --asdus 2 --engine {engine} --duration 1"
    );
    let far = peer(&namespace, &python, "open61850.sv_publisher", &words);
    let far = said(&far.output().expect("it ends"));
    // A stream has ended once it is silent for half a second.
    std::thread::sleep(Duration::from_secs(1));
    let near = end(near, &["subscribe"]);
    assert_eq!(near.status.code(), Some(0), "{}", stderr(&near));
    let document = json(&near);

    let sent = number_after(&far, "frames_sent=");
    assert!(sent > 0 && far.contains(&format!("engine='{engine}'")), "{far}");
    let delivery = series(&document, "delivery/subscribe");
    assert_eq!(delivery["received"], sent, "{far}");
    let supervised = Command::new(&python)
        .args(["-m", "open61850.supervision"])
        .arg(&capture)
        .output();
    let supervised = said(&supervised.expect("it runs"));
    assert_eq!(number_before(&supervised, " samples,"), 2 * sent, "{supervised}");
    let spacing = series(&document, "spacing/PEER");
    // The peer's stream ends before the subscriber does: samples that were due afterwards are lost, and counted separately.
    let events = document["events"].as_array().expect("events");
    let texts = events.iter().filter_map(|event| event["text"].as_str());
    let stopped: Vec<&str> = texts.filter(|text| text.starts_with("PEER: stopped ")).collect();
    assert!(!stopped.is_empty(), "{events:?}");
    // On a machine that often stands still, the peer does not reach any rate.
    if !stopped.iter().any(|text| text.contains("its rate is not known")) {
        let after_its_end: u64 = stopped.iter().map(|text| number_after(text, "before the end: ")).sum();
        assert!(after_its_end > 0, "{events:?}");
        let missed = number_before(&supervised, " missed");
        assert_eq!(spacing["lost"], missed + after_its_end, "{supervised}");
    }
    assert_eq!((&spacing["duplicate"], &spacing["reordered"]), (&0.into(), &0.into()));
}

#[test]
fn open61850_publishes_and_we_subscribe() {
    subscribed("open61850_publishes_and_we_subscribe", "python");
}

#[test]
fn its_real_time_engine_publishes_and_we_subscribe() {
    subscribed("its_real_time_engine_publishes_and_we_subscribe", "native");
}

#[test]
fn open61850_supervises_what_we_publish() {
    let Some(python) = open61850("open61850_supervises_what_we_publish") else {
        return;
    };
    let namespace = namespace();
    let directory = tempfile::tempdir().expect("a directory");
    let supervisor = peer(&namespace, &python, "open61850.supervision", "--live v1 --duration 6");
    until_packet_socket(&supervisor);
    let publisher = ours(
        &namespace,
        directory.path(),
        "publish v0 --streams 2 --rate 4000 --duration 1s",
    );
    let published = wait(publisher, &["publish"]);
    let supervised = said(&supervisor.output().expect("it ends"));
    assert_eq!(published.status.code(), Some(0), "{}", stderr(&published));

    let document = json(&published);
    let lateness = series(&document, "publish/lateness");
    assert_eq!(
        number_after(&supervised, "kernel: "),
        lateness["received"],
        "{supervised}"
    );
    assert!(supervised.contains(" received, 0 dropped"), "{supervised}");
    for stream in ["MU01", "MU02"] {
        let at = supervised
            .find(&format!("SV {stream} "))
            .unwrap_or_else(|| panic!("{supervised}"));
        let line = supervised[at..].lines().next().unwrap_or_default();
        assert_eq!(
            2 * number_before(line, " samples,"),
            lateness["received"],
            "{supervised}"
        );
        // A check of counters alone does not notice samples left out at the very end.
        assert!(
            2 * number_before(line, " missed") <= lateness["missed"].as_u64().expect("a count"),
            "{supervised}"
        );
    }
    assert!(!supervised.contains("malformed"), "{supervised}");
}

#[test]
fn its_faults_trip_our_relay_and_it_reads_the_trips() {
    let Some(python) = open61850("its_faults_trip_our_relay_and_it_reads_the_trips") else {
        return;
    };
    let namespace = namespace();
    let directory = tempfile::tempdir().expect("a directory");
    let supervisor = peer(&namespace, &python, "open61850.supervision", "--live v0 --duration 15");
    until_packet_socket(&supervisor);
    let mut relay = ours(
        &namespace,
        directory.path(),
        &format!("relay {RELAY} v1 --duration 60s"),
    );
    until_thread(&mut relay, "relay");
    // A second of load and a second of a fault in phase A, in turns.
    let words = "v0 02:00:00:00:00:01 01:0c:cd:04:00:01 MU01 --appid 0x4000 --conf-rev 1 --smp-synch 2 --rate 4000 --asdus 1 \
                 --layout 4I4U --i-peak 500 --v-peak 16000 --fault --fault-i-peak 8000 --fault-v-peak 3000 --fault-phase 75 \
                 --engine native --duration 5";
    let publisher = peer(&namespace, &python, "open61850.sv_publisher", words);
    let sent = said(&publisher.output().expect("it ends"));
    let relay = end(relay, &["relay"]);
    let supervised = said(&supervisor.output().expect("it ends"));
    assert_eq!(relay.status.code(), Some(0), "{}", stderr(&relay));

    let document = json(&relay);
    let events = document["events"].as_array().expect("events").iter();
    let texts: Vec<&str> = events.filter_map(|event| event["text"].as_str()).collect();
    let count = |what: &str| texts.iter().filter(|text| text.starts_with(what)).count() as u64;
    let trips = count("F1: Q0, PTRC (94): operate");
    assert!(trips > 0, "{texts:?} {sent}");
    let line = supervised
        .lines()
        .find(|line| line.starts_with("GOOSE F1LD0/LLN0$GO$gcbTrip"));
    let line = line.unwrap_or_else(|| panic!("{supervised}"));
    // Its state at the start, and the change with each trip and its end; the health may change the state, too.
    assert!(number_after(line, "stNum ") > trips, "{line} {texts:?}");
    assert_eq!(number_before(line, " missed"), 0, "{line}");
    assert!(!supervised.contains("malformed"), "{supervised}");
}
