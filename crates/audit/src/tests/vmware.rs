//! VMware: each rule with a machine that passes and one that fails, the forms of files, and the traps.

use proptest::prelude::*;
use tempfile::TempDir;

use super::tree::{add, audit, expect, tree};
use crate::definition::bundle::Bundle;
use crate::definition::vmx::Vmx;
use crate::finding::Outcome::{self, Fail, NotApplicable, Pass, Unknown};
use crate::parameters::Parameters;
use crate::{Audit, check_definitions};

const GOOD: &str = include_str!("definitions/vmware-after.vmx");
const HOST: &str = include_str!("definitions/esxi-after.txt");

/// A VMware guest without a time daemon.
fn guest() -> TempDir {
    tree(&[
        ("proc/cpuinfo", "processor : 0\nflags : fpu hypervisor\n"),
        ("proc/1/comm", "systemd\n"),
        ("proc/2/comm", "kthreadd\n"),
        ("sys/class/dmi/id/sys_vendor", "VMware, Inc.\n"),
        ("sys/class/dmi/id/product_name", "VMware Virtual Platform\n"),
        ("sys/devices/system/cpu/online", "0-3\n"),
    ])
}

fn of(guest: &TempDir, machine: &str, host: Option<&str>) -> Audit {
    let parameters = Parameters {
        vmx: vec![add(guest, "relay.vmx", machine)],
        esxi: host.map(|text| add(guest, "esxi.txt", text)),
        ..Parameters::default()
    };
    audit(guest, &parameters)
}

#[test]
fn each_change_for_the_worse_is_found() {
    let cases: [(&str, &str, &str, Outcome); 21] = [
        ("vmw-latency-sensitivity", "\"high\"", "\"HIGH\"", Pass),
        ("vmw-latency-sensitivity", "\"high\"", "\"normal\"", Fail),
        (
            "vmw-latency-sensitivity",
            "sched.cpu.latencySensitivity = \"high\"",
            "",
            Fail,
        ),
        ("vmw-cpu-reservation", "\"8000\"", "\"7900\"", Pass),
        ("vmw-cpu-reservation", "\"8000\"", "\"4000\"", Fail),
        ("vmw-cpu-reservation", "sched.cpu.min = \"8000\"", "", Fail),
        (
            "vmw-cpu-reservation",
            "logging",
            "sched.cpu.affinity = \"2,3\"\nlogging",
            Fail,
        ),
        ("vmw-memory-reservation", "sched.mem.pin = \"TRUE\"", "", Fail),
        (
            "vmw-memory-reservation",
            "memSize = \"16384\"",
            "memSize = \"32768\"",
            Fail,
        ),
        (
            "vmw-memory-reservation",
            "enable1GPage = \"TRUE\"",
            "enable1GPage = \"FALSE\"",
            Fail,
        ),
        ("vmw-monitor-options", "monitor.forceEnableMPTI = \"TRUE\"", "", Fail),
        ("vmw-cores-per-socket", "cpuid.coresPerSocket = \"1\"", "", Pass),
        (
            "vmw-cores-per-socket",
            "cpuid.coresPerSocket = \"1\"",
            "cpuid.coresPerSocket = \"2\"",
            Fail,
        ),
        ("vmw-logging-off", "logging = \"FALSE\"", "", Fail),
        ("vmw-nic-path", "\"high\"", "\"low\"", Fail),
        ("vmw-nic-path", "\"vmxnet3\"", "\"e1000\"", Fail),
        (
            "vmw-nic-path",
            "ethernet0.virtualDev = \"vmxnet3\"",
            "pciPassthru0.present = \"TRUE\"",
            Pass,
        ),
        ("vmw-nic-path", "ethernet0.present = \"TRUE\"", "", NotApplicable),
        ("vmw-time-sync", "tools.syncTime = \"TRUE\"", "", Fail),
        ("vmw-placement", "photon-rt.vmdk", "photon-rt-000002.vmdk", Fail),
        ("vmw-placement", "photon-rt.vmdk", "photon-rt-12.vmdk", Pass),
    ];
    for (id, from, to, wanted) in cases {
        assert!(GOOD.contains(from), "{id}: {from}");
        expect(&of(&guest(), &GOOD.replacen(from, to, 1), Some(HOST)), id, wanted);
    }
}

