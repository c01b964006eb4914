//! A plan whose wire makes faults: the counters have every one of them, and the removal of an interface is reported.

use serde_json::Value;
use std::path::Path;
use std::time::{Duration, Instant};
use support::{json, namespace, root_or_skip, run, series, start, stderr, wait};
use sys::packet::{PacketPort, PortOptions};

const PLAN: &str = r#"
name = "faults"
what = "Every fault is counted"
limits = "substation"
window = "500ms"
fault_seed = 1

[cpus]
housekeeping = "first"
measured = "rest"

[[fault]]
kind = "drop"
to = "device"
every = 100

[[fault]]
kind = "drop"
to = "test-set"
every = 29

[[fault]]
kind = "duplicate"
to = "test-set"
numbers = [10, 20, 30]

[[step]]
probe = "reflect"
duration = "1s"
interval = "1ms"
policy = "other"

[[step]]
probe = "talk-listen"
duration = "1s"
interval = "1ms"
policy = "other"

[[step]]
probe = "sampled-values"
duration = "2s"
streams = 1
rate = 1000
asdus = 1
policy = "other"
trace = true
"#;

const LIMITS: &str = r#"
name = "site"
what = "no frame is sent within a nanosecond"

[[limit]]
id = "talk.max"
series = "talk/*"
quantity = "max"
allowed = "1ns"
source = "tests"
"#;

/// Faults that were injected, by step: their numbers in the plan's order.
fn injected(document: &Value) -> Vec<Vec<u64>> {
    let events = document["events"].as_array().expect("events");
    let mut steps = Vec::new();
    for event in events {
        let text = event["text"].as_str().expect("text");
        match event["kind"].as_str() {
            Some("step-started") => steps.push(Vec::new()),
            _ if text.starts_with("fault ") => {
                let (_, done) = text.rsplit_once(": ").expect("what it did");
                let number = done.split(' ').next().and_then(|word| word.parse().ok());
                steps.last_mut().expect("a step").push(number.expect("a number"));
            }
            _ => {}
        }
    }
    steps
}

fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let patience = Instant::now() + Duration::from_secs(60);
    while !is_so() {
        assert!(Instant::now() < patience, "waited in vain: {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn count(series: &Value, name: &str) -> u64 {
    series[name].as_u64().unwrap_or_else(|| panic!("{name} in {series}"))
}

#[test]
fn a_plan_proves_that_every_fault_is_counted() {
    if !root_or_skip("a_plan_proves_that_every_fault_is_counted") {
        return;
    }
    let directory = tempfile::tempdir().expect("tempdir");
    let path = |name: &str| directory.path().join(name).to_str().expect("UTF-8").to_owned();
    std::fs::write(path("faults.toml"), PLAN).expect("writable");
    let output = run(&[
        "qualify",
        &path("faults.toml"),
        "--json",
        "--out",
        &path("run.triptime"),
    ]);
    assert!(matches!(output.status.code(), Some(1 | 3)), "{}", stderr(&output));
    let document = json(&output);
    let steps = injected(&document);
    let [round_trip, stream, samples] = &steps[..] else {
        panic!("{steps:?}")
    };
    let rtt = series(&document, "rtt/reflect");
    // A loaded machine sends fewer than a thousand frames.
    assert!(round_trip[0] > 0 && round_trip[1] > 0, "{steps:?}");
    assert_eq!(count(rtt, "lost"), round_trip[0] + round_trip[1], "{rtt}");
    assert_eq!((count(rtt, "duplicate"), round_trip[2]), (3, 3), "{rtt}");
    let all = document["series"].as_array().expect("series");
    let listened = all
        .iter()
        .find(|series| series["name"].as_str().is_some_and(|name| name.starts_with("listen/")));
    let listened = listened.expect("what the listener got");
    assert!(stream[0] == 0 && stream[1] > 0, "{steps:?}");
    assert_eq!(count(listened, "lost"), stream[1], "{listened}");
    assert_eq!(count(listened, "duplicate") + count(listened, "reordered"), 0);
    losses_are_traced_to_their_hop(&document, samples[0]);
    no_loss_passes(&document);
}

/// The thread that makes the faults received every frame, and the frames that it dropped do not reach the device.
fn losses_are_traced_to_their_hop(document: &Value, dropped: u64) {
    assert!(dropped > 0);
    for (hop, lost) in [
        ("nic-to-switch", 0),
        ("switch-to-edge", dropped),
        ("nic-to-edge", dropped),
    ] {
        let hop = series(document, &format!("hop/{hop}/MU01"));
        assert_eq!(count(hop, "lost"), lost, "{hop}");
        assert!(count(hop, "received") > 100, "{hop}");
    }
    // It shares the CPU of the publisher, which must not spin, or this thread could not run.
    let settings = &series(document, "publish/lateness")["settings"];
    assert_eq!(settings["spin ahead"], "0 ns", "{settings}");
}

fn no_loss_passes(document: &Value) {
    assert_ne!(document["verdict"], "pass");
    let checks = document["checks"].as_array().expect("checks");
    for limit in ["rtt.max", "transit.max"] {
        let of_limit: Vec<&Value> = checks.iter().filter(|check| check["limit"] == limit).collect();
        assert!(!of_limit.is_empty(), "{limit} is judged");
        for check in of_limit {
            assert_ne!(check["verdict"], "pass", "{check}");
        }
    }
}

#[test]
fn a_removed_interface_ends_the_run_with_what_was_measured() {
    if !root_or_skip("a_removed_interface_ends_the_run_with_what_was_measured") {
        return;
    }
    for receive in ["block", "spin"] {
        let namespace = namespace();
        let directory = tempfile::tempdir().expect("tempdir");
        let begin = |directory: &Path, words: &str| {
            let mut words: Vec<&str> = words.split_whitespace().collect();
            let out = directory.join(format!("{}.triptime", words[0]));
            words.extend(["--json", "--quiet", "--out", out.to_str().expect("UTF-8")]);
            namespace.run(|| start(&words)).expect("a thread in the namespace")
        };
        let listener = begin(
            directory.path(),
            &format!("listen v1 --interval 1ms --duration 60s --policy other --receive {receive}"),
        );
        let inside = namespace.run(|| PacketPort::open("v1", &PortOptions::default()));
        let mut counter = inside.expect("a thread in it").expect("a port");
        let own = std::process::id();
        until("the listener listens", || {
            let all = namespace.run(|| sys::packet::listeners("v1"));
            let all = all.expect("a thread in it").expect("listeners");
            let mut others = all.iter().filter_map(|one| one.process.as_ref());
            others.any(|process| process.pid != own)
        });
        let limits = directory.path().join("site.toml");
        std::fs::write(&limits, LIMITS).expect("writable");
        let talk = "talk v0 --interval 1ms --duration 60s --policy other";
        let talker = begin(directory.path(), &format!("{talk} --limits {}", limits.display()));
        until("some frames came", || {
            counter.link_statistics().is_ok_and(|counted| counted.received > 500)
        });
        namespace
            .run(|| sys::link::delete("v0"))
            .expect("a thread in it")
            .expect("deleted");
        drop(counter);
        // A limit that failed before stays failed; a run without limits could not be measured.
        for (end, interface, name, status) in [(listener, "v1", "listen/test", 3), (talker, "v0", "talk/test", 1)] {
            let output = wait(end, &[name]);
            assert_eq!(output.status.code(), Some(status), "{}", stderr(&output));
            assert!(
                stderr(&output).contains(&format!("{interface} was removed")),
                "{}",
                stderr(&output)
            );
            let document = json(&output);
            assert_eq!(document["run"]["state"], "interrupted");
            let all = document["series"].as_array().expect("series");
            let measured = all
                .iter()
                .find(|series| series["name"].as_str().is_some_and(|found| found.starts_with(name)));
            assert!(count(measured.expect(name), "received") > 100, "{document}");
        }
    }
}
