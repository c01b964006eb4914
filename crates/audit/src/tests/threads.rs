//! Rules about the threads of a machine with four CPUs; 2 and 3 are for real-time work.

use super::process_table::{BOUND, KERNEL, Thread, borrowed, processes, thread};
use super::tree::{audit, each, judged, on, tree};
use crate::finding::Outcome::{self, Fail, NotApplicable, Pass, Unknown, Warn};
use crate::parameters::{Parameters, Workload};

const MACHINE: [(&str, &str); 4] = [
    ("sys/devices/system/cpu/online", "0-3\n"),
    ("sys/devices/system/cpu/possible", "0-3\n"),
    ("sys/devices/system/cpu/isolated", "2-3\n"),
    ("sys/kernel/rcu_expedited", "0\n"),
];
const RT: (&str, &str) = ("proc/sys/kernel/version", "#1 SMP PREEMPT_RT Mon\n");
const OTHER: (u32, u32) = (0, 0);

fn ask(id: &str, parameters: &Parameters, threads: &[Thread], more: &[(&str, &str)]) -> (Outcome, String) {
    let files = processes(threads);
    let all = [&MACHINE[..], &borrowed(&files), more].concat();
    judged(&all, parameters, id)
}

fn fifo(priority: u32) -> (u32, u32) {
    (1, priority)
}

#[test]
fn callbacks() {
    let id = "rcu-nocbs";
    let offload = |allowed: &'static str, cpu: u32| {
        [
            thread(20, "rcuop/2", KERNEL, OTHER, cpu, allowed),
            thread(21, "rcuop/3", KERNEL, OTHER, cpu, allowed),
            thread(22, "rcuog/0", KERNEL, OTHER, 0, allowed),
        ]
    };
    assert_eq!(ask(id, &on("2-3"), &offload("0-1", 0), &[]).0, Pass);
    assert_eq!(
        ask(id, &on("2-3"), &offload("0-3", 0), &[]).0,
        Warn,
        "isolation keeps them away"
    );
    assert_eq!(ask(id, &on("2-3"), &offload("0-3", 2), &[]).0, Fail, "one ran there");
    assert_eq!(ask(id, &on("1-3"), &offload("0", 0), &[]).0, Fail, "CPU 1 has none");
    assert_eq!(ask(id, &on("2-3"), &[], &[]).0, Fail);
    let expedited = &[("sys/kernel/rcu_expedited", "1\n"), ("sys/kernel/rcu_normal", "0\n")];
    assert_eq!(ask(id, &on("2-3"), &offload("0-1", 0), expedited).0, Fail);
    // Without visible threads, the arguments can only show a failure.
    let by_arguments = |line| [&MACHINE[..], &[("proc/cmdline", line)]].concat();
    assert_eq!(judged(&by_arguments("rcu_nocbs=2-3\n"), &on("2-3"), id).0, Unknown);
    assert_eq!(judged(&by_arguments("quiet\n"), &on("2-3"), id).0, Fail);
}

/// Priorities for rcuc and ktimers above threads that may never sleep.
#[test]
fn wanted_priorities_follow_the_highest_thread_that_may_spin() {
    let of = |threads: &[Thread], parameters: &Parameters| {
        let files = processes(threads);
        let all = [&MACHINE[..], &borrowed(&files)].concat();
        let facts = audit(&tree(&all), parameters).facts;
        ["rcu.wanted-priority", "rcu.wanted-timer-priority"].map(|fact| {
            facts
                .get(None, fact)
                .map_or_else(|unknown| unknown.text, |value| value.to_string())
        })
    };
    let virtual_cpu = |priority, allowed| thread(30, "CPU 0/KVM", 0, fifo(priority), 2, allowed);
    assert_eq!(of(&[], &on("2-3")), ["4", "2"]);
    assert_eq!(of(&[virtual_cpu(50, "2")], &on("2-3")), ["53", "51"]);
    assert_eq!(
        of(&[virtual_cpu(50, "0-1")], &on("2-3")),
        ["4", "2"],
        "not on these CPUs"
    );
    let [high, _] = of(&[virtual_cpu(97, "2")], &on("2-3"));
    assert!(high.contains("lower it first"), "{high}");
    let relay = [thread(31, "relay", 0, fifo(60), 2, "2")];
    assert_eq!(of(&relay, &on("2-3")), ["4", "2"], "it sleeps");
    let spinning = Parameters {
        workload: Workload::BusyPoll,
        ..on("2-3")
    };
    assert_eq!(of(&relay, &spinning), ["63", "61"]);
}

