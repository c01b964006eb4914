use super::tree::{each, finding, judged, on, tree};
use crate::finding::Outcome::{Fail, NotApplicable, Pass, Unknown, Warn};
use crate::parameters::{Parameters, Workload};

const ONLINE: (&str, &str) = ("sys/devices/system/cpu/online", "0-3\n");
const ISOLATED: (&str, &str) = ("sys/devices/system/cpu/isolated", "2-3\n");
const NONE_ISOLATED: (&str, &str) = ("sys/devices/system/cpu/isolated", "\n");
const MOUNTS: (&str, &str) = (
    "proc/self/mountinfo",
    "30 1 0:20 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n",
);
const MOUNTS_1: (&str, &str) = (
    "proc/self/mountinfo",
    "30 1 0:20 / /sys/fs/cgroup/cpuset rw - cgroup cgroup rw,cpuset\n",
);
const CONTROLLERS: (&str, &str) = ("sys/fs/cgroup/cgroup.controllers", "cpuset cpu io\n");

#[test]
fn online() {
    let id = "rt-cpus-online";
    each(&[ONLINE], &on("2-3"), id, &[(&[], Pass)]);
    each(&[ONLINE], &on("2-4"), id, &[(&[], Fail)]);
    each(&[], &on("2-3"), id, &[(&[], Unknown)]);
    let own: &[(&[(&str, &str)], _)] = &[
        (&[ISOLATED], Pass),
        (&[NONE_ISOLATED], Fail),
        // Without this file, the reserved CPUs are unknown.
        (&[], Unknown),
        (&[("sys/devices/system/cpu/isolated", "x")], Unknown),
    ];
    each(&[ONLINE], &Parameters::default(), id, own);
}

#[test]
fn isolated() {
    let partition: &[(&str, &str)] = &[
        NONE_ISOLATED,
        MOUNTS,
        CONTROLLERS,
        ("sys/fs/cgroup/machine.slice/cpuset.cpus.partition", "isolated\n"),
        ("sys/fs/cgroup/machine.slice/cpuset.cpus.effective", "2-3\n"),
    ];
    let invalid: &[(&str, &str)] = &[
        NONE_ISOLATED,
        MOUNTS,
        CONTROLLERS,
        (
            "sys/fs/cgroup/machine.slice/cpuset.cpus.partition",
            "isolated invalid (Cpu list not exclusive)\n",
        ),
        ("sys/fs/cgroup/machine.slice/cpuset.cpus.effective", "2-3\n"),
    ];
    let balanced: &[(&str, &str)] = &[
        NONE_ISOLATED,
        MOUNTS_1,
        ("sys/fs/cgroup/cpuset/cpuset.sched_load_balance", "1\n"),
    ];
    let unbalanced: &[(&str, &str)] = &[
        NONE_ISOLATED,
        MOUNTS_1,
        ("sys/fs/cgroup/cpuset/cpuset.sched_load_balance", "0\n"),
        ("sys/fs/cgroup/cpuset/system/cpuset.sched_load_balance", "1\n"),
        ("sys/fs/cgroup/cpuset/system/cpuset.cpus", "0-1\n"),
    ];
    let cases: &[(&[(&str, &str)], _)] = &[
        (&[ISOLATED], Pass),
        (&[("sys/devices/system/cpu/isolated", "2\n")], Fail),
        (&[NONE_ISOLATED], Fail),
        (&[], Unknown),
        (partition, Pass),
        (invalid, Fail),
        (balanced, Fail),
        (unbalanced, Pass),
        (
            &[
                NONE_ISOLATED,
                MOUNTS,
                CONTROLLERS,
                ("sys/fs/cgroup/cpuset.cpus.isolated", "2-3\n"),
            ],
            Pass,
        ),
        // The argument alone proves nothing.
        (&[NONE_ISOLATED, ("proc/cmdline", "isolcpus=managed_irq,2-3\n")], Fail),
    ];
    each(&[ONLINE], &on("2-3"), "cpu-isolated", cases);
    let nobody = &[(&[NONE_ISOLATED] as &[_], Fail), (&[ISOLATED], Pass)];
    each(&[ONLINE], &Parameters::default(), "cpu-isolated", nobody);
    let valid: &[(&[(&str, &str)], _)] = &[(partition, Pass), (invalid, Fail), (unbalanced, NotApplicable)];
    each(&[ONLINE], &on("2-3"), "cpuset-partition-valid", valid);
}

