//! Machines as trees of files, and which of their CPUs are judged.

use super::{Named, Roles};
use crate::Plan;
use crate::value::Cpus;
use host::Host;
use std::fs;
use std::path::Path;
use tempfile::TempDir;

const CPU: &str = "sys/devices/system/cpu";

/// A machine with these CPUs online, isolated by `isolcpus=` and with adaptive ticks. This process is number 700.
fn machine(online: &str, isolated: &str, nohz_full: &str) -> TempDir {
    let tree = tempfile::tempdir().expect("a folder");
    let root = tree.path();
    write(root, &format!("{CPU}/online"), online);
    write(root, &format!("{CPU}/isolated"), isolated);
    write(root, &format!("{CPU}/nohz_full"), nohz_full);
    fs::create_dir_all(root.join("proc")).expect("a folder");
    std::os::unix::fs::symlink("700", root.join("proc/self")).expect("a link");
    thread(root, (700, 700), "triptime", (1, 60), "0", 0);
    thread(root, (1, 1), "systemd", (0, 0), online, 0);
    tree
}

fn write(root: &Path, path: &str, text: &str) {
    let path = root.join(path);
    fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
    fs::write(path, format!("{text}\n")).expect("a file");
}

/// A thread of a process with its policy (number and priority), CPUs and kernel flags.
fn thread(root: &Path, (pid, tid): (u32, u32), name: &str, (policy, priority): (u32, u32), cpus: &str, flags: u64) {
    let stat = |id: u32| {
        let zeros = "0 ".repeat(30);
        format!("{id} ({name}) S 1 1 1 0 -1 {flags} {zeros}{priority} {policy} 0 0")
    };
    if pid == tid {
        write(root, &format!("proc/{pid}/stat"), &stat(pid));
    }
    let task = format!("proc/{pid}/task/{tid}");
    write(root, &format!("{task}/stat"), &stat(tid));
    write(
        root,
        &format!("{task}/status"),
        &format!("Name:\t{name}\nCpus_allowed_list:\t{cpus}"),
    );
}

fn roles_of(root: &Path, plan: &str, named: &Named) -> Result<Roles, String> {
    let facts = Host::at(root).expect("a tree").cpu_facts().expect("CPUs");
    let plan = Plan::load(plan).expect("embedded");
    plan.roles(&facts, named).map_err(|error| error.to_string())
}

/// Judged and housekeeping CPUs of the quick plan.
fn quick(root: &Path) -> (String, String) {
    let roles = roles_of(root, "quick", &Named::default()).expect("roles");
    (roles.measured.to_string(), roles.housekeeping.to_string())
}

fn named(measured: &str, housekeeping: &str) -> Named {
    let list = |text: &str| (!text.is_empty()).then(|| text.parse().expect("a list"));
    Named {
        measured: list(measured),
        housekeeping: list(housekeeping),
    }
}

#[test]
fn isolated_cpus_that_nobody_owns_are_judged_by_whatever_means_they_are() {
    for (isolated, nohz_full) in [("2-3", ""), ("", "2-3"), ("2", "2-3")] {
        let tree = machine("0-3", isolated, nohz_full);
        assert_eq!(quick(tree.path()), ("2-3".into(), "0".into()), "{isolated} {nohz_full}");
    }
    let tree = machine("0-3", "2-3", "");
    let roles = roles_of(tree.path(), "quick", &Named::default()).expect("roles");
    assert_eq!(roles.recorder.to_string(), "0-1", "not on an isolated one");
    let lines = roles.lines().join("\n");
    assert!(
        lines.starts_with("judged: cpu 2-3 (isolated by isolcpus, and no other process"),
        "{lines}"
    );
    assert!(
        lines.contains("loads, recorder, test set: cpu 0 (the lowest that is neither"),
        "{lines}"
    );
    let facts = roles.facts();
    assert_eq!(
        facts[0].value.as_deref(),
        Ok("2-3 (isolated by isolcpus, and no other process has them)")
    );
}

#[test]
fn the_lowest_cpu_carries_no_loads_when_it_is_isolated() {
    let tree = machine("0-3", "0-1", "");
    assert_eq!(quick(tree.path()), ("0-1".into(), "2".into()));
}

