//! Settings emitted for a definition belong to that machine.

use std::fs;
use std::path::Path;

use audit::Audit;
use audit::finding::Outcome;
use audit::parameters::Parameters;
use host::Host;
use tempfile::TempDir;

use super::super::emit;

const GOOD: &str = include_str!("../../../../audit/src/tests/definitions/vmware-after.vmx");
const BEFORE: &str = include_str!("../../../../audit/src/tests/definitions/vmware-before.vmx");
const ESXI: &str = include_str!("../../../../audit/src/tests/definitions/esxi-after.txt");
const DOMAIN: &str = include_str!("../../../../audit/src/tests/definitions/welotec-before.xml");

fn tree(files: &[(&str, &str)]) -> TempDir {
    let root = tempfile::tempdir().expect("a directory");
    for (path, text) in files {
        let place = root.path().join(path);
        fs::create_dir_all(place.parent().expect("a folder")).expect("folders");
        fs::write(place, text).expect("a file");
    }
    root
}

fn audit(root: &Path, parameters: &Parameters) -> Audit {
    audit::audit(&Host::at(root).expect("a tree"), parameters, &[])
}

/// A VMware guest without a time daemon, defined by `machine`.
fn guest(machine: &str, esxi: Option<&str>) -> Audit {
    let root = tree(&[
        ("proc/cpuinfo", "processor : 0\nflags : fpu hypervisor\n"),
        ("proc/1/comm", "systemd\n"),
        ("proc/2/comm", "kthreadd\n"),
        ("sys/class/dmi/id/sys_vendor", "VMware, Inc.\n"),
        ("sys/class/dmi/id/product_name", "VMware Virtual Platform\n"),
        ("sys/devices/system/cpu/online", "0-3\n"),
        ("relay.vmx", machine),
        ("esxi.txt", esxi.unwrap_or_default()),
    ]);
    let parameters = Parameters {
        vmx: vec![root.path().join("relay.vmx")],
        esxi: esxi.map(|_| root.path().join("esxi.txt")),
        ..Parameters::default()
    };
    audit(root.path(), &parameters)
}

#[test]
fn the_lines_to_write_are_those_of_this_machine() {
    let before = BEFORE.replace("vmxnet3", "e1000");
    let text = emit(&guest(&before, Some(ESXI)), &[], "vmx").expect("lines");
    for line in [
        "sched.cpu.min = \"8000\"",
        "sched.mem.min = \"16384\"",
        "ethernet0.coalescingScheme = \"disabled\"",
    ] {
        assert!(text.contains(line), "{line}: {text}");
    }
}

/// Where no daemon sets the guest's clock, VMware's tools are the one that may.
#[test]
fn the_clock_of_a_guest_gets_one_master() {
    let asked = ["vmw-time-sync".to_owned()];
    let off = GOOD.replace("tools.syncTime = \"TRUE\"", "tools.syncTime = \"FALSE\"");
    let text = emit(&guest(&off, Some(ESXI)), &asked, "vmx").expect("a line");
    assert!(text.contains("tools.syncTime = \"TRUE\""), "{text}");
    let mended = off + "\n" + &text;
    let mended = mended.replacen("tools.syncTime = \"FALSE\"\n", "", 1);
    let outcome = |audit: Audit| {
        let finding = audit.findings.into_iter().find(|finding| finding.rule.id == asked[0]);
        finding.expect("a rule").outcome
    };
    assert_eq!(outcome(guest(&mended, Some(ESXI))), Outcome::Pass, "{mended}");
}

#[test]
fn no_control_character_and_no_word_for_a_number_becomes_a_setting() {
    let escape = GOOD.replace("\"high\"", "\"\u{1b}[31mhigh\"");
    let word = GOOD.replace("memSize = \"16384\"", "memSize = \"lots\"");
    assert!(word != GOOD && escape != GOOD);
    for audit in [guest(&escape, None), guest(&word, Some(ESXI))] {
        let settings = emit(&audit, &[], "vmx").unwrap_or_else(|why| why);
        assert!(
            !settings.contains(['\u{1b}']) && !settings.contains("lots"),
            "{settings}"
        );
    }
}

#[test]
fn the_fragments_to_write_are_those_of_this_domain() {
    let root = tree(&[
        ("proc/meminfo", "HugePages_Total: 16\nHugepagesize:    1048576 kB\n"),
        ("proc/sys/kernel/osrelease", "6.12.0-rt\n"),
        ("proc/2/comm", "kthreadd\n"),
        ("sys/devices/system/cpu/online", "0-7\n"),
        ("sys/devices/system/node/online", "0\n"),
        ("sys/devices/system/node/node0/cpulist", "0-7\n"),
        ("relay.xml", DOMAIN),
    ]);
    let parameters = Parameters {
        domains: vec![root.path().join("relay.xml").display().to_string()],
        rt_cpus: Some("1-7".parse().expect("CPUs")),
        ..Parameters::default()
    };
    let text = emit(&audit(root.path(), &parameters), &[], "libvirt").expect("fragments");
    let fragments = [
        "<vcpupin vcpu='0' cpuset='1'/><vcpupin vcpu='1' cpuset='2'/><vcpupin vcpu='2' cpuset='3'/></cputune>",
        "<emulatorpin cpuset='0'/>",
        "<vcpusched vcpus='0-2' scheduler='fifo' priority='1'/>",
        "<memballoon model='none'/>",
    ];
    for fragment in fragments {
        assert!(text.contains(fragment), "{fragment}: {text}");
    }
}
