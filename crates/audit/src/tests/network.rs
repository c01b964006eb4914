//! Rules of network interfaces.

use super::tree::{finding, outcome, tree};
use crate::finding::Outcome::{self, Fail, NotApplicable, Pass, Unknown, Warn};
use crate::parameters::Parameters;

/// A correctly set up card, in the form of a recorded answer.
const CARD: &str = r#"
[driver]
name = "igb"
[link]
speed = 1000
duplex = "full"
[coalesce]
rx-usecs = 0
tx-frames = 1
adaptive-rx = false
[eee]
enabled = false
active = false
tx-lpi = false
peer = false
[pause]
rx = false
tx = false
[rings]
rx = 4096
rx-max = 4096
[channels]
combined = 1
[stamping]
capabilities = ["hardware-transmit", "hardware-receive", "hardware-raw-clock"]
rx-filters = ["none", "all"]
phc = 0
"#;

const FILES: [(&str, &str); 13] = [
    ("proc/sys/kernel/osrelease", "6.12.30-rt\n"),
    ("proc/1/stat", "1 (systemd) S 0 1 1 0 -1 4194560 0 0\n"),
    ("proc/2/stat", "2 (kthreadd) S 0 0 0 0 -1 2129984 0 0\n"),
    ("proc/2/comm", "kthreadd\n"),
    ("proc/1/comm", "systemd\n"),
    ("proc/net/dev_mcast", "2    eth0            1     0     010ccd040001\n"),
    ("sys/devices/system/cpu/online", "0-3\n"),
    ("sys/class/net/eth0/ifindex", "2\n"),
    ("sys/class/net/eth0/flags", "0x1003\n"),
    ("sys/class/net/eth0/carrier", "1\n"),
    ("sys/class/net/eth0/duplex", "full\n"),
    ("sys/class/net/eth0/speed", "1000\n"),
    ("sys/class/net/eth0/device/vendor", "0x8086\n"),
];

fn parameters() -> Parameters {
    Parameters {
        nics: vec!["eth0".to_owned()],
        ..Parameters::default()
    }
}

/// Outcome of `id` for the card with these changes to its answer and files.
fn says(id: &str, changes: &[(&str, &str)], files: &[(&str, &str)]) -> Outcome {
    let mut answer = CARD.to_owned();
    for (from, to) in changes {
        assert!(answer.contains(from), "{from}");
        answer = answer.replace(from, to);
    }
    let all = [&FILES, files, &[(".answers/ethtool-eth0", answer.as_str())]].concat();
    outcome(&tree(&all), &parameters(), id)
}

#[test]
fn a_good_card_passes_and_each_fault_is_found() {
    for (id, fault) in [
        ("nic-coalesce", ("rx-usecs = 0", "rx-usecs = 100")),
        ("nic-coalesce", ("adaptive-rx = false", "adaptive-rx = true")),
        ("nic-coalesce", ("tx-frames = 1", "tx-frames = 25\ntx-usecs = 5000")),
        ("nic-eee-off", ("enabled = false", "enabled = true")),
        ("nic-eee-off", ("active = false", "active = true")),
        ("nic-hw-timestamping", ("\"hardware-receive\", ", "")),
        ("nic-hw-timestamping", ("phc = 0", "")),
        ("nic-ring-size", ("rx = 4096", "rx = 128")),
        ("nic-pause-off", ("rx = false", "rx = true")),
    ] {
        assert_eq!(says(id, &[], &[]), Pass, "{id}");
        assert_eq!(says(id, &[fault], &[]), Fail, "{id}: {fault:?}");
    }
    let for_ever = ("tx-lpi = false", "tx-lpi = true");
    assert_eq!(says("nic-eee-off", &[for_ever], &[]), Pass, "e1000e always says so");
    assert_eq!(says("nic-eee-peer", &[], &[]), Pass);
    assert_eq!(says("nic-eee-peer", &[("peer = false", "peer = true")], &[]), Warn);
    assert_eq!(says("nic-ring-size", &[("rx = 4096", "rx = 256")], &[]), Warn);
}

#[test]
fn small_numbers_of_intels_drivers_are_modes_and_no_times() {
    let three = ("rx-usecs = 0", "rx-usecs = 3");
    let slow = ("sys/class/net/eth0/speed", "100\n");
    assert_eq!(says("nic-coalesce", &[three], &[]), Fail);
    assert_eq!(
        says("nic-coalesce", &[three, ("igb", "stmmac")], &[]),
        Warn,
        "3 us are 3 us there"
    );
    assert_eq!(says("nic-dynamic-itr", &[three], &[]), Pass);
    assert_eq!(says("nic-dynamic-itr", &[three], &[slow]), Fail);
    assert_eq!(says("nic-dynamic-itr", &[], &[slow]), Pass);
    let fixed = ("rx-usecs = 0", "rx-usecs = 4");
    assert_eq!(says("nic-dynamic-itr", &[fixed], &[slow]), Pass, "no mode that moves");
    assert_eq!(says("nic-dynamic-itr", &[("igb", "i40e")], &[slow]), NotApplicable);
}

