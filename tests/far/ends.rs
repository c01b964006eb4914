//! An end that dies, and a network that is cut.

use crate::machines::{FarEnd, LONG, Machines, NEXT, alone, long, qualify, secret, start, until_no_device, words};
use crate::wakeup;
use model::EventKind;
use rustix::process::Signal;
use std::time::{Duration, Instant};
use store::RunFile;
use support::left::Before;
use support::{json, root_or_skip, series, signal, stderr, until_sent, wait};

#[test]
fn a_far_end_that_is_killed_ends_the_run_with_what_it_had() {
    if !root_or_skip("a_far_end_that_is_killed_ends_the_run_with_what_it_had") {
        return;
    }
    let _alone = alone();
    let directory = tempfile::tempdir().expect("a directory");
    let (machines, secret) = (Machines::new(), secret(directory.path(), "secret", "0123456789abcdef"));
    let out = directory.path().join("run.triptime");
    let before = Before::look();
    let far = FarEnd::start(&machines, &secret);
    let child = long(
        &machines,
        &far,
        &words(directory.path(), LONG, &secret, &out.display().to_string()),
    );
    far.end(Signal::KILL);
    let output = wait(child, &["qualify"]);
    let said = stderr(&output);
    assert_eq!(output.status.code(), Some(3), "{said}");
    assert!(said.contains("far machine") && said.contains("triptime far"), "{said}");
    let run = RunFile::open(&out).expect("a run");
    let names: Vec<String> = run
        .series()
        .expect("series")
        .into_iter()
        .map(|(_, spec)| spec.name)
        .collect();
    assert!(names.iter().any(|name| name.starts_with("wakeup/")), "{names:?}");
    assert!(names.iter().any(|name| name == "rtt/reflect"), "{names:?}");
    until_no_device();
    // The next far end removes the files of the killed one.
    let far = FarEnd::start(&machines, &secret);
    assert!(far.end(Signal::INT).status.success());
    before.nothing_is_left();
}

/// A step in which the test set publishes.
const PUBLISHED: &str = r#"
[[step]]
probe = "sampled-values"
duration = "6s"
streams = 1
rate = 4000
asdus = 1
policy = "fifo:60"
"#;

#[test]
fn a_port_of_the_publisher_that_was_down_for_a_moment_is_an_event_in_its_step() {
    if !root_or_skip("a_port_of_the_publisher_that_was_down_for_a_moment_is_an_event_in_its_step") {
        return;
    }
    let _alone = alone();
    let directory = tempfile::tempdir().expect("a directory");
    let (machines, secret) = (Machines::new(), secret(directory.path(), "secret", "0123456789abcdef"));
    let out = directory.path().join("run.triptime");
    let far = FarEnd::start(&machines, &secret);
    let words = words(directory.path(), PUBLISHED, &secret, &out.display().to_string());
    let child = start(&machines, &words);
    far.until_said("sampled values of the plan short");
    until_sent(&child, "pb0", 4_000);
    machines.blink();
    let output = wait(child, &["qualify"]);
    assert!(matches!(output.status.code(), Some(1 | 3)), "{}", stderr(&output));
    let events = RunFile::open(&out).expect("a run").events().expect("events");
    let at = |kind: EventKind, text: &str| {
        let found = events
            .iter()
            .find(|event| event.kind == kind && event.text.starts_with(text));
        found.unwrap_or_else(|| panic!("{text}: {events:?}")).at_ns
    };
    let lost = at(EventKind::Link, "pb0 lost its carrier");
    let step = "sampled values";
    assert!(at(EventKind::StepStarted, step) < lost && lost < at(EventKind::StepStopped, step));
    let document = json(&output);
    let checks = document["checks"].as_array().expect("checks");
    let of = |series: &str| {
        checks
            .iter()
            .filter(|check| check["series"] == series)
            .collect::<Vec<_>>()
    };
    for check in of("spacing/MU01")
        .iter()
        .filter(|check| check["limit"] == "spacing.lost")
    {
        assert_ne!(check["verdict"], "pass", "{check}");
    }
    assert!(far.end(Signal::INT).status.success());
}

/// Steps of which the second needs the process bus.
const AROUND: &str = r#"
[[step]]
probe = "reflect"
duration = "1s"
interval = "1ms"
policy = "fifo:60"
receive = "block"

[[step]]
probe = "wakeup"
label = "after"
duration = "1s"
interval = "1ms"
policy = "fifo:80"
"#;

