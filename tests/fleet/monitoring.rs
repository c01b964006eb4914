//! The shipped rules and dashboard, with node_exporter's textfile collector and Prometheus.

use super::hosts::built;
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use support::{run, stderr};

fn monitoring() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../packaging/monitoring")
}

fn promtool(words: &[&str]) -> Output {
    let mut command = Command::new(built("prometheus").join("usr/bin/promtool"));
    command
        .current_dir(monitoring())
        .args(words)
        .output()
        .expect("promtool starts")
}

#[test]
fn each_alert_fires_and_stays_quiet_as_its_rule_says() {
    for words in [["check", "rules", "rules.yml"], ["test", "rules", "rules_test.yml"]] {
        let output = promtool(&words);
        assert!(
            output.status.success(),
            "{}{}",
            String::from_utf8_lossy(&output.stdout),
            stderr(&output)
        );
    }
    let [rules, tests] =
        ["rules.yml", "rules_test.yml"].map(|name| fs::read_to_string(monitoring().join(name)).expect("there"));
    for alert in rules.lines().filter_map(|line| line.trim().strip_prefix("- alert: ")) {
        assert!(
            tests.contains(&format!("alertname: {alert}\n")),
            "{alert} never fires in a test"
        );
        let quiet = |line: &str| line.contains(&format!("{{alertname: {alert},")) && line.ends_with("exp_alerts: []}");
        assert!(tests.lines().any(quiet), "{alert} is never quiet in a test");
    }
}

#[test]
fn a_failed_run_raises_its_alert_and_each_query_of_the_dashboard_has_data() {
    let Some(python) = testing::python("monitoring") else {
        return;
    };
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name).display().to_string();
    fs::create_dir(path("textfiles")).expect("a folder");
    let limits = "name = \"site\"\nwhat = \"a test\"\n[[limit]]\nid = \"wakeup.max\"\nseries = \"wakeup/*\"\nquantity = \"max\"\nallowed = \"1ns\"\nsource = \"a test\"\n";
    fs::write(path("limits.toml"), limits).expect("written");
    let file = path("failed.triptime");
    // A program that measures on the same CPU puts the failure in doubt: then again.
    let has_failed = (0..10).any(|_| {
        let _ = fs::remove_file(&file);
        let words = [
            "wakeup",
            "--duration",
            "1s",
            "--limits",
            &path("limits.toml"),
            "--out",
            &file,
        ];
        run(&words).status.code() == Some(1)
    });
    assert!(has_failed, "no run fails");
    let exported = run(&[
        "export",
        &file,
        "--format",
        "openmetrics",
        "--out",
        &path("textfiles/triptime-wakeup.prom"),
    ]);
    assert_eq!(exported.status.code(), Some(0), "{}", stderr(&exported));
    let mut script = Command::new(python);
    script.arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("readers/monitoring.py"));
    let output = script
        .arg(built("prometheus"))
        .arg(monitoring())
        .arg(path("textfiles"))
        .output();
    let output = output.expect("Python starts");
    assert!(output.status.success(), "{}", stderr(&output));
    let answer: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let rows = answer["rows"].as_object().expect("the panels");
    assert!(
        rows.len() >= 8 && rows.values().all(|rows| rows.as_u64() > Some(0)),
        "{answer}"
    );
    assert_eq!(answer["alerts"], json!(["TriptimeLimitFailed"]), "{answer}");
    assert_eq!(answer["error"], "0", "the collector takes the file: {answer}");
}