#[test]
fn sienda_s_stmmac_is_tolerated_and_deferred_interrupts_only_where_threads_poll() {
    let sienda = [("igb", "stmmac"), ("rx-usecs = 0", "rx-usecs = 20\ntx-usecs = 5000")];
    assert_eq!(says("nic-coalesce", &sienda, &[]), Warn);
    let deferred = ("sys/class/net/eth0/napi_defer_hard_irqs", "2\n");
    assert_eq!(says("nic-coalesce", &[], &[deferred]), Warn);
}

#[test]
fn a_driver_without_such_a_setting_is_not_one_that_is_silent() {
    let unsupported = "silence = \"EOPNOTSUPP\"\nunsupported = true\n";
    let gone = "silence = \"ENODEV\"\nunsupported = false\n";
    for (id, answer, expected) in [
        ("nic-eee-off", "[eee]", [Pass, Unknown]),
        ("nic-pause-off", "[pause]", [Pass, Unknown]),
        ("nic-coalesce", "[coalesce]", [Unknown, Unknown]),
        ("nic-hw-timestamping", "[stamping]", [Unknown, Unknown]),
        ("nic-channels", "[channels]", [NotApplicable, Unknown]),
    ] {
        for (silence, expected) in [unsupported, gone].into_iter().zip(expected) {
            let silent = format!("{answer}\n{silence}");
            assert_eq!(says(id, &[(answer, &silent)], &[]), expected, "{id}: {silence}");
        }
    }
}

#[test]
fn without_an_answer_or_with_garbage_nothing_passes() {
    let ids = [
        "nic-coalesce",
        "nic-eee-off",
        "nic-hw-timestamping",
        "nic-ring-size",
        "nic-pause-off",
    ];
    let without = tree(&FILES);
    let garbage = tree(
        &[
            &FILES[..],
            &[(".answers/ethtool-eth0", "[eee]\n[coalesce]\nrx-usecs = \"x\"\n")],
        ]
        .concat(),
    );
    for id in ids {
        assert_eq!(outcome(&without, &parameters(), id), Unknown, "{id}");
        assert_eq!(outcome(&garbage, &parameters(), id), Unknown, "{id}");
    }
    let elsewhere = Parameters {
        nics: vec!["eth9".to_owned()],
        ..Parameters::default()
    };
    assert_eq!(outcome(&without, &elsewhere, "nic-eee-off"), Unknown);
    assert_eq!(outcome(&without, &elsewhere, "nic-multicast-join"), Unknown);
}

#[test]
fn where_no_interface_is_named_every_device_is_asked() {
    let all = [&FILES[..], &[(".answers/ethtool-eth0", CARD)]].concat();
    let found = finding(&tree(&all), &Parameters::default(), "nic-eee-off");
    assert_eq!((found.outcome, found.parts[0].part.as_str()), (Pass, "eth0"));
}

#[test]
fn links_that_are_down_slow_or_half_duplex_fail() {
    let of = |files: &[(&str, &str)]| says("nic-link-up", &[], files);
    assert_eq!(of(&[]), Pass);
    assert_eq!(of(&[("sys/class/net/eth0/carrier", "0\n")]), Fail);
    assert_eq!(of(&[("sys/class/net/eth0/duplex", "half\n")]), Fail);
    assert_eq!(
        of(&[("sys/class/net/eth0/duplex", "unknown\n")]),
        Unknown,
        "a paravirtual card"
    );
    assert_eq!(of(&[("sys/class/net/eth0/carrier", "\n")]), Unknown);
    assert_eq!(says("nic-link-stable", &[], &[]), Unknown, "a tree is not watched");
}

