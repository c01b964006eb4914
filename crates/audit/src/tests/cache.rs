use super::tree::{HOST, changed, finding, outcome_of};
use crate::finding::Outcome::{Fail, NotApplicable, Pass, Unknown, Warn};
use crate::parameters::Parameters;

/// A machine with a divided cache of twelve ways: CPUs 2 and 3 have eight of them.
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
    // Bits that devices also fill do not count as an overlap.
    let shareable = ("sys/fs/resctrl/info/L3/shareable_bits", "f00\n");
    assert_eq!(outcome_of(&divided(), &[(OURS, "L3:0=1ff\n")], id), Fail);
    assert_eq!(outcome_of(&divided(), &[(OURS, "L3:0=1ff\n"), shareable], id), Pass);
    // Virtual CPUs whose tasks libvirt put into a group.
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
    let amd = ("proc/cpuinfo", "vendor_id : AuthenticAMD\nflags : tsc cat_l3\n");
    assert_eq!(outcome_of(&divided(), &[(DEFAULT, "L3:0=f0f\n"), amd], id), Pass);
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

/// Registers as the Welotec/Red Hat guide writes them.
#[test]
fn masks_in_registers_are_tolerated_while_no_group_rewrites_them() {
    let id = "cat-partition";
    let alone = |path: &str| !path.starts_with("sys/fs/resctrl") && !path.starts_with('.');
    let alone: Vec<_> = divided().into_iter().filter(|(path, _)| alone(path)).collect();
    let beside = ["2", "3"].map(|cpu| format!("sys/devices/system/cpu/cpu{cpu}/cache/index3/shared_cpu_list"));
    let of = |masks| {
        let answer = (".answers/l3-classes", masks);
        let cores = beside.iter().map(|path| (path.as_str(), "0-3\n"));
        outcome_of(&alone, &cores.chain([answer]).collect::<Vec<_>>(), id)
    };
    assert_eq!(of("0 f00\n1 f00\n2 ff\n3 ff\n"), Warn);
    assert_eq!(of("0 f00\n1 ff\n2 ff\n3 ff\n"), Fail);
    assert_eq!(of("0 f00\n2 ff\n3 ff\n"), Fail, "nobody knows of CPU 1");
    assert_eq!(of("0 0\n1 0\n2 0\n3 0\n"), Fail, "no mask");
    assert_eq!(of("rubbish"), Fail);
    assert_eq!(outcome_of(&alone, &[], id), Fail);
    let of_welotec = |masks| {
        let answer = (".answers/l3-classes", masks);
        let cores = beside.iter().map(|path| (path.as_str(), "0-3\n"));
        let parameters = Parameters {
            profile: Some("welotec".to_owned()),
            ..Parameters::default()
        };
        finding(
            &changed(&alone, &cores.chain([answer]).collect::<Vec<_>>()),
            &parameters,
            id,
        )
        .outcome
    };
    assert_eq!(of_welotec("0 f00\n1 f00\n2 f00\n3 ff\n"), Warn, "the guest's first");
    assert_eq!(of_welotec("0 f00\n1 f00\n2 f00\n3 f00\n"), Fail);
    let answer = (".answers/l3-classes", "0 f00\n1 f00\n2 ff\n3 ff\n");
    let shared = [
        answer,
        (DEFAULT, "L3:0=fff\n"),
        (&beside[0], "0-3\n"),
        (&beside[1], "0-3\n"),
    ];
    assert_eq!(outcome_of(&divided(), &shared, id), Fail, "resctrl is mounted");
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

#[test]
fn others_do_not_have_all_of_the_memory_bandwidth() {
    let id = "mba-others-limited";
    let with_flag = ("proc/cpuinfo", "vendor_id : GenuineIntel\nflags : fpu tsc cat_l3 mba\n");
    let of = |more: &[(&str, &str)]| outcome_of(&divided(), &[&[with_flag], more].concat(), id);
    let limited = (DEFAULT, "    L3:0=f00\n    MB:0= 50\n");
    assert_eq!(of(&[]), Fail, "the default group has all");
    assert_eq!(of(&[limited]), Pass);
    let held_back = (OURS, "    L3:0=0ff\n    MB:0= 50\n");
    assert_eq!(of(&[limited, held_back]), Fail, "real-time CPUs are held back too");
    assert_eq!(of(&[limited, ("sys/fs/resctrl/rt/cpus_list", "2\n")]), Fail);
    assert_eq!(of(&[(DEFAULT, "L3:0=f00\nMB:0=2048\n")]), Unknown, "no percent");
    assert_eq!(of(&[(DEFAULT, "L3:0=f00\n")]), Unknown);
    assert_eq!(outcome_of(&divided(), &[], id), NotApplicable, "without the flag");
    let unmounted: Vec<_> = divided()
        .into_iter()
        .filter(|(path, _)| !path.contains("resctrl"))
        .collect();
    assert_eq!(outcome_of(&unmounted, &[with_flag], id), Fail);
}
