//! Runs of two network namespaces of one host, merged.

use serde_json::Value;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;
use support::bridge::{bed, inside};
use support::{json, root_or_skip, run, stderr, until_thread};
use sys::netns::NetNs;
use testing::Running;

/// Name of the thread that reads the kernel's counts: it exists when all points are watched.
const READER: &str = "triptime-hops";

fn running(mut command: Command) -> Running {
    Running::start(command.stdout(Stdio::null()).stderr(Stdio::piped()))
}

/// A trace that runs until it is stopped; all points are watched when this returns.
fn trace(namespace: &NetNs, arguments: &str, out: &str) -> Running {
    let mut words: Vec<&str> = arguments.split(' ').collect();
    words.extend(["--record", "-q", "--no-flight-recorder", "--out", out]);
    let mut traced = running(inside(namespace, &words));
    // nsenter becomes the program: its number stays.
    until_thread(&mut traced, READER);
    traced
}

fn end(traced: Running) {
    let output = support::end(traced, &["trace"]);
    assert!(output.status.success(), "{:?}: {}", output.status, stderr(&output));
}

fn count(series: &Value, name: &str) -> u64 {
    series[name].as_u64().unwrap_or_else(|| panic!("{name} in {series}"))
}

/// A profile with one limit on the way between the runs.
fn limits(directory: &Path, allowed: &str) -> String {
    let path = directory.join(format!("{allowed}.toml"));
    let text = format!(
        "name = \"lab\"\nwhat = \"a test\"\n\n[[limit]]\nid = \"crossing.max\"\nseries = \"hop/host.port-to-guest.nic/*\"\n\
         quantity = \"max\"\nallowed = \"{allowed}\"\nsource = \"this test\"\n"
    );
    std::fs::write(&path, text).expect("written");
    path.to_str().expect("UTF-8").to_owned()
}

fn merged(host: &str, guest: &str, clock: &str, out: &str, limits: &str) -> (Option<i32>, Value) {
    let mut words = vec![
        "merge", host, guest, "--label", "host", "--label", "guest", "--out", out, "--json",
    ];
    words.extend(["--limits", limits]);
    if !clock.is_empty() {
        words.extend(["--clock", clock]);
    }
    let output = run(&words);
    assert!(
        output.status.code() < Some(2) || output.status.code() == Some(3),
        "{}",
        stderr(&output)
    );
    (output.status.code(), json(&output))
}

#[test]
fn the_crossing_between_two_namespaces_has_every_frame() {
    if !root_or_skip("the_crossing_between_two_namespaces_has_every_frame") {
        return;
    }
    let [publisher, switch, device] = bed();
    let directory = tempfile::tempdir().expect("tempdir");
    let path = |name: &str| directory.path().join(name).to_str().expect("UTF-8").to_owned();
    let (host, guest) = (path("host.triptime"), path("guest.triptime"));
    let received = path("received.triptime");
    let subscriber = running(inside(&device, &["subscribe", "dut0", "-q", "--out", &received]));
    let in_host = trace(&switch, "trace p-ts --point port=p-dut:tx", &host);
    let in_guest = trace(&device, "trace dut0", &guest);
    let sent = path("sent.triptime");
    let publish = "publish ts0 --streams 2 --rate 4000 --policy other --duration 3s --json -q --out";
    let mut words: Vec<&str> = publish.split(' ').collect();
    words.push(&sent);
    let published = inside(&publisher, &words).output().expect("started");
    assert_eq!(published.status.code(), Some(0), "{}", stderr(&published));
    let lateness = json(&published);
    let lateness = support::series(&lateness, "publish/lateness");
    let frames = count(lateness, "received");
    // Frames of a publisher that was delayed for longer look like those of one that restarted.
    let kept_time = count(lateness, "max") < 10_000_000;
    std::thread::sleep(Duration::from_millis(700));
    end(in_host);
    end(in_guest);
    drop(subscriber);

    let long = limits(directory.path(), "10s");
    let (status, document) = merged(&host, &guest, "same-host", &path("one.triptime"), &long);
    let (mut crossed, mut in_doubt) = (0, 0);
    for id in ["MU01", "MU02"] {
        let crossing = support::series(&document, &format!("hop/host.port-to-guest.nic/{id}"));
        let inside = support::series(&document, &format!("hop/guest.nic-to-guest.app/{id}"));
        let not_taken = count(inside, "lost");
        let unpaired = count(crossing, "unaccounted");
        let said = &document["events"];
        assert!(unpaired == 0 || !kept_time, "{crossing} {said}");
        assert_eq!(count(crossing, "lost"), 0, "{crossing} {said}");
        assert_eq!(
            count(crossing, "received") + not_taken + unpaired,
            count(crossing, "expected"),
            "{crossing} {said}"
        );
        assert!(
            count(crossing, "min") > 0 && crossing["clock"]["uncertainty"].as_u64() > Some(0),
            "{crossing}"
        );
        crossed += count(crossing, "expected");
        in_doubt += not_taken + unpaired;
    }
    let said = &document["events"];
    assert!(
        crossed <= frames && count(&document["recording"], "received") <= frames,
        "{said}"
    );
    if kept_time {
        assert_eq!(crossed, frames, "every frame that was sent came to both: {said}");
        assert_eq!(count(&document["recording"], "received"), frames, "{said}");
    }
    assert_eq!(
        status,
        Some(if in_doubt == 0 { 0 } else { 3 }),
        "{}",
        document["checks"]
    );

    let nameless = [
        "merge",
        &host,
        &guest,
        "--label",
        "a",
        "--label",
        "b",
        "--clock",
        "same-host",
    ];
    let output = run(&[
        &nameless[..],
        &["--limits", "substation", "--out", &path("nameless.triptime")],
    ]
    .concat());
    let said = "transit.max judges nothing: no run is called host (have: a, b): merge them with --label host";
    assert!(stderr(&output).contains(said), "{}", stderr(&output));

    let (status, document) = merged(&host, &guest, "offset:5ms:1us", &path("wrong.triptime"), &long);
    assert_eq!(status, Some(3), "frames that arrive before they are sent judge nothing");
    let events = document["events"].as_array().expect("events");
    let contradicted = |event: &&Value| {
        event["kind"] == "clock-doubt" && event["text"].to_string().contains("contradict the stated relation")
    };
    assert!(events.iter().any(|event| contradicted(&event)), "{events:?}");

    let (status, document) = merged(&host, &guest, "", &path("unstated.triptime"), &long);
    assert_eq!(status, Some(3));
    let why = document["checks"][0]["why"].as_str().expect("a reason");
    assert!(why.contains("was not stated"), "{why}");
    let crossing = support::series(&document, "hop/host.port-to-guest.nic/MU01");
    assert_eq!((count(crossing, "received"), count(crossing, "lost")), (0, 0));
}

#[test]
fn what_cannot_be_merged_is_said() {
    let directory = tempfile::tempdir().expect("tempdir");
    let path = |name: &str| directory.path().join(name).to_str().expect("UTF-8").to_owned();
    let (record, plain) = (path("hyp.record"), path("run.triptime"));
    std::fs::write(&record, "20\n".repeat(50)).expect("written");
    assert!(run(&["import", &record, "--out", &plain, "--json"]).status.success());
    let output = run(&["merge", &plain, &plain]);
    assert_eq!(output.status.code(), Some(3), "as export says of it");
    assert!(stderr(&output).contains("no readable recording"), "{}", stderr(&output));
    let output = run(&["merge", &plain, &plain, "--clock", "gps"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(
        stderr(&output).contains("not a relation of clocks"),
        "{}",
        stderr(&output)
    );
}
