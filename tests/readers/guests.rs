//! Settings of virtual machines: diffs of libvirt's domains, and lines of VMware's files.

use super::{can_read, definition, emitted, folder, host, open, said, text, written};
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

/// A domain that breaks most rules, in a typical form written by hand: comments, namespaces and blanks of every kind.
const DOMAIN: &str = "<?xml version='1.0' encoding='UTF-8'?>\n\
<domain type=\"kvm\" xmlns:qemu='http://libvirt.org/schemas/domain/qemu/1.0'>\n  <!-- <vcpu>9</vcpu> of bay 7 -->\n  <name>bay 7 &amp; 8</name>\n\
  <memory unit='GiB'>4</memory>\n\t<vcpu placement='static'>2</vcpu>\n  <iothreads>2</iothreads>\n  <cputune>\n    <vcpupin vcpu='0' cpuset='0'/>\n\
    <vcpusched vcpus='0' scheduler='batch'/><vcpusched vcpus='1' scheduler='rr' priority='5'/>\n  </cputune>\n\
  <os><type arch='x86_64' machine='q35'>hvm</type></os>\n  <features><acpi/><pmu state='on'/></features>\n\
  <cpu mode='custom' match='exact' check='partial'><model fallback='allow'>Haswell</model><vendor>Intel</vendor><feature policy='disable' name='invtsc'/></cpu>\n\
  <clock offset='localtime'><timer name='hpet' present='yes'/></clock>\n  <devices>\n\
    <disk type='file' device='disk'><driver name='qemu' type='qcow2' cache='writeback'/><source file='/a'/><target dev='vda'/></disk>\n\
    <controller type='usb' index='0' model='ich9-ehci1'/><controller type='usb' index='1' model='qemu-xhci'/>\n\
    <interface type='bridge'><source bridge='br0'/><model type='e1000'/></interface>\n    <graphics type='vnc' port='-1'/>\n\
    <watchdog model='i6300esb' action='reset'/>\n    <memballoon model='virtio'><stats period='5'/></memballoon>\n  </devices>\n\
  <qemu:commandline><qemu:arg value='-s'/></qemu:commandline>\n</domain>\n";

/// The answer of libvirt's own schema to a definition.
fn validated(path: &Path) -> Output {
    let mut command = Command::new("virt-xml-validate");
    command
        .arg(path)
        .arg("domain")
        .output()
        .expect("virt-xml-validate starts")
}

/// The answer of libvirt itself, which refuses more than its schema does. Its test driver keeps nothing.
fn defined(path: &Path) -> Output {
    let mut command = Command::new("virsh");
    command.args(["--connect", "test:///default", "define"]);
    command.arg(path).output().expect("virsh starts")
}

fn patched(folder: &Path, diff: &str) -> Output {
    written(folder, "tune.patch", diff);
    let mut command = Command::new("patch");
    let command = command.args(["--strip=1", "--fuzz=0", "--input=tune.patch"]);
    command.current_dir(folder).output().expect("patch starts")
}

#[test]
fn patch_applies_every_diff_and_libvirts_schema_takes_the_domain() {
    let test = "patch_applies_every_diff_and_libvirts_schema_takes_the_domain";
    let (validate, patch) = ("libvirt-clients and libxml2-utils", "patch");
    if !can_read(test, "virt-xml-validate", validate)
        || !can_read(test, "xmllint", validate)
        || !can_read(test, "virsh", "libvirt-clients")
        || !can_read(test, "patch", patch)
    {
        return;
    }
    let read = |name: &str| fs::read_to_string(definition(name)).expect("a definition");
    let domains = [
        DOMAIN.to_owned(),
        DOMAIN.replace('\n', "\r\n"),
        DOMAIN.replace('\n', ""),
        DOMAIN.trim_end().to_owned(),
        read("abb-before.xml"),
        read("seapath-before.xml"),
    ];
    let mut asked = 0;
    for tree in ["debian-untuned", "preempt-rt-bare-metal", "seapath-tuned"] {
        for domain in &domains {
            let own = folder();
            let file = written(own.path(), "relay.xml", domain);
            assert!(validated(&file).status.success(), "{}", said(&validated(&file)));
            // The driver lacks what some definitions ask for.
            let is_taken = defined(&file).status.success();
            asked += usize::from(is_taken);
            let diff = emitted(&host(tree), &["--domain", text(&file)], "libvirt");
            let applied = patched(own.path(), &diff);
            assert!(applied.status.success(), "{tree}: {}\n{diff}", said(&applied));
            let after = fs::read_to_string(&file).expect("the domain");
            let plain = after.replace('"', "'");
            for wanted in ["scheduler='fifo' priority='1'/>", "<memballoon model='none'/>"] {
                assert!(plain.contains(wanted), "{wanted}: {after}");
            }
            // Where the group around the guest lacks the CPUs, a pin to them would keep it from starting.
            let by_hand = diff.contains("# by hand, dom-emulatorpin: ");
            assert!(!by_hand || tree == "seapath-tuned", "{tree}: {diff}");
            assert_eq!(plain.contains("<emulatorpin cpuset='"), !by_hand, "{tree}: {after}");
            let valid = validated(&file);
            assert!(valid.status.success(), "{tree}: {}\n{after}", said(&valid));
            let taken = defined(&file);
            assert!(!is_taken || taken.status.success(), "{tree}: {}\n{after}", said(&taken));
            spoiled_is_refused(own.path(), &after, &diff);
        }
    }
    assert!(
        asked > 0,
        "libvirt took none of the definitions before they were changed"
    );
}

