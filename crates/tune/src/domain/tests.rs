use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::libvirt_patch;
use super::merge::merged;
use audit::Audit;
use audit::finding::Outcome;
use audit::parameters::Parameters;
use host::Host;

const WELOTEC: &str = include_str!("../../../audit/src/tests/definitions/welotec-before.xml");
const SEAPATH: &str = include_str!("../../../audit/src/tests/definitions/seapath-before.xml");
const ABB: &str = include_str!("../../../audit/src/tests/definitions/abb-before.xml");

/// A domain with every fault that a fragment can remedy, in an unusual form: several elements on a line, comments, entities.
const STRANGE: &str = "<?xml version='1.0'?>\n<!-- kept: 1 -->\n<domain type='kvm'><name>strange &amp; old</name>\n\
    <vcpu placement='auto'>2</vcpu> <!-- kept: 2 -->\n  <iothreads>2</iothreads>\n  <cputune>\n    <vcpupin vcpu='0' cpuset='0-3'/>\n    \
    <vcpupin vcpu='5' cpuset='3'/>\n    <vcpusched vcpus='0' scheduler='rr' priority='99'/><vcpusched vcpus='1-4' scheduler='fifo' priority='2'/>\n\
    \t<!-- kept: 3 -->\n  </cputune>\n  <memoryBacking/>\n  <os><type arch='x86_64' machine='q35'>hvm</type></os>\n  <features>\n  </features>\n\
    <cpu mode='custom' match='exact'><vendor>Intel</vendor><model fallback='forbid'>Skylake-Server</model></cpu>\n  <clock offset='localtime'/>\n  <devices>\n    \
    <disk type='block' device='disk'><driver name='qemu' type='raw' cache='writeback' iothread='2'/><target dev='vda' bus='virtio'/></disk>\n    \
    <disk type='block' device='disk'><target dev='vdb' bus='virtio'/></disk>\n    <controller type='usb' index='0' model='ich9-ehci1'><address type='pci'/></controller>\n    \
    <controller type='usb' index='0' model='ich9-uhci1'/>\n    <graphics type='vnc'/><sound model='ich6'/>\n    <memballoon model='virtio'><stats period='5'/></memballoon>\n  \
    </devices>\n</domain>";

fn audit(file: &Path) -> Audit {
    let root = tempfile::tempdir().expect("a directory");
    for (path, text) in [
        ("sys/devices/system/cpu/online", "0-7\n"),
        ("sys/devices/system/cpu/possible", "0-7\n"),
        ("sys/devices/system/cpu/isolated", "2-7\n"),
        ("sys/devices/system/node/online", "0\n"),
        ("sys/devices/system/node/node0/cpulist", "0-7\n"),
        ("proc/meminfo", "Hugepagesize: 2048 kB\n"),
    ] {
        let place = root.path().join(path);
        fs::create_dir_all(place.parent().expect("a folder")).expect("folders");
        fs::write(place, text).expect("a file");
    }
    let parameters = Parameters {
        rt_cpus: Some("2-7".parse().expect("CPUs")),
        domains: vec![file.display().to_string()],
        ..Parameters::default()
    };
    audit::audit(&Host::at(root.path()).expect("a tree"), &parameters, &[])
}

/// Checks of a domain that failed or warned and that a fragment can remedy.
fn open(audit: &Audit) -> Vec<String> {
    let all = super::open_of_any(audit);
    all.map(|finding| finding.rule.id.clone()).collect()
}

fn unknown(audit: &Audit) -> Vec<String> {
    let all = audit.findings.iter().filter(|finding| finding.group == "domain");
    let unknown = all.filter(|finding| finding.outcome == Outcome::Unknown);
    unknown.map(|finding| finding.rule.id.clone()).collect()
}

/// Applies a patch as a person would.
fn applied(folder: &Path, patch: &str, program: &str, arguments: &[&str]) {
    fs::write(folder.join("tune.patch"), patch).expect("a file");
    let done = Command::new(program)
        .args(arguments)
        .arg("tune.patch")
        .current_dir(folder)
        .output();
    let done = done.unwrap_or_else(|error| panic!("{program}: {error}"));
    assert!(
        done.status.success(),
        "{program}: {}\n{patch}",
        String::from_utf8_lossy(&done.stderr)
    );
}

fn has(program: &str, test: &str) -> bool {
    let there = Command::new(program).arg("--version").output().is_ok();
    if !there {
        testing::skip(test, &format!("{program} is not installed"));
    }
    there
}

