use super::tree::{audit, each, finding, judged, on, tree};
use crate::finding::Outcome::{Fail, Pass, Unknown};
use crate::parameters::Parameters;

const RT: (&str, &str) = ("proc/sys/kernel/version", "#1 SMP PREEMPT_RT Mon\n");
const RELEASE: (&str, &str) = ("proc/sys/kernel/osrelease", "6.12.8-rt\n");
const POSSIBLE: (&str, &str) = ("sys/devices/system/cpu/possible", "0-7\n");
const CONFIG: &str = "boot/config-6.12.8-rt";
const COMMAND_LINE: &str = "proc/cmdline";

fn anyone() -> Parameters {
    Parameters::default()
}

#[test]
fn preempt_rt() {
    let cases: &[(&[(&str, &str)], _)] = &[
        (&[RT], Pass),
        (&[("proc/sys/kernel/version", "#1 SMP PREEMPT_DYNAMIC Mon\n")], Fail),
        (&[("proc/sys/kernel/version", "\u{1}garbage")], Unknown),
        (&[], Unknown),
    ];
    each(&[], &anyone(), "kernel-preempt-rt", cases);
}

#[test]
fn configuration() {
    let cases: &[(&[(&str, &str)], _)] = &[
        (
            &[(CONFIG, "CONFIG_HIGH_RES_TIMERS=y\n# CONFIG_KASAN is not set\n")],
            Pass,
        ),
        (&[(CONFIG, "CONFIG_HIGH_RES_TIMERS=y\nCONFIG_KASAN=y\n")], Fail),
        (&[(CONFIG, "CONFIG_HZ=250\n")], Fail),
        (
            &[(CONFIG, "CONFIG_HIGH_RES_TIMERS=y\n"), (COMMAND_LINE, "highres=off\n")],
            Fail,
        ),
        (&[], Unknown),
        (&[("proc/config.gz", "no archive")], Unknown),
    ];
    each(&[RELEASE], &anyone(), "kernel-config-sane", cases);
}

#[test]
fn group_scheduling() {
    let id = "kernel-rt-group-sched";
    let with = (CONFIG, "CONFIG_RT_GROUP_SCHED=y\n");
    let cases: &[(&[(&str, &str)], _)] = &[
        (&[(CONFIG, "CONFIG_HZ=250\n")], Pass),
        (&[with, (COMMAND_LINE, "quiet\n")], Fail),
        // The argument exists since 6.16.
        (&[with, (COMMAND_LINE, "rt_group_sched=0\n")], Fail),
        (&[(COMMAND_LINE, "rt_group_sched=0\n")], Unknown),
        (&[], Unknown),
    ];
    each(&[RELEASE], &anyone(), id, cases);
    const NEW: &str = "boot/config-6.16.3";
    let on = (NEW, "CONFIG_RT_GROUP_SCHED=y\n");
    let off = (
        NEW,
        "CONFIG_RT_GROUP_SCHED=y\nCONFIG_RT_GROUP_SCHED_DEFAULT_DISABLED=y\n",
    );
    let cases: &[(&[(&str, &str)], _)] = &[
        (&[on, (COMMAND_LINE, "quiet\n")], Fail),
        (&[on, (COMMAND_LINE, "rt_group_sched=0\n")], Pass),
        (&[on, (COMMAND_LINE, "rt_group_sched=off\n")], Fail),
        (&[off, (COMMAND_LINE, "quiet\n")], Pass),
        (&[off, (COMMAND_LINE, "rt_group_sched=1\n")], Fail),
        (&[on], Unknown),
        (&[(COMMAND_LINE, "rt_group_sched=0\n")], Pass),
        (&[(COMMAND_LINE, "rt_group_sched=1\n")], Unknown),
    ];
    each(&[("proc/sys/kernel/osrelease", "6.16.3\n")], &anyone(), id, cases);
}

