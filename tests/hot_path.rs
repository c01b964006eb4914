//! The measuring thread makes no system call but the one it measures.

use std::collections::BTreeMap;
use std::process::Command;
use support::{binary, root_or_skip};
use sys::link;
use sys::netns::NetNs;

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

/// A namespace with `v0` and its far end.
fn namespace() -> NetNs {
    let namespace = NetNs::create().expect("a namespace");
    let made = namespace.run(|| {
        link::add_veth("v0", "v1", &namespace)?;
        link::set_up("v0")?;
        link::set_up("v1")
    });
    made.expect("a thread in it").expect("a veth pair");
    namespace
}

/// Sleeping and sending, one of each a cycle.
#[test]
fn talk_only_sleeps_and_sends() {
    if !root_or_skip("talk_only_sleeps_and_sends") {
        return;
    }
    let directory = tempfile::tempdir().expect("tempdir");
    let trace = directory.path().join("trace");
    let mut command = Command::new("strace");
    command.args(["-f", "-o"]).arg(&trace).arg(binary());
    command.args("talk v0 --interval 2ms --spin-ahead 100us --duration 2s --no-flight-recorder".split(' '));
    command
        .args(["--quiet", "--json", "--out"])
        .arg(directory.path().join("run.triptime"));
    let output = namespace()
        .run(|| command.output())
        .expect("a thread in it")
        .expect("strace is installed");
    assert_eq!(output.status.code(), Some(0), "{}", support::stderr(&output));
    let calls = hot_calls(&std::fs::read_to_string(&trace).expect("a trace"));
    let names: Vec<&str> = calls.keys().map(String::as_str).collect();
    assert_eq!(names, ["clock_nanosleep", "sendto"], "{calls:?}");
    // The part that is looked at begins and ends with a sleep.
    assert_eq!(calls["clock_nanosleep"], calls["sendto"] + 1, "{calls:?}");
    assert!(calls["sendto"] > 300, "{calls:?}");
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
