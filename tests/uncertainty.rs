//! The instrument's own error: measured with every run, counted in guarded decisions.

use serde_json::Value;
use std::fs;
use std::path::Path;
use support::{json, run, stderr};

/// A limit profile in `folder` with a rule and one limit on the longest wake-up; returns its path.
fn profile(folder: &Path, name: &str, decision: &str, allowed: &str) -> String {
    let text = format!(
        "name = \"{name}\"\nwhat = \"tests\"\n{decision}\n[[limit]]\nid = \"longest\"\nseries = \"wakeup/*|task/*\"\nquantity = \"max\"\n\
         allowed = \"{allowed}\"\nsource = \"this test\"\n"
    );
    let file = folder.join(format!("{name}.toml"));
    fs::write(&file, text).expect("written");
    file.to_str().expect("text").to_owned()
}

fn text(output: &std::process::Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn report(file: &str, more: &[&str]) -> std::process::Output {
    run(&[&["report", file], more].concat())
}

#[test]
fn a_run_measures_its_clock_and_a_guarded_limit_counts_it() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("wake.triptime").to_str().expect("text").to_owned();
    let measured = run(&[
        "wakeup",
        "--policy",
        "other",
        "--duration",
        "500ms",
        "--cpus",
        "0",
        "--out",
        &file,
        "--json",
    ]);
    let document = json(&measured);
    let budget = &document["uncertainty"][0];
    assert_eq!(budget["kind"], "wakeup", "{}", stderr(&measured));
    let expanded = budget["expanded"].as_f64().expect("known");
    assert!(
        expanded > 0.0 && budget["unknown"] == Value::Array(Vec::new()),
        "{budget:?}"
    );
    let names: Vec<&str> = budget["components"]
        .as_array()
        .expect("a list")
        .iter()
        .filter_map(|one| one["name"].as_str())
        .collect();
    assert!(
        names.contains(&"reading the clock at the end") && names.contains(&"storage"),
        "{names:?}"
    );
    let reading = &budget["components"][0];
    assert!(
        reading["low"] == 0.0 && reading["high"].as_f64().is_some_and(|ns| ns >= 1.0),
        "{reading:?}"
    );

    let guarded = "[decision]\nrule = \"guarded\"";
    let wide = report(
        &file,
        &["--limits", &profile(folder.path(), "wide", guarded, "50s"), "--json"],
    );
    let check = &json(&wide)["checks"][0];
    // Beside other tests a period may be missed, which is a doubt of its own.
    let is_of_rule = check["why"].as_str().is_some_and(|why| why.contains("guard"));
    assert!(matches!(wide.status.code(), Some(0 | 3)) && !is_of_rule, "{check:#}");
    let decision = &check["decision"];
    assert_eq!(decision["rule"], "guarded");
    assert_eq!(decision["guard"], decision["expanded"]);
    assert!(
        decision["risk_most"].as_f64().is_some_and(|risk| risk <= 0.0228),
        "{decision:?}"
    );

    let band = format!("{guarded}\nguard = \"49s\"");
    let near = profile(folder.path(), "near", &band, "49s");
    let held = report(&file, &["--limits", &near, "--json"]);
    assert_eq!(held.status.code(), Some(3), "{}", stderr(&held));
    let why = json(&held)["checks"][0]["why"].as_str().expect("a reason").to_owned();
    assert!(why.contains("the guard band is 49.0 s (w = 49.0 s, U = "), "{why}");
    let junit = folder.path().join("junit.xml").to_str().expect("text").to_owned();
    report(&file, &["--limits", &near, "--junit", &junit]);
    let cases = fs::read_to_string(&junit).expect("written");
    assert!(
        cases.contains("the guard band is") && cases.contains("decision: guarded acceptance"),
        "{cases}"
    );
    let screen = report(&file, &["--limits", &near, "--full"]);
    assert!(text(&screen).contains("Uncertainty of our own"), "{}", text(&screen));

    let certificate = folder
        .path()
        .join("wake.certificate")
        .to_str()
        .expect("text")
        .to_owned();
    run(&["certify", &file, "--limits", &near, "--out", &certificate]);
    let certified = fs::read_to_string(&certificate).expect("written");
    assert!(
        certified.contains("Guarded acceptance with w = 49.0 s") && certified.contains("Largest U of its durations"),
        "{certified}"
    );
}

