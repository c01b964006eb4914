use crate::Report;
use crate::limits::Profile;
use crate::subjects::nics::samples::{card_facts, veth_facts};
use model::{RunState, RunView};
use serde_json::{Value, json};
use testing::synthetic::{qualify, run, series};

fn text(run: RunView) -> String {
    Report::new(run, vec![Profile::find("substation").expect("embedded")]).json()
}

fn document(run: RunView) -> Value {
    serde_json::from_str(&text(run)).expect("JSON")
}

fn keys(value: &Value) -> Vec<&str> {
    value
        .as_object()
        .expect("an object")
        .keys()
        .map(String::as_str)
        .collect()
}

/// The fields of the published schema, in its order; fields added later follow them.
#[test]
fn published_fields_come_first_and_in_order() {
    let document = document(qualify(1, 10));
    let published = [
        (
            &document,
            vec!["schema", "tool", "run", "verdict", "series", "checks", "events"],
        ),
        (&document["tool"], vec!["name", "version"]),
        (
            &document["run"],
            vec!["id", "command", "file", "started", "duration_s", "state"],
        ),
        (
            &document["series"][0],
            vec![
                "name",
                "unit",
                "expected",
                "received",
                "lost",
                "late",
                "duplicate",
                "reordered",
                "missed",
                "clipped",
                "overflow",
                "min",
                "mean",
                "p50",
                "p99",
                "p999",
                "p9999",
                "p99999",
                "max",
            ],
        ),
        (
            &document["checks"][0],
            vec![
                "limit", "series", "measured", "allowed", "unit", "verdict", "why", "source",
            ],
        ),
        (&document["events"][0], vec!["at", "kind", "text"]),
    ];
    for (object, names) in published {
        assert_eq!(keys(object)[..names.len()], names);
    }
}

#[test]
fn whole_numbers_stay_whole_and_unsupported_quantiles_are_null() {
    let text = text(run(vec![series("wakeup/cpu1", 5_000, 60_000, 10)]));
    for whole in [
        "\"max\": 60000,",
        "\"measured\": 60000,",
        "\"allowed\": 120000,",
        "\"expected\": 5000,",
    ] {
        assert!(text.contains(whole), "{whole} in {text}");
    }
    let document: Value = serde_json::from_str(&text).expect("JSON");
    let series = &document["series"][0];
    assert!(series["p50"].is_u64() && series["p99"].is_u64());
    assert_eq!(
        (&series["p999"], &series["p9999"], &series["p99999"]),
        (&Value::Null, &Value::Null, &Value::Null)
    );
    assert_eq!(series.get("scheduled"), None);
}

#[test]
fn run_and_verdict() {
    let mut ended_early = qualify(1, 10);
    ended_early.state = RunState::Interrupted;
    let document = document(ended_early);
    assert_eq!(document["schema"], "triptime.result/1");
    assert_eq!(document["verdict"], "inconclusive");
    assert_eq!(document["run"]["state"], "interrupted");
    assert_eq!(document["run"]["started"], "2026-11-21T02:00:00.000000000Z");
    assert_eq!(document["run"]["duration_s"], 10.0);
    assert_eq!(document["checks"][0]["why"], "the run was ended early, after 10.0 s");
    assert_eq!(document["events"][1]["at"], "2026-11-21T02:00:01.000000000Z");
}

#[test]
fn nothing_measured_is_null_not_zero() {
    let document = document(run(vec![series("wakeup/cpu1", 0, 60_000, 10)]));
    let series = &document["series"][0];
    assert_eq!([&series["min"], &series["mean"], &series["max"]], [&Value::Null; 3]);
    assert_eq!(document["checks"][0]["measured"], Value::Null);
    assert_eq!(document["budget"]["sum_of_maxima"], Value::Null);
    let not_measured: Vec<&Value> = document["not_measured"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|open| &open["limit"])
        .collect();
    assert_eq!(
        not_measured,
        [
            &json!("rtt.max"),
            &json!("transit.max"),
            &json!("age.max"),
            &json!("age.mean"),
            &json!("task.max"),
            &json!("task.missed"),
            &json!("spacing.lost"),
            &json!("spacing.conflicting"),
            &json!("goose.lost"),
            &json!("goose.expired")
        ]
    );
}

#[test]
fn skipped_periods_give_a_second_labelled_view() {
    let mut stalled = series("wakeup/cpu1", 100_000, 60_000, 10);
    stalled.counters.missed = 3;
    let document = document(run(vec![stalled]));
    let scheduled = &document["series"][0]["scheduled"];
    assert_eq!(
        (&scheduled["activations"], &scheduled["unplaced"]),
        (&json!(100_003), &json!(3)),
        "no sample is as long as a period"
    );
    assert_eq!((&scheduled["max"], &scheduled["mean"]), (&Value::Null, &Value::Null));
    let intervals = &document["series"][0]["statistics"]["quantile_intervals"];
    assert_eq!(intervals[0]["view"], "scheduled");
    let lines = document["budget"]["lines"].as_array().expect("lines");
    let wakeup = lines.iter().find(|line| line["line"] == "Wake-up").expect("a line");
    assert_eq!(wakeup["p999_view"], "scheduled", "{wakeup}");
}

#[test]
fn the_whole_document() {
    insta::assert_snapshot!(text(qualify(1, 3)));
}

#[test]
fn requirements_are_checks_of_the_same_shape_and_interfaces_stand_beside_them() {
    let mut measured = run(vec![series("wakeup/cpu1", 5_000, 40_000, 10)]);
    measured.facts = [card_facts("eth1"), veth_facts("ts0")].concat();
    measured.facts[0].value = Err("it went away".into());
    let text = Report::new(measured, vec![Profile::find("avb").expect("embedded")]).json();
    let document: Value = serde_json::from_str(&text).expect("JSON");
    let checks = document["checks"].as_array().expect("checks");
    assert_eq!(checks.len(), 5);
    assert!(checks.iter().all(|check| keys(check) == keys(&checks[0])));
    let eee = &checks[1];
    assert_eq!((&eee["limit"], &eee["series"]), (&json!("nic.eee"), &json!("nic eth1")));
    assert_eq!(
        (&eee["measured"], &eee["allowed"], &eee["unit"]),
        (&json!(1), &json!(0), &json!(""))
    );
    assert_eq!(
        (&eee["verdict"], &eee["why"]),
        (&json!("fail"), &json!("eee is on, in use; wanted: off"))
    );
    let usecs = &checks[3];
    assert_eq!(
        (&usecs["measured"], &usecs["allowed"], &usecs["unit"]),
        (&json!(3), &json!(20), &json!("us"))
    );
    let nics = document["nics"].as_array().expect("nics");
    assert_eq!(
        (&nics[0]["name"], &nics[0]["facts"]["driver"]),
        (&json!("eth1"), &json!("igc"))
    );
    assert_eq!(nics[0]["facts"]["kind"], Value::Null, "not known");
    assert_eq!(nics[1]["name"], "ts0");
    let not_applicable = document["not_applicable"].as_array().expect("a list");
    assert_eq!(
        not_applicable.len(),
        8,
        "rx-frames and tx-frames of igc, and six of the veth"
    );
    assert_eq!(not_applicable[2]["why"], "veth has no such thing");
}
