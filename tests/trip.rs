//! `triptime trip` end to end, against a small relay at the other end of a veth pair.

#[path = "../crates/probes/tests/trip/relay.rs"]
mod relay;

use relay::{Kind, Relay};
use serde_json::Value;
use std::path::Path;
use std::process::Output;
use support::{json, namespace, root_or_skip, series, start, stderr, wait};
use sys::packet::PacketPort;

/// What the program says of a relay of this kind.
fn tested(kind: Kind, arguments: &[&str], file: &Path) -> Output {
    let namespace = namespace();
    let port = namespace.run(|| PacketPort::open("v1", &relay::options()).expect("a port"));
    let relay = Relay::start(kind, port.expect("entered"));
    let usual = [
        "trip",
        "v0",
        "--shots",
        "3",
        "--settle",
        "100ms",
        "--start-member",
        "1",
        "--quiet",
    ];
    let out = ["--out", file.to_str().expect("UTF-8")];
    let all: Vec<&str> = usual.iter().chain(arguments).chain(&out).copied().collect();
    let child = namespace.run(|| start(&all)).expect("entered");
    let output = wait(child, &all);
    drop(relay);
    output
}

/// What it printed for a person.
fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn check<'a>(document: &'a Value, limit: &str) -> &'a Value {
    let checks = document["checks"].as_array().expect("checks");
    let found = checks.iter().find(|check| check["limit"] == limit);
    found.unwrap_or_else(|| panic!("{limit} in {checks:?}"))
}

#[test]
fn a_relay_is_timed_and_judged_by_its_scenario() {
    if !root_or_skip("a_relay_is_timed_and_judged_by_its_scenario") {
        return;
    }
    let directory = tempfile::tempdir().expect("tempdir");
    let file = directory.path().join("good.triptime");
    let both = ["--scenario", "overcurrent", "--scenario", "load", "--json"];
    let output = tested(Kind::default(), &both, &file);
    let document = json(&output);
    // A test set that was held up counts fewer shots, and says so.
    let incomplete = document["events"]
        .as_array()
        .expect("events")
        .iter()
        .filter(|event| event["kind"] == "not-counted");
    let incomplete = incomplete.count() as u64;
    let trips = series(&document, "trip/overcurrent");
    let (received, max) = (trips["received"].as_u64().expect("a count"), trips["max"].as_i64());
    assert!(received + incomplete >= 3 && received > 0, "{}", stderr(&output));
    assert!(max.is_some_and(|ns| (10_000_000..60_000_000).contains(&ns)), "{max:?}");
    assert!(series(&document, "start/overcurrent")["received"].as_u64() > Some(0));
    assert_eq!(check(&document, "trip.failures")["measured"], 0);
    assert_eq!(check(&document, "trip.within.overcurrent")["allowed"], 40_000_000);
    assert_eq!(check(&document, "trip.false")["measured"], 0);
    // The report of the file judges as the run did.
    let again = support::run(&["report", file.to_str().expect("UTF-8"), "--json"]);
    assert_eq!(json(&again)["verdict"], document["verdict"]);
}

#[test]
fn a_relay_that_fails_to_trip_fails_and_one_that_takes_any_stream_decides_nothing() {
    if !root_or_skip("a_relay_that_fails_to_trip_fails_and_one_that_takes_any_stream_decides_nothing") {
        return;
    }
    let directory = tempfile::tempdir().expect("tempdir");
    let dead = Kind {
        delay_ns: None,
        ..Kind::default()
    };
    let named = ["--goose", Kind::default().name];
    let output = tested(dead, &named, &directory.path().join("dead.triptime"));
    assert_eq!(output.status.code(), Some(1), "{}{}", text(&output), stderr(&output));
    assert!(text(&output).contains("failure to trip"), "{}", text(&output));
    let open = Kind {
        sv_id: None,
        ..Kind::default()
    };
    let output = tested(open, &[], &directory.path().join("open.triptime"));
    assert_eq!(output.status.code(), Some(3), "{}{}", text(&output), stderr(&output));
    assert!(
        text(&output).contains("control other-sv-id did not hold"),
        "{}",
        text(&output)
    );
}

#[test]
fn what_cannot_be_is_refused_before_anything_is_sent() {
    let output = support::run(&["trip", "lo", "--scenario", "nowhere"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(
        stderr(&output).contains("neither one of this program (overcurrent"),
        "{}",
        stderr(&output)
    );
}

/// A relay of two bays on the device, and faults in one of them.
const PLAN: &str = r#"
name = "trips"
what = "A relay of ours and its test set"
limits = "substation"
window = "1s"
[cpus]
housekeeping = "first"
measured = "rest"
[[step]]
probe = "trip"
label = "two"
duration = "6s"
relay = "bays2"
streams = 2
settle = "200ms"
policy = "fifo:60"
"#;

#[test]
fn a_plan_times_the_trips_of_our_relay() {
    if !root_or_skip("a_plan_times_the_trips_of_our_relay") {
        return;
    }
    let directory = tempfile::tempdir().expect("tempdir");
    let path = |name: &str| directory.path().join(name).to_str().expect("UTF-8").to_owned();
    let (plan, out) = (path("trips.toml"), path("trips.triptime"));
    std::fs::write(&plan, PLAN).expect("written");
    let output = support::run(&["qualify", &plan, "--out", &out, "--quiet", "--json"]);
    let document = json(&output);
    let trips = series(&document, "trip/two-overcurrent");
    let count = |name: &str| trips[name].as_u64().expect("a count");
    assert!(count("received") > 0, "{trips} {}", stderr(&output));
    assert_eq!(
        (count("received"), count("unwanted")),
        (count("expected"), 0),
        "{trips}"
    );
    assert_eq!(check(&document, "trip.within.two-overcurrent")["allowed"], 40_000_000);
    assert_eq!(check(&document, "task.max")["series"], "task/two");
    for number in 1..=2 {
        let used = series(&document, &format!("use/two-MU{number:02}"));
        assert!(used["received"].as_u64() > Some(4_800), "{used}");
    }
    let events: Vec<&str> = document["events"]
        .as_array()
        .expect("events")
        .iter()
        .filter_map(|event| event["text"].as_str())
        .collect();
    let said = |text: &str| events.iter().any(|event| event.contains(text));
    assert!(said("control other-sv-id: no trip, as it has to be"), "{events:?}");
    assert!(said("under svIDs that this relay does not wait for"), "{events:?}");
    assert!(!said("that are told apart"), "{events:?}");
    let shown = support::run(&["report", &out]);
    assert!(text(&shown).contains("trip:   the trip came in"), "{}", text(&shown));
}
