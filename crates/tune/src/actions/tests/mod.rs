mod threads;

use std::fs;

use super::operations;
use audit::facts::{Class, Subject};
use audit::parameters::Parameters;
use host::Host;

/// CPUs 0 to 3, of which 2 and 3 are for real-time work, and control groups of version 2.
const BASE: [(&str, &str); 5] = [
    ("sys/devices/system/cpu/online", "0-3\n"),
    ("sys/devices/system/cpu/possible", "0-3\n"),
    ("sys/devices/system/cpu/isolated", "\n"),
    ("proc/self/mounts", "cgroup2 /sys/fs/cgroup cgroup2 rw 0 0\n"),
    ("proc/mounts", "cgroup2 /sys/fs/cgroup cgroup2 rw 0 0\n"),
];

fn base() -> Parameters {
    Parameters {
        rt_cpus: Some("2-3".parse().expect("CPUs")),
        nics: vec!["eth1".to_owned()],
        domains: vec!["relay".to_owned()],
        tasks: vec![PLANNED.parse().expect("a task")],
        ..Parameters::default()
    }
}

/// The planned task.
const PLANNED: &str = "relay*=fifo:80@2";

/// Changes that an action makes on a machine with these files, one text per operation; `->` marks a link.
fn done(files: &[(&str, &str)], part: Option<(Class, &str)>, action: &str) -> Result<Vec<String>, String> {
    let root = tempfile::tempdir().expect("a directory");
    for (path, text) in BASE.iter().chain(files) {
        let place = root.path().join(path);
        fs::create_dir_all(place.parent().expect("a folder")).expect("folders");
        let _ = fs::remove_file(&place);
        match text.strip_prefix("->") {
            Some(target) => std::os::unix::fs::symlink(target, place).expect("a link"),
            None => fs::write(place, text).expect("a file"),
        }
    }
    let host = Host::at(root.path()).expect("a tree");
    let audit = audit::audit(&host, &base(), &[]);
    let made = part.map(|(_, name)| Subject::new(name));
    let subject = part.and_then(|(class, name)| audit.facts.parts(class).iter().find(|part| part.name == name));
    let found = operations(action, host.reader(), &audit.facts, subject.or(made.as_ref()))?;
    Ok(found.iter().map(ToString::to_string).collect())
}

fn machine(files: &[(&str, &str)], action: &str) -> Vec<String> {
    done(files, None, action).unwrap_or_else(|why| panic!("{action}: {why}"))
}

fn nic(files: &[(&str, &str)], action: &str) -> Vec<String> {
    done(files, Some((Class::Nic, "eth1")), action).unwrap_or_else(|why| panic!("{action}: {why}"))
}

const EMPTY: [&str; 0] = [];

#[test]
fn interrupts_leave_real_time_cpus_and_those_of_an_interface_get_one_each() {
    let files = [
        ("proc/irq/24/smp_affinity_list", "0-3\n"),
        ("proc/irq/25/smp_affinity_list", "2\n"),
        ("proc/irq/26/smp_affinity_list", "0\n"),
        (
            "proc/interrupts",
            " CPU0 CPU1\n 24: 1 1 PCI-MSIX 1-edge eth1-rx-0\n 25: 0 0 PCI-MSIX 2-edge eth1-rx-1\n 26: 0 0 PCI-MSIX 3-edge eth1\n",
        ),
        ("sys/class/net/eth1/ifindex", "3\n"),
    ];
    let moved = [
        "/proc/irq/24/smp_affinity_list = 0-1",
        "/proc/irq/25/smp_affinity_list = 0-1",
    ];
    assert_eq!(machine(&files, "irq-affinity"), moved);
    let pinned = [
        "/proc/irq/24/smp_affinity_list = 0",
        "/proc/irq/25/smp_affinity_list = 1",
    ];
    assert_eq!(nic(&files, "irq-affinity"), pinned);
}

#[test]
fn software_steering_is_switched_off_in_every_queue() {
    let files = [
        ("sys/class/net/eth1/queues/rx-0/rps_cpus", "f\n"),
        ("sys/class/net/eth1/queues/rx-0/rps_flow_cnt", "0\n"),
        ("sys/class/net/eth1/queues/tx-0/xps_cpus", "f\n"),
    ];
    let folder = "/sys/class/net/eth1/queues/rx-0";
    assert_eq!(
        nic(&files, "rps-off"),
        [format!("{folder}/rps_cpus = 0"), format!("{folder}/rps_flow_cnt = 0")]
    );
}

