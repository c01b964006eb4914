//! Threads: their CPUs and priorities.

use super::{PLANNED, done};
use audit::facts::Class;

/// A thread of a process of its own, as the kernel shows it.
fn thread(tid: u32, name: &str, flags: u64, (policy, priority): (u32, u32), allowed: &str) -> Vec<(String, String)> {
    let (zeros, more) = ("0 ".repeat(5), "0 ".repeat(29));
    let stat = format!("{tid} ({name}) S {zeros}{flags} {more}0 {priority} {policy} 0 0\n");
    let status = format!("Name:\t{name}\nCpus_allowed_list:\t{allowed}\n");
    let folders = [format!("proc/{tid}"), format!("proc/{tid}/task/{tid}")];
    folders
        .iter()
        .flat_map(|folder| {
            [
                (format!("{folder}/stat"), stat.clone()),
                (format!("{folder}/status"), status.clone()),
                (format!("{folder}/comm"), format!("{name}\n")),
            ]
        })
        .collect()
}

/// `PF_KTHREAD`.
const KERNEL: u64 = 0x0020_0000;
/// `PF_NO_SETAFFINITY`.
const BOUND: u64 = 0x0400_0000;

fn threads(
    all: &[Vec<(String, String)>],
    more: &[(&str, &str)],
    part: Option<(Class, &str)>,
    action: &str,
) -> Vec<String> {
    let first = [
        thread(1, "systemd", 0, (0, 0), "0-3"),
        thread(2, "kthreadd", KERNEL, (0, 0), "0-1"),
    ]
    .concat();
    let owned = [first, all.concat()].concat();
    let mut files: Vec<(&str, &str)> = owned
        .iter()
        .map(|(path, text)| (path.as_str(), text.as_str()))
        .collect();
    files.extend(more);
    done(&files, part, action).unwrap_or_else(|why| panic!("{action}: {why}"))
}

#[test]
fn threads_leave_real_time_cpus_and_bound_ones_stay() {
    let all = [
        thread(10, "sshd", 0, (0, 0), "0-3"),
        thread(11, "relay", 0, (1, 50), "2"),
        thread(12, "ksoftirqd/2", KERNEL | BOUND, (0, 0), "2"),
        thread(13, "rcuop/2", KERNEL, (0, 0), "0-3"),
        thread(14, "ovs-vswitchd", 0, (0, 0), "0-3"),
    ];
    let of = |action| threads(&all, &[], None, action);
    let moved = of("thread-affinity");
    assert!(
        moved.contains(&"CPUs of thread sshd (10) = 0-1".to_owned()),
        "{moved:?}"
    );
    assert!(
        !moved
            .iter()
            .any(|one| one.contains("relay") || one.contains("ksoftirqd")),
        "{moved:?}"
    );
    assert_eq!(of("rcu-affinity"), ["CPUs of thread rcuop/2 (13) = 0-1"]);
    assert_eq!(of("ovs-affinity"), ["CPUs of thread ovs-vswitchd (14) = 0-1"]);
}

#[test]
fn the_kernels_threads_outrank_virtual_cpus() {
    let all = [
        thread(10, "CPU 0/KVM", 0, (1, 5), "2"),
        thread(11, "rcuc/2", KERNEL | BOUND, (1, 1), "2"),
        thread(12, "ktimers/2", KERNEL | BOUND, (1, 9), "2"),
        thread(13, "ksoftirqd/2", KERNEL | BOUND, (0, 0), "2"),
        thread(14, "rcuc/0", KERNEL | BOUND, (1, 1), "0"),
        thread(15, "vhost-10", 0, (0, 0), "0-3"),
    ];
    let raised = [
        "priority of thread rcuc/2 (11) = fifo:8",
        "priority of thread ksoftirqd/2 (13) = fifo:6",
    ];
    assert_eq!(threads(&all, &[], None, "kthread-priority"), raised);
    let vhost = [
        "CPUs of thread vhost-10 (15) = 0-1",
        "priority of thread vhost-10 (15) = fifo:1",
    ];
    assert_eq!(threads(&all, &[], None, "vhost-placement"), vhost);
}

#[test]
fn daemons_of_ptp_get_a_low_priority_on_other_cpus() {
    let all = [
        thread(10, "ptp4l", 0, (0, 0), "0-3"),
        thread(11, "phc2sys", 0, (1, 5), "0-1"),
        thread(12, "chronyd", 0, (0, 0), "0-3"),
    ];
    let expected = [
        "CPUs of thread ptp4l (10) = 0-1",
        "priority of thread ptp4l (10) = fifo:10",
    ];
    assert_eq!(threads(&all, &[], None, "time-placement"), expected);
}