#[test]
fn a_process_bus_that_is_down_costs_its_step_and_not_the_run() {
    if !root_or_skip("a_process_bus_that_is_down_costs_its_step_and_not_the_run") {
        return;
    }
    let _alone = alone();
    let directory = tempfile::tempdir().expect("a directory");
    let (machines, secret) = (Machines::new(), secret(directory.path(), "secret", "0123456789abcdef"));
    let out = directory.path().join("run.triptime");
    let far = FarEnd::start(&machines, &secret);
    let words = words(directory.path(), AROUND, &secret, &out.display().to_string());
    let child = start(&machines, &words);
    far.until_said("wake-up of the plan short");
    machines.unplug();
    let output = wait(child, &["qualify"]);
    let said = stderr(&output);
    assert_eq!(output.status.code(), Some(3), "{said}");
    let because = "round trip: not measured to the end, because pb0 ";
    assert!(said.contains(because), "{said}");
    let document = json(&output);
    assert_eq!(document["run"]["state"], "complete", "{said}");
    let names: Vec<&str> = document["series"]
        .as_array()
        .expect("series")
        .iter()
        .filter_map(|one| one["name"].as_str())
        .collect();
    let wakeups = names.iter().filter(|name| name.starts_with("wakeup/"));
    assert_eq!(wakeups.count(), 2, "before and after the step: {names:?}");
    let events = RunFile::open(&out).expect("a run").events().expect("events");
    let lost = events
        .iter()
        .find(|event| event.text.contains(because))
        .expect("an event");
    assert_eq!(lost.kind, EventKind::Incomplete);
    assert!(far.end(Signal::INT).status.success());
}

/// No packet says that the network is gone, and a question asked in the silence does not prolong it.
#[test]
fn a_network_that_is_cut_silently_ends_the_run_in_half_a_minute() {
    if !root_or_skip("a_network_that_is_cut_silently_ends_the_run_in_half_a_minute") {
        return;
    }
    let _alone = alone();
    let directory = tempfile::tempdir().expect("a directory");
    let (machines, secret) = (Machines::new(), secret(directory.path(), "secret", "0123456789abcdef"));
    let out = directory.path().join("run.triptime");
    let before = Before::look();
    let far = FarEnd::start(&machines, &secret);
    let child = long(
        &machines,
        &far,
        &words(directory.path(), LONG, &secret, &out.display().to_string()),
    );
    machines.cut();
    let cut = Instant::now();
    let output = wait(child, &["qualify"]);
    let (said, lasted) = (stderr(&output), cut.elapsed());
    assert_eq!(output.status.code(), Some(3), "{said}");
    assert!(said.contains("nothing came for 24 s"), "{said}");
    // The run's end and its report take some seconds of a busy machine.
    assert!(lasted < Duration::from_secs(45), "told after {lasted:?}");
    far.until_said("was disconnected");
    let run = RunFile::open(&out).expect("a run");
    let names = run.series().expect("series").into_iter().map(|(_, spec)| spec.name);
    assert!(names.into_iter().any(|name| name == "rtt/reflect"));
    until_no_device();
    assert!(far.end(Signal::INT).status.success());
    before.nothing_is_left();
}

#[test]
fn a_run_that_is_killed_leaves_the_far_end_ready_for_the_next() {
    if !root_or_skip("a_run_that_is_killed_leaves_the_far_end_ready_for_the_next") {
        return;
    }
    let _alone = alone();
    let directory = tempfile::tempdir().expect("a directory");
    let (machines, secret) = (Machines::new(), secret(directory.path(), "secret", "0123456789abcdef"));
    let path = |name: &str| directory.path().join(name).display().to_string();
    let before = Before::look();
    let far = FarEnd::start(&machines, &secret);
    let child = long(
        &machines,
        &far,
        &words(directory.path(), LONG, &secret, &path("killed.triptime")),
    );
    signal(&child, Signal::KILL);
    wait(child, &["qualify"]);
    far.until_gone();
    let output = qualify(
        &machines,
        &words(directory.path(), NEXT, &secret, &path("next.triptime")),
    );
    let document = json(&output);
    for name in [wakeup(&document), "talk/test"] {
        let series = series(&document, name);
        // Other tests may delay a measuring thread: samples are still due, and some were measured.
        let count = |counter: &str| series[counter].as_u64().unwrap_or_default();
        assert!(
            count("expected") > 400 && count("received") > 20,
            "{name}: {} of {}",
            count("received"),
            count("expected")
        );
    }
    assert!(matches!(output.status.code(), Some(0 | 1 | 3)), "{}", stderr(&output));
    assert!(far.end(Signal::INT).status.success());
    before.nothing_is_left();
}
