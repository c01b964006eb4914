//! Facts of one interface from its files.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use host::Host;
use model::Fact;

fn write(root: &Path, files: &[(&str, &str)]) {
    for (path, text) in files {
        let place = root.join(path);
        fs::create_dir_all(place.parent().expect("a folder")).expect("folders");
        fs::write(place, text).expect("a file");
    }
}

/// A machine with a card of four queues, two of them with their own interrupts, and a bridge above it.
fn machine() -> tempfile::TempDir {
    let tree = tempfile::tempdir().expect("a folder");
    let root = tree.path();
    let card = "sys/devices/pci0000:00/0000:02:00.0";
    let net = format!("{card}/net/eth1");
    let of = |file: &str| format!("{net}/{file}");
    let device = |file: &str| format!("{card}/{file}");
    let owned = [
        (of("operstate"), "up\n"),
        (of("ifindex"), "3\n"),
        (of("mtu"), "1500\n"),
        (of("tx_queue_len"), "1000\n"),
        (of("napi_defer_hard_irqs"), "2\n"),
        (of("gro_flush_timeout"), "200000\n"),
        (of("threaded"), "1\n"),
        (of("queues/rx-0/rps_cpus"), "00000000,00000000\n"),
        (of("queues/rx-1/rps_cpus"), "00000001,0000000c\n"),
        (of("queues/tx-0/xps_cpus"), "0\n"),
        (device("numa_node"), "0\n"),
        (device("local_cpulist"), "0-3\n"),
        (device("sriov_totalvfs"), "7\n"),
        (device("sriov_numvfs"), "2\n"),
        (device("msi_irqs/130"), "msix\n"),
        (device("msi_irqs/131"), "msix\n"),
    ];
    for (path, text) in &owned {
        write(root, &[(path, text)]);
    }
    let interrupts = "           CPU0       CPU1\n 130:  7  0  PCI-MSIX-0000:02:00.0  0-edge  eth1\n \
         131:  18  25800  PCI-MSIX-0000:02:00.0  1-edge  eth1-TxRx-0\n  9:  1  1  IO-APIC  9-edge  other\n";
    write(
        root,
        &[
            ("proc/interrupts", interrupts),
            ("proc/irq/130/smp_affinity_list", "0-1\n"),
            ("proc/irq/131/smp_affinity_list", "0-1\n"),
            ("proc/irq/131/effective_affinity_list", "1\n"),
            ("sys/devices/virtual/net/br0/operstate", "up\n"),
            ("sys/devices/virtual/net/br0/ifindex", "4\n"),
            ("sys/devices/system/cpu/online", "0-3\n"),
        ],
    );
    fs::create_dir_all(root.join("sys/class/net")).expect("folders");
    let link = |from: &str, to: &str| symlink(to, root.join(from)).expect("a link");
    link("sys/class/net/eth1", "../../devices/pci0000:00/0000:02:00.0/net/eth1");
    link("sys/class/net/br0", "../../devices/virtual/net/br0");
    link(&of("device"), "../..");
    link(&of("master"), "../../../../virtual/net/br0");
    tree
}

fn value(facts: &[Fact], name: &str) -> String {
    let fact = facts.iter().find(|fact| fact.name == name);
    let fact = fact.unwrap_or_else(|| panic!("no fact {name}"));
    fact.value.clone().unwrap_or_else(|reason| format!("? {reason}"))
}

#[test]
fn a_card_with_queues_interrupts_and_a_bridge() {
    let tree = machine();
    let facts = Host::at(tree.path()).expect("a tree").nic_facts("eth1");
    assert!(facts.iter().all(|fact| fact.group == "nic eth1"));
    for (name, wanted) in [
        ("state", "up"),
        ("transmit queue length", "1000"),
        ("master", "br0"),
        ("NUMA node", "0"),
        ("near CPUs", "0-3"),
        ("physical function", "none"),
        ("virtual functions", "2 of 7"),
        ("deferred interrupts", "2"),
        ("threaded polling", "on"),
        ("receive steering (RPS)", "rx-1 to CPU 2-3,32"),
        ("transmit steering (XPS)", "off"),
        ("interrupts", "130 131"),
        (
            "interrupt 130",
            "eth1: on CPU unknown: ENOENT: no such file (allowed 0-1)",
        ),
        ("interrupt 130 so far", "CPU 0 7"),
        ("interrupt 131", "eth1-TxRx-0: on CPU 1 (allowed 0-1)"),
        ("interrupt 131 so far", "CPU 0 18, CPU 1 25800"),
    ] {
        assert_eq!(value(&facts, name), wanted, "{name}");
    }
}

#[test]
fn interrupts_come_with_their_cpus() {
    let tree = machine();
    let host = Host::at(tree.path()).expect("a tree");
    let all = host.nic_interrupts("eth1").expect("interrupts");
    let numbers: Vec<u32> = all.iter().map(|one| one.number).collect();
    assert_eq!(numbers, [130, 131]);
    assert!(all[0].effective.is_err(), "unknown is not none");
    assert_eq!(all[1].effective.as_ref().expect("known").to_string(), "1");
    assert_eq!(host.nic_interrupts("br0").expect("a list"), []);
    assert_eq!(host.interfaces().expect("interfaces")[1].index, Some(3));
}

#[test]
fn a_bridge_has_no_device_and_an_absent_interface_gives_only_reasons() {
    let tree = machine();
    let host = Host::at(tree.path()).expect("a tree");
    let bridge = host.nic_facts("br0");
    assert_eq!(
        (value(&bridge, "state").as_str(), value(&bridge, "interrupts").as_str()),
        ("up", "none")
    );
    assert!(!bridge.iter().any(|fact| fact.name == "NUMA node"));
    let absent = host.nic_facts("eth9");
    assert_eq!(value(&absent, "state"), "? ENOENT: no such file");
    let nothing = tempfile::tempdir().expect("a folder");
    let facts = Host::at(nothing.path()).expect("a tree").nic_facts("eth1");
    assert!(facts.iter().all(|fact| fact.value.is_err()), "{facts:?}");
}

#[test]
fn garbage_is_reasons() {
    let tree = machine();
    for text in ["", "\0\0", "-1", "x y:z\n:::\n", "é\u{202e},,,\n", "ffffffffff,1"] {
        for file in ["rx-0/rps_cpus", "rx-1/rps_cpus"] {
            write(tree.path(), &[(&format!("sys/class/net/eth1/queues/{file}"), text)]);
        }
        write(
            tree.path(),
            &[("proc/interrupts", text), ("proc/irq/130/smp_affinity_list", text)],
        );
        for fact in Host::at(tree.path()).expect("a tree").nic_facts("eth1") {
            let (Ok(shown) | Err(shown)) = &fact.value;
            assert!(
                !shown.trim().is_empty() && !shown.chars().any(char::is_control),
                "{fact:?}"
            );
        }
    }
}
