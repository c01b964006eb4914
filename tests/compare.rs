//! Comparison of two runs, and the kernel's events as a trace.

use serde_json::Value;
use std::path::Path;
use std::process::Output;
use support::{json, root_or_skip, run, stderr};

fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn measure(file: &Path, duration: &str, more: &[&str]) {
    let mut arguments = vec![
        "wakeup",
        "--cpus",
        "0",
        "--interval",
        "1ms",
        "--duration",
        duration,
        "--window",
        "100ms",
        "--quiet",
        "--out",
    ];
    arguments.push(file.to_str().expect("text"));
    arguments.extend(more);
    let output = run(&arguments);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
}

/// An ordinary thread, whose timers the kernel lets slip by 50 us, and a real-time one that spins ahead, compared: the series' entry.
fn compared(plain: &Path, ahead: &Path, page: &Path) -> Value {
    for file in [plain, ahead, page] {
        let _ = std::fs::remove_file(file);
    }
    measure(plain, "8s", &["--policy", "other"]);
    // A thread that spins before its due instant is late only by a fraction of a microsecond.
    measure(ahead, "8s", &["--spin-ahead", "300us"]);
    let text = |path: &Path| path.to_str().expect("UTF-8").to_owned();
    let output = run(&["compare", &text(plain), &text(ahead), "--json", "--html", &text(page)]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    json(&output)["series"][0].clone()
}

/// The largest decrease of a typical window. If the machine drifts during a run, a figure is correctly not compared.
fn lower_by(entry: &Value) -> Option<f64> {
    let differences = entry["differences"].as_array().expect("differences");
    assert!(
        differences.iter().all(|one| one["outcome"] != "higher"),
        "{differences:#?}"
    );
    let lower = differences.iter().filter(|one| one["outcome"] == "lower");
    lower
        .map(|one| -one["difference"].as_f64().expect("a number"))
        .reduce(f64::max)
}

#[test]
fn a_planted_difference_is_found_and_put_into_words() {
    if !root_or_skip("a_planted_difference_is_found_and_put_into_words") {
        return;
    }
    let directory = tempfile::tempdir().expect("a directory");
    let (plain, ahead) = (
        directory.path().join("plain.triptime"),
        directory.path().join("ahead.triptime"),
    );
    let page = directory.path().join("compare.html");
    let files = [plain.to_str().expect("text"), ahead.to_str().expect("text")];
    let (entry, by_ns) = (0..6)
        .map(|_| compared(&plain, &ahead, &page))
        .find_map(|entry| lower_by(&entry).map(|by_ns| (entry, by_ns)))
        .expect("a figure of runs that can be compared");
    assert!(by_ns > 10_000.0, "{entry}");
    let unfair = entry["unfair"].as_array().expect("a list");
    assert!(
        unfair
            .iter()
            .any(|why| why.as_str().is_some_and(|why| why.contains("spin ahead"))),
        "{entry}"
    );
    let html = std::fs::read_to_string(&page).expect("the page");
    assert!(html.contains("class=\"overlay\"") && html.contains("class=\"boxes\"") && !html.contains("http://"));

    let named = [format!("before={}", files[0]), format!("after={}", files[1])];
    let full = stdout(&run(&["compare", "--full", &named[0], &named[1]]));
    assert!(
        full.contains("after's typical window ") && full.contains("lower than before's"),
        "{full}"
    );
    let answer = stdout(&run(&["compare", &named[0], &named[1]]));
    assert!(answer.starts_with("after is better: wake-up latency "), "{answer}");
    let unlike = answer.find("CONDITIONS DIFFER, ").expect("the settings");
    assert!(unlike < answer.find("largest changes").expect("changes"), "{answer}");
    assert_is_a_screen(&answer);
    let table = run(&["compare", files[0], files[1], "--table", "avb"]);
    let table = String::from_utf8_lossy(&table.stdout).into_owned();
    assert!(table.contains("class") && table.contains("wakeup/cpu0"), "{table}");

    let missing = run(&["compare", files[0], "no-such-run.triptime"]);
    assert!(
        stderr(&missing).contains("no-such-run.triptime"),
        "{}",
        stderr(&missing)
    );
    assert_eq!(missing.status.code(), Some(2));
}

/// At most 24 lines of 100 columns; the command for the rest has the full names of the files.
fn assert_is_a_screen(text: &str) {
    assert!(text.lines().count() <= 24, "{text}");
    for line in text.lines().filter(|line| !line.starts_with("Full ")) {
        assert!(line.chars().count() <= 100, "{line}");
    }
}

/// A run of ten seconds has enough windows to be compared strictly, and is named by its label.
#[test]
fn windows_follow_the_duration_and_tables_have_a_column_for_each_label() {
    if !root_or_skip("windows_follow_the_duration") {
        return;
    }
    let directory = tempfile::tempdir().expect("a directory");
    let at = |name: &str| directory.path().join(name).to_str().expect("UTF-8").to_owned();
    let (one, two, page) = (at("one.triptime"), at("two.triptime"), at("table.html"));
    for (file, label) in [(&one, "old, big"), (&two, "new <b>")] {
        let arguments = [
            "wakeup",
            "--cpus",
            "0",
            "--duration",
            "6s",
            "--quiet",
            "--label",
            label,
            "--out",
            file,
        ];
        let output = run(&arguments);
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    }
    let document = json(&run(&["report", &one, "--json"]));
    assert_eq!(document["run"]["window_s"], 0.1, "{}", document["run"]);
    assert_is_a_screen(&stdout(&run(&["compare", &one, &two])));

    let table = ["report", "--table", "jitter", &one, &two];
    let tables = json(&run(&[&table[..], &["--json", "--html", &page]].concat()));
    assert_eq!(tables["schema"], "triptime.table/1");
    assert_eq!(tables["tables"][0]["columns"][3], "old, big", "{tables}");
    assert_eq!(tables["tables"][0]["columns"][4], "new <b>", "{tables}");
    let environment = tables["runs"][0]["environment"].as_str().expect("what the machine is");
    assert!(!environment.is_empty(), "{tables}");
    let csv = stdout(&run(&[&table[..], &["--csv"]].concat()));
    assert!(
        csv.starts_with("table,Environment,Load,CPUs,\"old, big\",new <b>\r\n"),
        "{csv}"
    );
    let html = std::fs::read_to_string(&page).expect("the page");
    assert!(html.contains("old, big") && !html.contains("new <b>"), "escaped");
    let several = run(&["report", &one, &two]);
    assert_eq!(several.status.code(), Some(2));
    assert!(stderr(&several).contains("--table"), "{}", stderr(&several));
}

#[test]
fn the_kernels_events_become_a_trace_and_a_run_without_them_says_so() {
    if !root_or_skip("the_kernels_events_become_a_trace") {
        return;
    }
    let directory = tempfile::tempdir().expect("a directory");
    let (with, without) = (
        directory.path().join("with.triptime"),
        directory.path().join("without.triptime"),
    );
    measure(&with, "2s", &[]);
    measure(&without, "2s", &["--no-flight-recorder"]);
    let trace = directory.path().join("trace.json");
    let arguments = |file: &Path| {
        [
            "export",
            file.to_str().expect("text"),
            "--format",
            "perfetto",
            "--out",
            trace.to_str().expect("text"),
        ]
        .map(str::to_owned)
    };
    let export = |file: &Path| {
        let arguments = arguments(file);
        run(&arguments.iter().map(String::as_str).collect::<Vec<_>>())
    };
    let refused = export(&without);
    assert_eq!(refused.status.code(), Some(3));
    assert!(stderr(&refused).contains("no flight recorder"), "{}", stderr(&refused));
    let output = export(&with);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let text = std::fs::read_to_string(&trace).expect("the trace");
    let document: Value = serde_json::from_str(&text).expect("JSON");
    let events = document["traceEvents"].as_array().expect("events");
    assert!(events.len() > 100, "{} events", events.len());
    let is_named = |event: &Value| event["args"]["name"] == "latency wakeup/cpu0";
    assert!(events.iter().any(is_named), "the series is named in it");
}

/// A real minute beside itself, in every drawing: each run in its colour, and refusals that say what there is.
#[test]
fn several_runs_are_drawn_in_one_svg_file() {
    let minute = Path::new(env!("CARGO_MANIFEST_DIR")).join("data/minute.triptime");
    let named = ["gold", "silver"].map(|name| format!("{name}={}", minute.display()));
    let drawn = |more: &[&str]| run(&[&["report", &named[0], &named[1]], more].concat());
    for figure in ["boxes", "course"] {
        let output = drawn(&["--figure", figure, "--kind", "wakeup"]);
        let svg = stdout(&output);
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        assert!(svg.starts_with("<svg ") && svg.trim_end().ends_with("</svg>"), "{svg}");
        for part in [">gold<", ">silver<", "run0\"", "run1\"", "Wake-up latency"] {
            assert!(svg.contains(part), "{figure}: {part} in {svg}");
        }
    }
    let other = drawn(&["--figure", "boxes", "--kind", "goose"]);
    assert_eq!(other.status.code(), Some(2));
    assert!(stderr(&other).contains("these runs have: wakeup"), "{}", stderr(&other));
    assert_eq!(
        drawn(&["--kind", "wakeup"]).status.code(),
        Some(2),
        "a kind of no figure"
    );
}
