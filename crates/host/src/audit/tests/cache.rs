use super::tree::{HOST, outcome_of};
use crate::audit::finding::Outcome::{Fail, NotApplicable, Pass, Unknown};

/// A machine whose cache of twelve ways is divided: CPUs 2 and 3 have eight of them.
fn divided() -> Vec<(&'static str, &'static str)> {
    let more = [
        ("proc/cpuinfo", "vendor_id : GenuineIntel\nflags : fpu tsc cat_l3\n"),
        ("sys/class/net/lo/ifindex", "1\n"),
        ("sys/devices/system/cpu/cpu0/cache/index3/size", "12288K\n"),
        ("sys/fs/resctrl/schemata", "    L3:0=f00\n    MB:0=100\n"),
        ("sys/fs/resctrl/cpus_list", "0-1\n"),
        ("sys/fs/resctrl/rt/schemata", "    L3:0=0ff\n    MB:0=100\n"),
        ("sys/fs/resctrl/rt/cpus_list", "2-3\n"),
        ("sys/fs/resctrl/info/L3/cbm_mask", "fff\n"),
        ("sys/fs/resctrl/info/L3/min_cbm_bits", "2\n"),
        ("sys/fs/resctrl/info/L3/shareable_bits", "0\n"),
        ("sys/fs/resctrl/info/L3/num_closids", "16\n"),
        ("proc/2/comm", "kthreadd\n"),
        (".answers/l3-masks", "f00 ff fff fff\n"),
    ];
    let rest = HOST.into_iter().filter(|(path, _)| *path != "proc/cpuinfo");
    rest.chain(more).collect()
}

const OURS: &str = "sys/fs/resctrl/rt/schemata";
const DEFAULT: &str = "sys/fs/resctrl/schemata";

#[test]
fn real_time_cpus_have_cache_of_their_own() {
    let id = "cat-partition";
    assert_eq!(outcome_of(&divided(), &[], id), Pass);
    assert_eq!(
        outcome_of(&divided(), &[(DEFAULT, "L3:0=fff\n")], id),
        Fail,
        "the default group keeps all"
    );
    assert_eq!(
        outcome_of(&divided(), &[("sys/fs/resctrl/rt/cpus_list", "2\n")], id),
        Fail
    );
    assert_eq!(
        outcome_of(&divided(), &[("sys/fs/resctrl/rt/cpus_list", "1-3\n")], id),
        Fail
    );
    assert_eq!(outcome_of(&divided(), &[(OURS, "rubbish\nL3\n")], id), Unknown);
    // Bits that devices fill too do not count as an overlap.
    let shareable = ("sys/fs/resctrl/info/L3/shareable_bits", "f00\n");
    assert_eq!(outcome_of(&divided(), &[(OURS, "L3:0=1ff\n")], id), Fail);
    assert_eq!(outcome_of(&divided(), &[(OURS, "L3:0=1ff\n"), shareable], id), Pass);
    // Virtual CPUs that libvirt put into a group by their tasks.
    let tasks = [
        ("sys/fs/resctrl/rt/cpus_list", "\n"),
        ("sys/fs/resctrl/rt/tasks", "70\n71\n"),
        ("proc/70/status", "Cpus_allowed_list:\t2\n"),
        ("proc/71/status", "Cpus_allowed_list:\t3\n"),
    ];
    assert_eq!(outcome_of(&divided(), &tasks, id), Pass);
    assert_eq!(outcome_of(&HOST, &[], id), NotApplicable);
    let unmounted: Vec<_> = divided()
        .into_iter()
        .filter(|(path, _)| !path.contains("resctrl"))
        .collect();
    assert_eq!(outcome_of(&unmounted, &[], id), Fail);
}

#[test]
fn masks_are_legal() {
    let id = "cat-masks-legal";
    assert_eq!(outcome_of(&divided(), &[], id), Pass);
    assert_eq!(outcome_of(&divided(), &[(DEFAULT, "L3:0=f0f\n")], id), Fail);
    assert_eq!(
        outcome_of(
            &divided(),
            &[(DEFAULT, "L3:0=f0f\n"), ("sys/fs/resctrl/info/L3/sparse_masks", "1\n")],
            id
        ),
        Pass
    );
    assert_eq!(outcome_of(&divided(), &[(DEFAULT, "L3:0=800\n")], id), Fail);
    assert_eq!(
        outcome_of(&divided(), &[("sys/fs/resctrl/info/L3/shareable_bits", "0c0\n")], id),
        Fail
    );
    assert_eq!(
        outcome_of(&divided(), &[("sys/fs/resctrl/info/L3/num_closids", "1\n")], id),
        Fail
    );
    assert_eq!(outcome_of(&HOST, &[], id), NotApplicable);
}

#[test]
fn nobody_else_divides_the_cache() {
    let id = "cat-single-owner";
    assert_eq!(outcome_of(&divided(), &[], id), Pass);
    assert_eq!(outcome_of(&divided(), &[("proc/80/comm", "pqos\n")], id), Fail);
    assert_eq!(
        outcome_of(
            &divided(),
            &[("etc/rc.local", "#!/bin/sh\nwrmsr -p 1 0xC8F 0x100000000\n")],
            id
        ),
        Fail
    );
    assert_eq!(outcome_of(&divided(), &[("etc/rc.local", "# wrmsr 0xc8f\n")], id), Pass);
    assert_eq!(
        outcome_of(&divided(), &[(".answers/l3-masks", "f00 3f fff\n")], id),
        Fail
    );
    let blind: Vec<_> = divided()
        .into_iter()
        .filter(|(path, _)| !path.starts_with('.'))
        .collect();
    assert_eq!(outcome_of(&blind, &[], id), Unknown);
}

#[test]
fn graphics_of_the_processor_are_idle() {
    let id = "igpu-idle";
    let screen = |status: &'static str| {
        [
            ("sys/class/net/lo/ifindex", "1\n"),
            ("sys/bus/pci/drivers/i915/x", "\n"),
            (
                "sys/class/drm/card0/device/driver",
                "->../../../../bus/pci/drivers/i915",
            ),
            ("sys/class/drm/card0/device/power/runtime_status", "active\n"),
            ("sys/class/drm/card0-DP-1/status", status),
        ]
    };
    assert_eq!(outcome_of(&HOST, &screen("connected\n"), id), Fail);
    assert_eq!(outcome_of(&HOST, &screen("disconnected\n"), id), Pass);
    assert_eq!(outcome_of(&HOST, &screen("connected\n")[..1], id), Pass);
    assert_eq!(outcome_of(&HOST, &[], id), Unknown, "a tree without /sys/class");
}
