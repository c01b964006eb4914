//! Prometheus scrapes a plan that is measured.

use super::{ANY, PATIENCE, Served, asked::ask};
use serde_json::Value;
use std::path::Path;
use std::process::Command;
use std::time::Instant;
use support::{stderr, triptime};

const PLAN: &str = r#"
name = "scraped"
what = "Wake-ups on one CPU, for tests"
limits = "substation"
window = "500ms"

[cpus]
housekeeping = "first"
measured = "rest"

[[step]]
probe = "wakeup"
duration = "120s"
policy = "other"
"#;

#[test]
fn prometheus_scrapes_a_plan_under_way_and_the_dashboard_has_its_figures() {
    let Some(python) = testing::python("scraped") else {
        return;
    };
    let tests = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name).display().to_string();
    std::fs::write(path("plan.toml"), PLAN).expect("written");
    let mut command = triptime();
    command.args([
        "qualify",
        &path("plan.toml"),
        "--out",
        &path("run.triptime"),
        "--serve",
        ANY,
    ]);
    let served = Served::of(command, folder, ANY);
    let way = &served.way;
    let begin = Instant::now();
    while ask(way, "/metrics").is_none_or(|answer| !answer.text.contains("triptime_verdict{")) {
        assert!(begin.elapsed() < PATIENCE, "no figures");
        std::thread::sleep(std::time::Duration::from_millis(200));
    }
    let mut script = Command::new(python);
    script.arg(tests.join("readers/monitoring.py"));
    script.args([
        tests.join("../target/prometheus"),
        tests.join("../packaging/monitoring"),
    ]);
    let output = script
        .arg(format!("127.0.0.1:{}", way.port()))
        .output()
        .expect("Python starts");
    assert!(output.status.success(), "{}", stderr(&output));
    let answer: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let rows = answer["rows"].as_object().expect("the panels");
    assert!(
        rows.len() >= 8 && rows.values().all(|rows| rows.as_u64() > Some(0)),
        "{answer}"
    );
    assert_eq!(answer["state"], "measuring", "{answer}");
    let alerts = answer["alerts"].as_array().expect("a list");
    // Limits that this machine does not keep raise their own alert.
    let of_the_run = [
        "TriptimeInterrupted",
        "TriptimeInDoubt",
        "TriptimeNotAllMeasured",
        "TriptimeNothingJudged",
        "TriptimeStandsStill",
    ];
    assert!(
        alerts.iter().all(|alert| !of_the_run.iter().any(|name| alert == name)),
        "{answer}"
    );
    served.end();
}
