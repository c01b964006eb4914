//! The domains that are written, judged by the audit.

use super::{Nic, xml};
use crate::guest::share::Share;
use crate::guest::spec::{Accel, Channel, GuestSpec};
use audit::finding::Outcome;
use audit::parameters::Parameters;
use host::Host;
use std::fs;
use units::CpuList;

/// Findings that a domain of ours keeps, and why: word of the shapes, rule, outcome, reason.
const KEPT: [(&str, &str, Outcome, &str); 8] = [
    ("anywhere", "dom-vcpupin", Outcome::Fail, "--host-cpus was not given"),
    (
        "anywhere",
        "dom-emulatorpin",
        Outcome::Fail,
        "--host-cpus was not given",
    ),
    (
        "anywhere",
        "dom-vcpusched",
        Outcome::Fail,
        "--host-cpus was not given: FIFO on shared CPUs would stop the host",
    ),
    (
        "anywhere",
        "dom-numa-strict",
        Outcome::Fail,
        "--host-cpus was not given: the node is not known",
    ),
    (
        "every",
        "dom-emulatorpin",
        Outcome::Fail,
        "every CPU of the machine has a virtual one",
    ),
    (
        "every",
        "dom-vcpupin",
        Outcome::Fail,
        "every CPU of the machine has a virtual one, not only those set aside",
    ),
    (
        "emulated",
        "dom-memory-backing",
        Outcome::Fail,
        "libvirt locks no memory of an emulated guest, whose timing is no evidence",
    ),
    (
        "emulated",
        "dom-cpu-model",
        Outcome::Warn,
        "an emulated processor has no invariant TSC",
    ),
];

/// A host with two nodes whose CPUs 2-3 and 6-7 are set aside.
const HOST: [(&str, &str); 11] = [
    ("proc/sys/kernel/osrelease", "6.12.0-rt\n"),
    ("sys/devices/system/cpu/online", "0-7\n"),
    ("sys/devices/system/cpu/isolated", "2-3,6-7\n"),
    ("sys/devices/system/node/online", "0-1\n"),
    ("sys/devices/system/node/node0/cpulist", "0-3\n"),
    ("sys/devices/system/node/node1/cpulist", "4-7\n"),
    ("sys/fs/cgroup/cgroup.controllers", "cpuset cpu\n"),
    ("sys/fs/cgroup/machine.slice/cpuset.cpus.effective", "0-7\n"),
    ("sys/fs/cgroup/machine.slice/cpu.max", "max 100000\n"),
    ("sys/bus/pci/devices/0000:01:00.1/class", "0x020000\n"),
    ("sys/bus/pci/devices/0000:01:00.1/numa_node", "0\n"),
];

fn cpus(text: &str) -> CpuList {
    text.parse().expect("a list")
}

fn spec() -> GuestSpec {
    GuestSpec::new("/boot/vmlinuz".into(), "/lib/modules/x".into())
}

/// The domain of a shape, given by words.
fn domain(shape: &str, host: &Host) -> String {
    let has = |word: &str| shape.split(' ').any(|own| own == word);
    let mut spec = spec();
    if has("four") {
        spec.cpus = 4;
        spec.host_cpus = Some(cpus("2-3,6-7"));
    }
    if has("two") {
        spec.host_cpus = Some(cpus("2-3"));
    }
    if has("every") {
        spec.cpus = 8;
        spec.host_cpus = Some(cpus("0-7"));
    }
    spec.accel = if has("emulated") { Accel::Tcg } else { Accel::Auto };
    spec.channel = if has("serial") {
        Channel::Serial
    } else {
        Channel::Virtio
    };
    let nic = Nic {
        name: "eth1".to_owned(),
        pci: has("pci").then(|| "0000:01:00.1".to_owned()),
        is_passed: has("passed"),
    };
    let share = Share::of(&spec, host.reader(), &cpus("0-7"));
    xml(&spec, "/srv/image", &share, (has("nic") || has("pci")).then_some(&nic))
}

