//! A plan whose device is on another machine: two network namespaces, connected by a process bus and by a second network. There is one run and one
//! verdict here; if either end dies, the other one reports it and is ready for the next run.

mod ends;
mod joined;
mod machines;
mod refused;
mod turned;

use machines::{FarEnd, Machines, STEPS, alone, qualify, secret, words};
use model::RunState;
use rustix::process::Signal;
use serde_json::Value;
use std::process::{Command, Stdio};
use store::RunFile;
use support::left::Before;
use support::{json, root_or_skip, series, stderr};

pub(crate) fn setting<'a>(series: &'a Value, name: &str) -> Option<&'a str> {
    series["settings"].get(name)?.as_str()
}

#[test]
fn every_step_runs_between_two_machines_and_gives_one_run() {
    if !root_or_skip("every_step_runs_between_two_machines_and_gives_one_run") {
        return;
    }
    let _alone = alone();
    let directory = tempfile::tempdir().expect("a directory");
    let (machines, secret) = (Machines::new(), secret(directory.path(), "secret", "0123456789abcdef"));
    let out = directory.path().join("run.triptime");
    let before = Before::look();
    let far = FarEnd::start(&machines, &secret);
    let words = words(directory.path(), STEPS, &secret, &out.display().to_string());
    let output = qualify(&machines, &words);
    // A stall of this machine makes the relay miss tasks, which fails a limit.
    assert!(matches!(output.status.code(), Some(0 | 1 | 3)), "{}", stderr(&output));
    far.until_said("has left");
    let said = far.said();
    for what in [
        "is connected",
        "wake-up of the plan short, for 1.00 s",
        "trip of the plan short",
    ] {
        assert!(said.contains(what), "{what}: {said}");
    }
    assert!(far.end(Signal::INT).status.success());
    before.nothing_is_left();
    let document = json(&output);
    for name in [wakeup(&document), "age/MU01", "talk/test", "task/bays1"] {
        let series = series(&document, name);
        let place = setting(series, "place").unwrap_or_default();
        assert!(place.starts_with("far machine 192.0.2.2: "), "{name}: {series}");
        assert!(
            series["received"].as_u64().is_some_and(|samples| samples > 400),
            "{series}"
        );
    }
    // Round trips and trips are measured by the test set, which is here.
    for name in ["rtt/reflect", "trip/overcurrent"] {
        let series = series(&document, name);
        assert_eq!(setting(series, "place"), None, "{series}");
        assert!(
            series["received"].as_u64().is_some_and(|samples| samples > 0),
            "{series}"
        );
    }
    // Ages are between two clocks, and their uncertainty depends on how fast the far end answered the question for its time.
    let age = series(&document, "age/MU01");
    let apart = setting(age, "clock uncertainty (ns)").and_then(|ns| ns.parse::<u64>().ok());
    assert!(apart.is_some_and(|ns| (1..1_000_000_000).contains(&ns)), "{age}");
    // It was asked for its time all through the step, so that an age can pass.
    let asked = setting(age, "clocks apart, asked through the step (ns)").and_then(|ns| ns.parse::<u64>().ok());
    assert!(asked.is_some_and(|ns| (1..1_000_000_000).contains(&ns)), "{age}");
    assert!(
        !document.to_string().contains("the clock was not monitored"),
        "{document:#}"
    );
    assert_eq!(
        setting(series(&document, "rtt/reflect"), "clock uncertainty (ns)"),
        None
    );
    let run = RunFile::open(&out).expect("a run");
    assert_eq!(run.state(), RunState::Complete);
    let facts = run.facts().expect("facts");
    assert!(
        facts.iter().any(|fact| fact.group == "far machine: limits"),
        "{facts:?}"
    );
    let events = run.events().expect("events");
    assert!(
        events.iter().any(|event| event.text.contains("on another machine")),
        "that hops are not traced: {events:?}"
    );
}

#[test]
fn the_device_is_in_a_container_where_its_own_machine_says_so() {
    let test = "the_device_is_in_a_container_where_its_own_machine_says_so";
    if !root_or_skip(test) {
        return;
    }
    if Command::new("runc")
        .arg("--version")
        .stdout(Stdio::null())
        .status()
        .is_err()
    {
        return testing::skip(test, "runc is not installed");
    }
    let (_alone, _with_containers) = (alone(), support::places::alone());
    let before = Before::look();
    let directory = tempfile::tempdir().expect("a directory");
    let (machines, secret) = (Machines::new(), secret(directory.path(), "secret", "0123456789abcdef"));
    let out = directory.path().join("run.triptime");
    let far = FarEnd::with(&machines, &secret, &["--container", "--runtime", "runc"]);
    far.until_said("in a container of runc");
    let words = words(directory.path(), STEPS, &secret, &out.display().to_string());
    let output = qualify(&machines, &words);
    assert!(matches!(output.status.code(), Some(0 | 1 | 3)), "{}", stderr(&output));
    far.until_said("has left");
    assert!(far.end(Signal::INT).status.success());
    let document = json(&output);
    for name in [wakeup(&document), "age/MU01", "talk/test", "task/bays1"] {
        let series = series(&document, name);
        let place = setting(series, "place").unwrap_or_default();
        let is_there = place.starts_with("far machine 192.0.2.2: ") && place.contains("; in it, container: runc");
        assert!(is_there, "{name}: {series}");
        let received = series["received"].as_u64();
        assert!(received.is_some_and(|samples| samples > 400), "{series}");
    }
    let trips = series(&document, "trip/overcurrent")["received"].as_u64();
    assert!(trips.is_some_and(|trips| trips > 0), "{trips:?}");
    drop(machines);
    before.nothing_is_left();
}

/// The far end chooses its judged CPU.
fn wakeup(document: &Value) -> &str {
    let all = document["series"].as_array().expect("series");
    let names = all.iter().filter_map(|series| series["name"].as_str());
    let mut names = names.filter(|name| name.starts_with("wakeup/"));
    names.next().expect("wake-ups")
}
