//! Rules cover the changes that authors of published set-ups made by hand: before the change these rules fail, after it none does. If a
//! set-up breaks a rule, its profile turns the failure into a warning, and the rule's traps give the reason.

use std::path::Path;

use tempfile::TempDir;

use super::tree::{add, audit, tree};
use crate::finding::Outcome;
use crate::parameters::Parameters;

/// A host with one node, huge pages of 1 GiB by default, and RCU threads at 4 as TuneD sets them.
fn host() -> TempDir {
    let tree = tree(&[
        ("proc/meminfo", "HugePages_Total: 16\nHugepagesize:    1048576 kB\n"),
        ("proc/sys/kernel/osrelease", "6.12.0-rt\n"),
        ("proc/2/comm", "kthreadd\n"),
        ("sys/devices/system/cpu/online", "0-7\n"),
        ("sys/devices/system/node/online", "0\n"),
        ("sys/devices/system/node/node0/cpulist", "0-7\n"),
        ("sys/fs/cgroup/cgroup.controllers", "cpuset cpu\n"),
        ("sys/fs/cgroup/cpuset.cpus.effective", "0-7\n"),
        ("sys/fs/cgroup/machine.slice/cpuset.cpus.effective", "0-7\n"),
        ("sys/fs/cgroup/machine.slice/cpu.max", "max 100000\n"),
        // The card of Welotec's domain is a whole card.
        ("sys/bus/pci/devices/0000:09:00.0/class", "0x020000\n"),
    ]);
    for cpu in 0..8 {
        let id = 20 + cpu;
        let rest = "2 0 0 0 -1 69238880 0 0 0 0 0 0 0 0 -5 0 1 0 10 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 17";
        add(&tree, &format!("proc/{id}/comm"), &format!("rcuc/{cpu}\n"));
        add(
            &tree,
            &format!("proc/{id}/stat"),
            &format!("{id} (rcuc/{cpu}) S {rest} {cpu} 4 1 0 0 0\n"),
        );
    }
    tree
}

fn definition(name: &str) -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("src/tests/definitions")
        .join(name)
}

/// The rules of a group with an outcome, in order of their names.
fn with(audit: &crate::Audit, group: &str, outcome: Outcome) -> Vec<String> {
    let findings = audit.findings.iter();
    let found = findings.filter(|finding| finding.group == group && finding.outcome == outcome);
    let mut ids: Vec<String> = found.map(|finding| finding.rule.id.clone()).collect();
    ids.sort();
    ids
}

fn domain(name: &str, cpus: &str, profile: Option<&str>) -> [Vec<String>; 3] {
    let parameters = Parameters {
        domains: vec![definition(name).display().to_string()],
        rt_cpus: Some(cpus.parse().expect("CPUs")),
        profile: profile.map(str::to_owned),
        ..Parameters::default()
    };
    let audit = audit(&host(), &parameters);
    [Outcome::Fail, Outcome::Warn, Outcome::Unknown].map(|outcome| with(&audit, "domain", outcome))
}

const NONE: [&str; 0] = [];

#[test]
fn welotec_and_red_hat_changed_what_the_rules_ask_for() {
    let [fail, warn, unknown] = domain("welotec-before.xml", "1-7", Some("welotec"));
    let changed = [
        "dom-devices-minimal",
        "dom-emulatorpin",
        "dom-no-balloon",
        "dom-pmu-vmport-off",
        "dom-rt-nic",
        "dom-vcpupin",
        "dom-vcpusched",
    ];
    assert_eq!(fail, changed);
    // invtsc: the set-up never requests it.
    assert_eq!(warn, ["dom-cpu-model"]);
    assert_eq!(unknown, NONE);

    let [fail, warn, unknown] = domain("welotec-after.xml", "1-7", Some("welotec"));
    assert_eq!(fail, NONE);
    let left = ["dom-cpu-model", "dom-cputune-consistent", "dom-devices-minimal"];
    assert_eq!(warn, left);
    assert_eq!(unknown, NONE);
}

#[test]
fn without_its_profile_the_set_up_of_welotec_and_red_hat_breaks_one_rule() {
    let [fail, _, _] = domain("welotec-after.xml", "1-7", None);
    assert_eq!(fail, ["dom-cputune-consistent"]);
}

