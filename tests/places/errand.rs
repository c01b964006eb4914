//! A command in a guest of `lab guest`, whose host is asked about late samples.

use std::path::Path;
use store::RunFile;
use support::places::alone;
use support::stalls::{beside_stalls, told_by_the_host};
use support::{root_or_skip, run, stderr};

#[test]
fn a_command_in_a_guest_asks_its_host_too() {
    let test = "a_command_in_a_guest_asks_its_host_too";
    if !root_or_skip(test) {
        return;
    }
    let kernel = match support::guest::guest("6.12-rt") {
        Ok(folder) => folder.display().to_string(),
        Err(why) => return testing::skip(test, &why),
    };
    let cpus: Vec<u32> = sys::thread::allowed_cpus().iter().collect();
    let [first, .., last] = cpus[..] else {
        return testing::skip(test, "it needs two CPUs");
    };
    let _alone = alone();
    let folder = tempfile::tempdir().expect("a directory");
    let out = folder.path().join("run.triptime").display().to_string();
    // The stalls are on the last CPU, and so is the guest's measured one.
    let host_cpus = format!("{first},{last}");
    let guest = [
        "lab",
        "guest",
        "--accel",
        "tcg",
        "--kernel",
        &kernel,
        "--vcpus",
        "2",
        "--host-cpus",
        &host_cpus,
    ];
    let words = [
        "--out",
        &out,
        "wakeup",
        "--cpus",
        "1",
        "--duration",
        "6s",
        "--interval",
        "500us",
        "-q",
    ];
    let output = beside_stalls(40_000_000, || run(&[&guest[..], &words].concat()));
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let run = RunFile::open(Path::new(&out)).expect("a run");
    let (id, spec) = run.series().expect("series").remove(0);
    assert_eq!(spec.name, "wakeup/cpu1");
    let found = told_by_the_host(&run, id);
    assert!(found >= 5, "{found} spikes name the stall");
}
