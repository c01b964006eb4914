//! The shipped SQL, asked by DuckDB and by ClickHouse, over a synthetic fleet in the columns of a real export.

use serde_json::Value;
use std::path::Path;
use std::process::Command;
use support::{run, stderr};

#[test]
fn duckdb_and_clickhouse_find_the_slow_hosts_of_a_fleet() {
    let Some(python) = testing::python("fleet") else {
        return;
    };
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name).display().to_string();
    let measured = run(&["wakeup", "--duration", "1s", "--out", &path("run.triptime")]);
    assert!(Path::new(&path("run.triptime")).exists(), "{}", stderr(&measured));
    for _ in 0..2 {
        let export = [
            "export",
            &path("run.triptime"),
            "--format",
            "fleet",
            "--out",
            &path("fleet"),
        ];
        let exported = run(&export);
        assert_eq!(exported.status.code(), Some(0), "{}", stderr(&exported));
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let output = Command::new(python)
        .arg(root.join("readers/fleet.py"))
        .arg(root.join("../packaging/sql"))
        .arg(folder.path())
        .args([&path("synthetic"), "20", "120"])
        .output()
        .expect("Python starts");
    assert!(output.status.success(), "{}", stderr(&output));
    let answers: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    for engine in ["duckdb", "clickhouse"] {
        let answer = |query: &str| &answers[format!("{engine} {query}")];
        // 20 hosts, 18 weeks and 4 series.
        assert_eq!(answer("worst-by-week")["rows"], 1440, "{answers}");
        assert_eq!(answer("what-differs")["rows"], 2, "{answers}");
        let first = |query: &str, column: usize| answer(query)["first"][column].as_str().unwrap_or("").to_owned();
        assert_eq!(
            [3, 6, 7, 8].map(|column| first("what-differs", column)),
            ["bay0007", "release", "6.1.0-rt", "6.1.1-rt"]
        );
        assert_eq!(answer("slower-since")["rows"], 4, "each series of one host: {answers}");
        assert_eq!(
            [0, 2, 4].map(|column| first("slower-since", column)),
            ["bay0007", "2026-03-02", "release"]
        );
        // The views of the long tables read the real export.
        assert!(
            answer("windows")["rows"].as_u64() > Some(0) && answer("spikes")["rows"].as_u64() > Some(0),
            "{answers}"
        );
    }
}