/// A name that the schema does not know, and a diff of another file.
fn spoiled_is_refused(folder: &Path, domain: &str, diff: &str) {
    let wrong = written(
        folder,
        "wrong.xml",
        &domain.replace("<vcpusched vcpus=", "<vcpusched cpus="),
    );
    assert!(!validated(&wrong).status.success(), "{domain}");
    assert!(
        !patched(folder, diff).status.success(),
        "a diff that is applied already:\n{diff}"
    );
}

/// Only VMware's products read these files: a line is `key = "value"` in ASCII without control characters, and a key occurs once (VMware's `.vmx`
/// files as they come; `docs/guide/vmware.md`).
#[test]
fn lines_for_vmware_are_keys_and_quoted_values() {
    for (tree, file) in [
        ("debian-untuned", definition("vmware-before.vmx")),
        ("vmware-guest", host("vmware-guest").with_file_name("relay.vmx")),
    ] {
        let own = folder();
        let before = fs::read_to_string(file).expect("a definition").replace("TRUE", "FALSE");
        let file = written(own.path(), "relay.vmx", &before);
        let lines = emitted(&host(tree), &["--vmx", text(&file)], "vmx");
        let settings: Vec<&str> = lines.lines().filter(|line| !line.starts_with('#')).collect();
        assert!(!settings.is_empty(), "{lines}");
        let mut keys: Vec<&str> = settings
            .iter()
            .map(|line| key(line).unwrap_or_else(|| panic!("{line:?}")))
            .collect();
        keys.sort_unstable();
        let count = keys.len();
        keys.dedup();
        assert_eq!(keys.len(), count, "a key twice: {lines}");
        let (taken, without) = (
            open("--vmx", &file, "2-3"),
            before.lines().filter(|line| !names(&settings, line)),
        );
        let after = without.map(|line| format!("{line}\n")).collect::<String>() + &settings.join("\n");
        let after = written(own.path(), "after.vmx", &after);
        let left = open("--vmx", &after, "2-3");
        // The file can give its reservation only with the host's own answers.
        let is_told = |id: &String| taken.contains(id) && lines.contains(&format!("# {id}: not set: "));
        assert!(
            taken.len() > left.len() && left.iter().all(is_told),
            "{left:?}: {lines}"
        );
        assert_eq!(
            key(&settings[0].replace('"', "")),
            None,
            "a value without quotes is none"
        );
    }
}

/// True if one of the settings is for the key of a line.
fn names(settings: &[&str], line: &str) -> bool {
    let own = line.split(" = ").next().unwrap_or(line);
    let all = settings.iter().filter_map(|setting| setting.split(" = ").next());
    all.into_iter().any(|key| key.eq_ignore_ascii_case(own))
}

/// The key of a line; `None` if it is not a setting.
fn key(line: &str) -> Option<&str> {
    let (key, value) = line.split_once(" = ")?;
    let value = value.strip_prefix('"')?.strip_suffix('"')?;
    let is_key = |c: char| c.is_ascii_alphanumeric() || "._:-".contains(c);
    let is_plain = value.chars().all(|c| c.is_ascii_graphic() && c != '"' || c == ' ');
    (is_plain && !key.is_empty() && key.chars().all(is_key)).then_some(key)
}