#[test]
fn an_applied_patch_leaves_only_what_a_person_decides() {
    let test = "an_applied_patch_leaves_only_what_a_person_decides";
    for (program, arguments) in [("git", &["apply"][..]), ("patch", &["-p1", "-i"])] {
        if !has(program, test) {
            continue;
        }
        for (name, text) in [
            ("welotec", WELOTEC),
            ("seapath", SEAPATH),
            ("abb", ABB),
            ("strange", STRANGE),
        ] {
            let folder = tempfile::tempdir().expect("a directory");
            let file = folder.path().join("relay.xml");
            fs::write(&file, text).expect("a file");
            let before = audit(&file);
            let patch = libvirt_patch(&before, &[], &file.display().to_string()).expect("a patch");
            assert!(
                !open(&before).is_empty() && patch.contains("--- a/relay.xml"),
                "{name}: {patch}"
            );
            applied(folder.path(), &patch, program, arguments);
            let after = audit(&file);
            let left = open(&after);
            let by_hand = |id: &String| patch.lines().any(|line| line.starts_with(&format!("# by hand, {id}:")));
            assert!(left.iter().all(by_hand), "{name}: {left:?} left by\n{patch}");
            assert!(left.iter().all(|id| id == "dom-rt-nic"), "{name}: {left:?}\n{patch}");
            let more: Vec<String> = unknown(&after)
                .into_iter()
                .filter(|id| !unknown(&before).contains(id))
                .collect();
            assert!(more.is_empty(), "{name}: unknown is not mended: {more:?}");
            let again = libvirt_patch(&after, &[], &file.display().to_string()).expect("a patch");
            assert!(!again.contains("---"), "{name}: nothing is left to change:\n{again}");
        }
    }
}

#[test]
fn comments_order_and_what_nobody_asked_for_stay() {
    let folder = tempfile::tempdir().expect("a directory");
    let file = folder.path().join("relay.xml");
    fs::write(&file, STRANGE).expect("a file");
    let patch = libvirt_patch(&audit(&file), &[], &file.display().to_string()).expect("a patch");
    let removed: Vec<&str> = patch.lines().filter(|line| line.starts_with('-')).collect();
    for kept in ["kept: 1", "kept: 3"] {
        assert!(!removed.iter().any(|line| line.contains(kept)), "{kept}: {patch}");
    }
    assert!(!patch.contains("offset='utc'"), "the guest's clock stays: {patch}");
    assert!(patch.contains("No newline at end of file"), "{patch}");
    let one = libvirt_patch(
        &audit(&file),
        &["dom-no-balloon".to_owned()],
        &file.display().to_string(),
    );
    let one = one.expect("a patch");
    let changes = one
        .lines()
        .filter(|line| line.starts_with(['+', '-']) && !line.starts_with("++") && !line.starts_with("--"));
    assert_eq!(changes.count(), 2, "one line for another: {one}");
}

#[test]
fn a_file_that_is_no_domain_is_refused() {
    let folder = tempfile::tempdir().expect("a directory");
    let file = folder.path().join("relay.xml");
    fs::write(&file, "<domain><name>x</domain>").expect("a file");
    let error = libvirt_patch(&audit(&file), &[], &file.display().to_string()).expect_err("no domain");
    assert!(error.contains("relay.xml"), "{error}");
}

#[test]
fn fragments_go_where_they_belong() {
    for (before, fragment, after) in [
        (
            "<domain><vcpu>2</vcpu></domain>",
            "<vcpu>3</vcpu>",
            "<domain><vcpu>3</vcpu></domain>",
        ),
        (
            "<domain>\n  <features/>\n</domain>",
            "<features><pmu state='off'/></features>",
            "<domain>\n  <features>\n    <pmu state='off'/>\n  </features>\n</domain>",
        ),
        (
            "<domain>\n  <vcpu>1</vcpu>\n  <os/>\n</domain>",
            "<cputune><vcpupin vcpu='0' cpuset='2'/></cputune>",
            "<domain>\n  <vcpu>1</vcpu>\n  <cputune>\n    <vcpupin vcpu='0' cpuset='2'/>\n  </cputune>\n  <os/>\n</domain>",
        ),
        (
            "<domain><devices><watchdog model='i6300esb'/></devices></domain>",
            "<devices><watchdog model='itco' action='none'/></devices>",
            "<domain><devices><watchdog model='i6300esb' action='none'/></devices></domain>",
        ),
        (
            "<domain><devices/></domain>",
            "<devices><watchdog action='none'/></devices>",
            "<domain><devices/></domain>",
        ),
    ] {
        assert_eq!(merged(before, fragment).as_deref(), Ok(after));
    }
    assert!(merged("<domain/>", "<hostdev>").is_err());
    let devices =
        "<domain><devices><hostdev type='usb' managed='no'/><hostdev type='pci' managed='no'/></devices></domain>";
    let managed = merged(devices, "<devices><hostdev type='pci' managed='yes'/></devices>").expect("whole XML");
    assert_eq!(
        managed,
        devices.replace("type='pci' managed='no'", "type='pci' managed='yes'")
    );
}