#[test]
fn handlers_outrank_the_consumer_on_their_cpu() {
    let files = [
        ("proc/interrupts", " CPU0 CPU1\n 24: 1 1 PCI-MSIX 1-edge eth1-rx-0\n"),
        ("proc/irq/24/smp_affinity_list", "0\n"),
        ("sys/class/net/eth1/ifindex", "3\n"),
    ];
    let with = |consumer| {
        let all = [
            thread(10, "irq/24-eth1", KERNEL, (1, 50), "0"),
            thread(11, "relay", 0, (1, consumer), "0"),
        ];
        threads(&all, &files, Some((Class::Nic, "eth1")), "irq-thread-priority")
    };
    assert_eq!(with(60), ["priority of thread irq/24-eth1 (10) = fifo:85"]);
    assert_eq!(with(90), ["priority of thread irq/24-eth1 (10) = fifo:91"]);
}

#[test]
fn planned_tasks_get_their_cpus_and_then_their_priority() {
    let all = [
        thread(10, "relay", 0, (0, 0), "0-3"),
        thread(11, "relay-out", 0, (1, 80), "2-3"),
        thread(12, "relay-in", 0, (1, 80), "2"),
        thread(13, "sshd", 0, (0, 0), "0-3"),
    ];
    let expected = [
        "CPUs of thread relay (10) = 2",
        "priority of thread relay (10) = fifo:80",
        "CPUs of thread relay-out (11) = 2",
    ];
    let part = Some((Class::Task, PLANNED));
    assert_eq!(threads(&all, &[], part, "planned-task"), expected);
}

/// A running domain of two vCPUs and its threads.
fn domain(policies: &str, action: &str, rcuc: (u32, u32)) -> Result<Vec<String>, String> {
    let status = format!(
        "<domstatus state='running' pid='20'><vcpus><vcpu id='0' pid='21'/><vcpu id='1' pid='22'/></vcpus>
         <domain type='kvm'><name>relay</name><vcpu>2</vcpu><cputune><vcpupin vcpu='0' cpuset='2'/>
         <vcpupin vcpu='1' cpuset='3'/>{policies}</cputune></domain></domstatus>"
    );
    let of_qemu = |tid: u32, name: &str, policy| {
        let files = thread(tid, name, 0, policy, "2-3").into_iter();
        let inside = files.filter(|(path, _)| path.contains("/task/"));
        inside
            .map(|(path, text)| (path.replace(&format!("proc/{tid}/"), "proc/20/"), text))
            .collect::<Vec<_>>()
    };
    let owned = [
        thread(1, "systemd", 0, (0, 0), "0-3"),
        thread(2, "kthreadd", KERNEL, (0, 0), "0-1"),
        thread(8, "rcuc/2", KERNEL | BOUND, rcuc, "2"),
        thread(9, "rcuc/3", KERNEL | BOUND, rcuc, "3"),
        thread(20, "qemu-kvm", 0, (0, 0), "0-1"),
        of_qemu(21, "CPU 0/KVM", (0, 0)),
        of_qemu(22, "CPU 1/KVM", (1, 1)),
        of_qemu(23, "IO mon_iothread", (0, 0)),
    ]
    .concat();
    let mut files: Vec<(&str, &str)> = owned.iter().map(|(path, text)| (&**path, &**text)).collect();
    files.push(("run/libvirt/qemu/relay.xml", &status));
    done(&files, Some((Class::Domain, "relay")), action)
}

#[test]
fn virtual_cpus_of_a_running_domain_become_real_time_threads() {
    let of = |policies, rcuc| domain(policies, "vcpu-priority", rcuc);
    let lowest = Ok(vec!["priority of thread CPU 0/KVM (21) = fifo:1".to_owned()]);
    assert_eq!(
        of("", (0, 0)),
        lowest,
        "the definition says nothing, and vCPU 1 has it already"
    );
    assert_eq!(
        of("<vcpusched vcpus='0-1' scheduler='fifo' priority='1'/>", (0, 0)),
        lowest
    );
    let at_3 = "<vcpusched vcpus='0-1' scheduler='fifo' priority='3'/>";
    let both = [
        "priority of thread CPU 0/KVM (21) = fifo:3".to_owned(),
        "priority of thread CPU 1/KVM (22) = fifo:3".to_owned(),
    ];
    assert_eq!(of(at_3, (1, 4)), Ok(both.to_vec()));
    for rcuc in [(1, 3), (0, 0)] {
        let why = of(at_3, rcuc).expect_err("it would be above the kernel's own");
        assert!(why.contains("lower it first"), "{why}");
    }
}

#[test]
fn a_domain_that_does_not_run_has_no_threads_to_change() {
    let stopped = done(&[], Some((Class::Domain, "relay")), "vcpu-priority").expect_err("it does not run");
    assert!(stopped.contains("--emit libvirt"), "{stopped}");
}