#[test]
fn cpus_are_switched_on_and_their_clocks_held() {
    let off = [
        ("sys/devices/system/cpu/online", "0-2\n"),
        ("sys/devices/system/cpu/cpu3/online", "0\n"),
    ];
    assert_eq!(
        machine(&off, "cpus-online"),
        ["/sys/devices/system/cpu/cpu3/online = 1"]
    );
    let none = done(&off[..1], None, "cpus-online").expect_err("no such CPU");
    assert!(none.contains("CPU 3"), "{none}");
    let clock = [
        (
            "sys/devices/system/cpu/intel_uncore_frequency/package_00_die_00/min_freq_khz",
            "800000\n",
        ),
        (
            "sys/devices/system/cpu/intel_uncore_frequency/package_00_die_00/max_freq_khz",
            "2400000\n",
        ),
    ];
    let uncore = "/sys/devices/system/cpu/intel_uncore_frequency/package_00_die_00/min_freq_khz = 2400000";
    assert_eq!(machine(&clock, "uncore-frequency"), [uncore]);
}

#[test]
fn links_of_the_card_and_its_port_stay_awake() {
    let files = [
        ("sys/devices/pci0/port/config", "x"),
        ("sys/devices/pci0/port/link/l1_aspm", "1\n"),
        ("sys/devices/pci0/port/card/config", "x"),
        ("sys/devices/pci0/port/card/power/control", "auto\n"),
        ("sys/devices/pci0/port/card/link/l0s_aspm", "0\n"),
        ("sys/devices/pci0/port/card/link/l1_aspm", "1\n"),
        ("sys/class/net/eth1/device", "->../../../devices/pci0/port/card"),
    ];
    let expected = [
        "/sys/devices/pci0/port/card/power/control = on",
        "/sys/devices/pci0/port/card/link/l1_aspm = 0",
        "/sys/devices/pci0/port/link/l1_aspm = 0",
    ];
    assert_eq!(nic(&files, "pcie-aspm"), expected);
}

const GROUPS: [(&str, &str); 4] = [
    ("sys/fs/cgroup/cgroup.controllers", "cpuset cpu memory\n"),
    ("sys/fs/cgroup/system.slice/cpuset.cpus.effective", "0-3\n"),
    ("sys/fs/cgroup/init.scope/cgroup.procs", "1\n"),
    ("sys/fs/cgroup/machine.slice/cpuset.cpus.effective", "0-1\n"),
];

#[test]
fn a_partition_is_made_and_slices_get_their_cpus() {
    let expected = [
        "/sys/fs/cgroup/cgroup.subtree_control = +cpuset",
        "mkdir /sys/fs/cgroup/triptime-rt",
        "/sys/fs/cgroup/triptime-rt/cpuset.cpus = 2-3",
        "/sys/fs/cgroup/triptime-rt/cpuset.cpus.partition = isolated",
    ];
    assert_eq!(machine(&GROUPS, "cpuset-partition"), expected);
    let slices = [
        "/sys/fs/cgroup/cgroup.subtree_control = +cpuset",
        "/sys/fs/cgroup/init.scope/cpuset.cpus = 0-1",
        "/sys/fs/cgroup/system.slice/cpuset.cpus = 0-1",
        "/sys/fs/cgroup/machine.slice/cpuset.cpus = 0-3",
    ];
    assert_eq!(machine(&GROUPS, "slice-cpus"), slices);
    let legacy = [
        (
            "proc/self/mounts",
            "cgroup /sys/fs/cgroup/cpuset cgroup rw,cpuset 0 0\n",
        ),
        ("proc/mounts", "cgroup /sys/fs/cgroup/cpuset cgroup rw,cpuset 0 0\n"),
        (
            "proc/self/mountinfo",
            "30 1 0:26 / /sys/fs/cgroup/cpuset rw - cgroup cgroup rw,cpuset\n",
        ),
    ];
    let why = done(&legacy, None, "cpuset-partition").expect_err("version 1");
    assert!(why.contains("version 1"), "{why}");
}

