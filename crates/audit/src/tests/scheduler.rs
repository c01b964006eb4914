use super::process_table::{Thread, borrowed, processes, thread};
use super::tree::{each, judged, on};
use crate::finding::Outcome::{self, Fail, NotApplicable, Pass, Unknown, Warn};
use crate::parameters::{Parameters, Workload};

const ONLINE: (&str, &str) = ("sys/devices/system/cpu/online", "0-3\n");
const NEW: (&str, &str) = ("proc/sys/kernel/osrelease", "6.12.8\n");
const OLD: (&str, &str) = ("proc/sys/kernel/osrelease", "6.1.0\n");
/// Folders that every kernel has.
const MEMORY: [(&str, &str); 2] = [
    ("sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages", "0\n"),
    ("proc/sys/vm/swappiness", "60\n"),
];
const METAL: (&str, &str) = (
    "proc/cpuinfo",
    "processor\t: 0\nvendor_id\t: GenuineIntel\nflags\t\t: fpu tsc\n",
);

fn spinning() -> Parameters {
    Parameters {
        workload: Workload::BusyPoll,
        ..on("2-3")
    }
}

#[test]
fn budget() {
    let id = "rt-throttling";
    let file = "proc/sys/kernel/sched_rt_runtime_us";
    let spins: &[(&[(&str, &str)], _)] = &[
        (&[(file, "-1\n")], Pass),
        (&[(file, "1000000\n")], Pass),
        (&[(file, "950000\n")], Fail),
        (&[(file, "x\n")], Unknown),
        (&[], Unknown),
    ];
    each(&[ONLINE, OLD], &spinning(), id, spins);
    let sleeps: &[(&[(&str, &str)], _)] = &[
        (&[(file, "950000\n")], Pass),
        (&[(file, "500000\n")], Fail),
        (
            &[(file, "500000\n"), ("proc/sys/kernel/sched_rt_period_us", "500000\n")],
            Pass,
        ),
    ];
    each(&[ONLINE, OLD], &on("2-3"), id, sleeps);
    let off = ("boot/config-6.12.8", "CONFIG_HZ=250\n");
    let group = ("boot/config-6.12.8", "CONFIG_RT_GROUP_SCHED=y\n");
    each(
        &[ONLINE, NEW, (file, "950000\n")],
        &spinning(),
        id,
        &[
            (&[off], NotApplicable),
            (&[group], Fail),
            (&[group, ("proc/cmdline", "rt_group_sched=0\n")], Fail),
            (&[], Unknown),
        ],
    );
    // The kernel throttles as it is built, whether the groups are switched off or not.
    let switched_off = [
        ("proc/sys/kernel/osrelease", "6.16.0\n"),
        ("boot/config-6.16.0", "CONFIG_RT_GROUP_SCHED=y\n"),
        ("proc/cmdline", "rt_group_sched=0\n"),
        (file, "950000\n"),
    ];
    each(&[ONLINE], &spinning(), id, &[(&switched_off, Fail)]);
}

#[test]
fn fair_server() {
    let id = "dl-fair-server";
    let of = |value: &'static str| {
        [
            ("sys/kernel/debug/sched/fair_server/cpu2/runtime", "0\n"),
            ("sys/kernel/debug/sched/fair_server/cpu3/runtime", value),
        ]
    };
    let cases: &[(&[(&str, &str)], _)] = &[(&of("0\n"), Pass), (&of("50000000\n"), Fail), (&[], Unknown)];
    each(&[ONLINE, NEW], &spinning(), id, cases);
    each(&[ONLINE, OLD], &spinning(), id, &[(&[], NotApplicable)]);
    each(&[ONLINE, NEW], &on("2-3"), id, &[(&of("50000000\n"), NotApplicable)]);
}