#[test]
fn threads_of_the_kernel_above_those_that_spin() {
    let id = "rcu-softirq-thread-priority";
    let machine = |virtual_cpu: u32, rcuc: u32, ktimers: u32| {
        [
            thread(20, "rcuc/2", KERNEL | BOUND, fifo(rcuc), 2, "2"),
            thread(21, "ktimers/2", KERNEL | BOUND, fifo(ktimers), 2, "2"),
            thread(30, "CPU 0/KVM", 0, fifo(virtual_cpu), 2, "2"),
        ]
    };
    assert_eq!(ask(id, &on("2-3"), &machine(1, 4, 2), &[RT]).0, Pass);
    let (outcome, live) = ask(id, &on("2-3"), &machine(90, 10, 2), &[RT]);
    assert_eq!(outcome, Fail);
    assert!(
        live.contains("rcuc/2 (pid 20, fifo:10) on CPU 2 is not above CPU 0/KVM"),
        "{live}"
    );
    let alone = [thread(30, "CPU 0/KVM", 0, fifo(1), 2, "2")];
    assert_eq!(ask(id, &on("2-3"), &alone, &[RT]).0, Unknown, "no rcuc in sight");
    let periodic = [
        thread(20, "rcuc/2", KERNEL | BOUND, fifo(1), 2, "2"),
        thread(30, "relay", 0, fifo(80), 2, "2"),
    ];
    assert_eq!(ask(id, &on("2-3"), &periodic, &[RT]).0, Pass, "it sleeps in between");
    let spinning = Parameters {
        workload: Workload::BusyPoll,
        ..on("2-3")
    };
    assert_eq!(ask(id, &spinning, &periodic, &[RT]).0, Fail);
    let ordinary = ("proc/sys/kernel/version", "#1 SMP PREEMPT_DYNAMIC\n");
    assert_eq!(ask(id, &on("2-3"), &machine(90, 1, 1), &[ordinary]).0, NotApplicable);
    assert_eq!(judged(&[&MACHINE[..], &[RT]].concat(), &on("2-3"), id).0, Unknown);
}

#[test]
fn strangers() {
    let id = "tasks-off-rt-cpus";
    let one = |name, flags, policy, cpu, allowed| [thread(30, name, flags, policy, cpu, allowed)];
    for (threads, expected, what) in [
        (one("cron", 0, OTHER, 0, "0-1"), Pass, "elsewhere"),
        (one("cron", 0, OTHER, 0, "0-2"), Pass, "kept away by isolation"),
        (one("cron", 0, OTHER, 2, "0-3"), Fail, "it ran there"),
        (one("kswapd0", KERNEL, OTHER, 2, "0-3"), Fail, "movable"),
        (one("kworker/2:1", KERNEL | BOUND, OTHER, 2, "2"), Pass, "bound"),
        (
            one("irq/38-eth0", KERNEL, fifo(50), 2, "2"),
            Pass,
            "the matter of another rule",
        ),
        (one("relay", 0, fifo(80), 2, "0-3"), Pass, "real-time"),
        (one("helper", 0, OTHER, 2, "2-3"), Pass, "put there"),
        (one("CPU 0/KVM", 0, OTHER, 2, "1-2"), Pass, "a virtual CPU"),
    ] {
        let (outcome, live) = ask(id, &on("2-3"), &threads, &[]);
        assert_eq!(outcome, expected, "{what}: {live}");
    }
    let not_isolated = [("sys/devices/system/cpu/isolated", "\n")];
    assert_eq!(
        ask(id, &on("2-3"), &one("cron", 0, OTHER, 0, "0-3"), &not_isolated).0,
        Fail
    );
    // If every CPU is a real-time CPU, a thread that runs only on them is no evidence.
    assert_eq!(ask(id, &on("0-3"), &one("cron", 0, OTHER, 2, "0-3"), &[]).0, Fail);
    each(&MACHINE, &on("2-3"), id, &[(&[], Unknown)]);
}