#[test]
fn queues_need_interrupts_that_somebody_placed() {
    let irqs = "            CPU0  CPU1  CPU2  CPU3\n 40:  1  0  0  0  PCI-MSI 1-edge  eth0-TxRx-0\n 41:  1  0  0  0  PCI-MSI 2-edge  eth0-TxRx-1\n";
    let with = |affinity| {
        [
            ("proc/interrupts", irqs),
            ("proc/irq/40/smp_affinity_list", "1\n"),
            ("proc/irq/41/smp_affinity_list", affinity),
            ("sys/class/net/eth0/queues/rx-0/rps_cpus", "0\n"),
            ("sys/class/net/eth0/queues/rx-1/rps_cpus", "0\n"),
        ]
    };
    let two = [("combined = 1", "combined = 2")];
    for id in ["nic-channels", "nic-flow-steering"] {
        assert_eq!(says(id, &two, &with("0-1\n")), Pass, "{id}");
        assert_eq!(says(id, &two, &with("0-3\n")), Fail, "{id}");
        assert_eq!(says(id, &two, &with("x\n")), Unknown, "{id}");
    }
    assert_eq!(says("nic-channels", &[], &[]), Pass, "one queue needs no more");
    assert_eq!(says("nic-flow-steering", &[], &[]), Unknown, "no queue is listed");
}

#[test]
fn a_forgotten_capture_and_a_group_that_nobody_joined_are_found() {
    let of = |files: &[(&str, &str)]| says("nic-multicast-join", &[], files);
    assert_eq!(of(&[]), Pass);
    assert_eq!(of(&[("sys/class/net/eth0/flags", "0x1103\n")]), Fail);
    assert_eq!(of(&[("proc/net/dev_mcast", "2 eth0 1 0 333300000001\n")]), Warn);
    assert_eq!(of(&[("proc/net/dev_mcast", "")]), Warn);
    assert_eq!(of(&[("proc/net/dev_mcast", "nonsense\n")]), Unknown);
}

/// Two macvlans on the card, and the kernel's answer about them.
fn macvlans<'a>(release: &'a str, groups: &'a str, answer: &'a str) -> [(&'a str, &'a str); 9] {
    [
        ("proc/sys/kernel/osrelease", release),
        ("proc/net/dev_mcast", groups),
        (".answers/macvlans", answer),
        ("sys/class/net/m0/ifindex", "5\n"),
        ("sys/class/net/m0/iflink", "2\n"),
        ("sys/class/net/m0/lower_eth0/ifindex", "2\n"),
        ("sys/class/net/m1/ifindex", "6\n"),
        ("sys/class/net/m1/iflink", "2\n"),
        ("sys/class/net/m1/lower_eth0/ifindex", "2\n"),
    ]
}

#[test]
fn macvlans_that_share_a_group_get_it_through_a_work_queue() {
    let of = |release, groups, answer| says("macvlan-multicast", &[], &macvlans(release, groups, answer));
    let (one, both) = (
        "5 m0 1 0 010ccd040001\n",
        "5 m0 1 0 010ccd040001\n6 m1 1 0 010ccd040001\n",
    );
    let silent = "[m0]\nqueue-frames = 1000\n[m1]\nqueue-frames = 1000\n";
    let never = "[m0]\nqueued-above = -1\n[m1]\nqueued-above = -1\n";
    assert_eq!(of("6.12.1", one, silent), Pass);
    assert_eq!(of("6.12.1", both, silent), Fail);
    assert_eq!(of("6.12.1", both, never), Pass);
    assert_eq!(of("6.1.0", one, silent), Fail, "every group is queued there");
    assert_eq!(of("5.14.0-503.el9.x86_64", one, silent), Unknown);
    assert_eq!(of("6.12.1", one, "not = a = table\n"), Unknown);
    let unanswered = macvlans("6.12.1", one, "");
    let unanswered: Vec<_> = unanswered
        .into_iter()
        .filter(|(path, _)| !path.ends_with("macvlans"))
        .collect();
    assert_eq!(
        says("macvlan-multicast", &[], &unanswered),
        Unknown,
        "they may be macvlans"
    );
    assert_eq!(says("macvlan-multicast", &[], &[]), NotApplicable);
    let promiscuous = [
        &macvlans("6.12.1", one, silent)[..],
        &[("sys/class/net/eth0/flags", "0x1103\n")],
    ]
    .concat();
    assert_eq!(says("macvlan-multicast", &[], &promiscuous), Fail);
    let length = |answer| says("macvlan-queue-length", &[], &macvlans("6.12.1", one, answer));
    assert_eq!(length(silent), Pass);
    assert_eq!(length("[m0]\nqueue-frames = 100\n[m1]\n"), Fail);
    assert_eq!(length(never), NotApplicable);
}

#[test]
fn what_a_named_macvlan_is_made_on_is_asked_too() {
    let all = [
        &FILES[..],
        &macvlans("6.12.1", "\n", "[m0]\n[m1]\n"),
        &[(".answers/ethtool-eth0", CARD)],
    ]
    .concat();
    let named = Parameters {
        nics: vec!["m0".to_owned()],
        ..Parameters::default()
    };
    let found = finding(&tree(&all), &named, "nic-eee-off");
    let parts: Vec<(&str, Outcome)> = found
        .parts
        .iter()
        .map(|part| (part.part.as_str(), part.outcome))
        .collect();
    assert_eq!(parts, [("m0", NotApplicable), ("eth0", Pass)]);
}