#[test]
fn coalescing_that_is_off_passes_without_latency_sensitivity() {
    let text = GOOD.replace("\"high\"", "\"normal\"");
    let off = text.replace("logging", "ethernet0.coalescingScheme = \"disabled\"\nlogging");
    expect(&of(&guest(), &off, None), "vmw-nic-path", Pass);
}

/// From virtual hardware 20 on, the host chooses the cores of a socket unless the file has them.
#[test]
fn cores_of_a_socket_are_not_guessed() {
    let without = GOOD.replace("cpuid.coresPerSocket = \"1\"", "");
    let with = |version: &str| without.replace("virtualHW.version = \"19\"", version);
    let id = "vmw-cores-per-socket";
    expect(&of(&guest(), &without, None), id, Pass);
    expect(&of(&guest(), &with("virtualHW.version = \"20\""), None), id, Unknown);
    expect(&of(&guest(), &with(""), None), id, Unknown);
    let chosen = GOOD.replace("virtualHW.version = \"19\"", "virtualHW.version = \"21\"");
    expect(&of(&guest(), &chosen, None), id, Pass);
}

#[test]
fn two_masters_of_one_clock_are_found() {
    let guest = guest();
    add(&guest, "proc/77/comm", "chronyd\n");
    expect(&of(&guest, GOOD, Some(HOST)), "vmw-time-sync", Fail);
    let alone = GOOD.replace("tools.syncTime = \"TRUE\"", "tools.syncTime = \"FALSE\"");
    expect(&of(&guest, &alone, Some(HOST)), "vmw-time-sync", Pass);
    let both = HOST.replace("Enabled: false", "Enabled: true");
    expect(&of(&guest, &alone, Some(&both)), "vmw-time-sync", Fail);
    let neither = HOST.replace("Enabled: true", "Enabled: false");
    expect(&of(&guest, &alone, Some(&neither)), "vmw-time-sync", Fail);
    // From outside the guest, its programs are unknown.
    let outside = tree(&[]);
    expect(&of(&outside, &alone, Some(HOST)), "vmw-time-sync", Unknown);
}

#[test]
fn what_only_the_host_tells_is_unknown_without_it() {
    let audit = of(&guest(), GOOD, None);
    for id in ["vmw-host-power-bios", "vmw-placement", "vmw-cpu-reservation"] {
        expect(&audit, id, Unknown);
    }
    let metal = tree(&[
        ("proc/cpuinfo", "processor : 0\nflags : fpu vmx\n"),
        ("sys/class/dmi/id/sys_vendor", "Dell Inc.\n"),
        ("sys/class/dmi/id/product_name", "PowerEdge\n"),
    ]);
    expect(
        &super::tree::audit(&metal, &Parameters::default()),
        "vmw-host-power-bios",
        NotApplicable,
    );
}

#[test]
fn the_host_s_own_words_decide() {
    let cases = [
        ("vmw-host-power-bios", "Short Name: static", "Short Name: dynamic", Fail),
        (
            "vmw-host-power-bios",
            "bios-c-states = disabled",
            "bios-c-states = enabled",
            Fail,
        ),
        ("vmw-host-power-bios", "bios-c-states = disabled\n", "", Unknown),
        ("vmw-placement", "drs = disabled", "drs = fully automated", Fail),
        (
            "vmw-placement",
            "memory-reserved-mb = 65536",
            "memory-reserved-mb = 265536",
            Fail,
        ),
        ("vmw-cpu-reservation", "cpuMhz = 2000", "cpuMhz = 2400", Fail),
    ];
    for (id, from, to, wanted) in cases {
        assert!(HOST.contains(from), "{id}: {from}");
        expect(&of(&guest(), GOOD, Some(&HOST.replace(from, to))), id, wanted);
    }
}

#[test]
fn snapshots_are_read_from_their_list() {
    let guest = guest();
    add(&guest, "relay.vmsd", "snapshot.numSnapshots = \"2\"\n");
    expect(&of(&guest, GOOD, Some(HOST)), "vmw-placement", Fail);
    add(&guest, "relay.vmsd", "");
    expect(&of(&guest, GOOD, Some(HOST)), "vmw-placement", Pass);
}

