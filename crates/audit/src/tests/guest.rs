use std::path::Path;

use super::tree::{changed, finding, outcome_of};
use crate::facts::Facts;
use crate::finding::Outcome::{Fail, NotApplicable, Pass, Unknown, Warn};
use crate::parameters::Parameters;
use crate::rule::{Rule, built_in};
use crate::template;
use crate::value::Value;
use host::Host;

const GUEST: [(&str, &str); 6] = [
    ("sys/devices/system/cpu/online", "0-1\n"),
    ("sys/class/net/eth0/ifindex", "2\n"),
    ("sys/class/dmi/id/sys_vendor", "QEMU\n"),
    ("proc/cpuinfo", "flags : tsc hypervisor\n"),
    ("proc/cmdline", "quiet\n"),
    ("proc/2/comm", "kthreadd\n"),
];

#[test]
fn rules_of_guests_are_not_asked_of_hardware() {
    let hardware = [
        ("proc/cpuinfo", "flags : tsc\n"),
        ("sys/class/dmi/id/sys_vendor", "Dell Inc.\n"),
    ];
    for id in ["guest-steal-zero", "guest-ptp-source", "guest-idle-mode"] {
        assert_eq!(outcome_of(&GUEST, &hardware, id), NotApplicable, "{id}");
    }
    assert_eq!(outcome_of(&GUEST, &[], "cstate-exit-latency"), NotApplicable);
}

#[test]
fn stolen_time_is_unknown_without_a_second_look() {
    let clocks = "sys/devices/system/clocksource/clocksource0/available_clocksource";
    let never = "cpu0 1 1 1 1 1 1 1 0\ncpu1 1 1 1 1 1 1 1 0\n";
    let with = |vendor, stat, arguments, clock| {
        let changes = [
            ("proc/stat", stat),
            ("sys/class/dmi/id/sys_vendor", vendor),
            ("proc/cmdline", arguments),
            (clocks, clock),
        ];
        let found = finding(&changed(&GUEST, &changes), &Parameters::default(), "guest-steal-zero");
        assert_eq!(found.outcome, Unknown);
        found.parts[0].reason.clone()
    };
    let reason = |vendor| with(vendor, never, "quiet\n", "tsc\n");
    assert!(with("QEMU\n", never, "quiet\n", "kvm-clock tsc\n").contains("live machine"));
    assert!(with("QEMU\n", never, "no-steal-acc\n", "kvm-clock tsc\n").contains("does not ask"));
    assert!(reason("VMware, Inc.\n").contains("does not report"));
    for silent in ["QEMU\n", "VirtualBox\n", "Microsoft Corporation Virtual Machine\n"] {
        assert!(reason(silent).contains("nothing shows"), "{silent}");
    }
    // A count above 0 shows that it is reported.
    let stolen = "cpu0 1 1 1 1 1 1 1 7\ncpu1 1 1 1 1 1 1 1 0\n";
    assert!(with("VMware, Inc.\n", stolen, "quiet\n", "tsc\n").contains("live machine"));
}

#[test]
fn a_clock_of_the_hypervisor_must_be_there_and_be_used() {
    let id = "guest-ptp-source";
    let clock = ("sys/class/ptp/ptp0/clock_name", "KVM virtual PTP\n");
    let chrony = ("proc/9/comm", "chronyd\n");
    let uses = ("etc/chrony/conf.d/kvm.conf", "refclock PHC /dev/ptp_kvm poll 0\n");
    let pool = (
        "etc/chrony/chrony.conf",
        "pool ntp.example.org iburst\n# refclock PHC /dev/ptp0\n",
    );
    assert_eq!(outcome_of(&GUEST, &[clock, chrony, pool, uses], id), Pass);
    assert_eq!(outcome_of(&GUEST, &[clock, chrony, pool], id), Fail);
    assert_eq!(outcome_of(&GUEST, &[chrony, pool, uses], id), Fail);
    assert_eq!(outcome_of(&GUEST, &[clock, ("proc/9/comm", "phc2sys\n")], id), Pass);
    assert_eq!(outcome_of(&GUEST, &[clock, chrony], id), Unknown);
}

