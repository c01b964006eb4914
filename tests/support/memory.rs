//! Memory of the binary.

use super::{start, wait};
use std::process::Output;
use std::time::Duration;

/// Memory that docs/measured.md promises for a run and its report, in KiB, in addition to the memory of a plan's loads.
pub const MOST_KIB: u64 = 128 << 10;

/// Runs the binary to its end; returns its largest memory in KiB, except in its last 10 ms.
///
/// # Panics
/// As of [`super::run`].
pub fn run_with_peak(arguments: &[&str]) -> (Output, u64) {
    let child = start(arguments);
    let process = child.id();
    let watching = std::thread::spawn(move || most_kib(process));
    let output = wait(child, arguments);
    (output, watching.join().expect("no panic"))
}

/// The largest memory of a process in KiB: read until it has ended.
fn most_kib(process: u32) -> u64 {
    let mut most = 0;
    while let Some(kib) = peak_kib(process) {
        most = kib;
        std::thread::sleep(Duration::from_millis(10));
    }
    most
}

/// The largest memory of a process so far, in KiB; `None` if it has ended.
fn peak_kib(process: u32) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    peak.trim().trim_end_matches(" kB").parse().ok()
}