#[test]
fn arguments_are_those_of_this_kernel_and_processor() {
    let of = |release: &str, cpuinfo: &str, fact: &str| {
        let tree = tree(&[("proc/sys/kernel/osrelease", release), ("proc/cpuinfo", cpuinfo)]);
        let fact = audit(&tree, &anyone()).facts.get(None, fact);
        fact.map_or_else(|_| "left out".to_owned(), |value| value.to_string())
    };
    let group = |release| of(release, "", "kernel.rt-group-argument");
    assert_eq!(group("6.16.0\n"), "rt_group_sched=0");
    assert_eq!(group("6.1.0\n"), "left out");
    let iommu = |cpuinfo| of("6.12.0\n", cpuinfo, "iommu.arguments");
    assert_eq!(iommu("vendor_id : GenuineIntel\n"), "intel_iommu=on iommu=pt");
    assert_eq!(iommu("vendor_id : AuthenticAMD\n"), "iommu=pt");
    assert_eq!(iommu("processor : 0\nCPU implementer : 0x41\n"), "iommu.passthrough=1");
    assert_eq!(iommu("processor : 0\n"), "left out");
    let policy = |release| of(release, "", "vhost.emulatorsched");
    assert!(policy("6.4.0\n").contains("<emulatorsched"));
    assert_eq!(policy("6.1.0\n"), "left out");
}

#[test]
fn arguments_that_agree() {
    let id = "kernel-cmdline-consistent";
    for (line, expected, word) in [
        (
            "isolcpus=managed_irq,domain,4-N nohz_full=4-7 rcu_nocbs=4-7 irqaffinity=0-3",
            Pass,
            "",
        ),
        ("quiet", Pass, ""),
        (
            "isolcpus=managed_irq,domain,4-N irqaffinity=0-7",
            Fail,
            "irqaffinity sends interrupts to isolated CPU 4-7",
        ),
        ("isolcpus=4-7 nohz_full=2-7", Fail, "CPU 2-3"),
        ("isolcpus=4-7 nohz_full=4-7 rcu_nocbs=4", Pass, ""),
        ("isolcpus=4-5", Fail, "isolcpus lacks these real-time CPUs: CPU 6-7"),
        ("isolcpus=4-7,12", Fail, "cannot have"),
        ("isolcpus=0-7", Fail, "leaves no CPU"),
        ("isolcpus=domian,4-7", Fail, "unknown flag domian"),
        (
            "isolcpus=4-7 skew_tick=1 skew_tick=0",
            Fail,
            "skew_tick is given as 1 and as 0",
        ),
        ("isolcpus=4-x", Fail, "is not a list"),
        (
            "isolcpus=4-7 hugepagesz=1G hugepages=4 hugepagesz=2M hugepages=8",
            Pass,
            "",
        ),
    ] {
        let (outcome, live) = judged(&[POSSIBLE, RELEASE, (COMMAND_LINE, line)], &on("4-7"), id);
        assert_eq!(outcome, expected, "{line}: {live}");
        assert!(live.contains(word), "{line}: {live}");
    }
    let old = [
        POSSIBLE,
        ("proc/sys/kernel/osrelease", "5.10.0\n"),
        (COMMAND_LINE, "isolcpus=4-7 nohz_full=5-7"),
    ];
    assert_eq!(judged(&old, &on("4-7"), id).0, Fail);
    let not_taken = [
        POSSIBLE,
        ("sys/devices/system/cpu/isolated", "\n"),
        (COMMAND_LINE, "isolcpus=4-7"),
    ];
    assert_eq!(judged(&not_taken, &on("4-7"), id).0, Fail);
    assert_eq!(judged(&[POSSIBLE], &on("4-7"), id).0, Unknown);
    assert_eq!(judged(&[(COMMAND_LINE, "quiet")], &on("4-7"), id).0, Unknown);
}