const OVF: &str = r#"<?xml version="1.0"?>
<Envelope xmlns="http://schemas.dmtf.org/ovf/envelope/1" xmlns:rasd="http://schemas.dmtf.org/wbem/wscim/1/cim-schema/2/CIM_ResourceAllocationSettingData"
 xmlns:vmw="http://www.vmware.com/schema/ovf" xmlns:ovf="http://schemas.dmtf.org/ovf/envelope/1">
<VirtualSystem ovf:id="relay"><VirtualHardwareSection>
<Item><rasd:Reservation>8000</rasd:Reservation><rasd:ResourceType>3</rasd:ResourceType><rasd:VirtualQuantity>4</rasd:VirtualQuantity></Item>
<Item><rasd:AllocationUnits>byte * 2^20</rasd:AllocationUnits><rasd:Reservation>16384</rasd:Reservation><rasd:ResourceType>4</rasd:ResourceType><rasd:VirtualQuantity>16384</rasd:VirtualQuantity></Item>
<Item><rasd:ResourceSubType>VmxNet3</rasd:ResourceSubType><rasd:ResourceType>10</rasd:ResourceType></Item>
<vmw:Config ovf:required="false" vmw:key="tools.syncTimeWithHost" vmw:value="true"/>
<vmw:ExtraConfig vmw:key="sched.cpu.latencySensitivity" vmw:value="high"/>
<vmw:ExtraConfig vmw:key="sched.mem.pin" vmw:value="TRUE"/>
<vmw:ExtraConfig vmw:key="sched.mem.lpage.enable1GPage" vmw:value="TRUE"/>
</VirtualHardwareSection></VirtualSystem></Envelope>"#;

#[test]
fn an_ovf_says_the_same_in_its_words() {
    let audit = of(&guest(), OVF, Some(HOST));
    let passed = [
        "vmw-latency-sensitivity",
        "vmw-cpu-reservation",
        "vmw-memory-reservation",
        "vmw-nic-path",
        "vmw-time-sync",
    ];
    for id in passed {
        expect(&audit, id, Pass);
    }
    expect(&audit, "vmw-monitor-options", Fail);
}

#[test]
fn files_that_are_no_definitions_are_refused_with_the_place() {
    let folder = tree(&[]);
    let refused = |name: &str, text: &str, near: &str| {
        let file = add(&folder, name, text);
        let mut parameters = Parameters::default();
        match name {
            "esxi.txt" => parameters.esxi = Some(file.clone()),
            _ => parameters.vmx = vec![file.clone()],
        }
        let error = check_definitions(&parameters).expect_err(text);
        assert!(
            error.starts_with(&file.display().to_string()) && error.contains(near),
            "{error}"
        );
    };
    refused("a.vmx", "numvcpus = \"4\"\nnonsense\n", "line 2");
    refused("a.vmx", "a = \"1\"\nA = \"2\"\n", "line 2");
    refused("a.vmx", "# nothing\n", "no key");
    refused("a.vmx", "a = \"open\n", "line 1");
    refused("a.ovf", "<domain/>", "<domain>");
    refused("esxi.txt", "drs-mode = manual\n", "drs-mode");
    refused("esxi.txt", "nothing\n", "no line");
}

proptest! {
    #[test]
    fn no_text_makes_the_readers_panic(text in any::<String>(), at in 0..OVF.len(), length in 0..40usize) {
        let _ = Vmx::parse(&text);
        let _ = Bundle::parse(&text);
        let folder = tree(&[]);
        let mut broken = OVF.to_owned();
        broken.replace_range(at..(at + length).min(OVF.len()), &text);
        let _ = Vmx::read(&add(&folder, "a.ovf", &broken));
    }
}

#[test]
fn no_control_character_and_no_word_for_a_number_becomes_a_setting() {
    let guest = guest();
    let escape = GOOD.replace("\"high\"", "\"\u{1b}[31mhigh\"");
    let audit = of(&guest, &escape, Some(HOST));
    expect(&audit, "vmw-latency-sensitivity", Unknown);
    let word = GOOD.replace("memSize = \"16384\"", "memSize = \"lots\"");
    assert_ne!(word, GOOD);
    let audit = of(&guest, &word, Some(HOST));
    expect(&audit, "vmw-memory-reservation", Unknown);
}