#[test]
fn who_audits_need_not_be_let_on_real_time_cpus() {
    let files = [
        ONLINE,
        ISOLATED,
        MOUNTS,
        CONTROLLERS,
        ("proc/self/cgroup", "0::/user.slice\n"),
        ("sys/fs/cgroup/user.slice/cpuset.cpus.effective", "0-1\n"),
    ];
    assert_eq!(judged(&files, &Parameters::default(), "cpu-isolated").0, Pass);
}

#[test]
fn housekeeping() {
    let id = "housekeeping-cpus";
    let nodes = [
        ("sys/devices/system/node/node0/cpulist", "0-1\n"),
        ("sys/devices/system/node/node1/cpulist", "2-3\n"),
        ("sys/devices/system/node/node2/cpulist", "\n"),
    ];
    each(&[ONLINE], &on("2-3"), id, &[(&[], Pass), (&nodes, Fail)]);
    each(&[ONLINE], &on("1,3"), id, &[(&nodes, Pass)]);
    each(&[ONLINE], &on("0"), id, &[(&[], Fail)]);
    each(
        &[ONLINE, NONE_ISOLATED],
        &Parameters::default(),
        id,
        &[(&[], NotApplicable)],
    );
    each(
        &[("sys/devices/system/cpu/online", "0-63\n")],
        &on("2-63"),
        id,
        &[(&[], Fail)],
    );
    each(
        &[ONLINE],
        &on("2-3"),
        id,
        &[(&[("sys/devices/system/node/node0/cpulist", "x")], Unknown)],
    );
}

#[test]
fn adaptive_ticks() {
    let id = "nohz-full-fits-workload";
    let spinning = Parameters {
        workload: Workload::BusyPoll,
        ..on("2-3")
    };
    let file = "sys/devices/system/cpu/nohz_full";
    let cases: &[(&[(&str, &str)], _)] = &[
        (&[(file, "2-3\n")], Pass),
        (&[(file, "2\n")], Fail),
        (&[(file, "(null)\n")], Fail),
        (&[(file, "\n")], Fail),
        (&[], Fail),
        (&[(file, "x\n")], Unknown),
    ];
    each(&[ONLINE], &spinning, id, cases);
    each(&[ONLINE], &on("2-3"), id, &[(&[], NotApplicable)]);
}

#[test]
fn workqueues() {
    let file = "sys/devices/virtual/workqueue/cpumask";
    let cases: &[(&[(&str, &str)], _)] = &[
        (&[(file, "3\n")], Pass),
        // A single queue's mask is within the common mask.
        (
            &[
                (file, "3\n"),
                ("sys/devices/virtual/workqueue/writeback/cpumask", "f\n"),
            ],
            Pass,
        ),
        (&[(file, "00000000,0000000f\n")], Fail),
        (&[(file, "zz\n")], Unknown),
        (&[], Unknown),
    ];
    each(&[ONLINE], &on("2-3"), "workqueue-cpumask", cases);
    each(
        &[ONLINE, NONE_ISOLATED],
        &Parameters::default(),
        "workqueue-cpumask",
        &[(&[(file, "f\n")], Fail)],
    );
}

#[test]
fn slices() {
    let id = "systemd-slices-cpus";
    let systemd = ("proc/1/comm", "systemd\n");
    let base = [
        ONLINE,
        MOUNTS,
        CONTROLLERS,
        systemd,
        ("sys/fs/cgroup/cpuset.cpus.effective", "0-3\n"),
    ];
    let (scope, system, machine, real_time) = (
        "sys/fs/cgroup/init.scope/cpuset.cpus.effective",
        "sys/fs/cgroup/system.slice/cpuset.cpus.effective",
        "sys/fs/cgroup/machine.slice/cpuset.cpus.effective",
        "sys/fs/cgroup/machine.slice/machine-rt.slice/cpuset.cpus.effective",
    );
    let kept: &[(&str, &str)] = &[(scope, "0-1\n"), (system, "0-1\n")];
    let without_files = [
        ("sys/fs/cgroup/init.scope/cgroup.procs", "1\n"),
        ("sys/fs/cgroup/system.slice/cgroup.procs", "\n"),
    ];
    let cases: &[(&[(&str, &str)], _)] = &[
        (kept, Pass),
        (&[(scope, "0-1\n"), (system, "0-3\n")], Fail),
        (&[(scope, "0-1\n"), (system, "0-1\n"), (machine, "0-3\n")], Pass),
        (&[(scope, "0-1\n"), (system, "0-1\n"), (machine, "0-1\n")], Fail),
        (&[kept[0], kept[1], (machine, "0-3\n"), (real_time, "2-3\n")], Pass),
        (&[kept[0], kept[1], (machine, "0-3\n"), (real_time, "0-1\n")], Fail),
        (&without_files, Fail),
        (&[], Unknown),
    ];
    each(&base, &on("2-3"), id, cases);
    let other = [ONLINE, MOUNTS, CONTROLLERS, ("proc/1/comm", "init\n")];
    each(&other, &on("2-3"), id, &[(&[], NotApplicable)]);
    let welotec = Parameters {
        profile: Some("welotec".to_owned()),
        ..on("2-3")
    };
    each(&base, &welotec, id, &[(&without_files, Warn)]);
}

