//! Two runs side by side, and what the kernel did as a trace.

use serde_json::Value;
use std::path::Path;
use support::{json, root_or_skip, run, stderr};

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
    // A thread that spins before its due instant is late by a fraction of a microsecond only.
    measure(ahead, "8s", &["--spin-ahead", "300us"]);
    let text = |path: &Path| path.to_str().expect("UTF-8").to_owned();
    let output = run(&["compare", &text(plain), &text(ahead), "--json", "--html", &text(page)]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    json(&output)["series"][0].clone()
}

/// What typical windows are lower by. Where the machine drifts during a run, a figure is not compared, as it should be.
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

    let text = run(&[
        "compare",
        &format!("before={}", files[0]),
        &format!("after={}", files[1]),
    ]);
    let text = String::from_utf8_lossy(&text.stdout).into_owned();
    assert!(
        text.contains("after's typical window ") && text.contains("lower than before's"),
        "{text}"
    );
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

/// Length-delimited fields 1 of the outermost message: the packets of a trace.
fn packets(trace: &[u8]) -> usize {
    let (mut at, mut count) = (0, 0);
    while at < trace.len() {
        assert_eq!(trace[at], 0x0a, "octet {at}: not a packet");
        at += 1;
        let (mut length, mut shift) = (0_usize, 0);
        loop {
            let octet = trace[at];
            at += 1;
            length |= usize::from(octet & 0x7f) << shift;
            shift += 7;
            if octet < 0x80 {
                break;
            }
        }
        at += length;
        count += 1;
    }
    assert_eq!(at, trace.len(), "the last packet is cut");
    count
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
    let trace = directory.path().join("trace.perfetto");
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
    let octets = std::fs::read(&trace).expect("the trace");
    assert!(packets(&octets) > 100, "{} packets", packets(&octets));
    let name = octets.windows(11).any(|octets| octets == b"wakeup/cpu0");
    assert!(name, "the series is named in it");
}
