use std::fs;

use super::refusals;
use crate::operation::{Operation, Target, ThreadId};
use crate::plan::{Plan, TuneStep};
use audit::parameters::{Parameters, Workload};
use audit::rule::Change;
use host::Host;

/// CPUs 0 to 3, and a default route through a bridge on eth0.
const BASE: [(&str, &str); 5] = [
    ("sys/devices/system/cpu/online", "0-3\n"),
    ("sys/devices/system/cpu/possible", "0-3\n"),
    ("sys/devices/system/cpu/isolated", "2-3\n"),
    (
        "proc/net/route",
        "Iface\tDestination\tGateway\nbr0\t00000000\t0102A8C0\neth1\t0002A8C0\t00000000\n",
    ),
    ("sys/class/net/br0/lower_eth0/ifindex", "2\n"),
];

/// Reason why a step with these operations is refused.
fn whys(files: &[(&str, &str)], parameters: &Parameters, operations: Vec<Operation>) -> Vec<String> {
    let root = tempfile::tempdir().expect("a directory");
    for (path, text) in BASE.iter().chain(files) {
        let place = root.path().join(path);
        fs::create_dir_all(place.parent().expect("a folder")).expect("folders");
        fs::write(place, text).expect("a file");
    }
    let host = Host::at(root.path()).expect("a tree");
    let audit = audit::audit(&host, parameters, &[]);
    let step = TuneStep {
        check: "check".to_owned(),
        title: String::new(),
        change: Change::SafeNow,
        how: String::new(),
        risk: String::new(),
        operations,
        unclear: None,
        harm: None,
        emitted: Vec::new(),
    };
    let found = refusals(&host, &audit, parameters, &Plan { steps: vec![step] });
    found.into_iter().map(|refusal| refusal.why).collect()
}

fn on(cpus: &str) -> Parameters {
    Parameters {
        rt_cpus: Some(cpus.parse().expect("CPUs")),
        ..Parameters::default()
    }
}

fn thread(tid: u32) -> ThreadId {
    ThreadId {
        tid,
        started: 0,
        name: "one".to_owned(),
    }
}

fn set(target: Target, value: &str) -> Operation {
    Operation {
        target,
        value: value.to_owned(),
    }
}

#[test]
fn what_harms_nobody_is_not_refused() {
    let operations = vec![
        Operation::write("/proc/sys/kernel/timer_migration", "0"),
        Operation::nic("eth1", "rx-usecs", 0),
        set(Target::Priority(thread(7)), "fifo:98"),
    ];
    assert_eq!(whys(&[], &on("2-3"), operations), Vec::<String>::new());
}

#[test]
fn every_cpu_set_aside() {
    let any = || vec![Operation::write("/proc/sys/kernel/timer_migration", "0")];
    let found = whys(&[], &on("0-3"), any());
    assert!(found.iter().any(|why| why.contains("none is left")), "{found:?}");
    let found = whys(&[("sys/devices/system/cpu/online", "garbage\n")], &on("2-3"), any());
    assert!(
        found.iter().any(|why| why.contains("not known")),
        "unknown is no pass: {found:?}"
    );
}

#[test]
fn no_budget_beside_a_thread_that_spins_on_a_shared_cpu() {
    let lift = || vec![Operation::write("/proc/sys/kernel/sched_rt_runtime_us", "-1")];
    let spinning = |cpus| Parameters {
        workload: Workload::BusyPoll,
        ..on(cpus)
    };
    let found = whys(&[], &spinning("1-3"), lift());
    assert!(
        found.len() == 1 && found[0].contains("CPU 1 is not kept free"),
        "{found:?}"
    );
    assert_eq!(whys(&[], &spinning("2-3"), lift()), Vec::<String>::new());
    assert_eq!(
        whys(&[], &on("1-3"), lift()),
        Vec::<String>::new(),
        "periodic work sleeps"
    );
}