#[test]
fn starving_threads() {
    let id = "starving-threads-guarded";
    let off = [
        ("sys/kernel/debug/sched/fair_server/cpu2/runtime", "0\n"),
        ("sys/kernel/debug/sched/fair_server/cpu3/runtime", "0\n"),
    ];
    let left_on = [off[0], (off[1].0, "50000000\n")];
    let stalld = ("proc/90/comm", "stalld\n");
    let seen = [ONLINE, NEW, ("proc/2/comm", "kthreadd\n")];
    let guarded = [off[0], off[1], stalld];
    each(
        &seen,
        &spinning(),
        id,
        &[(&off, Fail), (&guarded, Pass), (&left_on, Fail), (&[], Unknown)],
    );
    let throttled = ("proc/sys/kernel/sched_rt_runtime_us", "950000\n");
    let free = (throttled.0, "-1\n");
    let old = [ONLINE, OLD, seen[2]];
    each(
        &old,
        &spinning(),
        id,
        &[(&[throttled], NotApplicable), (&[free], Fail), (&[free, stalld], Pass)],
    );
    each(&seen, &on("2-3"), id, &[(&off, NotApplicable)]);
}

#[test]
fn timers() {
    let file = "proc/sys/kernel/timer_migration";
    let cases: &[(&[(&str, &str)], _)] = &[
        (&[(file, "0\n")], Pass),
        (&[(file, "1\n")], Fail),
        (&[(file, "1\n"), ("sys/devices/system/cpu/nohz_full", "2-3\n")], Pass),
        (&[(file, "?\n")], Unknown),
        (&[], NotApplicable),
    ];
    each(&[ONLINE, NEW], &on("2-3"), "timer-migration", cases);
}

#[test]
fn watchdogs() {
    let (whole, hard, soft, mask) = (
        "proc/sys/kernel/watchdog",
        "proc/sys/kernel/nmi_watchdog",
        "proc/sys/kernel/soft_watchdog",
        "proc/sys/kernel/watchdog_cpumask",
    );
    let cases: &[(&[(&str, &str)], _)] = &[
        (&[(whole, "0\n")], Pass),
        (&[(whole, "1\n"), (hard, "0\n"), (soft, "1\n"), (mask, "0-1\n")], Pass),
        (&[(whole, "1\n"), (hard, "0\n"), (soft, "1\n"), (mask, "0-3\n")], Fail),
        (&[(whole, "1\n"), (hard, "1\n"), (soft, "1\n"), (mask, "0-1\n")], Fail),
        (&[(whole, "1\n"), (soft, "1\n")], Unknown),
        (&[], NotApplicable),
    ];
    each(&[ONLINE, NEW], &on("2-3"), "lockup-watchdogs", cases);
    let untuned = [
        ("sys/devices/system/cpu/isolated", "\n"),
        (whole, "1\n"),
        (soft, "1\n"),
        (mask, "0-3\n"),
    ];
    each(
        &[ONLINE, NEW],
        &Parameters::default(),
        "lockup-watchdogs",
        &[(&untuned, Fail)],
    );
}

#[test]
fn statistics_of_memory() {
    let file = "proc/sys/vm/stat_interval";
    let isolated = ("sys/devices/system/cpu/isolated", "2-3\n");
    let cases: &[(&[(&str, &str)], _)] = &[
        (&[NEW, (file, "10\n")], Pass),
        (&[NEW, (file, "1\n")], Fail),
        (&[NEW, (file, "1\n"), isolated], Warn),
        (&[OLD, (file, "1\n"), isolated], Fail),
        (&[NEW], Unknown),
    ];
    each(&[ONLINE], &on("2-3"), "vmstat-interval", cases);
}

#[test]
fn work_on_pages() {
    let huge = "sys/kernel/mm/transparent_hugepage/enabled";
    let cases: &[(&[(&str, &str)], _)] = &[
        (&[], Pass),
        (&[(huge, "always [madvise] never\n")], Pass),
        (&[(huge, "[always] madvise never\n")], Fail),
        (&[(huge, "always madvise never\n")], Unknown),
        (&[("proc/sys/vm/compaction_proactiveness", "20\n")], Fail),
        (&[("proc/sys/vm/compact_unevictable_allowed", "1\n")], Fail),
        (&[("proc/sys/kernel/numa_balancing", "1\n")], Fail),
    ];
    let machine = [&[ONLINE, NEW][..], &MEMORY].concat();
    each(&machine, &on("2-3"), "mm-background-work", cases);
    // Files that are missing because the tree has no /proc or /sys are no evidence.
    each(&[ONLINE], &on("2-3"), "mm-background-work", &[(&[], Unknown)]);
}