#[test]
fn every_domain_passes_the_audit_but_for_what_has_a_reason() {
    let tree = tempfile::tempdir().expect("a folder");
    let write = |path: &str, text: &str| {
        let file = tree.path().join(path);
        fs::create_dir_all(file.parent().expect("a folder")).expect("made");
        fs::write(file, text).expect("written");
    };
    HOST.iter().for_each(|(path, text)| write(path, text));
    let host = Host::at(tree.path()).expect("a tree");
    let (mut is_used, mut without_reason) = ([false; KEPT.len()], Vec::new());
    for shape in [
        "two",
        "two nic",
        "two pci",
        "two pci passed",
        "two serial",
        "four",
        "four nic",
        "every",
        "anywhere",
        "anywhere nic",
        "two emulated",
        "anywhere emulated",
    ] {
        let text = domain(shape, &host);
        write("etc/libvirt/qemu/triptime.xml", &text);
        let parameters = Parameters {
            domains: vec!["triptime".to_owned()],
            ..Parameters::default()
        };
        let audit = audit::audit(&host, &parameters, &[]);
        let of_domain: Vec<_> = audit
            .findings
            .iter()
            .filter(|finding| finding.group == "domain")
            .collect();
        assert!(
            of_domain
                .iter()
                .filter(|finding| finding.outcome == Outcome::Pass)
                .count()
                >= 6,
            "{shape}"
        );
        for finding in of_domain {
            let (id, outcome) = (finding.rule.id.as_str(), finding.outcome);
            if matches!(outcome, Outcome::Pass | Outcome::NotApplicable) {
                continue;
            }
            let kept = KEPT.iter().position(|(word, rule, kept, _)| {
                shape.split(' ').any(|own| own == *word) && (*rule, *kept) == (id, outcome)
            });
            match kept {
                Some(kept) => is_used[kept] = true,
                None => without_reason.push(format!("{shape}: {id}: {outcome:?}: {:?}", finding.parts)),
            }
        }
    }
    assert!(without_reason.is_empty(), "{}", without_reason.join("\n"));
    for (kept, is_used) in KEPT.iter().zip(is_used) {
        assert!(is_used, "no shape has this finding: {kept:?}");
    }
}

#[test]
fn the_domain_has_the_recommended_settings() {
    let mut spec = spec();
    spec.host_cpus = Some(cpus("2-3"));
    spec.arguments = "note=\"<&>\"".to_owned();
    let share = Share {
        emulator: cpus("0-1"),
        nodes: cpus("0"),
        ..Share::default()
    };
    let mut nic = Nic {
        name: "eth1".to_owned(),
        pci: Some("0000:01:00.1".to_owned()),
        is_passed: false,
    };
    let text = xml(&spec, "/srv/image", &share, Some(&nic));
    for wanted in [
        "<vcpupin vcpu='1' cpuset='3'/>",
        "<emulatorpin cpuset='0-1'/>",
        "<vcpusched vcpus='0-1' scheduler='fifo' priority='1'/>",
        "<locked/>",
        "<memory unit='MiB'>1024</memory>",
        "<page size='1' unit='G'/>",
        "<numatune><memory mode='strict' nodeset='0'/></numatune>",
        "<memballoon model='none'/>",
        "note=&quot;&lt;&amp;&gt;&quot;</cmdline>",
        "<source dev='eth1' mode='bridge'/>",
        "<address domain='0x0000' bus='0x01' slot='0x00' function='0x1'/>",
        "name='triptime'/>",
    ] {
        assert!(text.contains(wanted), "no {wanted} in {text}");
    }
    nic.is_passed = true;
    let text = xml(&spec, "/srv/image", &share, Some(&nic));
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    assert!(
        lines.iter().any(|line| line.starts_with("<hostdev ")) && !text.contains("<interface"),
        "{text}"
    );
    nic.pci = None;
    let text = xml(&spec, "i", &Share::default(), Some(&nic));
    assert!(text.contains("<source dev='eth1' mode='bridge'/>"), "{text}");
    assert!(
        text.contains("cannot be passed through") && !text.contains("hostdev"),
        "{text}"
    );
    assert!(
        !text.contains("<emulatorpin")
            && text.contains("no emulatorpin: QEMU's own threads run anywhere, because every CPU"),
        "{text}"
    );
    spec.host_cpus = None;
    spec.accel = Accel::Tcg;
    let text = xml(&spec, "i", &Share::default(), None);
    assert!(!text.contains("<cputune"));
    // Omits settings that libvirt refuses for an emulated guest, or that need a reservation first.
    assert!(text.contains("type='qemu'") && !text.contains("host-passthrough") && !text.contains("hugepages"));
}