#[test]
fn a_guest_that_never_halts_without_a_budget() {
    let budget = |runtime| {
        [
            ("proc/sys/kernel/sched_rt_runtime_us", runtime),
            ("proc/sys/kernel/sched_rt_period_us", "1000000\n"),
        ]
    };
    let raised = |name: &str, cpus: Option<&str>| {
        let vcpu = ThreadId {
            name: name.to_owned(),
            ..thread(7)
        };
        let moved = cpus.map(|cpus| set(Target::Thread(vcpu.clone()), cpus));
        let raised = set(Target::Priority(vcpu), "fifo:1");
        moved.into_iter().chain([raised]).collect::<Vec<_>>()
    };
    let on_cpu = |allowed| ("proc/7/status", allowed);
    let with = |runtime, allowed, name, cpus| {
        let files = [&budget(runtime)[..], &[on_cpu(allowed)]].concat();
        whys(&files, &on("2-3"), raised(name, cpus))
    };
    let (shared, free) = ("Cpus_allowed_list:\t1-2\n", "Cpus_allowed_list:\t2-3\n");
    let found = with("-1\n", shared, "CPU 0/KVM", None);
    assert!(
        found.len() == 1 && found[0].contains("CPU 0/KVM takes CPU 1,"),
        "{found:?}"
    );
    for (runtime, allowed, name, cpus) in [
        ("950000\n", shared, "CPU 0/KVM", None),
        ("-1\n", free, "CPU 0/KVM", None),
        ("-1\n", shared, "CPU 0/KVM", Some("2")),
        ("-1\n", shared, "relay", None),
    ] {
        assert_eq!(
            with(runtime, allowed, name, cpus),
            Vec::<String>::new(),
            "{runtime} {allowed} {name}"
        );
    }
    let found = whys(&[], &on("2-3"), raised("CPU 0/KVM", None));
    assert!(
        found.len() == 1 && found[0].contains("not known"),
        "unknown is no pass: {found:?}"
    );
}

#[test]
fn masks_that_overlap() {
    let resctrl = [
        ("sys/fs/resctrl/schemata", "L3:0=fff\n"),
        ("sys/fs/resctrl/vm/schemata", "L3:0=f00\n"),
        ("sys/fs/resctrl/info/L3/shareable_bits", "800\n"),
    ];
    let divide = |own: &str, left: &str| {
        vec![
            Operation::write("/sys/fs/resctrl/triptime/schemata", format!("L3:0={own}")),
            Operation::write("/sys/fs/resctrl/schemata", format!("L3:0={left}")),
        ]
    };
    let found = whys(&resctrl, &on("2-3"), divide("f", "fff"));
    assert!(found.len() == 1 && found[0].contains("L3:0"), "{found:?}");
    let found = whys(&resctrl, &on("2-3"), divide("10f", "8f0"));
    assert!(found.len() == 1 && found[0].contains("/vm"), "another group: {found:?}");
    assert_eq!(whys(&resctrl, &on("2-3"), divide("f", "8f0")), Vec::<String>::new());
}

#[test]
fn the_interface_of_the_connection_and_what_is_below_it() {
    for name in ["br0", "eth0"] {
        let files = vec![Operation::write(
            format!("/sys/class/net/{name}/gro_flush_timeout"),
            "0",
        )];
        let driver = vec![Operation::nic(name, "rx-usecs", 0)];
        for operations in [files, driver] {
            let found = whys(&[], &on("2-3"), operations);
            assert!(found.len() == 1 && found[0].starts_with(name), "{found:?}");
        }
    }
    let ipv6 = Operation::write("/proc/sys/net/ipv6/conf/eth0/disable_ipv6", "1");
    let found = whys(&[], &on("2-3"), vec![ipv6]);
    assert!(found.len() == 1 && found[0].starts_with("eth0"), "{found:?}");
    let route = "00000000000000000000000000000000 00 0 00 fe80 400 1 0 3 eth1\n";
    let found = whys(
        &[("proc/net/ipv6_route", route)],
        &on("2-3"),
        vec![Operation::nic("eth1", "eee", 0)],
    );
    assert!(found.len() == 1 && found[0].starts_with("eth1"), "{found:?}");
}

#[test]
fn priority_of_the_kernels_own_threads() {
    let found = whys(&[], &on("2-3"), vec![set(Target::Priority(thread(7)), "fifo:99")]);
    assert!(found.len() == 1 && found[0].contains("99 belongs"), "{found:?}");
}

#[test]
fn threads_of_the_kernel_for_one_cpu() {
    let stat = |flags: u64| format!("7 (ksoftirqd/2) S 0 0 0 0 0 {flags} 0 0 0 0 0 0 0 0 0 0 0 0 0\n");
    let refused = |flags: u64| {
        let text = stat(flags);
        whys(
            &[("proc/7/stat", text.as_str())],
            &on("2-3"),
            vec![set(Target::Thread(thread(7)), "0-1")],
        )
    };
    let found = refused(0x0420_0000);
    assert!(found.len() == 1 && found[0].contains("ksoftirqd/2"), "{found:?}");
    assert_eq!(refused(0x0020_0000), Vec::<String>::new(), "it can be moved");
}
