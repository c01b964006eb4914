use super::tree::{changed, finding, outcome_of};
use crate::finding::Outcome::{Fail, NotApplicable, Pass, Unknown};
use crate::parameters::Parameters;

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
