//! Folders and files that are missing from the tree but not from the machine.

use super::tree::{HOST, each, on};
use crate::finding::Outcome::{NotApplicable, Pass, Unknown};

/// A kernel with all folders that every kernel has.
const KERNEL: [(&str, &str); 2] = [
    ("sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages", "0\n"),
    ("proc/sys/vm/swappiness", "60\n"),
];
const OLD: (&str, &str) = ("proc/sys/kernel/osrelease", "4.18.0\n");
const NEW: (&str, &str) = ("proc/sys/kernel/osrelease", "6.12.8\n");
const CONFIG: &str = "boot/config-6.12.8";

type Cases<'a> = &'a [(&'a [(&'a str, &'a str)], crate::finding::Outcome)];

fn all(more: &[(&'static str, &'static str)], id: &str, cases: Cases<'_>) {
    let hardware = HOST.into_iter().filter(|(path, _)| !path.ends_with("osrelease"));
    let base: Vec<_> = hardware.chain(more.iter().copied()).collect();
    each(&base, &on("2-3"), id, cases);
}

#[test]
fn what_the_kernel_says_that_it_has_is_lost_where_it_is_missing() {
    let with_huge = ("proc/meminfo", "MemTotal: 9 kB\nAnonHugePages: 0 kB\n");
    let younger = ("proc/sys/vm/compaction_proactiveness", "0\n");
    let older = ("proc/sys/vm/compact_unevictable_allowed", "0\n");
    let cases: Cases<'_> = &[
        (&[NEW], Pass),
        (&[NEW, ("proc/meminfo", "MemTotal: 9 kB\n")], Pass),
        (&[NEW, with_huge], Unknown),
        (&[NEW, (CONFIG, "CONFIG_COMPACTION=y\n")], Unknown),
        (&[NEW, (CONFIG, "CONFIG_NUMA_BALANCING=y\n")], Unknown),
        (&[NEW, (CONFIG, "CONFIG_COMPACTION=y\n"), younger, older], Pass),
        (&[NEW, older], Unknown),
        (&[NEW, younger], Unknown),
        (&[OLD, older], Pass),
    ];
    all(&KERNEL, "mm-background-work", cases);
    all(
        &[NEW],
        "mm-background-work",
        &[(&KERNEL[..1], Unknown), (&KERNEL[1..], Unknown), (&KERNEL, Pass)],
    );
    let built = (CONFIG, "CONFIG_KSM=y\n");
    all(&KERNEL, "ksm-off", &[(&[NEW], NotApplicable), (&[NEW, built], Unknown)]);
}

#[test]
fn what_one_cpu_has_the_others_have_too() {
    let bias = "sys/devices/system/cpu/cpu2/power/energy_perf_bias";
    let other = "sys/devices/system/cpu/cpu3/power/energy_perf_bias";
    let driver = "sys/devices/system/cpu/intel_pstate/no_turbo";
    let platform = ("sys/firmware/acpi/platform_profile", "performance\n");
    let flag = ("proc/cpuinfo", "vendor_id : GenuineIntel\nflags : tsc epb vmx\n");
    let cases: Cases<'_> = &[
        (&[NEW], NotApplicable),
        (&[NEW, platform], Pass),
        (&[NEW, (bias, "0\n"), (other, "0\n")], Pass),
        (&[NEW, (bias, "0\n")], Unknown),
        (&[NEW, platform, flag], Unknown),
        (&[OLD, platform, flag], Pass),
        // A CPU without a policy while intel_pstate is active.
        (&[NEW, platform, (driver, "0\n")], Unknown),
    ];
    all(&[], "cpu-energy-hints", cases);
    let machine_check = "sys/devices/system/machinecheck/machinecheck2/check_interval";
    let cases: Cases<'_> = &[(&[NEW], NotApplicable), (&[NEW, (machine_check, "0\n")], Unknown)];
    all(&[], "mce-polling", cases);
}

#[test]
fn a_configuration_of_something_else_says_of_no_option_that_it_is_off() {
    let cases: Cases<'_> = &[
        (&[NEW, (CONFIG, "CONFIG_HZ=250\n")], Pass),
        (&[NEW, (CONFIG, "99999999\n")], Unknown),
    ];
    all(&[], "kernel-rt-group-sched", cases);
}

#[test]
fn nodes_of_memory_are_there_where_the_kernel_knows_them() {
    let cases: Cases<'_> = &[
        (&[NEW], Pass),
        (&[NEW, (CONFIG, "CONFIG_HZ=250\n")], Pass),
        (&[NEW, (CONFIG, "CONFIG_NUMA=y\n")], Unknown),
    ];
    all(&[], "housekeeping-cpus", cases);
}

#[test]
fn a_guest_that_can_poll_has_a_driver_for_its_idle_states() {
    let guest = [
        ("proc/cpuinfo", "vendor_id : GenuineIntel\nflags : tsc hypervisor\n"),
        ("proc/cmdline", "quiet\n"),
        ("sys/devices/system/cpu/online", "0-3\n"),
        NEW,
    ];
    let polls = ("sys/module/haltpoll/parameters/guest_halt_poll_ns", "200000\n");
    let cases: Cases<'_> = &[
        (&[], Pass),
        (&[polls], Unknown),
        (&[polls, ("proc/cmdline", "cpuidle.off=1\n")], Pass),
    ];
    each(&guest, &on("2-3"), "guest-idle-mode", cases);
}