#[test]
fn arguments_in_vain() {
    let id = "kernel-cmdline-ineffective";
    let machine = [
        POSSIBLE,
        RELEASE,
        ("proc/sys/kernel/version", "#1 SMP PREEMPT_RT Mon\n"),
        ("proc/cpuinfo", "processor\t: 0\nvendor_id\t: AuthenticAMD\n"),
        ("sys/devices/system/cpu/cpuidle/current_driver", "intel_idle\n"),
        ("sys/devices/system/cpu/nohz_full", "\n"),
    ];
    for (line, word) in [
        (
            "isolcpus=managed_irq,domain,4-7 nohz_full=4-7 rcu_nocb_poll amd_pstate=passive",
            "",
        ),
        (
            "isolcpus=4-7 mce=ignore_ce processor.max_cstate=1 intel_idle.max_cstate=1",
            "",
        ),
        ("isolcpus=managed_irq,4-7", "no flag domain"),
        ("mce=0", "machine checks"),
        ("pcie_aspm=off", "firmware"),
        ("rcu_nocb_poll", "polls nothing"),
        ("nohz_full=0-7", "CPU 0"),
        ("kthread_cpus=0-3", "Ubuntu"),
        ("intel_pstate=disable", "GenuineIntel"),
        ("intel_iommu=on", "GenuineIntel"),
        ("rt_group_sched=0", "6.16"),
        ("processor.max_cstate=1", "intel_idle"),
    ] {
        let (outcome, live) = judged(&[&machine[..], &[(COMMAND_LINE, line)]].concat(), &anyone(), id);
        let expected = if word.is_empty() { Pass } else { Fail };
        assert_eq!(outcome, expected, "{line}: {live}");
        assert!(live.contains(word), "{line}: {live}");
    }
    let without_file = [POSSIBLE, RELEASE, (COMMAND_LINE, "nohz_full=4-7")];
    assert_eq!(judged(&without_file, &anyone(), id).0, Fail, "built without NO_HZ_FULL");
    let vendor_unknown = [POSSIBLE, (COMMAND_LINE, "intel_pstate=disable")];
    assert_eq!(judged(&vendor_unknown, &anyone(), id).0, Unknown);
}

#[test]
fn a_line_of_arguments_that_is_too_long_is_found() {
    let of = |line: &str, files: &[(&str, &str)]| {
        let line = [("proc/cpuinfo", "flags : tsc\n"), (COMMAND_LINE, line)];
        judged(&[&line[..], files].concat(), &anyone(), "boot-line-fits").0
    };
    assert_eq!(of("quiet\n", &[]), Pass);
    assert_eq!(of(&"x".repeat(2046), &[]), Pass);
    assert_eq!(of(&"x".repeat(2047), &[]), Fail, "the kernel keeps no more");
    let environment = |used: usize| {
        format!(
            "# GRUB Environment Block\n{}\n{}",
            "x".repeat(used),
            "#".repeat(999 - used)
        )
    };
    let tuned = |wanted: usize| format!("TUNED_BOOT_CMDLINE=\"{}\"\n", "y".repeat(wanted));
    let both = |used, wanted| {
        let (environment, tuned) = (environment(used), tuned(wanted));
        of(
            "quiet\n",
            &[("boot/grub2/grubenv", &environment), ("etc/tuned/bootcmdline", &tuned)],
        )
    };
    assert_eq!(both(400, 500), Pass);
    // Lengths in bytes: 25 of the first line, 401 of the other one, 14 around the 584.
    assert_eq!(both(400, 584), Pass);
    assert_eq!(both(400, 585), Fail);
    let written = format!("# GRUB Environment Block\ntuned_params={}\n", "y".repeat(900));
    let files = [
        ("boot/grub2/grubenv", written.as_str()),
        ("etc/tuned/bootcmdline", &tuned(900)),
    ];
    assert_eq!(of("quiet\n", &files), Pass, "it is there already");
    assert_eq!(
        judged(&[(COMMAND_LINE, "quiet\n")], &anyone(), "boot-line-fits").0,
        Unknown
    );
}

