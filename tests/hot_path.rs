//! The measuring thread makes no system call but the one it measures.

use std::collections::BTreeMap;
use std::process::Command;
use support::{binary, root_or_skip};

/// System calls of the thread that sleeps on absolute times, from its first sleep of the run to its last.
fn hot_calls(trace: &str) -> BTreeMap<String, u64> {
    let mut of_thread: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for line in trace.lines() {
        if let Some((thread, call)) = line.split_once(' ') {
            let name = call.trim_start().split('(').next().unwrap_or("");
            if !call.contains("resumed>") {
                of_thread.entry(thread).or_default().push(name);
            }
        }
    }
    let sleeps = |calls: &&Vec<&str>| calls.iter().filter(|call| **call == "clock_nanosleep").count();
    let hot = of_thread.values().max_by_key(sleeps).expect("a thread");
    // The recorder sleeps too, every 20 ms; the thread of a 1 ms cycle has by far the most.
    let cycles: Vec<usize> = (0..hot.len()).filter(|at| hot[*at] == "clock_nanosleep").collect();
    // The first sleeps wait for the other threads to be ready; the cycles follow one another without a gap.
    let begin = cycles[cycles.len() / 4];
    let end = cycles[cycles.len() - 1];
    let mut counts = BTreeMap::new();
    for call in &hot[begin..=end] {
        *counts.entry((*call).to_owned()).or_insert(0) += 1;
    }
    counts
}

#[test]
fn wakeup_only_sleeps() {
    if !root_or_skip("wakeup_only_sleeps") {
        return;
    }
    let directory = tempfile::tempdir().expect("tempdir");
    let trace = directory.path().join("trace");
    let output = Command::new("strace")
        .args(["-f", "-o"])
        .arg(&trace)
        .arg(binary())
        .args([
            "wakeup",
            "--cpus",
            "0",
            "--interval",
            "2ms",
            "--duration",
            "2s",
            "--quiet",
            "--json",
            "--out",
        ])
        .arg(directory.path().join("run.triptime"))
        .output()
        .expect("strace is installed");
    assert_eq!(output.status.code(), Some(0), "{}", support::stderr(&output));
    let calls = hot_calls(&std::fs::read_to_string(&trace).expect("a trace"));
    let names: Vec<&str> = calls.keys().map(String::as_str).collect();
    assert_eq!(names, ["clock_nanosleep"], "{calls:?}");
    assert!(calls["clock_nanosleep"] > 300, "{calls:?}");
}