#[test]
fn a_domain_by_its_name_gets_a_diff_against_what_libvirt_stores_or_runs() {
    let test = "a_domain_by_its_name_gets_a_diff_against_what_libvirt_stores_or_runs";
    let definition = "<domain type='kvm'>\n  <name>relay</name>\n  <vcpu>2</vcpu>\n  <devices>\n    <memballoon model='virtio'/>\n  </devices>\n</domain>\n";
    let status = format!(
        "<domstatus state='running' pid='20'>\n<vcpus><vcpu id='0' pid='21'/></vcpus>\n{definition}</domstatus>\n"
    );
    let parameters = Parameters {
        rt_cpus: Some("2-7".parse().expect("CPUs")),
        domains: vec!["relay".to_owned()],
        ..Parameters::default()
    };
    let of = |path: &str, text: &str| {
        let root = tempfile::tempdir().expect("a directory");
        for (path, text) in [("sys/devices/system/cpu/online", "0-7\n"), (path, text)] {
            let place = root.path().join(path);
            fs::create_dir_all(place.parent().expect("a folder")).expect("folders");
            fs::write(place, text).expect("a file");
        }
        let host = Host::at(root.path()).expect("a tree");
        let audit = audit::audit(&host, &parameters, &[]);
        super::libvirt_patch_of_name(&host, &audit, &["dom-vcpusched".to_owned()], "relay")
    };
    for (path, text) in [
        ("etc/libvirt/qemu/relay.xml", definition),
        ("run/libvirt/qemu/relay.xml", &status),
    ] {
        let patch = of(path, text).expect("it can be read").expect("a diff");
        assert!(
            patch.contains("\n--- a/relay.xml\n+++ b/relay.xml\n") && patch.starts_with("# dom-vcpusched: risk: "),
            "{path}: {patch}"
        );
        assert!(
            patch.contains("vcpusched") && !patch.contains("domstatus"),
            "{path}: {patch}"
        );
        let folder = tempfile::tempdir().expect("a directory");
        fs::write(folder.path().join("relay.xml"), definition).expect("a file");
        if !has("patch", test) {
            return;
        }
        applied(folder.path(), &patch, "patch", &["-p1", "-i"]);
        let changed = fs::read_to_string(folder.path().join("relay.xml")).expect("a definition");
        assert!(changed.contains("scheduler='fifo'"), "{changed}");
    }
    assert!(of("proc/version", "x").is_none(), "neither is there");
}

#[test]
fn a_card_that_is_an_interface_is_managed_too() {
    let groups = audit::rule::built_in();
    let rule = groups
        .iter()
        .flat_map(|(_, group)| &group.rules)
        .find(|rule| rule.id == "vfio-bound");
    let fragment = rule.expect("a rule").remedy.emit["libvirt"].concat();
    let card = "<domain><devices><interface type='network'/><interface type='hostdev'><mac address='x'/></interface></devices></domain>";
    let after = merged(card, &fragment).expect("a definition");
    assert_eq!(after, card.replace("type='hostdev'", "type='hostdev' managed='yes'"));
}

/// Outcomes of the domain's rules on a recorded machine, for a definition.
fn recorded(machine: &Path, file: &Path) -> (Audit, Vec<(String, Outcome)>) {
    let told = fs::read_to_string(machine.join("told.toml")).unwrap_or_default();
    let told: toml::Table = toml::from_str(&told).expect("a table");
    let cpus = told.get("cpus").and_then(toml::Value::as_str);
    let parameters = Parameters {
        rt_cpus: cpus.map(|cpus| cpus.parse().expect("CPUs")),
        domains: vec![file.display().to_string()],
        ..Parameters::default()
    };
    let audit = audit::audit(&Host::at(&machine.join("root")).expect("a tree"), &parameters, &[]);
    let of_domain = audit.findings.iter().filter(|finding| finding.group == "domain");
    let outcomes = of_domain.map(|finding| (finding.rule.id.clone(), finding.outcome));
    let outcomes = outcomes.collect();
    (audit, outcomes)
}

fn hosts() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/hosts")
}

fn of(outcomes: &[(String, Outcome)], id: &str) -> Outcome {
    let found = outcomes.iter().find(|(known, _)| known == id);
    found.unwrap_or_else(|| panic!("no rule {id}")).1
}

/// A guest in the general slice, without a pin for the emulator.
fn unpinned() -> String {
    let guest = fs::read_to_string(hosts().join("seapath-tuned/relay.xml")).expect("a definition");
    let unpinned = guest
        .replace("<partition>/machine/rt</partition>", "<partition>/machine</partition>")
        .replace("    <emulatorpin cpuset=\"0-3\"/>\n", "");
    assert!(!unpinned.contains("emulatorpin") && !unpinned.contains("/machine/rt"));
    unpinned
}