#[test]
fn merged_pages() {
    let (run, shared) = ("sys/kernel/mm/ksm/run", "sys/kernel/mm/ksm/pages_shared");
    let cases: &[(&[(&str, &str)], _)] = &[
        (&[(run, "2\n"), (shared, "0\n")], Pass),
        (&[(run, "0\n"), (shared, "0\n")], Pass),
        (&[(run, "0\n"), (shared, "9\n")], Fail),
        (&[(run, "1\n"), (shared, "0\n")], Fail),
        (&[(run, "0\n")], Unknown),
        (&[], NotApplicable),
    ];
    let machine = [&[ONLINE, NEW, METAL][..], &MEMORY].concat();
    each(&machine, &on("2-3"), "ksm-off", cases);
}

fn with(threads: &[Thread], more: &[(&str, &str)], id: &str, profile: Option<&str>) -> (Outcome, String) {
    let files = processes(threads);
    let parameters = Parameters {
        profile: profile.map(str::to_owned),
        ..on("2-3")
    };
    judged(&[&[ONLINE, NEW], &borrowed(&files)[..], more].concat(), &parameters, id)
}

#[test]
fn policies() {
    let id = "rt-task-policy";
    let relay = |policy, allowed| [thread(30, "relay", 0, policy, 2, allowed)];
    for (policy, allowed, expected) in [
        ((1, 80), "2", Pass),
        ((1, 99), "2", Fail),
        ((2, 99), "0-3", Fail),
        ((1, 99), "0-1", NotApplicable),
        ((6, 0), "2-3", Pass),
        ((0, 0), "2-3", Fail),
        ((0, 0), "0-3", NotApplicable),
    ] {
        let (outcome, live) = with(&relay(policy, allowed), &[], id, None);
        assert_eq!(outcome, expected, "{policy:?} on {allowed}: {live}");
    }
    let with_helper = [
        thread(30, "relay", 0, (1, 80), 2, "2"),
        Thread {
            pid: 30,
            ..thread(31, "helper", 0, (0, 0), 3, "3")
        },
    ];
    assert_eq!(
        with(&with_helper, &[], id, None).0,
        Pass,
        "one of its threads has the policy"
    );
    each(&[ONLINE, NEW], &on("2-3"), id, &[(&[], Unknown)]);
}

/// Finding of the audit on these planned tasks.
fn planned(tasks: &[&str], threads: &[Thread], more: &[(&str, &str)]) -> (Outcome, String) {
    let files = processes(threads);
    let parameters = Parameters {
        tasks: tasks.iter().map(|task| task.parse().expect("a task")).collect(),
        ..on("2-3")
    };
    judged(
        &[&[ONLINE, NEW], &borrowed(&files)[..], more].concat(),
        &parameters,
        "rt-task-planned",
    )
}

#[test]
fn planned_tasks() {
    let relay = |policy, allowed| [thread(30, "relay", 0, policy, 2, allowed)];
    for (task, policy, allowed, expected) in [
        ("relay=fifo:80@2", (1, 80), "2", Pass),
        ("relay=fifo:80@2-3", (1, 80), "2", Pass),
        ("relay=fifo:80@2", (1, 80), "2-3", Fail),
        ("relay=fifo:80@2", (1, 50), "2", Fail),
        ("relay=fifo:80", (2, 80), "2", Fail),
        ("relay=fifo:80", (1, 80), "0-3", Pass),
        ("relay=@2", (0, 0), "2", Pass),
        ("rel*=fifo:80", (1, 80), "0-3", Pass),
        ("relays=fifo:80", (1, 80), "2", Fail),
    ] {
        let (outcome, live) = planned(&[task], &relay(policy, allowed), &[]);
        assert_eq!(outcome, expected, "{task}, {policy:?} on {allowed}: {live}");
    }
    let two = ["relay=fifo:80@2", "absent=fifo:80"];
    let (outcome, live) = planned(&two, &relay((1, 80), "2"), &[]);
    assert_eq!(outcome, Fail, "one of them does not run: {live}");
    let (_, live) = planned(&["relay=fifo:80@2"], &relay((0, 0), "0-3"), &[]);
    assert!(
        live.contains("relay (pid 30, other) on 0-3: fifo:80 on 2 is planned"),
        "{live}"
    );
    assert_eq!(planned(&[], &relay((1, 80), "2"), &[]).0, NotApplicable);
}

