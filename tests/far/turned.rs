//! Roles turned round: the far machine has the test set, or the end here is in a container.

use crate::machines::{FarEnd, Machines, STEPS, alone, qualify, secret, words};
use crate::setting;
use rustix::process::Signal;
use serde_json::Value;
use std::process::{Command, Stdio};
use store::RunFile;
use support::left::Before;
use support::{json, root_or_skip, series, stderr};

/// A step whose talker is the test set.
const TURNED: &str = r#"
[[step]]
probe = "talk-listen"
talker = "test-set"
label = "turned"
duration = "1s"
interval = "1ms"
policy = "fifo:60"
"#;

/// Series of the test set and of the device, in the steps of both plans.
const OF_TEST_SET: [&str; 4] = ["rtt/reflect", "publish/lateness", "talk/turned", "trip/overcurrent"];
const OF_DEVICE: [&str; 5] = ["age/MU01", "arrival/MU02", "talk/test", "task/bays1", "use/bays1-MU01"];

/// The document of a run with these options. The far machine heard of steps of the end `heard`.
fn run(more: &[&str], heard: &str) -> (Value, Vec<String>) {
    let (_alone, _with_containers) = (alone(), support::places::alone());
    let before = Before::look();
    let directory = tempfile::tempdir().expect("a directory");
    let (machines, secret) = (Machines::new(), secret(directory.path(), "secret", "0123456789abcdef"));
    let out = directory.path().join("run.triptime");
    let far = FarEnd::start(&machines, &secret);
    let steps = format!("{STEPS}{TURNED}");
    let mut words = words(directory.path(), &steps, &secret, &out.display().to_string());
    words.extend(more.iter().map(|word| (*word).to_owned()));
    let output = qualify(&machines, &words);
    assert!(matches!(output.status.code(), Some(0 | 1 | 3)), "{}", stderr(&output));
    far.until_said("has left");
    assert!(far.said().contains(heard), "{}", far.said());
    assert!(far.end(Signal::INT).status.success());
    drop(machines);
    before.nothing_is_left();
    let events = RunFile::open(&out).expect("a run").events().expect("events");
    let document = json(&output);
    assert_eq!(document["run"]["state"], "complete", "{}", stderr(&output));
    (document, events.into_iter().map(|event| event.text).collect())
}

fn is_at(document: &Value, names: &[&str], place: Option<&str>) {
    for name in names {
        let series = series(document, name);
        match (setting(series, "place"), place) {
            (None, None) => {}
            (Some(found), Some(place)) => assert!(found.starts_with(place), "{name}: {series}"),
            (found, _) => panic!("{name} is at {found:?}, not {place:?}"),
        }
        assert!(
            series["received"].as_u64().is_some_and(|samples| samples > 0),
            "{series}"
        );
    }
}

/// Every sample that a subscriber misses is one that the publisher left out: the end of the sender, on another machine, costs none.
fn nothing_is_lost_at_the_end(document: &Value) {
    let count = |name: &str, counter: &str| series(document, name)[counter].as_u64().expect("a count");
    let left_out = count("publish/lateness#2", "expected") - count("publish/lateness#2", "received");
    let lost = count("spacing/bays1-MU01", "lost");
    assert!(lost <= left_out, "{lost} lost, and {left_out} left out");
}

#[test]
fn the_far_machine_has_the_test_set_and_the_way_of_frames_is_traced_here() {
    let test = "the_far_machine_has_the_test_set_and_the_way_of_frames_is_traced_here";
    if !root_or_skip(test) {
        return;
    }
    let (document, events) = run(&["--far-end", "test-set"], "trip of the plan short as the test set");
    is_at(&document, &OF_TEST_SET, Some("far machine 192.0.2.2: "));
    is_at(&document, &OF_DEVICE, None);
    nothing_is_lost_at_the_end(&document);
    // The publisher's clock is another machine's.
    let uncertain = |name: &str| {
        let text = setting(series(&document, name), "clock uncertainty (ns)").expect("a setting");
        text.parse::<u64>().expect("a number")
    };
    for name in ["arrival/MU01", "age/MU01", "use/bays1-MU01"] {
        assert!((1..1_000_000_000).contains(&uncertain(name)), "{name}");
    }
    let traced = series(&document, "hop/nic-to-app/MU01")["received"].as_u64();
    let why = events.iter().find(|text| text.contains("hops are not traced"));
    match why {
        Some(why) => testing::skip(test, why),
        None => assert!(traced.is_some_and(|frames| frames > 1_000), "{traced:?}"),
    }
}

fn has_runc() -> bool {
    Command::new("runc")
        .arg("--version")
        .stdout(Stdio::null())
        .status()
        .is_ok()
}

#[test]
fn the_device_is_in_a_container_here_and_the_test_set_on_the_far_machine() {
    let test = "the_device_is_in_a_container_here_and_the_test_set_on_the_far_machine";
    if !root_or_skip(test) {
        return;
    }
    if !has_runc() {
        return testing::skip(test, "runc is not installed");
    }
    let options = ["--far-end", "test-set", "--place", "container", "--runtime", "runc"];
    let (document, _) = run(&options, "round trip of the plan short as the test set");
    is_at(&document, &OF_TEST_SET, Some("far machine 192.0.2.2: "));
    is_at(&document, &OF_DEVICE, Some("container: runc"));
    nothing_is_lost_at_the_end(&document);
}

#[test]
fn the_test_set_is_in_a_container_here_and_the_device_on_the_far_machine() {
    let test = "the_test_set_is_in_a_container_here_and_the_device_on_the_far_machine";
    if !root_or_skip(test) {
        return;
    }
    if !has_runc() {
        return testing::skip(test, "runc is not installed");
    }
    let options = ["--place", "container", "--runtime", "runc"];
    let (document, _) = run(&options, "trip of the plan short, for");
    is_at(&document, &OF_TEST_SET, Some("container: runc"));
    is_at(&document, &OF_DEVICE, Some("far machine 192.0.2.2: "));
    nothing_is_lost_at_the_end(&document);
}