#[test]
fn a_container_is_found_by_its_id() {
    let place = "sys/fs/cgroup/system.slice/docker-0123456789abcdef.scope";
    let (procs, quota) = (format!("{place}/cgroup.procs"), format!("{place}/cpu.max"));
    let files = [
        GROUPS[0],
        (
            "proc/self/mountinfo",
            "30 1 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n",
        ),
        (procs.as_str(), "77\n"),
        (quota.as_str(), "50000 100000\n"),
    ];
    let of = |id, action| done(&files, Some((Class::Container, id)), action);
    assert_eq!(
        of("0123456789ab", "container-cpuset"),
        Ok(vec![format!("/{place}/cpuset.cpus = 2-3")])
    );
    assert_eq!(
        of("0123456789ab", "container-no-quota"),
        Ok(vec![format!("/{place}/cpu.max = max 100000")])
    );
    for id in ["relay", "fedcba98", "012"] {
        assert!(of(id, "container-cpuset").is_err(), "{id}");
    }
}

#[test]
fn memory_is_taken_only_where_it_is_free() {
    let swaps = "Filename Type Size Used Priority\n/dev/sda2 partition 1000 100 -2\n";
    let with = |free: &str, swaps: &str| {
        let meminfo = format!("MemAvailable: {free} kB\n");
        done(
            &[("proc/meminfo", meminfo.as_str()), ("proc/swaps", swaps)],
            None,
            "swapoff",
        )
    };
    assert_eq!(with("4000000", swaps), Ok(vec!["swap /dev/sda2 = off".to_owned()]));
    assert!(with("110", swaps).expect_err("too little").contains("110 KiB"));
    let deleted = swaps.replace("sda2", "sda2\\040(deleted)");
    assert!(with("4000000", &deleted).expect_err("no way back").contains("again"));
}

#[test]
fn huge_pages_for_what_domains_need() {
    let with = |free: &str, wanted: &str| {
        let meminfo = format!("MemAvailable: {free} kB\n");
        let files = [
            ("proc/meminfo", meminfo.as_str()),
            ("sys/kernel/mm/hugepages/hugepages-1048576kB/nr_hugepages", "1\n"),
            (
                "sys/devices/system/node/node0/hugepages/hugepages-1048576kB/nr_hugepages",
                "1\n",
            ),
            (
                "sys/devices/system/node/node1/hugepages/hugepages-1048576kB/nr_hugepages",
                "0\n",
            ),
        ];
        let root = super::super::tests::machine(&files).0;
        let host = Host::at(&root.path().join("root")).expect("a tree");
        let mut facts = audit::facts::Facts::default();
        facts.set("hugepages.wanted-pages", wanted.to_owned());
        let found = operations("hugepages", host.reader(), &facts, None)?;
        Ok::<_, String>(found.iter().map(ToString::to_string).collect::<Vec<_>>())
    };
    let path = "/sys/kernel/mm/hugepages/hugepages-1048576kB/nr_hugepages";
    assert_eq!(with("8000000", "4"), Ok(vec![format!("{path} = 4")]));
    let of_node = "/sys/devices/system/node/node1/hugepages/hugepages-1048576kB/nr_hugepages";
    assert_eq!(
        with("8000000", "0:1,1:3"),
        Ok(vec![format!("{of_node} = 3")]),
        "node 0 has its page"
    );
    assert!(with("3500000", "4").expect_err("too little").contains("3072 MiB"));
}

#[test]
fn the_cache_is_divided() {
    let files = [
        ("sys/fs/resctrl/schemata", "    MB:0=100\n    L3:0=fff;1=fff\n"),
        ("sys/fs/resctrl/cpus_list", "0-3\n"),
        ("sys/fs/resctrl/info/L3/shareable_bits", "c00\n"),
        ("sys/fs/resctrl/info/L3/min_cbm_bits", "1\n"),
    ];
    let expected = [
        "mkdir /sys/fs/resctrl/triptime",
        "/sys/fs/resctrl/triptime/schemata = L3:0=3f;1=3f",
        "/sys/fs/resctrl/triptime/cpus_list = 2-3",
        "/sys/fs/resctrl/schemata = L3:0=fc0;1=fc0",
    ];
    assert_eq!(machine(&files, "cache-partition"), expected);
    let other = [
        ("sys/fs/resctrl/vm/schemata", "L3:0=3ff;1=3ff\n"),
        ("sys/fs/resctrl/vm/cpus_list", "1\n"),
    ];
    let why = done(&[&files[..], &other[..]].concat(), None, "cache-partition").expect_err("no bits are left");
    assert!(why.contains("by hand"), "{why}");
}

