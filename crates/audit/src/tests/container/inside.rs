//! Rules for containers, applied inside a container.

use super::naming;
use crate::finding::Outcome::{Fail, Pass, Unknown};
use crate::tests::tree::{finding, outcome, tree};

/// The inside of a container that podman made on control groups of version 2.
fn inside(changes: &[(&str, &str)]) -> tempfile::TempDir {
    let stat = "9 1 0:24 / /sys/fs/cgroup rw - cgroup2 cgroup rw\n1 0 0:30 / / rw - overlay overlay rw\n";
    let limits = "Limit  Soft Limit  Hard Limit  Units\nMax locked memory  unlimited  unlimited  bytes\nMax realtime priority  0  0\n";
    let files = [
        ("proc/1/comm", "relay\n"),
        ("proc/self/mountinfo", stat),
        ("proc/self/cgroup", "0::/\n"),
        (
            "proc/self/status",
            "CapEff:\t0000000000804000\nCpus_allowed_list:\t4-7\n",
        ),
        ("proc/self/limits", limits),
        ("proc/self/oom_score_adj", "-900\n"),
        ("proc/sys/kernel/osrelease", "6.12.0\n"),
        ("run/.containerenv", "\n"),
        ("sys/devices/system/cpu/online", "0-7\n"),
        ("sys/fs/cgroup/cpu.max", "max 100000\n"),
        ("sys/fs/cgroup/memory.max", "max\n"),
        ("sys/fs/cgroup/memory.high", "max\n"),
        ("sys/fs/cgroup/memory.swap.max", "0\n"),
        ("sys/class/net/eth0/ifindex", "2\n"),
        ("sys/class/net/eth0/iflink", "7\n"),
        (".answers/macvlans", "[eth0]\n"),
    ];
    tree(&[&files[..], changes].concat())
}

#[test]
fn the_container_one_is_in_is_asked_from_inside() {
    for (id, path, text) in [
        (
            "ctr-cpuset",
            "proc/self/status",
            "CapEff:\t0000000000804000\nCpus_allowed_list:\t0-7\n",
        ),
        ("ctr-no-cpu-quota", "sys/fs/cgroup/cpu.max", "50000 100000\n"),
        (
            "ctr-capabilities",
            "proc/self/status",
            "CapEff:\t0000000000004000\nCpus_allowed_list:\t4-7\n",
        ),
        (
            "ctr-rt-works",
            "proc/self/status",
            "CapEff:\t0000000000004000\nCpus_allowed_list:\t4-7\n",
        ),
        ("ctr-network-path", ".answers/macvlans", "[eth1]\n"),
        ("ctr-no-time-daemon", "proc/7/comm", "chronyd\n"),
        ("ctr-memory-limits", "sys/fs/cgroup/memory.high", "1000000\n"),
    ] {
        assert_eq!(outcome(&inside(&[]), &naming(&[]), id), Pass, "{id}");
        assert_eq!(outcome(&inside(&[(path, text)]), &naming(&[]), id), Fail, "{id}");
        let garbage = outcome(&inside(&[(path, "\u{1}")]), &naming(&[]), id);
        assert!(garbage != Pass || path.contains("comm"), "{id}: {garbage:?}");
    }
}

#[test]
fn memory_of_control_groups_of_version_1() {
    let mounts =
        "9 1 0:24 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n1 0 0:30 / / rw - overlay overlay rw\n";
    let none = "9223372036854771712\n";
    let areas = "Filename\tType\tSize\tUsed\tPriority\n/dev/sda2\tpartition\t1\t0\t-2\n";
    let of = |limit: &str, with_swap: Option<&str>, soft: &str, swaps: &str| {
        let mut files = vec![
            ("proc/self/mountinfo", mounts),
            ("proc/self/cgroup", "4:memory:/docker/x\n"),
            ("proc/swaps", swaps),
            ("sys/fs/cgroup/memory/memory.limit_in_bytes", none),
            ("sys/fs/cgroup/memory/memory.memsw.limit_in_bytes", none),
            ("sys/fs/cgroup/memory/memory.soft_limit_in_bytes", none),
            ("sys/fs/cgroup/memory/docker/memory.limit_in_bytes", none),
            ("sys/fs/cgroup/memory/docker/memory.memsw.limit_in_bytes", none),
            ("sys/fs/cgroup/memory/docker/memory.soft_limit_in_bytes", none),
            ("sys/fs/cgroup/memory/docker/x/memory.limit_in_bytes", limit),
            ("sys/fs/cgroup/memory/docker/x/memory.soft_limit_in_bytes", soft),
        ];
        files.extend(with_swap.map(|text| ("sys/fs/cgroup/memory/docker/x/memory.memsw.limit_in_bytes", text)));
        let found = finding(&inside(&files), &naming(&[]), "ctr-memory-limits");
        (found.outcome, found.live_text())
    };
    let limit = "4294967296\n";
    let (outcome, live) = of(limit, Some(limit), none, "Filename\tType\n");
    assert_eq!(outcome, Pass, "{live}");
    assert!(live.contains("memory 4294967296"), "{live}");
    assert_eq!(of(limit, Some("8589934592\n"), none, areas).0, Fail);
    assert_eq!(of(limit, None, none, areas).0, Fail, "swap is not accounted");
    assert_eq!(of(none, Some(none), none, areas).0, Fail);
    assert_eq!(
        of(limit, Some(limit), none, areas).0,
        Unknown,
        "the kernel may still swap"
    );
    assert_eq!(of(limit, Some(limit), "1000000\n", "Filename\tType\n").0, Fail);
    assert_eq!(of("garbage\n", Some(limit), none, areas).0, Unknown);
    assert_eq!(of(limit, Some(limit), "\n", "Filename\tType\n").0, Unknown);
}

#[test]
fn a_real_time_priority_that_was_refused_is_worth_more_than_capabilities() {
    let tried = |answer| outcome(&inside(&[(".answers/fifo", answer)]), &naming(&[]), "ctr-rt-works");
    assert_eq!(tried("granted\n"), Pass);
    assert_eq!(tried("refused\n"), Fail);
}