#[test]
fn a_bridge_is_free_of_filters_snooping_and_spanning_tree() {
    let bridge = |snooping, filter| {
        let files = [
            ("sys/class/net/eth0/brport/bridge", ""),
            ("sys/class/net/br0/ifindex", "7\n"),
            ("sys/class/net/br0/uevent", "DEVTYPE=bridge\n"),
            ("sys/class/net/br0/bridge/multicast_snooping", snooping),
            ("sys/class/net/br0/bridge/stp_state", "0\n"),
            ("proc/sys/net/bridge/bridge-nf-call-iptables", filter),
        ];
        let named = Parameters {
            nics: vec!["br0".to_owned()],
            ..Parameters::default()
        };
        outcome(
            &tree(&[&FILES[..], &files[1..]].concat()),
            &named,
            "bridge-forwarding-clean",
        )
    };
    assert_eq!(bridge("0\n", "0\n"), Pass);
    assert_eq!(bridge("1\n", "0\n"), Fail);
    assert_eq!(bridge("0\n", "1\n"), Fail);
    assert_eq!(bridge("\n", "0\n"), Unknown);
    assert_eq!(says("bridge-forwarding-clean", &[], &[]), NotApplicable);
}

/// A process with one thread, as `/proc` shows it.
fn process(pid: u32, name: &str, policy: (u32, u32), cpus: &str) -> Vec<(String, String)> {
    let zeros = "0 ".repeat(36);
    let stat = format!("{pid} ({name}) S {zeros}{} {} 0 0\n", policy.1, policy.0);
    let task = format!("proc/{pid}/task/{pid}");
    vec![
        (format!("proc/{pid}/stat"), stat.clone()),
        (format!("{task}/stat"), stat),
        (format!("{task}/status"), format!("Cpus_allowed_list:\t{cpus}\n")),
    ]
}

fn with_processes(id: &str, processes: &[Vec<(String, String)>]) -> Outcome {
    let made = processes.concat();
    let made: Vec<(&str, &str)> = made.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    let parameters = Parameters {
        rt_cpus: Some("2-3".parse().expect("CPUs")),
        ..Parameters::default()
    };
    outcome(&tree(&[&FILES[..], &made].concat()), &parameters, id)
}

#[test]
fn vhost_threads_are_real_time_and_off_the_virtual_cpus() {
    let of = |vhost: &[Vec<(String, String)>]| with_processes("vhost-thread-placement", vhost);
    assert_eq!(of(&[]), NotApplicable);
    let guest = process(70, "qemu-system-x86", (0, 0), "0");
    let fifo = process(71, "vhost-70", (1, 2), "0-1");
    assert_eq!(of(&[guest.clone(), fifo]), Pass);
    assert_eq!(of(&[guest.clone(), process(71, "vhost-70", (0, 0), "0-1")]), Fail);
    let mut beside = process(70, "qemu-system-x86", (0, 0), "0");
    let virtual_cpu = process(72, "CPU 0/KVM", (1, 1), "2");
    for (path, text) in &virtual_cpu[1..] {
        beside.push((path.replace("proc/72", "proc/70"), text.clone()));
    }
    assert_eq!(of(&[beside, process(71, "vhost-70", (1, 2), "2-3")]), Fail);
}

#[test]
fn open_vswitch_keeps_off_the_real_time_cpus() {
    let of = |cpus| with_processes("ovs-datapath", &[process(80, "ovs-vswitchd", (0, 0), cpus)]);
    assert_eq!(of("0-1"), Pass);
    assert_eq!(of("0-3"), Fail);
    let mut with_dpdk = process(80, "ovs-vswitchd", (0, 0), "0-1");
    for (path, text) in &process(81, "pmd-c02/id:8", (0, 0), "2")[1..] {
        with_dpdk.push((path.replace("proc/81", "proc/80"), text.clone()));
    }
    let polling = with_processes("ovs-datapath", &[with_dpdk]);
    assert_eq!(polling, Pass, "a thread of DPDK has a CPU of its own on purpose");
    assert_eq!(with_processes("ovs-datapath", &[]), NotApplicable);
    let unseen = outcome(
        &tree(&[("sys/devices/system/cpu/online", "0-3\n")]),
        &parameters(),
        "ovs-datapath",
    );
    assert_eq!(unseen, Unknown);
}