#[test]
fn planned_tasks_that_are_known_by_their_command_line() {
    let threads = [
        thread(30, "relay", 0, (1, 80), 2, "2"),
        Thread {
            pid: 30,
            ..thread(31, "helper", 0, (0, 0), 3, "3")
        },
    ];
    let line = ("proc/30/cmdline", "/usr/bin/relay\0--unit\x002\0");
    let first = ("proc/1/cmdline", "/sbin/init\0");
    let of = |task, files: &[(&str, &str)]| planned(&[task], &threads, files).0;
    assert_eq!(of("cmd:*relay --unit 2=fifo:80@2", &[line, first]), Pass);
    assert_eq!(of("cmd:*relay --unit 3=fifo:80@2", &[line, first]), Fail);
    assert_eq!(
        of("cmd:*relay --unit 2=fifo:80@2", &[first]),
        Unknown,
        "recorded without it"
    );
    let hidden = judged(
        &[ONLINE, NEW],
        &Parameters {
            tasks: vec!["relay=fifo:80".parse().expect("a task")],
            ..on("2-3")
        },
        "rt-task-planned",
    );
    assert_eq!(hidden.0, Unknown, "no thread can be seen");
}

#[test]
fn locked_memory() {
    let id = "rt-task-memory-locked";
    let status = |locked: u32, swapped: u32| {
        format!("Name:\trelay\nVmLck:\t{locked} kB\nVmRSS:\t1000 kB\nVmSwap:\t{swapped} kB\nCpus_allowed_list:\t2\n")
    };
    let relay = [thread(30, "relay", 0, (1, 80), 2, "2")];
    for (locked, swapped, expected) in [(1000, 0, Unknown), (899, 0, Fail), (1000, 4, Fail)] {
        let status = status(locked, swapped);
        let (outcome, live) = with(&relay, &[("proc/30/status", &status)], id, None);
        // Faults are counted on live machines only: here the best result is unknown.
        assert_eq!(outcome, expected, "{live}");
    }
    assert_eq!(with(&[], &[], id, None).0, NotApplicable);
}

#[test]
fn consoles() {
    let (levels, consoles) = ("proc/sys/kernel/printk", "proc/consoles");
    let serial = "tty0                 -WU (E  p  )    4:2\nttyS0                -W- (EC p a)    4:64\n";
    let cases: &[(&[(&str, &str)], _)] = &[
        (&[(levels, "3\t1\t1\t7\n"), (consoles, serial)], Pass),
        (&[(levels, "7 4 1 7\n"), (consoles, serial)], Fail),
        (&[(levels, "7 4 1 7\n"), (consoles, "tty0 -WU (EC p  ) 4:2\n")], Pass),
        (&[(levels, "7 4 1 7\n"), (consoles, "ttyS0 -W- (ECN a) 4:64\n")], Pass),
        (&[(levels, "7 4 1 7\n"), (consoles, "ttyS0 -W- ( p a) 4:64\n")], Pass),
        (&[(levels, "7 4 1 7\n"), (consoles, "")], Pass),
        (&[(levels, "7 4 1 7\n"), (consoles, "x\n")], Unknown),
        (&[(levels, "7 4 1 7\n")], Unknown),
    ];
    each(
        &[ONLINE, NEW, ("proc/cmdline", "quiet\n")],
        &on("2-3"),
        "printk-console-quiet",
        cases,
    );
    let switch = "sys/module/printk/parameters/ignore_loglevel";
    let (quiet, loud) = ((levels, "3\t1\t1\t7\n"), ("proc/cmdline", "quiet ignore_loglevel\n"));
    let cases: &[(&[(&str, &str)], _)] = &[
        (&[loud], Fail),
        (&[loud, (switch, "Y\n")], Fail),
        (&[loud, (switch, "N\n")], Pass),
        (&[("proc/cmdline", "quiet\n"), (switch, "Y\n")], Fail),
        (&[], Unknown),
    ];
    each(
        &[ONLINE, NEW, quiet, (consoles, serial)],
        &on("2-3"),
        "printk-console-quiet",
        cases,
    );
}

