//! CPU partitions by control groups of version 2, tested in guests, because this machine may have only version 1.

use crate::machine::{Kernel, alone};
use store::RunFile;
use support::root_or_skip;

/// Checks the partitions of a killed measurement and of the next one in a guest with this kernel.
fn assert_parted(test: &str, kernel: Kernel) {
    if !root_or_skip(test) {
        return;
    }
    let left = match alone(kernel) {
        Ok(left) => left,
        Err(why) => return testing::skip(test, why),
    };
    let text = |name: &str| left.text(&format!("cpu-sets/{name}"));
    let (before, meanwhile) = (text("before"), text("meanwhile"));
    assert!(
        before.contains("others: \n") && before.contains("Cpus_allowed_list:\t0-1\n"),
        "{before}"
    );
    for line in [
        "others: /sys/fs/cgroup/triptime-others",
        "controllers: cpuset",
        "system: 0",
        "user: 0",
        // Its process was set to CPU 1.
        "machine: \n",
        "Cpus_allowed_list:\t0\n",
        "Cpus_allowed_list:\t1",
    ] {
        assert!(meanwhile.contains(line), "{line}: {meanwhile}");
    }
    assert_eq!(text("own"), "0::/", "it measures from the top group");
    // The first was killed; the second undid the changes of the first, and then its own.
    let back = match kernel {
        Kernel::Rt612 => before,
        // The kernel does not accept an empty set for a group with members, which then gets all CPUs.
        Kernel::Rt61 | Kernel::Rt510 => before
            .replace("system: \n", "system: 0-1\n")
            .replace("user: \n", "user: 0-1\n"),
    };
    assert_eq!(text("after"), back, "left behind");
    let status = text("second.status");
    assert!(["1", "3"].contains(&status.as_str()), "{status}: {}", left.console);
    let run = RunFile::open(&left.path("cpu-sets/second.triptime")).expect("a run");
    let facts = run.facts().expect("facts");
    let fact = |name: &str| {
        let of = |fact: &&model::Fact| fact.group == "partition of control groups" && fact.name == name;
        let found = facts.iter().find(of).and_then(|fact| fact.value.clone().ok());
        found.unwrap_or_else(|| panic!("no {name}: {facts:#?}"))
    };
    assert_eq!(fact("kept apart"), "cpu 1");
    assert!(fact("load balancing").starts_with("over all CPUs"));
    assert_eq!(
        fact("groups that keep their CPUs"),
        "1: machine.slice (sleep has chosen its CPUs)"
    );
    let series = run.series().expect("series");
    let windows = run.windows(series[0].0).expect("windows");
    let samples: u64 = windows.iter().map(|window| window.counters.received).sum();
    assert!(samples > 50, "{samples} of {}", series[0].1.name);
}

#[test]
fn cpus_are_kept_apart_by_control_groups_of_version_2() {
    assert_parted("cpus_are_kept_apart_by_control_groups_of_version_2", Kernel::Rt612);
}

#[test]
fn cpus_are_kept_apart_by_an_older_kernel() {
    assert_parted("cpus_are_kept_apart_by_an_older_kernel", Kernel::Rt510);
}