#[test]
fn a_guest_does_not_poll() {
    let id = "guest-idle-mode";
    let driver = ("sys/devices/system/cpu/cpuidle/current_driver", "haltpoll\n");
    let poll_ns = |ns: &'static str| ("sys/module/haltpoll/parameters/guest_halt_poll_ns", ns);
    let exists = ("proc/sys/kernel/osrelease", "6.12.0\n");
    assert_eq!(outcome_of(&GUEST, &[exists], id), Pass);
    assert_eq!(outcome_of(&GUEST, &[("proc/cmdline", "idle=poll\n")], id), Fail);
    assert_eq!(outcome_of(&GUEST, &[driver, poll_ns("200000\n")], id), Fail);
    assert_eq!(outcome_of(&GUEST, &[driver, poll_ns("0\n")], id), Pass);
    assert_eq!(outcome_of(&GUEST, &[driver], id), Unknown);
}

#[test]
fn hardware_without_a_hypervisor_flag_is_no_guest() {
    const ID: &str = "guest-ptp-source";
    let arm = [
        ("sys/devices/system/cpu/online", "0-3\n"),
        ("proc/cpuinfo", "processor : 0\nFeatures : fp asimd\n"),
        ("proc/2/comm", "kthreadd\n"),
    ];
    let of = |files: &[(&str, &str)]| outcome_of(&arm, files, ID);
    assert_eq!(of(&[]), Unknown, "nothing tells");
    assert_eq!(of(&[("proc/device-tree/model", "TQMa8Xx on MBa8Xx\0")]), NotApplicable);
    let board = ("proc/device-tree/compatible", "linux,dummy-virt\0");
    let model = ("proc/device-tree/model", "linux,dummy-virt\0");
    assert_eq!(of(&[board, model]), Fail, "a guest of some hypervisor");
}

/// Advice for one hypervisor is none for a guest of another.
#[test]
fn advice_is_for_the_machine_that_is_audited() {
    let rules = built_in().into_iter().flat_map(|(_, group)| group.rules);
    let rules: Vec<Rule> = rules.collect();
    let how = |id: &str, known: &[(&'static str, Value)]| {
        let mut facts = Facts::default();
        for (name, value) in known {
            facts.set(name, value.clone());
        }
        let rule = rules.iter().find(|rule| rule.id == id).expect("a rule");
        template::shown(rule.remedy.here(&facts, None).how, &facts, None)
    };
    let on = |hypervisor: &str| how("guest-ptp-source", &[("machine.hypervisor", Value::from(hypervisor))]);
    for kind in ["KVM", "Firecracker", "Cloud Hypervisor", "QEMU, with or without KVM"] {
        assert!(on(kind).contains("ptp_kvm"), "{kind}");
    }
    assert!(on("VMware").contains("ptp_vmw") && on("Hyper-V").contains("ptp_hyperv"));
    for kind in [
        "VMware",
        "Hyper-V",
        "Xen",
        "VirtualBox",
        "bhyve",
        "Parallels",
        "QEMU, which emulates the processor",
    ] {
        assert!(!on(kind).contains("kvm"), "{kind}: {}", on(kind));
    }
    let has_clock = [
        ("machine.hypervisor", Value::from("VMware")),
        ("guest.ptp-clocks", Value::List(vec!["ptp0 (ptp_vmw)".to_owned()])),
    ];
    assert!(how("guest-ptp-source", &has_clock).contains("the clock that is there"));
    let idle = |argument: &str| how("guest-idle-mode", &[("guest.idle-argument", Value::from(argument))]);
    assert!(!idle("poll").contains("haltpoll") && idle("halt").contains("haltpoll"));
    let fix = "no fixed release is known: compare with 6.12";
    assert_eq!(
        how("known-regression", &[("kernel.regression-fixes", Value::from(fix))]),
        fix
    );
    let setters = |names: &[&str]| {
        let names = names.iter().map(|name| (*name).to_owned()).collect();
        how("ts-single-source", &[("time.setters", Value::List(names))])
    };
    assert!(setters(&[]).starts_with("start one") && setters(&["a", "b"]).starts_with("stop and disable"));
}

#[test]
fn no_advice_for_a_guest_of_vmware_is_for_one_of_kvm() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/hosts/vmware-guest/root");
    let audit = crate::audit(&Host::at(&root).expect("a tree"), &Parameters::default(), &[]);
    let open = audit
        .findings
        .iter()
        .filter(|finding| matches!(finding.outcome, Fail | Warn));
    let mut count = 0;
    for finding in open {
        let how = finding.rule.remedy.here(&audit.facts, None).how;
        let is_foreign = ["ptp_kvm", "haltpoll", "virsh", "kvm_intel"]
            .iter()
            .any(|word| how.contains(word));
        assert!(!is_foreign, "{}: {how}", finding.rule.id);
        count += 1;
    }
    assert!(count >= 5, "{count}");
}
