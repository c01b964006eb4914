//! Measurements in a guest become a run here, with the facts about the place.

use crate::{boots, boots_oldest, with};
use model::fact::{HYPERVISOR, KERNEL_RELEASE, PREEMPTION};
use model::{Event, EventKind};
use serde_json::Value;
use std::io::Write;
use std::path::Path;
use store::RunFile;
use support::{json, run, series, stderr};

/// Longest time for the boot of an emulated guest.
const BOOT_S: f64 = 60.0;

/// Seconds until the guest was up, as reported by the program.
fn boot_s(said: &str) -> f64 {
    let found = said.split("up in ").nth(1).and_then(|rest| rest.split(" s").next());
    found.and_then(|seconds| seconds.parse().ok()).expect(said)
}

/// Nothing passes or fails, and the reason is reported.
fn assert_no_evidence(document: &Value) {
    assert_eq!(document["verdict"], "inconclusive");
    let checks = document["checks"].as_array().expect("checks");
    let told = |check: &Value| {
        check["why"]
            .as_str()
            .is_some_and(|why| why.contains("timing is no evidence"))
    };
    assert!(checks.iter().any(told), "{checks:#?}");
}

fn assert_inventory(file: &Path) {
    let run = RunFile::open(file).expect("a run file");
    let facts = run.facts().expect("facts");
    let told = |of: Option<String>| of.expect("a fact");
    assert!(told(HYPERVISOR.of(&facts)).contains("QEMU, which emulates the processor"));
    assert!(told(PREEMPTION.of(&facts)).contains("PREEMPT_RT"));
    assert!(told(KERNEL_RELEASE.of(&facts)).starts_with("5.10."));
    let events = run.events().expect("events");
    // This kernel cannot run the recorder's eBPF programs; the run has no causes, and says so.
    let has_reason = |event: &Event| event.text.contains("stay unexplained") && event.text.contains("Linux 5.12");
    assert!(events.iter().any(has_reason), "{events:#?}");
    assert!(events.iter().any(|event| event.kind == EventKind::Emulated));
}

#[test]
fn a_command_runs_in_a_guest_and_its_run_comes_here() {
    let Some(words) = boots_oldest("a_command_runs_in_a_guest_and_its_run_comes_here") else {
        return;
    };
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("guest.triptime");
    let out = file.to_str().expect("UTF-8");
    let measure = [
        "--json",
        "--out",
        out,
        "wakeup",
        "--cpus",
        "1",
        "--duration",
        "3s",
        "--limits",
        "substation",
        "-q",
    ];
    let output = run(&with(&words, &measure));
    let said = stderr(&output);
    assert_eq!(output.status.code(), Some(3), "{said}");
    assert!(said.contains("5.10-rt/vmlinux with "), "{said}");
    let seconds = boot_s(&said);
    // Not by eprintln, which the test harness captures.
    let _ = writeln!(std::io::stderr(), "an emulated guest was up in {seconds} s");
    assert!(seconds < BOOT_S, "{seconds}");
    let document = json(&output);
    assert_all_counted(&document, "wakeup/cpu1");
    assert_no_evidence(&document);
    assert_inventory(&file);
}

#[test]
fn without_virtio_guest_and_host_talk_over_a_serial_port() {
    let Some(words) = boots("without_virtio_guest_and_host_talk_over_a_serial_port") else {
        return;
    };
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("guest.triptime");
    let out = file.to_str().expect("UTF-8");
    let measure = [
        "--serial",
        "--json",
        "--out",
        out,
        "wakeup",
        "--cpus",
        "0",
        "--duration",
        "1s",
        "-q",
    ];
    let output = run(&with(&words, &measure));
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert_all_counted(&json(&output), "wakeup/cpu0");
}

/// Some of the due instants were measured, and the others are reported. The number depends on the machine: an emulated guest whose CPU is used by
/// others may measure only eight of a thousand.
fn assert_all_counted(document: &Value, name: &str) {
    let of = |counter: &str| series(document, name)[counter].as_u64().expect(counter);
    let (expected, received, missed) = (of("expected"), of("received"), of("missed"));
    assert!(received > 0 && expected >= 500, "{name}: {received} of {expected}");
    assert_eq!(received + missed, expected, "{name}");
}
