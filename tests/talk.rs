//! Talker and listener, end to end, over a veth pair in the test's own namespace.

use serde_json::Value;
use std::process::Output;
use std::time::Duration;
use support::{end, json, namespace, root_or_skip, series, start, stderr, until_thread, wait};
use sys::netns::NetNs;
use testing::Running;

/// A running command in the namespace, with its run file in `directory`.
fn begin(namespace: &NetNs, directory: &tempfile::TempDir, arguments: &str) -> Running {
    let out = directory.path().join("run.triptime");
    let mut words: Vec<&str> = arguments.split(' ').collect();
    words.extend(["--out", out.to_str().expect("UTF-8")]);
    namespace.run(|| start(&words)).expect("a thread in the namespace")
}

fn run(arguments: &str) -> (Output, tempfile::TempDir) {
    let directory = tempfile::tempdir().expect("tempdir");
    let child = begin(&namespace(), &directory, arguments);
    (wait(child, &[arguments]), directory)
}

fn count(series: &Value, name: &str) -> u64 {
    series[name].as_u64().unwrap_or_else(|| panic!("{name} in {series}"))
}

fn named<'a>(document: &'a Value, family: &str) -> Vec<&'a Value> {
    let all = document["series"].as_array().expect("series").iter();
    all.filter(|series| series["name"].as_str().is_some_and(|name| name.starts_with(family)))
        .collect()
}

#[test]
fn a_self_test_accounts_for_every_frame_in_every_framing() {
    if !root_or_skip("a_self_test_accounts_for_every_frame_in_every_framing") {
        return;
    }
    for (options, stream) in [
        ("--framing test", "listen/test-"),
        ("--framing avtp --vlan 2:3 --spin-ahead 30us", "listen/avtp-"),
        ("--framing sv --interval 4000/s", "listen/sv-TALK01"),
    ] {
        let (output, _directory) = run(&format!(
            "talk v0 --listen v1 --duration 2s --no-flight-recorder --json {options}"
        ));
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        let document = json(&output);
        let (talkers, listeners) = (named(&document, "talk/"), named(&document, "listen/"));
        assert_eq!((talkers.len(), listeners.len()), (1, 1), "{document}");
        let (talker, listener) = (talkers[0], listeners[0]);
        assert!(listener["name"].as_str().is_some_and(|name| name.starts_with(stream)));
        let due = if options.contains("4000/s") { 8_000 } else { 16_000 };
        assert_eq!(count(talker, "received") + count(talker, "missed"), due);
        assert_eq!(
            count(talker, "received"),
            count(listener, "received") + count(listener, "lost")
        );
        assert_eq!((count(listener, "duplicate"), count(listener, "reordered")), (0, 0));
        assert!(
            listener["name"]
                .as_str()
                .is_some_and(|name| name.ends_with("-vlan2") == options.contains("vlan"))
        );
    }
}

#[test]
fn the_report_ends_in_the_words_of_linux_ethernet_test() {
    if !root_or_skip("the_report_ends_in_the_words_of_linux_ethernet_test") {
        return;
    }
    let (output, directory) = run("talk v0 --listen v1 --duration 1s --no-flight-recorder");
    let text = String::from_utf8(output.stdout.clone()).expect("UTF-8");
    let line = |begin: &str| {
        let found = text.lines().find(|line| line.trim_start().starts_with(begin));
        found.unwrap_or_else(|| panic!("no {begin} in {text}")).to_owned()
    };
    let talker = line("Talker: Late packets: ");
    assert!(
        talker.contains(", Max delta: ") && talker.contains(" ns (late: > 125 µs after due)"),
        "{talker}"
    );
    let listener = line("Listener: Late packets: ");
    assert!(
        listener.contains(" ns (late: > 187.5 µs since the frame before)"),
        "{listener}"
    );
    let sums = line("Self-test: ");
    assert!(sums.contains(" sent = ") && sums.contains(" lost"), "{sums}");
    // A report of the run file later says the same.
    let file = directory.path().join("run.triptime");
    let again = support::run(&["report", file.to_str().expect("UTF-8")]);
    assert!(String::from_utf8_lossy(&again.stdout).contains(&talker));
}