#[test]
fn cpus_of_virtual_machines_and_real_time_threads_are_left_alone() {
    let tree = machine("0-5", "2-5", "");
    thread(tree.path(), (50, 50), "qemu-system-x86", (0, 0), "0-1", 0);
    thread(tree.path(), (50, 51), "CPU 0/KVM", (1, 1), "2", 0);
    thread(tree.path(), (60, 60), "relay) x", (1, 80), "3", 0);
    // Kernel threads, and threads without affinity, own no CPU.
    thread(tree.path(), (70, 70), "migration/4", (1, 99), "4", 0x20_8040);
    thread(tree.path(), (80, 80), "rtkit-daemon", (2, 99), "0-1", 0);
    assert_eq!(quick(tree.path()), ("4-5".into(), "0".into()));
    let roles = roles_of(tree.path(), "quick", &Named::default()).expect("roles");
    let notes = roles.notes.join("\n");
    assert!(
        notes.contains("cpu 2: left alone: virtual CPU CPU 0/KVM of qemu-system-x86 (pid 50, fifo:1)"),
        "{notes}"
    );
    assert!(
        notes.contains("cpu 3: left alone: real-time thread relay) x of relay) x (pid 60, fifo:80)"),
        "{notes}"
    );
    let roles = roles_of(tree.path(), "quick", &named("3", "")).expect("one may be named");
    assert_eq!(roles.measured.to_string(), "3");
    assert!(
        roles
            .lines()
            .join("\n")
            .contains("cpu 3: judged although it has an owner")
    );
}

#[test]
fn where_every_isolated_cpu_is_taken_the_others_are_judged_and_it_says_so() {
    let tree = machine("0-2", "2", "");
    thread(tree.path(), (50, 50), "fc_vcpu 0", (0, 0), "2", 0);
    assert_eq!(quick(tree.path()), ("1".into(), "0".into()));
    let roles = roles_of(tree.path(), "quick", &Named::default()).expect("roles");
    assert_eq!(roles.why_measured, "not isolated: the isolated ones are taken");
    let tree = machine("0-1", "1", "");
    thread(tree.path(), (50, 50), "fc_vcpu 0", (0, 0), "1", 0);
    assert_eq!(
        quick(tree.path()),
        ("0".into(), "0".into()),
        "not the virtual machine's"
    );
    let roles = roles_of(tree.path(), "quick", &Named::default()).expect("roles");
    assert!(
        roles.notes.contains(&"cpu 0: judged, and carries loads too".to_owned()),
        "{:?}",
        roles.notes
    );
}

#[test]
fn a_machine_that_is_all_isolated_and_one_with_a_single_cpu() {
    let tree = machine("0-3", "0-3", "");
    assert_eq!(quick(tree.path()), ("1-3".into(), "0".into()));
    let roles = roles_of(tree.path(), "quick", &Named::default()).expect("roles");
    assert!(
        roles.why_housekeeping.starts_with("every other CPU is isolated too"),
        "{}",
        roles.why_housekeeping
    );
    let tree = machine("0", "", "");
    assert_eq!(quick(tree.path()), ("0".into(), "0".into()));
    let roles = roles_of(tree.path(), "quick", &Named::default()).expect("roles");
    assert_eq!(roles.why_measured, "there is no other CPU");
}

#[test]
fn named_cpus_stand_before_the_plan_and_loads_keep_off_them() {
    let tree = machine("0-3", "2-3", "");
    let roles = |measured, housekeeping| {
        let roles = roles_of(tree.path(), "quick", &named(measured, housekeeping)).expect("roles");
        (roles.measured.to_string(), roles.housekeeping.to_string())
    };
    assert_eq!(roles("0", ""), ("0".into(), "1".into()));
    assert_eq!(
        roles("0-1", ""),
        ("0-1".into(), "2".into()),
        "an isolated one rather than a judged one"
    );
    assert_eq!(roles("", "1"), ("2-3".into(), "1".into()));
    assert_eq!(roles("", "2"), ("3".into(), "2".into()));
    assert_eq!(roles("3", "3"), ("3".into(), "3".into()));
    let refused =
        |measured, housekeeping| roles_of(tree.path(), "quick", &named(measured, housekeeping)).expect_err("refused");
    assert_eq!(refused("9", ""), "quick: --cpus: cpu9: not online (online: 0-3)");
    assert!(refused("", "4").starts_with("quick: --housekeeping: cpu4: not online"));
}

