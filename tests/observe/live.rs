//! Live, on the port of a switch that hears both: a test set's own shots, and faults of open61850, for which a relay trips.

#[path = "../../crates/probes/tests/trip/relay.rs"]
mod relay;

use crate::{check, events};
use model::Shot;
use relay::{Relay, RelayKind};
use serde_json::Value;
use std::path::Path;
use std::process::{Command, Stdio};
use store::RunFile;
use support::bridge::{bed, inside};
use support::{end, json, root_or_skip, run, series, signal, stderr, until_packet_socket, until_thread, wait};
use sys::netns::NetNs;
use sys::packet::PacketPort;
use testing::Running;

/// A relay at the application's port, which trips some 10 ms after its threshold.
fn relay_at(device: &NetNs, sv_id: &'static str) -> Relay {
    let port = device.run(|| PacketPort::open("dut0", &relay::options()).expect("a port"));
    let kind = RelayKind {
        sv_id: Some(sv_id),
        ..RelayKind::default()
    };
    Relay::start(kind, port.expect("entered"))
}

/// The observer at the switch; it hears what passes there.
fn observer(switch: &NetNs, out: &Path, words: &str) -> Running {
    let mut all = vec![
        "trip",
        "br0",
        "--policy",
        "other",
        "--goose",
        RelayKind::default().name,
        "--json",
        "--quiet",
    ];
    all.extend(words.split_whitespace());
    all.extend(["--out", out.to_str().expect("UTF-8")]);
    let mut command = inside(switch, &all);
    let mut running = Running::start(command.stdout(Stdio::piped()).stderr(Stdio::piped()));
    until_thread(&mut running, "observe");
    until_packet_socket(&running);
    running
}

/// Shots of a run, each with the instant of its fault in ns of the wall clock.
fn shots(file: &Path) -> Vec<(i64, Shot)> {
    let file = RunFile::open(file).expect("a run");
    let started_ns = file.info().started.as_ns();
    let shots = file.shots().expect("shots").into_iter();
    shots.map(|shot| (started_ns + shot.at_ns as i64, shot)).collect()
}

#[test]
fn an_observer_times_the_shots_of_a_test_set_as_the_test_set_does() {
    if !root_or_skip("an_observer_times_the_shots_of_a_test_set_as_the_test_set_does") {
        return;
    }
    let [publisher, switch, device] = bed();
    let directory = tempfile::tempdir().expect("a directory");
    let [observed, own] = ["observed", "own"].map(|name| directory.path().join(name).with_extension("triptime"));
    let relay = relay_at(&device, "MU01");
    let watching = observer(
        &switch,
        &observed,
        "--observe above:1500A --sv-id MU01 --start-member 1",
    );
    let own_text = own.to_str().expect("UTF-8");
    let words = "trip ts0 --policy other --shots 12 --settle 300ms --controls no-fault --spin-ahead 150us --start-member 1 --quiet --json --out";
    let mut words: Vec<&str> = words.split(' ').collect();
    words.extend([own_text, "--goose", RelayKind::default().name]);
    let mut command = inside(&publisher, &words);
    let test_set = Running::start(command.stdout(Stdio::piped()).stderr(Stdio::piped()));
    let played = wait(test_set, &["trip"]);
    signal(&watching, rustix::process::Signal::INT);
    let seen = end(watching, &["trip"]);
    drop(relay);
    let document = json(&seen);
    let (played_document, own, observed) = (json(&played), shots(&own), shots(&observed));
    assert_eq!(own.len(), 12, "{played_document}");
    let mut close = 0;
    for (at_ns, shot) in &observed {
        // The two programs read the distance of their clocks at other instants.
        let same = own.iter().find(|(own_ns, _)| (own_ns - at_ns).abs() < 50_000_000);
        let (_, own) = same.unwrap_or_else(|| panic!("a fault that nobody made: {shot:?} {own:?}"));
        let (Some(own_ns), Some(observed_ns), Some(uncertain_ns)) = (own.trip_ns, shot.trip_ns, shot.uncertain_ns)
        else {
            continue;
        };
        // The observer hears the first faulted sample after it was due, and the trip as soon as the test set does.
        let longer_ns = own_ns - observed_ns;
        assert!(
            longer_ns > -500_000 && longer_ns < uncertain_ns as i64 + 2_000_000,
            "{own:?} {shot:?}"
        );
        close += u32::from(longer_ns.abs() <= 208_333);
    }
    // A stall of this machine may make single frames late.
    assert!(close >= 2, "within one sample: {own:?} {observed:?}");
    let trips = series(&document, "trip/observed");
    assert!(trips["received"].as_u64() >= Some(2), "{document}");
    assert!(
        series(&document, "start/observed")["received"].as_u64() >= Some(2),
        "{document}"
    );
    assert_eq!(check(&document, "trip.false")["measured"], 0, "{document}");
}

