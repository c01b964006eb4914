//! `triptime trip` end to end, against a small relay at the other end of a veth pair.

mod bias;
mod overruns;
mod own_relay;
mod plans;
mod ramp;
mod reach;
#[path = "../../crates/probes/tests/trip/relay.rs"]
mod relay;
mod sides;

use relay::{Relay, RelayKind};
use rustix::process::Signal;
use serde_json::Value;
use std::path::Path;
use std::process::Output;
use support::{
    end, json, namespace, root_or_skip, series, signal, start, stderr, until_packet_socket, until_thread, wait,
};
use sys::packet::PacketPort;

/// A relay that answers a ping, and two relays that decide.
const MIRROR: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/data/mirror.toml");
const TWO_RELAYS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/data/two-relays.toml");

/// Output of the program with a relay of this kind.
fn tested(kind: RelayKind, arguments: &[&str], file: &Path) -> Output {
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

/// Its output for a person.
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
    let output = tested(RelayKind::default(), &both, &file);
    let document = json(&output);
    // A delayed test set counts fewer shots, and says so.
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
    // The report of the file has the same verdict as the run.
    let again = support::run(&["report", file.to_str().expect("UTF-8"), "--json"]);
    assert_eq!(json(&again)["verdict"], document["verdict"]);
}

#[test]
fn a_relay_that_fails_to_trip_fails_and_one_that_takes_any_stream_decides_nothing() {
    if !root_or_skip("a_relay_that_fails_to_trip_fails_and_one_that_takes_any_stream_decides_nothing") {
        return;
    }
    let directory = tempfile::tempdir().expect("tempdir");
    let dead = RelayKind {
        delay_ns: None,
        ..RelayKind::default()
    };
    let named = ["--goose", RelayKind::default().name, "--full"];
    let output = tested(dead, &named, &directory.path().join("dead.triptime"));
    assert_eq!(output.status.code(), Some(1), "{}{}", text(&output), stderr(&output));
    assert!(text(&output).contains("failure to trip"), "{}", text(&output));
    let open = RelayKind {
        sv_id: None,
        ..RelayKind::default()
    };
    let output = tested(open, &["--full"], &directory.path().join("open.triptime"));
    assert_eq!(output.status.code(), Some(3), "{}{}", text(&output), stderr(&output));
    assert!(
        text(&output).contains("control other-sv-id failed"),
        "{}",
        text(&output)
    );
}

/// A recorded fault of phase a to earth.
const RECORDED: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../crates/waveform/tests/data/scenario/fault.toml"
);

#[test]
fn a_recorded_fault_is_tripped_for() {
    if !root_or_skip("a_recorded_fault_is_tripped_for") {
        return;
    }
    let directory = tempfile::tempdir().expect("tempdir");
    let file = directory.path().join("record.triptime");
    let output = tested(RelayKind::default(), &["--scenario", RECORDED, "--json"], &file);
    let document = json(&output);
    let trips = series(&document, "trip/fault");
    assert!(trips["received"].as_u64() > Some(0), "{}", stderr(&output));
    assert_eq!(check(&document, "trip.false")["measured"], 0);
    let events = document["events"].as_array().expect("events").iter();
    let texts: Vec<&str> = events.filter_map(|event| event["text"].as_str()).collect();
    let said = |text: &str| texts.iter().any(|event| event.contains(text));
    assert!(said("fault.cfg: fault inception 100.6 ms"), "{texts:?}");
    assert!(said("point on wave, the same in all shots: 12"), "{texts:?}");
    let shown = support::run(&[
        "trip",
        "lo",
        "--scenario",
        "crates/waveform/tests/data/scenario/fault.cfg",
    ]);
    assert_eq!(
        shown.status.code(),
        Some(2),
        "a record alone does not say what is expected"
    );
}