#[test]
fn seapath_s_features_are_what_the_rules_ask_for() {
    let [fail, warn, unknown] = domain("seapath-before.xml", "2-7", Some("seapath"));
    let changed = [
        "dom-cpu-model",
        "dom-emulatorpin",
        "dom-pmu-vmport-off",
        "dom-vcpupin",
        "dom-vcpusched",
    ];
    assert_eq!(fail, changed);
    let always = ["dom-block-io", "dom-devices-minimal", "dom-memory-backing"];
    assert_eq!(warn, always);
    assert_eq!(unknown, NONE);

    let [fail, warn, unknown] = domain("seapath-after.xml", "2-7", Some("seapath"));
    assert_eq!(fail, NONE);
    let always = [
        "dom-block-io",
        "dom-cpu-model",
        "dom-devices-minimal",
        "dom-memory-backing",
    ];
    assert_eq!(warn, always);
    assert_eq!(unknown, NONE);
    let [fail, _, _] = domain("seapath-after.xml", "2-7", None);
    assert_eq!(fail, ["dom-block-io", "dom-devices-minimal", "dom-memory-backing"]);
}

#[test]
fn abb_s_guest_is_what_the_rules_ask_for() {
    let [fail, warn, unknown] = domain("abb-before.xml", "2-6", Some("abb"));
    let changed = [
        "dom-block-io",
        "dom-cpu-model",
        "dom-devices-minimal",
        "dom-emulatorpin",
        "dom-memory-backing",
        "dom-no-balloon",
        "dom-pmu-vmport-off",
        "dom-rt-nic",
        "dom-timers",
        "dom-vcpupin",
        "dom-vcpusched",
    ];
    assert_eq!(fail, changed);
    assert_eq!((warn.len(), unknown.len()), (0, 0), "{warn:?} {unknown:?}");

    let [fail, warn, unknown] = domain("abb-after.xml", "2-6", Some("abb"));
    assert_eq!(fail, NONE);
    assert_eq!(warn, ["dom-cpu-model", "dom-devices-minimal", "dom-vcpusched"]);
    assert_eq!(unknown, NONE);
    let [fail, _, _] = domain("abb-after.xml", "2-6", None);
    assert_eq!(fail, ["dom-devices-minimal", "dom-vcpusched"]);
}

/// A VMware guest without a time daemon, and the host's answers.
fn vmware(machine: &str, host: &str) -> [Vec<String>; 3] {
    let tree = tree(&[
        ("proc/cpuinfo", "processor : 0\nflags : fpu hypervisor\n"),
        ("proc/1/comm", "systemd\n"),
        ("proc/2/comm", "kthreadd\n"),
        ("sys/class/dmi/id/sys_vendor", "VMware, Inc.\n"),
        ("sys/class/dmi/id/product_name", "VMware Virtual Platform\n"),
        ("sys/devices/system/cpu/online", "0-3\n"),
    ]);
    let parameters = Parameters {
        vmx: vec![definition(machine)],
        esxi: Some(definition(host)),
        ..Parameters::default()
    };
    let audit = audit(&tree, &parameters);
    [Outcome::Fail, Outcome::Warn, Outcome::Unknown].map(|outcome| with(&audit, "vmware", outcome))
}

#[test]
fn the_guide_of_vmware_changed_what_the_rules_ask_for() {
    let [fail, warn, unknown] = vmware("vmware-before.vmx", "esxi-before.txt");
    let changed = [
        "vmw-cores-per-socket",
        "vmw-cpu-reservation",
        "vmw-host-power-bios",
        "vmw-latency-sensitivity",
        "vmw-logging-off",
        "vmw-memory-reservation",
        "vmw-monitor-options",
        "vmw-nic-path",
        "vmw-placement",
        "vmw-time-sync",
    ];
    assert_eq!(fail, changed);
    assert_eq!((warn.len(), unknown.len()), (0, 0), "{warn:?} {unknown:?}");

    let [fail, warn, unknown] = vmware("vmware-after.vmx", "esxi-after.txt");
    assert_eq!(fail, NONE);
    assert_eq!((warn.len(), unknown.len()), (0, 0), "{warn:?} {unknown:?}");
}