#[test]
fn arguments_of_the_next_boot() {
    let id = "kernel-pending-reboot";
    let running = (COMMAND_LINE, "BOOT_IMAGE=/vmlinuz root=/dev/sda1 isolcpus=4-7\n");
    let grub = |arguments: &str| {
        format!(
            "menuentry 'a' {{\n\tlinux\t/vmlinuz-6.1.0 root=x\n}}\n\tlinux /vmlinuz-6.12.8-rt root=/dev/sda1 {arguments}\n"
        )
    };
    let (same, other) = (grub("isolcpus=4-7 quiet"), grub("quiet"));
    let entry = "title a\nversion 6.12.8-rt\noptions root=/dev/sda1 $kernelopts ${tuned_params}\n";
    let environment = "# GRUB Environment Block\nkernelopts=ro quiet\ntuned_params=isolcpus=4-7\n";
    let defaults = "GRUB_CMDLINE_LINUX=\"quiet\"\nGRUB_CMDLINE_LINUX=\"${GRUB_CMDLINE_LINUX} isolcpus=4-7\"\n";
    let forgotten = "GRUB_CMDLINE_LINUX=\"isolcpus=4-7 nohz_full=4-7\"\n";
    let cases: &[(&[(&str, &str)], _)] = &[
        (&[("boot/grub/grub.cfg", &same)], Pass),
        (&[("boot/grub/grub.cfg", &other)], Fail),
        (&[("boot/grub/grub.cfg", &same), ("etc/default/grub", forgotten)], Fail),
        (
            &[
                ("boot/loader/entries/a.conf", entry),
                ("boot/grub2/grubenv", environment),
            ],
            Pass,
        ),
        (&[("boot/loader/entries/a.conf", entry)], Fail),
        (&[("etc/default/grub", defaults)], Pass),
        (&[("etc/default/grub", "GRUB_TIMEOUT=5\n")], Fail),
        (&[("etc/kernel/cmdline", "isolcpus=4-7")], Pass),
        (&[("boot/extlinux/extlinux.conf", "LABEL l\n  APPEND quiet\n")], Fail),
        (&[], Unknown),
    ];
    each(&[RELEASE, running], &anyone(), id, cases);
}

#[test]
fn tracing() {
    let mounts = ("proc/self/mountinfo", "22 1 0:20 / /proc rw - proc proc rw\n");
    let idle = ("sys/kernel/tracing/current_tracer", "nop\n");
    let cases: &[(&[(&str, &str)], _)] = &[
        (&[idle, ("sys/kernel/tracing/set_event", "")], Pass),
        (&[("sys/kernel/tracing/current_tracer", "function\n")], Fail),
        (&[idle, ("sys/kernel/tracing/kprobe_events", "p:x do_x\n")], Fail),
        (
            &[idle, ("sys/kernel/tracing/instances/idle/current_tracer", "nop\n")],
            Pass,
        ),
        (
            &[
                idle,
                (
                    "sys/kernel/tracing/instances/timerlat_hist/current_tracer",
                    "timerlat\n",
                ),
            ],
            Fail,
        ),
        (
            &[
                idle,
                ("sys/kernel/tracing/instances/a/current_tracer", "nop\n"),
                ("sys/kernel/tracing/instances/a/set_event", "sched:sched_switch\n"),
            ],
            Fail,
        ),
        (&[idle, ("sys/kernel/tracing/instances/a/set_event", "")], Unknown),
        (&[idle, ("proc/sys/kernel/bpf_stats_enabled", "1\n")], Fail),
        (&[idle, ("proc/sys/kernel/bpf_stats_enabled", "yes\n")], Unknown),
        (
            &[
                mounts,
                ("sys/kernel/mm/ksm/run", "0\n"),
                ("sys/devices/system/cpu/online", "0\n"),
            ],
            Pass,
        ),
        (&[mounts, ("sys/devices/system/cpu/online", "0\n")], Unknown),
        (&[], Unknown),
    ];
    each(&[RELEASE], &anyone(), "tracing-inactive", cases);
}

#[test]
fn the_booted_column_shows_the_next_boot() {
    let files = [RELEASE, (COMMAND_LINE, "quiet"), ("etc/kernel/cmdline", "isolcpus=3")];
    let part = finding(&tree(&files), &anyone(), "kernel-pending-reboot")
        .parts
        .remove(0);
    let booted = part.booted.expect("a booted value").expect("known").to_string();
    assert_eq!(booted, "/etc/kernel/cmdline: isolcpus=3");
}