#[test]
fn a_wrong_phase_and_a_wrong_zone_fail_and_what_is_not_told_decides_nothing() {
    if !root_or_skip("a_wrong_phase_and_a_wrong_zone_fail_and_what_is_not_told_decides_nothing") {
        return;
    }
    let directory = tempfile::tempdir().expect("tempdir");
    let path = |name: &str| directory.path().join(name).display().to_string();
    let (relays, namespace) = (path("relay.triptime"), namespace());
    let line = concat!(env!("CARGO_MANIFEST_DIR"), "/data/line.toml");
    let relay = ["relay", line, "v1", "--quiet", "--no-flight-recorder", "--out", &relays];
    let relay = namespace.run(|| start(&relay)).expect("entered");
    until_packet_socket(&relay);
    let usual = "trip v0 --scenario zone1-bc --shots 2 --settle 200ms --controls no-fault --goose L1LD0/LLN0$GO$gcbTrip --json --quiet";
    let judged = |file: &str, members: &str| {
        let file = path(file);
        let words = usual.split(' ').chain(members.split_whitespace());
        let all: Vec<&str> = words.chain(["--out", &file]).collect();
        let child = namespace.run(|| start(&all)).expect("entered");
        let document = json(&wait(child, &all));
        let trips = series(&document, "trip/zone1-bc")["received"].as_u64();
        assert!(trips > Some(0), "{document}");
        document
    };
    let verdict =
        |document: &Value, limit: &str| check(document, limit)["verdict"].as_str().expect("a word").to_owned();

    let right = judged("right", "--phase-members 3,4,5 --function-members zone1=6,zone2=7");
    for limit in ["trip.wrong-phase", "trip.wrong-zone"] {
        assert_eq!(check(&right, limit)["measured"], 0, "{right}");
    }
    let wrong = judged("wrong", "--phase-members 4,5,3 --function-members zone1=7,zone2=6");
    for (limit, of) in [
        ("trip.wrong-phase", "phase/zone1-bc"),
        ("trip.wrong-zone", "zone/zone1-bc"),
    ] {
        assert_eq!(verdict(&wrong, limit), "fail", "{wrong}");
        let of = series(&wrong, of);
        assert_eq!((&of["wrong"], &of["lost"]), (&of["received"], &Value::from(0)), "{of}");
    }
    let texts = wrong["events"].as_array().expect("events").iter();
    let texts: Vec<&str> = texts.filter_map(|event| event["text"].as_str()).collect();
    let listed = |what: &str| texts.iter().any(|text| text.contains(what));
    assert!(listed("wrong trip: A, B tripped, and B, C was expected"), "{texts:?}");
    assert!(listed("wrong trip: zone2 tripped, and zone1 was expected"), "{texts:?}");
    let untold = judged("untold", "--phase-members 8,9,10 --function-members zone2=7");
    for limit in ["trip.wrong-phase", "trip.wrong-zone"] {
        assert_eq!(verdict(&untold, limit), "inconclusive", "{untold}");
    }
    let general = judged("general", "");
    let limits = general["checks"].as_array().expect("checks").iter();
    let limits: Vec<&Value> = limits.map(|check| &check["limit"]).collect();
    assert!(
        !limits
            .iter()
            .any(|limit| limit.as_str().is_some_and(|id| id.contains("wrong"))),
        "{limits:?}"
    );
    assert_eq!(general["coverage"], "partial", "{general}");
    let shown = support::run(&["report", &path("wrong")]);
    assert!(
        text(&shown).contains("trips with the wrong phase or zone"),
        "{}",
        text(&shown)
    );
    let same = support::run(&["compare", &path("right"), &path("wrong")]);
    assert!(text(&same).contains("wrong"), "{}", text(&same));
    signal(&relay, Signal::INT);
    end(relay, &["relay"]);
}