#[test]
fn what_another_tool_measured_stays_undecided_under_a_guarded_rule() {
    let folder = tempfile::tempdir().expect("a folder");
    let log = folder.path().join("maxima.csv");
    fs::write(
        &log,
        "time,task/VPC count,task/VPC max_us\n1000,20000,400\n1020,20000,410\n",
    )
    .expect("written");
    let file = folder.path().join("maxima.triptime").to_str().expect("text").to_owned();
    let guarded = profile(folder.path(), "guarded", "[decision]\nrule = \"guarded\"", "1ms");
    let simple = profile(folder.path(), "simple", "", "1ms");
    let imported = run(&[
        "import",
        log.to_str().expect("text"),
        "--out",
        &file,
        "--limits",
        &simple,
        "--summary",
    ]);
    assert_eq!(imported.status.code(), Some(0), "{}", stderr(&imported));
    let judged = report(&file, &["--limits", &guarded, "--json"]);
    assert_eq!(judged.status.code(), Some(3), "{}", stderr(&judged));
    let document = json(&judged);
    let why = document["checks"][0]["why"].as_str().expect("a reason");
    assert!(why.contains("another tool measured"), "{why}");
    assert_eq!(document["uncertainty"][0]["expanded"], Value::Null);
}

#[test]
fn calibrate_measures_every_component_or_says_why_not() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder
        .path()
        .join("calibration.json")
        .to_str()
        .expect("text")
        .to_owned();
    let arguments = [
        "calibrate",
        "--cpus",
        "0",
        "--interfaces",
        "lo",
        "--block",
        "100",
        "--json",
        "--out",
        &file,
    ];
    let output = run(&arguments);
    let document = json(&output);
    assert_eq!(document["schema"], "triptime.calibration/1");
    let clock = &document["clocks"][0];
    assert_eq!(clock["unknown_because"], Value::Null, "{clock:?}");
    for name in ["system_call", "counter", "conversion"] {
        assert!(clock[name].is_u64(), "{name}: {clock:?}");
    }
    assert!(
        clock["monotonic"]["mean"].as_u64().is_some_and(|ns| ns > 0),
        "{clock:?}"
    );
    let stamps = &document["stamp_to_wire"][0];
    assert!(
        stamps["is_known"] == true && stamps["text"].as_str().is_some_and(|text| text.contains("software")),
        "{stamps:?}"
    );
    let budgets = document["uncertainty"].as_array().expect("a list");
    assert!(
        budgets.len() >= 6
            && budgets
                .iter()
                .all(|one| one["expanded"].as_f64().is_some_and(|ns| ns > 0.0)),
        "{budgets:?}"
    );
    let effect = &document["effect"];
    match effect["unknown_because"].as_str() {
        Some(why) => {
            assert!(!why.is_empty());
            assert_eq!(output.status.code(), Some(3), "{}", stderr(&output));
        }
        None => {
            assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
            let blocks = |name: &str| effect[name].as_array().map(Vec::len);
            assert!(
                blocks("bare") == Some(8) && blocks("whole") == Some(8) && effect["standard"].is_f64(),
                "{effect:?}"
            );
        }
    }
    assert_eq!(fs::read_to_string(&file).expect("written"), text(&output));

    let wrong = run(&["calibrate", "--interfaces", "no-such-if"]);
    assert_eq!(wrong.status.code(), Some(2));
    assert!(stderr(&wrong).contains("no-such-if"), "{}", stderr(&wrong));
    let absent = run(&["calibrate", "--cpus", "500", "--block", "100", "--json"]);
    assert_eq!(absent.status.code(), Some(3), "{}", stderr(&absent));
    assert!(json(&absent)["clocks"][0]["unknown_because"].is_string());
}