#[test]
fn users_of_a_cpu() {
    let id = "rt-cpu-single-actor";
    let two = |second: &'static str| {
        [
            thread(30, "CPU 0/KVM", 0, fifo(1), 2, "2"),
            thread(40, "relay", 0, fifo(80), 2, second),
        ]
    };
    let none = ("proc/irq/9/smp_affinity_list", "0\n");
    assert_eq!(ask(id, &on("2-3"), &two("3"), &[none]).0, Pass);
    assert_eq!(ask(id, &on("2-3"), &two("2"), &[none]).0, Fail);
    let service = [
        ("proc/30/cgroup", "0::/a/relay.service\n"),
        ("proc/40/cgroup", "0::/a/relay.service\n"),
        none,
    ];
    assert_eq!(ask(id, &on("2-3"), &two("2"), &service).0, Pass, "one service");
    let interrupt = [
        ("proc/irq/38/effective_affinity_list", "2\n"),
        ("proc/irq/38/eth0/x", ""),
    ];
    assert_eq!(ask(id, &on("2-3"), &two("3"), &interrupt).0, Warn);
    let unused = [("proc/irq/38/effective_affinity_list", "2\n")];
    assert_eq!(ask(id, &on("2-3"), &two("3"), &unused).0, Pass, "nobody handles it");
    assert_eq!(
        ask(id, &on("2-3"), &two("3"), &[]).0,
        Unknown,
        "interrupts are not known"
    );
}

#[test]
fn siblings_of_one_program() {
    let id = "smt-siblings";
    let metal = [
        (
            "proc/cpuinfo",
            "processor\t: 0\nvendor_id\t: GenuineIntel\nflags\t\t: fpu tsc\n",
        ),
        ("sys/devices/system/cpu/smt/active", "1\n"),
        ("sys/devices/system/cpu/cpu2/topology/thread_siblings_list", "2-3\n"),
        ("sys/devices/system/cpu/cpu3/topology/thread_siblings_list", "2-3\n"),
    ];
    let virtual_cpus = |second: u32| {
        let mut all = vec![thread(30, "CPU 0/KVM", 0, fifo(1), 2, "2")];
        all.push(Thread {
            pid: second,
            ..thread(31, "CPU 1/KVM", 0, fifo(1), 3, "3")
        });
        all.push(thread(40, "qemu", 0, OTHER, 0, "0-1"));
        all
    };
    assert_eq!(ask(id, &on("2-3"), &virtual_cpus(30), &metal).0, Pass);
    assert_eq!(ask(id, &on("2-3"), &virtual_cpus(40), &metal).0, Fail);
}

#[test]
fn services_that_inherit_the_cpus_of_process_1() {
    let slices = [
        (
            "proc/self/mountinfo",
            "30 1 0:20 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n",
        ),
        ("sys/fs/cgroup/cgroup.controllers", "cpuset\n"),
        ("proc/1/comm", "systemd\n"),
        ("sys/fs/cgroup/init.scope/cpuset.cpus.effective", "0-3\n"),
        ("sys/fs/cgroup/system.slice/cpuset.cpus.effective", "0-3\n"),
    ];
    assert_eq!(
        ask("systemd-slices-cpus", &on("2-3"), &[], &slices).0,
        Warn,
        "process 1 is kept on 0-1"
    );
}