#[test]
fn a_cpuset_that_forbids_a_cpu_is_said_and_a_start_up_mask_is_not_one() {
    let tree = machine("0-3", "2-3", "");
    let root = tree.path();
    write(root, "proc/700/status", "Cpus_allowed_list:\t0");
    assert_eq!(quick(root), ("2-3".into(), "0".into()), "taskset forbids nothing");
    write(root, "proc/700/cgroup", "0::/relay");
    write(
        root,
        "proc/700/mountinfo",
        "30 20 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw",
    );
    write(root, "sys/fs/cgroup/relay/cpuset.cpus.effective", "0-2");
    assert_eq!(quick(root), ("2".into(), "0".into()));
    let roles = roles_of(root, "quick", &Named::default()).expect("roles");
    assert!(
        roles.notes.contains(&"cpu 3: not in this process's cpuset".to_owned()),
        "{:?}",
        roles.notes
    );
    let refused = roles_of(root, "quick", &named("3", "")).expect_err("refused");
    assert!(
        refused.starts_with("quick: --cpus: cpu3: not in this process's cpuset (it allows 0-2)"),
        "{refused}"
    );
}

#[test]
fn an_isolated_partition_of_our_own_is_judged() {
    let tree = machine("0-3", "", "");
    let root = tree.path();
    write(root, "proc/700/cgroup", "0::/relay");
    write(
        root,
        "proc/700/mountinfo",
        "30 20 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw",
    );
    write(root, "sys/fs/cgroup/relay/cpuset.cpus.effective", "2-3");
    write(root, "sys/fs/cgroup/relay/cpuset.cpus.partition", "isolated");
    assert_eq!(quick(root), ("3".into(), "2".into()));
    write(root, "sys/fs/cgroup/cpuset.cpus.isolated", "1-2");
    write(root, "sys/fs/cgroup/relay/cpuset.cpus.partition", "root");
    assert_eq!(quick(root), ("2".into(), "3".into()));
}

#[test]
fn loads_that_a_plan_puts_on_judged_cpus_are_told() {
    let tree = machine("0-3", "2-3", "");
    let roles = roles_of(tree.path(), "jitter-table", &Named::default()).expect("roles");
    assert_eq!(roles.measured.to_string(), "0-3", "every CPU, as the plan says");
    let notes = roles.notes.join("\n");
    assert!(notes.contains("cpu 0: judged, and carries loads too"), "{notes}");
    assert!(
        notes.contains("cpu 0-3: carries a load of its own, judged ones among them, as the plan says"),
        "{notes}"
    );
}

/// A machine of two threads on each core: CPU 0 and 4 on the first, 1 and 5 on the second.
fn threads(isolated: &str) -> TempDir {
    let tree = machine("0-7", isolated, "");
    for cpu in 0..8 {
        let place = format!("{CPU}/cpu{cpu}/topology/thread_siblings_list");
        write(tree.path(), &place, &format!("{},{}", cpu % 4, cpu % 4 + 4));
    }
    tree
}