#[test]
fn no_patch_brings_a_failure_on_a_recorded_machine() {
    if !has("git", "no_patch_brings_a_failure_on_a_recorded_machine") {
        return;
    }
    let mut patched = 0;
    for machine in fs::read_dir(hosts())
        .expect("machines")
        .flatten()
        .map(|entry| entry.path())
    {
        if !machine.join("root").is_dir() {
            continue;
        }
        for text in [WELOTEC, SEAPATH, ABB, STRANGE, &unpinned()] {
            let folder = tempfile::tempdir().expect("a directory");
            let file = folder.path().join("relay.xml");
            fs::write(&file, text).expect("a file");
            let (audit, before) = recorded(&machine, &file);
            let patch = libvirt_patch(&audit, &[], &file.display().to_string()).expect("a patch");
            if !patch.contains("--- a/relay.xml") {
                continue;
            }
            applied(folder.path(), &patch, "git", &["apply"]);
            patched += 1;
            let (_, after) = recorded(&machine, &file);
            for (id, was) in before {
                let is = of(&after, &id);
                let is_worse = was == Outcome::Pass && is != Outcome::Pass;
                assert!(!is_worse, "{}: {id} is {is:?} after\n{patch}", machine.display());
            }
        }
    }
    assert!(patched > 20, "{patched}");
}

#[test]
fn the_emulator_is_pinned_only_where_its_slice_has_the_cpus() {
    let folder = tempfile::tempdir().expect("a directory");
    let file = folder.path().join("relay.xml");
    fs::write(&file, unpinned()).expect("a file");
    let patch_on = |machine: &Path| {
        let (audit, outcomes) = recorded(machine, &file);
        assert_eq!(of(&outcomes, "dom-emulatorpin"), Outcome::Fail);
        let asked = ["dom-emulatorpin".to_owned()];
        libvirt_patch(&audit, &asked, &file.display().to_string()).expect("a text")
    };
    let wide = patch_on(&hosts().join("seapath-tuned"));
    assert!(wide.contains("+    <emulatorpin cpuset='0-3'/>"), "{wide}");
    let narrow = folder.path().join("narrow");
    let copied = Command::new("cp")
        .arg("-a")
        .args([&hosts().join("seapath-tuned"), &narrow])
        .status();
    assert!(copied.expect("cp").success());
    let slice = narrow.join("root/sys/fs/cgroup/machine.slice/cpuset.cpus.effective");
    fs::write(slice, "4-7\n").expect("a file");
    let patch = patch_on(&narrow);
    assert!(
        patch.starts_with("# by hand, dom-emulatorpin: ") && patch.contains("CPU 4-7 only") && !patch.contains("+++"),
        "{patch}"
    );
}

#[test]
fn a_quota_is_lifted_and_the_group_stays() {
    if !has("git", "a_quota_is_lifted_and_the_group_stays") {
        return;
    }
    let guest = fs::read_to_string(hosts().join("seapath-tuned/relay.xml")).expect("a definition");
    let folder = tempfile::tempdir().expect("a directory");
    let file = folder.path().join("relay.xml");
    let limited = guest.replace("<cputune>\n", "<cputune>\n    <quota>50000</quota>\n");
    fs::write(&file, limited).expect("a file");
    let machine = hosts().join("seapath-tuned");
    let (audit, outcomes) = recorded(&machine, &file);
    assert_eq!(of(&outcomes, "dom-partition"), Outcome::Fail);
    let asked = ["dom-partition".to_owned()];
    let patch = libvirt_patch(&audit, &asked, &file.display().to_string()).expect("a patch");
    applied(folder.path(), &patch, "git", &["apply"]);
    let text = fs::read_to_string(&file).expect("a definition");
    assert!(text.contains("<partition>/machine/rt</partition>"), "{patch}");
    assert_eq!(
        of(&recorded(&machine, &file).1, "dom-partition"),
        Outcome::Pass,
        "{patch}"
    );
}

#[test]
fn a_guest_keeps_a_console_and_its_trusted_platform_module() {
    let fragment = "<devices><controller type='usb' index='0' model='none'/></devices>";
    let after = |devices: &str| {
        let text = format!("<domain><name>x</name><devices>{devices}</devices></domain>");
        merged(&text, fragment).expect("a definition")
    };
    let screen = after("<graphics type='vnc'/><video><model type='vga'/></video><tpm model='tpm-crb'/>");
    assert!(screen.contains("<serial type='pty'/>"), "{screen}");
    assert!(screen.contains("<tpm model='tpm-crb'/>"), "{screen}");
    assert!(!screen.contains("<graphics") && !screen.contains("<video"), "{screen}");
    let both = after("<graphics type='vnc'/><console type='pty'/>");
    assert!(!both.contains("<serial") && both.contains("<console"), "{both}");
    assert!(
        !after("<memballoon model='none'/>").contains("<serial"),
        "without a screen there was none"
    );
}