/// An injector that nobody here wrote: faults of phase a in every other second, from this sample on.
fn injecting(publisher: &NetNs, python: &Path) -> Running {
    let words = "-m open61850.sv_publisher ts0 02:00:00:00:00:01 01:0c:cd:04:00:01 OPEN01 --appid 0x4001 --conf-rev 1 --asdus 1 \
                 --layout 4I4U --i-peak 500 --v-peak 80000 --fault --fault-i-peak 6000 --fault-v-peak 30000 --fault-phase 75 \
                 --fault-cycle 2 --fault-smpcnt 1237 --duration 8";
    let mut command = Command::new("nsenter");
    command.arg(format!("--net={}", publisher.path().display()));
    command.arg(python).args(words.split_whitespace()).stdin(Stdio::null());
    Running::start(command.stdout(Stdio::piped()).stderr(Stdio::piped()))
}

#[test]
fn faults_of_open61850_are_timed_live_and_in_the_capture_alike() {
    let test = "faults_of_open61850_are_timed_live_and_in_the_capture_alike";
    let Some(python) = root_or_skip(test).then(|| testing::python(test)).flatten() else {
        return;
    };
    let [publisher, switch, device] = bed();
    let directory = tempfile::tempdir().expect("a directory");
    let [live, stored] = ["live", "stored"].map(|name| directory.path().join(name).with_extension("triptime"));
    let capture = directory.path().join("all.pcapng");
    let relay = relay_at(&device, "OPEN01");
    let rule = "--observe above:2500A --sv-id OPEN01";
    let words = format!("{rule} --capture-all --capture {}", capture.display());
    let watching = observer(&switch, &live, &words);
    let injector = injecting(&publisher, &python);
    let injected = injector.output().expect("it ends");
    assert!(injected.status.success(), "{injected:?}");
    signal(&watching, rustix::process::Signal::INT);
    let document = json(&end(watching, &["trip"]));
    drop(relay);
    let named = events(&document, "fault from smpCnt 1237 on");
    // It begins to send in the middle of a fault now and then, and ends in one: those do not count.
    assert!(named.len() >= 2, "{document}");

    let capture = capture.to_str().expect("UTF-8");
    let mut words = vec!["pcap", capture, "--json", "--goose", RelayKind::default().name];
    words.extend(rule.split(' '));
    words.extend(["--out", stored.to_str().expect("UTF-8")]);
    let output = run(&words);
    let again: Value = json(&output);
    let figures = |document: &Value| {
        let trips = series(document, "trip/observed");
        ["received", "lost", "unwanted"].map(|figure| trips[figure].clone())
    };
    assert_eq!(figures(&document), figures(&again), "{}", stderr(&output));
    let (live, stored) = (shots(&live), shots(&stored));
    assert_eq!(live.len(), stored.len(), "{live:?} {stored:?}");
    for ((_, live), (_, stored)) in live.iter().zip(&stored) {
        let apart_ns = live.trip_ns.unwrap_or(0) - stored.trip_ns.unwrap_or(0);
        let is_same = live.outcome == stored.outcome && apart_ns.abs() < 100_000;
        assert!(is_same, "{live:?} {stored:?}");
    }
}