#[test]
fn split_locks() {
    let file = "proc/sys/kernel/split_lock_mitigate";
    let line = ("proc/cmdline", "quiet\n");
    let event = ".answers/kernel-log";
    let cases: &[(&[(&str, &str)], _)] = &[
        (&[line, (file, "0\n")], Pass),
        (&[(file, "1\n"), ("proc/cmdline", "split_lock_detect=off\n")], Pass),
        (&[line, (file, "1\n"), (event, "whole")], Pass),
        (
            &[
                line,
                (file, "1\n"),
                (event, "whole\n9 x86/split lock detection: y took a split_lock trap"),
            ],
            Warn,
        ),
        (&[line, (file, "1\n"), (event, "from 9")], Unknown),
        (&[line, (file, "1\n")], Unknown),
        (&[line], NotApplicable),
    ];
    each(&[ONLINE, NEW], &on("2-3"), "split-lock-penalty", cases);
}

#[test]
fn firmware_calls() {
    let efi = ("sys/firmware/efi/fw_platform_size", "64\n");
    let rt = ("proc/sys/kernel/version", "#1 SMP PREEMPT_RT\n");
    let ordinary = ("proc/sys/kernel/version", "#1 SMP PREEMPT_DYNAMIC\n");
    let (quiet, on_again) = (("proc/cmdline", "quiet\n"), ("proc/cmdline", "efi=debug,runtime\n"));
    let (queue, all) = (
        "sys/devices/virtual/workqueue/efi_runtime/cpumask",
        "sys/devices/virtual/workqueue/cpumask",
    );
    let cases: &[(&[(&str, &str)], _)] = &[
        (&[efi, rt, quiet], Pass),
        (&[efi, rt, on_again, (queue, "f\n"), (all, "f\n")], Fail),
        (&[efi, rt, on_again, (queue, "3\n"), (all, "f\n")], Pass),
        (&[efi, rt, on_again, (queue, "f\n"), (all, "3\n")], Pass),
        (&[efi, rt, on_again], Unknown),
        // Kernels up to 6.12 have no file for that queue.
        (&[efi, rt, on_again, (all, "f\n")], Fail),
        (&[efi, rt, on_again, (all, "3\n")], Pass),
        (&[efi, ordinary, quiet, (queue, "f\n"), (all, "f\n")], Fail),
        (&[efi, ordinary, ("proc/cmdline", "efi=noruntime\n")], Pass),
        (
            &[
                efi,
                ordinary,
                quiet,
                ("boot/config-6.12.8", "CONFIG_EFI_DISABLE_RUNTIME=y\n"),
            ],
            Pass,
        ),
        (&[rt, quiet], NotApplicable),
    ];
    each(&[ONLINE, NEW], &on("2-3"), "efi-runtime-calls", cases);
}

#[test]
fn machine_checks() {
    let of = |cpu: u32, interval: &str, ignored: &str| {
        let folder = format!("sys/devices/system/machinecheck/machinecheck{cpu}");
        [
            (format!("{folder}/check_interval"), interval.to_owned()),
            (format!("{folder}/ignore_ce"), ignored.to_owned()),
        ]
    };
    let (never, ignored, polled) = (of(2, "0\n", "0\n"), of(3, "12c\n", "1\n"), of(3, "12c\n", "0\n"));
    let good = [never.clone(), ignored].concat();
    let bad = [never, polled].concat();
    let cases: &[(&[(&str, &str)], _)] = &[(&borrowed(&good), Pass), (&borrowed(&bad), Fail), (&[], NotApplicable)];
    each(&[ONLINE, NEW, METAL], &on("2-3"), "mce-polling", cases);
}

#[test]
fn hardening() {
    let rt = ("proc/sys/kernel/version", "#1 SMP PREEMPT_RT\n");
    let ordinary = ("proc/sys/kernel/version", "#1 SMP PREEMPT_DYNAMIC\n");
    let line = |text| ("proc/cmdline", text);
    let flush = ("sys/module/kvm_intel/parameters/vmentry_l1d_flush", "always\n");
    let cases: &[(&[(&str, &str)], _)] = &[
        (&[rt, line("mitigations=auto\n")], Pass),
        (&[rt, line("slub_debug=-\n")], Pass),
        (&[rt, line("init_on_free=1 pti=on\n")], Warn),
        (&[rt, line("quiet\n"), flush], Warn),
        (&[rt, line("slub_debug=ZFP\n")], Fail),
        (&[rt, line("slub_debug\n")], Fail),
        (&[ordinary, line("slub_debug=P\n")], Warn),
        (&[rt], Unknown),
    ];
    each(&[ONLINE, NEW], &on("2-3"), "security-cost-declared", cases);
}