#[test]
fn siblings() {
    let id = "smt-siblings";
    let metal = (
        "proc/cpuinfo",
        "processor\t: 0\nvendor_id\t: GenuineIntel\nflags\t\t: fpu tsc\n",
    );
    let two = ("sys/devices/system/cpu/cpu2/topology/thread_siblings_list", "0,2\n");
    let three = ("sys/devices/system/cpu/cpu3/topology/thread_siblings_list", "1,3\n");
    let active = ("sys/devices/system/cpu/smt/active", "1\n");
    let off = ("sys/devices/system/cpu/smt/active", "0\n");
    let alone = [
        ("sys/devices/system/cpu/cpu2/topology/thread_siblings_list", "2\n"),
        ("sys/devices/system/cpu/cpu3/topology/thread_siblings_list", "3\n"),
    ];
    let cases: &[(&[(&str, &str)], _)] = &[
        (&[off], Pass),
        (&[active, two, three], Fail),
        (&alone, Pass),
        (&[active], Unknown),
    ];
    each(&[ONLINE, metal], &on("2-3"), id, cases);
    let parts = finding(&tree(&[ONLINE, metal, active, two, three]), &on("2-3"), id).parts;
    assert_eq!(parts.len(), 2, "each CPU is asked");
}

#[test]
fn topology() {
    let id = "rt-cpu-topology";
    let cache = |cpu: u32, peers: &str| {
        let folder = format!("sys/devices/system/cpu/cpu{cpu}");
        [
            (format!("{folder}/topology/thread_siblings_list"), format!("{cpu}\n")),
            (format!("{folder}/cache/index0/level"), "1\n".to_owned()),
            (format!("{folder}/cache/index2/level"), "2\n".to_owned()),
            (format!("{folder}/cache/index2/shared_cpu_list"), peers.to_owned()),
        ]
    };
    let own = [cache(2, "2-3\n"), cache(3, "2-3\n")].concat();
    let shared = [cache(2, "1-2\n"), cache(3, "3\n")].concat();
    let (own, shared) = (
        super::process_table::borrowed(&own),
        super::process_table::borrowed(&shared),
    );
    let plus = |more: &[(&'static str, &'static str)]| [own.clone(), more.to_vec()].concat();
    let mixed = plus(&[
        ("sys/devices/cpu_core/cpus", "0-2\n"),
        ("sys/devices/cpu_atom/cpus", "3\n"),
    ]);
    let split = plus(&[
        ("sys/devices/system/node/node0/cpulist", "0-2\n"),
        ("sys/devices/system/node/node1/cpulist", "3\n"),
    ]);
    let cases: &[(&[(&str, &str)], _)] = &[
        (&own, Pass),
        (&shared, Fail),
        (&mixed, Fail),
        (&split, Fail),
        (&[], Unknown),
    ];
    each(&[ONLINE], &on("2-3"), id, cases);
    let two_nodes = plus(&[
        ("sys/devices/system/node/node0/cpulist", "0-1\n"),
        ("sys/devices/system/node/node1/cpulist", "2-3\n"),
        ("sys/class/net/near/device/numa_node", "1\n"),
        ("sys/class/net/far/device/numa_node", "0\n"),
        ("sys/class/net/alone/device/numa_node", "-1\n"),
    ]);
    for (nic, expected) in [("near", Pass), ("far", Fail), ("alone", Pass)] {
        let parameters = Parameters {
            nics: vec![nic.to_owned()],
            ..on("2-3")
        };
        each(&[ONLINE], &parameters, id, &[(&two_nodes, expected)]);
    }
}
