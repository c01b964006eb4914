//! Trips by a doubly attached test set, while a fault of the LANs begins at the faulted sample.

use super::{begin, count, of_kind, two_lans};
use serde_json::Value;
use support::feeder::RELAY;
use support::{end, json, root_or_skip, series, start, until_thread, wait};

/// Trips of a relay at these interfaces under a fault of the LANs, by a doubly attached test set.
fn trips(interfaces: &str, fault: &str) -> Value {
    let directory = tempfile::tempdir().expect("a directory");
    let namespace = two_lans();
    let relay = format!("relay {RELAY} {interfaces} --clock same-host");
    let mut relay = begin(&namespace, directory.path(), &relay);
    until_thread(&mut relay, "relay");
    let trip = begin(
        &namespace,
        directory.path(),
        &format!(
            "trip v0 --lan-b w0 --scenario overcurrent --shots 12 --profile F4000S1I4U4 --goose F1LD0/LLN0$GO$gcbTrip {fault}"
        ),
    );
    let output = wait(trip, &["trip"]);
    let _ = end(relay, &["relay"]);
    json(&output)
}

#[test]
fn a_trip_comes_whatever_happens_to_one_lan() {
    if !root_or_skip("a_trip_comes_whatever_happens_to_one_lan") {
        return;
    }
    for (fault, words) in [
        ("--lan-fault cut-a", "LAN A is cut at the first faulted sample"),
        (
            "--lan-fault delay-b:5ms",
            "LAN B is delayed by 5.00 ms from the first faulted sample on",
        ),
        (
            "--lan-fault flap:7ms",
            "LAN A and LAN B are cut in turn for 7.00 ms each from the first faulted sample on",
        ),
    ] {
        let document = trips("v1 --lan-b w1", fault);
        let trips = series(&document, "trip/overcurrent");
        // Not every shot counts on a machine with stalls.
        assert!(trips["received"].as_u64() >= Some(1), "{fault}: {document}");
        assert_eq!(
            (&trips["lost"], &trips["unwanted"]),
            (&0.into(), &0.into()),
            "{fault}: {document}"
        );
        assert_eq!(trips["settings"]["LANs"], words, "{fault}");
    }
}

/// The control of the test above: a relay with one port in the LAN that is cut cannot trip.
#[test]
fn a_relay_in_the_cut_lan_alone_fails_to_trip() {
    if !root_or_skip("a_relay_in_the_cut_lan_alone_fails_to_trip") {
        return;
    }
    let document = trips("v1", "--lan-fault cut-a");
    let trips = series(&document, "trip/overcurrent");
    assert_eq!(trips["received"], 0, "{document}");
    assert!(trips["lost"].as_u64() >= Some(1), "{document}");
}

/// A relay with one port in the LAN that is not cut trips, and that shows nothing about a doubly attached one.
#[test]
fn a_fault_of_a_lan_that_never_worked_is_no_proof() {
    if !root_or_skip("a_fault_of_a_lan_that_never_worked_is_no_proof") {
        return;
    }
    let document = trips("v1", "--lan-fault cut-b");
    let told = of_kind(&document, "stream-doubt").join("\n");
    for lan in ["LAN A", "LAN B"] {
        assert!(
            told.contains(&format!("{lan}: no frame of the relay with marks of redundancy came")),
            "{document}"
        );
    }
    let whole = trips("v1 --lan-b w1", "--lan-fault cut-b");
    assert!(
        !of_kind(&whole, "stream-doubt").join("\n").contains("redundancy came"),
        "{whole}"
    );
}

/// The control for a delay and for LANs that are cut in turn: a relay in the LAN that the fault holds up first trips later by it, and one in the other
/// LAN does not.
#[test]
fn a_relay_in_the_disturbed_lan_alone_trips_later() {
    if !root_or_skip("a_relay_in_the_disturbed_lan_alone_trips_later") {
        return;
    }
    let soonest_ns = |interface: &str, fault: &str| {
        let document = trips(interface, fault);
        let trips = series(&document, "trip/overcurrent");
        trips["min"].as_u64().unwrap_or_else(|| panic!("no trip: {document}"))
    };
    for (fault, held_up, other) in [
        ("--lan-fault delay-b:30ms", "w1", "v1"),
        ("--lan-fault flap:30ms", "v1", "w1"),
    ] {
        let (late, soon) = (soonest_ns(held_up, fault), soonest_ns(other, fault));
        assert!(late > 30_000_000 && soon < 30_000_000, "{fault}: {late} {soon}");
    }
}

/// A plan builds both LANs, and runs each of its ends in both.
#[test]
fn a_plan_of_doubly_attached_nodes_trips_while_lan_a_is_cut() {
    if !root_or_skip("a_plan_of_doubly_attached_nodes_trips_while_lan_a_is_cut") {
        return;
    }
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("two.toml");
    std::fs::write(&path, PLAN).expect("a file");
    let out = directory.path().join("two.triptime");
    let words = [
        "qualify",
        path.to_str().expect("UTF-8"),
        "--json",
        "--quiet",
        "--no-flight-recorder",
        "--out",
    ];
    let words = [&words[..], &[out.to_str().expect("UTF-8")]].concat();
    let output = wait(start(&words), &["qualify"]);
    let document = json(&output);
    for lan in ["lan/A", "lan/B"] {
        assert!(count(&document, lan, "received") > 2_000, "{document}");
        assert_eq!(count(&document, lan, "lost"), 0, "{document}");
    }
    let trips = series(&document, "trip/cut-overcurrent");
    assert!(trips["received"].as_u64() >= Some(1), "{document}");
    assert_eq!(
        (&trips["lost"], &trips["unwanted"]),
        (&0.into(), &0.into()),
        "{document}"
    );
    assert_eq!(trips["settings"]["LANs"], "LAN A is cut at the first faulted sample");
    // The step cut LAN A at its relay, and its own losses are not judged.
    assert!(count(&document, "lan/cut-A", "lost") > 100, "{document}");
    let judged: Vec<&str> = document["checks"]
        .as_array()
        .expect("checks")
        .iter()
        .filter_map(|check| check["series"].as_str().filter(|series| series.starts_with("lan/")))
        .collect();
    assert_eq!(judged, ["lan/A", "lan/B"], "{document}");
    let page = std::fs::read_to_string(out.with_extension("html")).expect("a page");
    assert!(page.contains("two bridges, LAN A and B"), "the picture of the bed");
}

const PLAN: &str = r#"
name = "two"
what = "test"
limits = "substation"
window = "1s"
[cpus]
housekeeping = "first"
measured = "rest"
[bed]
lans = "prp"
[[step]]
probe = "sampled-values"
duration = "2s"
streams = 1
rate = 4000
policy = "other"
[[step]]
probe = "trip"
duration = "6s"
relay = "bays1"
streams = 1
scenario = ["overcurrent"]
settle = "300ms"
policy = "fifo:60"
label = "cut"
lan_fault = "cut-a"
"#;