#[test]
fn talker_and_listener_apart_and_each_ended_by_a_signal() {
    if !root_or_skip("talker_and_listener_apart_and_each_ended_by_a_signal") {
        return;
    }
    let namespace = namespace();
    let (near, far) = (
        tempfile::tempdir().expect("tempdir"),
        tempfile::tempdir().expect("tempdir"),
    );
    let mut listener = begin(&namespace, &far, "listen v1 --json");
    until_thread(&mut listener, "listen");
    let mut talker = begin(&namespace, &near, "talk v0 --json --no-flight-recorder --framing avtp");
    until_thread(&mut talker, "talk");
    std::thread::sleep(Duration::from_secs(1));
    let ended = |child: Running| {
        let output = end(child, &["talk and listen"]);
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        json(&output)
    };
    let talked = ended(talker);
    let listened = ended(listener);
    assert_eq!(
        (&talked["run"]["state"], &listened["run"]["state"]),
        (&"complete".into(), &"complete".into())
    );
    let listener = named(&listened, "listen/")[0];
    let sent = count(series(&talked, "talk/avtp"), "received");
    assert!(sent > 1_000);
    assert_eq!(sent, count(listener, "received") + count(listener, "lost"));
}

#[test]
fn a_search_tries_spin_aheads_until_it_knows() {
    if !root_or_skip("a_search_tries_spin_aheads_until_it_knows") {
        return;
    }
    // An interval that leaves room for this machine's stalls.
    let (output, directory) = run("talk v0 --search --interval 10ms --duration 500ms");
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    let found = text.contains("Smallest without a late frame: ");
    assert!(found || text.contains("no spin-ahead was found"), "{text}");
    assert_eq!(output.status.code(), Some(if found { 0 } else { 3 }), "{text}");
    let file = directory.path().join("run.triptime");
    let report = support::run(&["report", file.to_str().expect("UTF-8"), "--json"]);
    let document = json(&report);
    let steps = named(&document, "talk/spin-ahead=");
    assert!(steps.len() >= 2, "{document}");
    let plain = series(&document, "talk/spin-ahead=0us");
    assert_eq!(count(plain, "received") + count(plain, "missed"), 50);
}

#[test]
fn what_cannot_be_is_refused_and_says_what_is_missing() {
    if !root_or_skip("what_cannot_be_is_refused_and_says_what_is_missing") {
        return;
    }
    for (arguments, status, said) in [
        (
            "talk v0 --launch-time --spin-ahead 50us",
            3,
            "needs the etf queueing discipline",
        ),
        ("talk v0 --search --limits avb", 2, "--spin-ahead and --limits"),
        ("talk v0 --search --spin-ahead 5us", 2, "cannot be used with"),
        ("talk v9", 2, "v9: no such interface"),
        (
            "talk v0 --listen v9 --duration 1s --no-flight-recorder",
            2,
            "v9: no such interface",
        ),
        (
            "talk v0 --framing sv --interval 130us --no-flight-recorder",
            2,
            "smpCnt",
        ),
        ("talk v0 --listen-cpu 1", 2, "--listen"),
        (
            "listen v1 --duration 300ms",
            3,
            "no stream (test, AVTP or SV frames) came on v1",
        ),
    ] {
        let (output, directory) = run(arguments);
        assert_eq!(output.status.code(), Some(status), "{arguments}: {}", stderr(&output));
        assert!(stderr(&output).contains(said), "{arguments}: {}", stderr(&output));
        let left: Vec<_> = std::fs::read_dir(directory.path()).expect("readable").collect();
        assert!(left.is_empty(), "{arguments}: {left:?}");
    }
}

#[test]
fn the_avb_plan_talks_over_its_own_bed() {
    if !root_or_skip("the_avb_plan_talks_over_its_own_bed") {
        return;
    }
    let (output, _directory) = run("qualify avb --duration 2s --no-flight-recorder --json");
    let document = json(&output);
    let talker = series(&document, "talk/avtp");
    assert_eq!(count(talker, "received") + count(talker, "missed"), 16_000);
    let listener = named(&document, "listen/avtp-")[0];
    assert_eq!(
        count(talker, "received"),
        count(listener, "received") + count(listener, "lost")
    );
    let checks = document["checks"].as_array().expect("checks");
    assert!(
        checks
            .iter()
            .any(|check| check["limit"] == "talk.late" && check["series"] == "talk/avtp")
    );
}

