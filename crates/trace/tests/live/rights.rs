//! Tests that eBPF runs with exactly `CAP_BPF` and `CAP_PERFMON`, and that the error names a missing one.

use super::{alone, cpu};
use std::process::Command;
use sys::privilege::{Capability, has};
use sys::thread::{Policy, RtThread};
use trace::{FlightRecorder, TraceError};

/// Runs one of the two tests below as nobody with these capabilities; returns its output.
fn run_with(capabilities: &str, helper: &str) -> Option<String> {
    let us = std::env::current_exe().expect("a path");
    // The user nobody may have no access to the folder in which this program was built.
    let folder = tempfile::Builder::new()
        .prefix("triptime")
        .tempdir_in("/tmp")
        .expect("a folder");
    let open = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(folder.path(), open).expect("opened");
    let copy = folder.path().join("live");
    std::fs::copy(us, &copy).expect("a copy");
    let output = Command::new("setpriv")
        .args(["--reuid=65534", "--regid=65534", "--clear-groups"])
        .arg(format!("--bounding-set=-all{capabilities}"))
        .arg(format!("--inh-caps=-all{capabilities}"))
        .arg(format!("--ambient-caps=-all{capabilities}"))
        .arg(copy)
        .args(["--exact", helper, "--ignored", "--nocapture"])
        .output();
    let output = match output {
        Ok(output) => output,
        Err(error) => {
            testing::skip("rights", &format!("setpriv: {error}"));
            return None;
        }
    };
    Some(String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr))
}

#[test]
fn two_capabilities_are_enough_and_both_are_needed() {
    let _alone = alone();
    if !has(Capability::SysAdmin) {
        return testing::skip("rights", "needs root to give rights away");
    }
    let Some(said) = run_with(",+bpf,+perfmon", "rights::starts_and_records") else {
        return;
    };
    assert!(said.contains("1 passed"), "{said}");
    for (given, missing) in [
        (",+bpf", "CAP_PERFMON"),
        (",+perfmon", "CAP_BPF"),
        ("", "CAP_BPF and CAP_PERFMON"),
    ] {
        let Some(said) = run_with(given, "rights::refuses") else {
            return;
        };
        let wanted = format!("loading eBPF programs needs {missing} (run as root, or: setcap cap_bpf,cap_perfmon+ep ");
        assert!(said.contains(&wanted), "{given}: {said}");
    }
}

#[test]
#[ignore = "run by the test above, with the rights it is about"]
fn starts_and_records() {
    assert!(!has(Capability::SysAdmin));
    let recorder = FlightRecorder::start().expect("two capabilities are enough");
    let sleeper = RtThread {
        policy: Policy::Other,
        cpu: Some(cpu()),
        stack_bytes: 0,
    };
    sleeper.enter().expect("a CPU of its own");
    for _ in 0..20 {
        std::thread::sleep(std::time::Duration::from_millis(2));
    }
    assert!(recorder.events_recorded().expect("a count") > 0);
    let now = sys::clock::monotonic();
    let snapshot = recorder.snapshot(cpu(), now - 40_000_000, now).expect("a snapshot");
    assert!(!snapshot.events.is_empty());
}

#[test]
#[ignore = "run by the test above, with the rights it is about"]
fn refuses() {
    let error = FlightRecorder::start().err().expect("rights are missing");
    let line = format!("{error}\n");
    let _ = std::io::Write::write_all(&mut std::io::stderr(), line.as_bytes());
    assert!(matches!(error, TraceError::MissingCapability { .. }));
}