#[test]
fn loads_share_no_core_with_a_judged_cpu_by_accident() {
    let roles = |isolated: &str, measured: &str, housekeeping: &str| {
        let tree = threads(isolated);
        let roles = roles_of(tree.path(), "quick", &named(measured, housekeeping)).expect("roles");
        let cpus = (roles.measured.to_string(), roles.housekeeping.to_string());
        (cpus, roles.lines().join("\n"))
    };
    let (cpus, lines) = roles("", "", "");
    assert_eq!(cpus, ("1-3,5-7".into(), "0".into()));
    assert!(
        lines.contains("every CPU that shares no core with the housekeeping ones"),
        "{lines}"
    );
    assert!(lines.contains("CPUs 1,5: judged, but threads of one core"), "{lines}");

    let (cpus, lines) = roles("2-4,6-7", "", "");
    assert_eq!(cpus, ("2-4,6-7".into(), "1".into()), "CPU 0 is on the core of CPU 4");
    assert!(
        lines.contains("the lowest that shares no core with a judged one"),
        "{lines}"
    );
    assert!(!lines.contains("which carries loads"), "{lines}");

    let (cpus, _) = roles("", "4", "");
    assert_eq!(cpus.1, "1", "not the other thread of the one that was named");

    let (cpus, lines) = roles("2-7", "", "");
    assert_eq!(
        cpus,
        ("2-7".into(), "0".into()),
        "every ordinary CPU is on a judged core"
    );
    assert!(
        lines.contains("cpu 4: judged, on one core with cpu 0, which carries loads"),
        "{lines}"
    );

    let (_, lines) = roles("", "6", "2");
    assert!(
        lines.contains("cpu 6: judged, on one core with cpu 2, which carries loads"),
        "{lines}"
    );
}

#[test]
fn the_recorder_and_loads_of_their_own_keep_off_the_cores_of_judged_cpus_or_it_is_said() {
    let tree = threads("3,6-7");
    let roles = roles_of(tree.path(), "quick", &Named::default()).expect("roles");
    assert_eq!(roles.recorder.to_string(), "0-1,4-5");
    let mut plan = Plan::load("quick").expect("embedded");
    plan.loads[0].cpus = Some(Cpus::List("2".parse().expect("a list")));
    let facts = Host::at(tree.path()).expect("a tree").cpu_facts().expect("CPUs");
    let roles = plan.roles(&facts, &Named::default()).expect("roles");
    let notes = roles.notes.join("\n");
    assert!(
        notes.contains("cpu 2: carries a load of its own, on one core with a judged one"),
        "{notes}"
    );
}

#[test]
fn cores_that_cannot_be_told_are_said() {
    let tree = machine("0-3", "2-3", "");
    let roles = roles_of(tree.path(), "quick", &Named::default()).expect("roles");
    let notes = roles.notes.join("\n");
    assert!(
        notes.contains("it is not known which CPUs are threads of one core: "),
        "{notes}"
    );
}

/// The recorded machines also have isolated CPUs, but no threads, so these CPUs have no owner.
#[test]
fn recorded_machines_have_their_isolated_cpus_judged() {
    let hosts = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/hosts");
    for name in [
        "preempt-rt-bare-metal",
        "kvm-guest",
        "firecracker-vm",
        "container-without-privileges",
    ] {
        let root = hosts.join(name).join("root");
        let facts = Host::at(&root).expect("a tree").cpu_facts().expect(name);
        let plan = Plan::load("quick").expect("embedded");
        let roles = plan.roles(&facts, &Named::default()).expect(name);
        let isolated = facts.kept_free();
        match isolated.is_empty() {
            true => assert!(!roles.measured.is_empty(), "{name}"),
            false => assert_eq!(roles.measured, isolated.without(&roles.housekeeping), "{name}"),
        }
        assert!(roles.measured.without(&facts.usable()).is_empty(), "{name}");
        if facts.usable().len() > 1 {
            assert!(
                !roles.housekeeping.iter().any(|cpu| roles.measured.contains(cpu)),
                "{name}"
            );
        }
    }
}

#[test]
fn loads_of_the_others_are_on_every_cpu_that_is_not_judged() {
    for (isolated, judged, others) in [("2-3", "2-3", "0-1,4-7"), ("", "1-7", "0"), ("0-7", "0-7", "0")] {
        let tree = machine("0-7", isolated, "");
        let facts = Host::at(tree.path()).expect("a tree").cpu_facts().expect("CPUs");
        let plan = Plan::load("vpac").expect("embedded");
        let named = Named {
            measured: Some(judged.parse().expect("a list")),
            housekeeping: None,
        };
        let roles = plan.roles(&facts, &named).expect("roles");
        let cpus = plan.resolve(&Cpus::Others, &facts, &roles).expect("CPUs");
        assert_eq!(cpus.to_string(), others, "isolated {isolated}, judged {judged}");
    }
}