/// A few cells of the zone in `data/line.toml`.
const ZONE: &str = "\
what = \"A few cells\"
[distance]
source_v = 110_000
source_angle_deg = 85
source_z0_ratio = 1.5
line = { z1_ohm = [3.0, 12.0], z0_ohm = [9.0, 36.0] }
reach = 0.8
sir = [1, 10]
positions_percent = [50, 100, 120]
types = [\"AG\", \"BC\"]
points_deg = [0]
within = \"250ms\"
lasts = \"300ms\"
";

#[test]
fn a_type_test_fills_its_cells_and_draws_them() {
    if !root_or_skip("a_type_test_fills_its_cells_and_draws_them") {
        return;
    }
    let directory = tempfile::tempdir().expect("tempdir");
    let path = |name: &str| directory.path().join(name).to_str().expect("UTF-8").to_owned();
    let (zone, file, page) = (path("zone.toml"), path("zone.triptime"), path("zone.html"));
    std::fs::write(&zone, ZONE).expect("a file");
    let line = concat!(env!("CARGO_MANIFEST_DIR"), "/data/line.toml");
    let (relays, namespace) = (path("relay.triptime"), namespace());
    let relay = ["relay", line, "v1", "--quiet", "--no-flight-recorder", "--out", &relays];
    let relay = namespace.run(|| start(&relay)).expect("entered");
    until_packet_socket(&relay);
    let tester = [
        "trip",
        "v0",
        "--type-test",
        &zone,
        "--goose",
        "L1LD0/LLN0$GO$gcbTrip",
        "--settle",
        "200ms",
        "--json",
        "--quiet",
        "--html",
        &page,
        "--out",
        &file,
    ];
    let child = namespace.run(|| start(&tester)).expect("entered");
    let output = wait(child, &tester);
    signal(&relay, Signal::INT);
    end(relay, &["relay"]);
    let document = json(&output);
    let test = &document["type_tests"][0];
    assert_eq!(
        (&test["name"], test["zone"].as_array().map(Vec::len)),
        (&Value::from("zone"), Some(4)),
        "{document}"
    );
    let (mut counted, mut not_counted) = (0, 0);
    for cell in test["zone"]
        .as_array()
        .expect("lines")
        .iter()
        .flat_map(|line| line["positions"].as_array().expect("cells"))
    {
        assert_eq!(cell["shots"], 1, "{cell}");
        let is_beyond = cell["position_percent"] == 120.0;
        not_counted += cell["not_counted"].as_u64().expect("a count");
        if is_beyond {
            assert_eq!(cell["tripped"], 0, "{cell}");
        }
        if let Some(ns) = cell["median"].as_i64() {
            counted += 1;
            assert!((5_000_000..300_000_000).contains(&ns), "{cell}");
        }
    }
    assert!(counted + not_counted >= 8 && counted > 0, "{test}");
    no_failure_to_trip(&document);
    assert_eq!(check(&document, "trip.within.zone")["allowed"], 250_000_000);
    let html = std::fs::read_to_string(&page).expect("a page");
    assert!(html.contains("Type test zone") && html.contains("operate times of BC faults"));
    let again = support::run(&["report", "--full", &file]);
    assert!(text(&again).contains("zone: reach"), "{}", text(&again));
}

/// Each series of the zone has one shot inside it. A delayed test set does not count it, and says so; at least one shot is counted.
fn no_failure_to_trip(document: &Value) {
    let checks = document["checks"].as_array().expect("checks").iter();
    let failures: Vec<&Value> = checks.filter(|check| check["limit"] == "trip.failures").collect();
    assert_eq!(failures.len(), 4, "{failures:?}");
    let (counted, not_counted): (Vec<&Value>, Vec<&Value>) =
        failures.into_iter().partition(|check| !check["measured"].is_null());
    assert!(!counted.is_empty(), "{not_counted:?}");
    for check in counted {
        assert_eq!(check["measured"], 0, "{check}");
    }
    for check in not_counted {
        let why = check["why"].as_str().expect("a reason");
        assert_eq!(check["verdict"], "inconclusive", "{check}");
        assert!(why.contains("not counted: the test set"), "{check}");
    }
}

#[test]
fn our_relay_answers_a_ping_and_one_without_that_input_does_not() {
    if !root_or_skip("our_relay_answers_a_ping_and_one_without_that_input_does_not") {
        return;
    }
    let directory = tempfile::tempdir().expect("tempdir");
    let path = |name: &str| directory.path().join(name).display().to_string();
    let namespace = namespace();
    let (relay_file, file) = (path("relay.triptime"), path("pong.triptime"));
    let far = [
        "relay",
        MIRROR,
        "v1",
        "--policy",
        "other",
        "--quiet",
        "--out",
        &relay_file,
    ];
    let mut relay = namespace.run(|| start(&far)).expect("entered");
    until_thread(&mut relay, "relay");
    let usual = [
        "trip",
        "v0",
        "--ping-pong",
        "--pings",
        "20",
        "--quiet",
        "--json",
        "--class",
        "p3-ed2",
    ];
    let pinged = |goose: &str, more: &[&str]| {
        let own = ["--goose", goose, "--out", &file];
        let all: Vec<&str> = usual.iter().chain(&own).chain(more).copied().collect();
        let child = namespace.run(|| start(&all)).expect("entered");
        wait(child, &all)
    };
    let output = pinged("MIRRORLD0/LLN0$GO$gcbPong", &["--cases", "none,sv"]);
    let document = json(&output);
    for case in ["none", "sv"] {
        let answers = series(&document, &format!("pong/{case}"));
        let counted = |counter: &str| answers[counter].as_u64().expect(counter);
        // A stall of this machine can lose an answer, or prevent it from being counted.
        assert!(counted("received") >= 10, "{answers}");
        assert!(
            answers["min"].as_i64().is_some_and(|ns| (1..20_000_000).contains(&ns)),
            "{answers}"
        );
        assert!(series(&document, &format!("ping/{case}"))["received"].as_u64() >= Some(10));
    }
    let limit = check(&document, "pong.class.p3-ed2");
    assert_eq!(limit["allowed"], 16_000_000, "80 % of a cycle of 20 ms");
    std::fs::remove_file(&file).expect("a run file");
    let output = pinged("NOBODY/LLN0$GO$gcb", &["--duration", "1s"]);
    assert_eq!(output.status.code(), Some(3), "{}", stderr(&output));
    assert!(
        stderr(&output).contains("no GOOSE message of NOBODY"),
        "{}",
        stderr(&output)
    );
    end(relay, &far);
}

#[test]
fn relays_side_by_side_are_compared() {
    if !root_or_skip("relays_side_by_side_are_compared") {
        return;
    }
    let directory = tempfile::tempdir().expect("tempdir");
    let path = |name: &str| directory.path().join(name).display().to_string();
    let namespace = namespace();
    let (sent, seen) = (path("sent.triptime"), path("seen.triptime"));
    let watch = [
        "trip",
        "v1",
        "--watch",
        "MAINLD0/LLN0$GO$gcbTrip,PILOTLD0/LLN0$GO$gcbTrip:0",
        "--pair-within",
        "100ms",
    ];
    let to = ["--duration", "6s", "--quiet", "--json", "--out", &seen];
    let watch: Vec<&str> = watch.iter().chain(&to).copied().collect();
    let mut watching = namespace.run(|| start(&watch)).expect("entered");
    until_thread(&mut watching, "watch");
    let publish = [
        "publish",
        "v0",
        "--goose",
        TWO_RELAYS,
        "--duration",
        "3s",
        "--quiet",
        "--out",
        &sent,
    ];
    let publishing = namespace.run(|| start(&publish)).expect("entered");
    wait(publishing, &publish);
    let output = wait(watching, &watch);
    let document = json(&output);
    let compared = series(&document, "decision/MAINLD0-PILOTLD0");
    assert_eq!(
        (compared["received"].as_u64(), compared["lost"].as_u64()),
        (Some(6), Some(3)),
        "{compared}"
    );
    assert!(
        compared["min"].as_i64().is_some_and(|ns| ns >= 10_000_000),
        "{compared}"
    );
    assert_eq!(series(&document, "lead/MAINLD0-PILOTLD0")["received"], 6);
    assert_eq!(series(&document, "lead/PILOTLD0-MAINLD0")["received"], 0);
    assert_eq!(check(&document, "decision.alone")["measured"], 3);
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
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
    for (words, why) in [
        ("trip lo --ping-pong", "--goose"),
        ("trip lo --ping-pong --goose x --shots 3", "cannot be used with"),
        ("trip lo --watch a,b --ping-pong --goose x", "cannot be used with"),
        ("trip lo --pings 5", "--ping-pong"),
        ("trip lo --watch a", "2 to 16"),
        ("trip lo --watch a,a", "twice"),
        ("trip lo --ping-pong --goose x --cases none,none", "twice"),
    ] {
        let output = support::run(&words.split(' ').collect::<Vec<_>>());
        assert_eq!(output.status.code(), Some(2), "{words}: {}", stderr(&output));
        assert!(stderr(&output).contains(why), "{words}: {}", stderr(&output));
    }
}
