//! The trip as a step of plans, with built-in relays.

use super::{check, text};
use serde_json::Value;
use support::{json, root_or_skip, series, stderr};

/// The limit of that name that nothing was held against.
fn not_measured<'a>(document: &'a Value, limit: &str) -> &'a Value {
    let all = document["not_measured"].as_array().expect("limits");
    let found = all.iter().find(|open| open["limit"] == limit);
    found.unwrap_or_else(|| panic!("{limit} is measured: {all:?}"))
}

/// A relay of two bays at the device, and faults in one of them.
pub(crate) const PLAN: &str = r#"
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
    // Its task takes the frames: there is no age at an application that waits for them.
    for limit in ["age.max", "age.mean"] {
        let why = not_measured(&document, limit)["why"].as_str().expect("a reason");
        assert!(why.contains("the relay is one thread"), "{limit}: {why}");
    }
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
    assert!(said("control other-sv-id: no trip, as required"), "{events:?}");
    assert!(said("had svIDs that this relay does not expect"), "{events:?}");
    assert!(!said("streams beyond the limit of"), "{events:?}");
    let shown = support::run(&["report", &out]);
    assert!(text(&shown).contains(": the trip came in "), "{}", text(&shown));
}

#[test]
fn two_relays_on_one_port_are_each_timed_and_judged() {
    if !root_or_skip("two_relays_on_one_port_are_each_timed_and_judged") {
        return;
    }
    let directory = tempfile::tempdir().expect("tempdir");
    let path = |name: &str| directory.path().join(name).to_str().expect("UTF-8").to_owned();
    let (plan, out) = (path("twins.toml"), path("twins.triptime"));
    let bed = "table = \"vpc\"\n[bed]\nnetworks = [\"macvlan\"]\n[cpus]\n";
    let twins = PLAN
        .replace("\"bays2\"", "[\"bays2\", \"bays2\"]")
        .replace("[cpus]\n", bed);
    std::fs::write(&plan, twins).expect("written");
    let output = support::run(&["qualify", &plan, "--out", &out, "--quiet", "--json"]);
    let document = json(&output);
    for relay in ["two-1", "two-2"] {
        let trips = series(&document, &format!("trip/{relay}-overcurrent"));
        let count = |name: &str| trips[name].as_u64().expect("a count");
        assert!(count("received") > 0, "{trips} {}", stderr(&output));
        // The port's queue is emptied at normal priority: while other work runs, a relay may lose samples, and so miss a trip.
        let answered = count("received") + count("lost");
        assert_eq!((answered, count("unwanted")), (count("expected"), 0), "{trips}");
        let limit = check(&document, &format!("trip.within.{relay}-overcurrent"));
        assert_eq!(limit["allowed"], 40_000_000);
        for name in [format!("use/{relay}-MU02"), format!("arrival/{relay}-MU01")] {
            let samples = series(&document, &name)["received"].as_u64();
            assert!(samples > Some(4_800), "{name}: {samples:?}");
        }
        assert!(series(&document, &format!("task/{relay}"))["received"].as_u64() > Some(1_000));
    }
}

#[test]
fn two_relays_in_three_threads_each_tell_what_tripped() {
    if !root_or_skip("two_relays_in_three_threads_each_tell_what_tripped") {
        return;
    }
    let directory = tempfile::tempdir().expect("tempdir");
    let path = |name: &str| directory.path().join(name).to_str().expect("UTF-8").to_owned();
    let (plan, out) = (path("apart.toml"), path("apart.triptime"));
    let line = concat!(env!("CARGO_MANIFEST_DIR"), "/data/line.toml");
    let relays = format!("[{line:?}, {line:?}]\napart = true\nscenario = [\"zone1-bc\"]");
    let members = "phase_members = [\"3\", \"4\", \"5\"]\nfunction_members = [\"zone1=6\", \"zone2=7\"]\n";
    let step = PLAN.replace("\"bays2\"", &relays).replace("streams = 2\n", members);
    std::fs::write(&plan, step).expect("written");
    let output = support::run(&["qualify", &plan, "--out", &out, "--quiet", "--json"]);
    let document = json(&output);
    let count = |name: &str, counter: &str| series(&document, name)[counter].as_u64().expect("a count");
    for relay in ["two-1", "two-2"] {
        let trips = count(&format!("trip/{relay}-zone1-bc"), "received");
        assert!(trips > 0, "{document} {}", stderr(&output));
        for told in ["phase", "zone"].map(|kind| format!("{kind}/{relay}-zone1-bc")) {
            let of = |counter: &str| count(&told, counter);
            assert_eq!((of("received"), of("lost"), of("wrong")), (trips, 0, 0), "{told}");
        }
        for task in ["receive", "functions", "output"] {
            assert!(
                count(&format!("task/{relay}/{task}"), "received") > 0,
                "{relay}: {task}"
            );
        }
        for stream in ["age", "use", "arrival"].map(|kind| format!("{kind}/{relay}-MU01")) {
            assert!(count(&stream, "received") > 4_800, "{stream}");
        }
    }
    for limit in ["trip.wrong-phase", "trip.wrong-zone"] {
        assert_eq!(check(&document, limit)["measured"], 0);
    }
    // ABB's limits on the age at the application judge what the receiving threads have.
    for (limit, allowed) in [("age.max", 692_000), ("age.mean", 315_000)] {
        let judged = check(&document, limit);
        assert_eq!(
            (&judged["series"], &judged["allowed"]),
            (&"age/two-1-MU01".into(), &allowed.into())
        );
        assert!(judged["measured"].as_f64() > Some(0.0), "{judged}");
    }
    let shown = support::run(&["compare", &out, &out, "--table", "vpc"]);
    let rows = text(&shown);
    assert!(rows.contains("| two-1 ") && rows.contains("| two-2 "), "{rows}");
    let ages = rows.lines().filter(|row| row.contains("| Due to application "));
    assert!(
        ages.clone().count() == 2 && !ages.into_iter().any(|row| row.contains("| – ")),
        "{rows}"
    );
}