#[test]
fn others_get_half_of_the_memory_bandwidth() {
    let files = [
        ("sys/fs/resctrl/schemata", "    MB:0=100;1=100\n    L3:0=fff;1=fff\n"),
        ("sys/fs/resctrl/cpus_list", "0-3\n"),
        ("sys/fs/resctrl/vm/schemata", "    MB:0= 20;1=100\n"),
        ("sys/fs/resctrl/vm/cpus_list", "1\n"),
        ("sys/fs/resctrl/info/MB/min_bandwidth", "10\n"),
        ("sys/fs/resctrl/info/MB/bandwidth_gran", "20\n"),
    ];
    let expected = [
        "mkdir /sys/fs/resctrl/triptime",
        "/sys/fs/resctrl/triptime/schemata = MB:0=100;1=100",
        "/sys/fs/resctrl/triptime/cpus_list = 2-3",
        "/sys/fs/resctrl/schemata = MB:0=60;1=60",
        "/sys/fs/resctrl/vm/schemata = MB:0=20;1=60",
    ];
    assert_eq!(machine(&files, "bandwidth-partition"), expected);
    let why = |more: &[(&'static str, &'static str)]| {
        done(&[&files[..], more].concat(), None, "bandwidth-partition").expect_err("refused")
    };
    assert!(why(&[("sys/fs/resctrl/schemata", "MB:0=2048\n")]).contains("not in percent"));
    assert!(why(&[("sys/fs/resctrl/schemata", "L3:0=fff\n")]).contains("no memory bandwidth"));
    assert!(why(&[("sys/fs/resctrl/vm/cpus_list", "2\n")]).contains("by hand"));
    assert!(why(&[("sys/fs/resctrl/info/MB/bandwidth_gran", "100\n")]).contains("no share between"));
}

const DRIVER: &str = "[coalesce]\nrx-usecs = 3\ntx-usecs = 50\nadaptive-rx = true\nadaptive-tx = false\n\
    [eee]\nenabled = true\n[rings]\nrx = 256\nrx-max = 4096\n[channels]\ncombined = 4\n\
    [pause]\nautoneg = true\nrx = true\ntx = false\n";

#[test]
fn settings_of_the_driver() {
    let files = [("sys/class/net/eth1/ifindex", "3\n"), (".answers/ethtool-eth1", DRIVER)];
    for (action, expected) in [
        (
            "nic-coalesce",
            &[
                "adaptive-rx of eth1 = 0",
                "rx-usecs of eth1 = 0",
                "tx-usecs of eth1 = 0",
            ][..],
        ),
        ("nic-eee", &["eee of eth1 = 0"]),
        ("nic-ring", &["rx-ring of eth1 = 1024"]),
        ("nic-channels", &["combined-channels of eth1 = 1"]),
        ("nic-pause", &["pause-autoneg of eth1 = 0", "pause-rx of eth1 = 0"]),
    ] {
        assert_eq!(nic(&files, action), expected, "{action}");
    }
    let counts = DRIVER.replace("tx-usecs = 50", "tx-usecs = 50\ntx-frames = 25");
    let files = [files[0], (".answers/ethtool-eth1", counts.as_str())];
    assert!(nic(&files, "nic-coalesce").contains(&"tx-frames of eth1 = 1".to_owned()));
    let silent = [
        ("sys/class/net/eth1/ifindex", "3\n"),
        (
            ".answers/ethtool-eth1",
            "[eee]\nsilence = \"EOPNOTSUPP\"\nunsupported = true\n",
        ),
    ];
    assert_eq!(nic(&silent, "nic-eee"), EMPTY);
}

#[test]
fn the_first_macvlan_decides_for_all() {
    let mut facts = audit::facts::Facts::default();
    facts.set("nic.macvlans", vec!["mac0".to_owned(), "mac1".to_owned()]);
    let root = tempfile::tempdir().expect("a directory");
    let host = Host::at(root.path()).expect("a tree");
    for (action, expected) in [
        ("macvlan-direct", "broadcast-limit of mac0 = -1"),
        ("macvlan-queue", "broadcast-queue of mac0 = 10000"),
    ] {
        let found = operations(action, host.reader(), &facts, None).expect("a macvlan");
        assert_eq!(found.iter().map(ToString::to_string).collect::<Vec<_>>(), [expected]);
    }
}