#[test]
fn without_a_carrier_nothing_passes() {
    if !root_or_skip("without_a_carrier_nothing_passes") {
        return;
    }
    let namespace = namespace();
    namespace
        .run(|| sys::link::set_down("v1"))
        .expect("a thread in the namespace")
        .expect("down");
    let directory = tempfile::tempdir().expect("tempdir");
    // The lateness of the thread depends on other work of this machine, so it is not limited.
    let limits = directory.path().join("late.toml");
    let late = "name = \"late\"\nwhat = \"test\"\n[[limit]]\nid = \"talk.late\"\nseries = \"talk/*\"\n\
                quantity = \"late\"\nallowed = 0\nsource = \"test\"\n";
    std::fs::write(&limits, late).expect("written");
    let limits = limits.display();
    let talk =
        &format!("talk v0 --interval 20ms --late-after 1s --duration 1s --policy other --limits {limits} --json");
    let output = wait(begin(&namespace, &directory, talk), &[talk]);
    let document = json(&output);
    assert_eq!(document["verdict"], "inconclusive", "{document}");
    assert_eq!(output.status.code(), Some(3), "{}", stderr(&output));
    let checks = document["checks"].as_array().expect("checks");
    let of_talk = |check: &&Value| check["series"].as_str().is_some_and(|name| name.starts_with("talk/"));
    for check in checks.iter().filter(of_talk) {
        assert!(
            check["why"].as_str().is_some_and(|why| why.contains("no carrier")),
            "{check}"
        );
    }
    let directory = tempfile::tempdir().expect("tempdir");
    let listen = "listen v0 --interval 20ms --duration 300ms --policy other";
    let output = wait(begin(&namespace, &directory, listen), &[listen]);
    assert_eq!(output.status.code(), Some(3), "{}", stderr(&output));
    assert!(
        stderr(&output).contains("v0 has no carrier: no frame leaves it"),
        "{}",
        stderr(&output)
    );
}

#[test]
fn frames_are_timed_to_the_driver_and_stamps_of_a_nic_are_refused_where_there_is_none() {
    if !root_or_skip("frames_are_timed_to_the_driver_and_stamps_of_a_nic_are_refused_where_there_is_none") {
        return;
    }
    let (output, _directory) =
        run("talk v0 --stamps software --interval 1ms --duration 1s --no-flight-recorder --json");
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let document = json(&output);
    let [talker] = named(&document, "talk/")[..] else {
        panic!("{document}")
    };
    let [departure] = named(&document, "departure/")[..] else {
        panic!("{document}")
    };
    assert_eq!(departure["name"], "departure/test");
    assert_eq!(count(departure, "received"), count(talker, "received"));
    // The driver has the frame after the thread began to send it.
    assert!(
        departure["min"].as_i64() > talker["min"].as_i64(),
        "{departure} {talker}"
    );
    let (output, _directory) = run("publish v0 --streams 3 --rate 4000 --stamps software --duration 1s --json");
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let document = json(&output);
    let [published] = named(&document, "publish/")[..] else {
        panic!("{document}")
    };
    let [departure] = named(&document, "departure/")[..] else {
        panic!("{document}")
    };
    assert_eq!(departure["name"], "departure/publish");
    assert_eq!(
        count(departure, "received"),
        count(published, "received"),
        "each frame of each stream"
    );
    for command in [
        "talk v0",
        "publish v0",
        "listen v1",
        "subscribe v1",
        "reflect v0",
        "trace v1 --point a=v1:done",
    ] {
        let (output, directory) = run(&format!("{command} --stamps hardware --duration 1s"));
        assert_eq!(output.status.code(), Some(2), "{command}: {}", stderr(&output));
        let said = stderr(&output);
        let told = ["stamps no frames in hardware", "software-transmit", "--stamps software"];
        assert!(told.iter().all(|part| said.contains(part)), "{command}: {said}");
        let left = std::fs::read_dir(directory.path()).expect("the folder").count();
        assert_eq!(left, 0, "{command}: there is a run");
    }
}
