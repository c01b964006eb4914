use super::tree::{HOST, outcome_of};
use crate::finding::Outcome::{Fail, NotApplicable, Pass, Unknown, Warn};

const SOURCE: &str = "sys/devices/system/clocksource/clocksource0/current_clocksource";
const INVARIANT: (&str, &str) = (
    "proc/cpuinfo",
    "flags : tsc constant_tsc nonstop_tsc tsc_deadline_timer hypervisor\n",
);

#[test]
fn the_clock_source_is_the_processors_counter() {
    let id = "clocksource-tsc";
    for (source, expected) in [
        ("tsc\n", Pass),
        ("arch_sys_counter\n", Pass),
        ("hpet\n", Fail),
        ("acpi_pm\n", Fail),
    ] {
        assert_eq!(outcome_of(&HOST, &[(SOURCE, source)], id), expected, "{source}");
    }
    assert_eq!(outcome_of(&HOST, &[], id), Unknown);
    assert_eq!(outcome_of(&HOST, &[(SOURCE, "kvm-clock\n"), INVARIANT], id), Warn);
    let variable = ("proc/cpuinfo", "flags : tsc hypervisor\n");
    assert_eq!(outcome_of(&HOST, &[(SOURCE, "kvm-clock\n"), variable], id), Pass);
}

#[test]
fn no_timer_checks_the_counter_on_real_time_cpus() {
    let id = "tsc-adjust-timer";
    let cpu = |flags: &'static str| ("proc/cpuinfo", flags);
    let kernel = |release: &'static str| ("proc/sys/kernel/osrelease", release);
    let boot = |line: &'static str| ("proc/cmdline", line);
    let adjust = cpu("flags : tsc constant_tsc nonstop_tsc tsc_adjust\n");
    let vouched = cpu("flags : tsc constant_tsc nonstop_tsc tsc_reliable tsc_adjust hypervisor\n");
    let no_kernel_line = ("proc/cmdline", "->nowhere");
    for (changes, expected) in [
        (vec![adjust], Fail),
        // Leaves out the watchdog of the clock source only.
        (vec![adjust, boot("tsc=nowatchdog\n")], Fail),
        // The kernel compares the whole word.
        (vec![adjust, boot("tsc=reliable,nowatchdog\n")], Fail),
        // The part for init is not the kernel's.
        (vec![adjust, boot("quiet -- tsc=reliable\n")], Fail),
        (vec![adjust, boot("tsc=reliable\n")], Pass),
        // The kernel reads each tsc=, not the last one only.
        (vec![adjust, boot("tsc=reliable tsc=nowatchdog\n")], Pass),
        (vec![vouched], Pass),
        (vec![vouched, no_kernel_line], Pass),
        (vec![adjust, no_kernel_line], Unknown),
        (vec![], NotApplicable),
        (vec![adjust, kernel("5.16.0\n")], Fail),
        // RHEL 9, and Debian 11 with the stable releases of 2021 and later: the number alone does not say it.
        (vec![adjust, kernel("5.14.0-503.el9.x86_64\n")], Warn),
        (vec![adjust, kernel("5.10.0-32-rt-amd64\n")], Warn),
        (vec![adjust, kernel("4.18.0-553.el8_10.x86_64\n")], NotApplicable),
        (vec![adjust, ("sys/devices/system/cpu/isolated", "\n")], NotApplicable),
        (vec![cpu("processor : 0\nFeatures : fp asimd\n")], NotApplicable),
    ] {
        assert_eq!(outcome_of(&HOST, &changes, id), expected, "{changes:?}");
    }
}

#[test]
fn the_local_timer_works_by_deadlines() {
    let id = "tsc-deadline-timer";
    let devices = |name: &'static str| {
        [
            ("sys/devices/system/clockevents/clockevent2/current_device", name),
            ("sys/devices/system/clockevents/clockevent3/current_device", name),
            INVARIANT,
        ]
    };
    assert_eq!(outcome_of(&HOST, &devices("lapic-deadline\n"), id), Pass);
    assert_eq!(outcome_of(&HOST, &devices("lapic\n"), id), Fail);
    // A processor without the feature, on hardware: there is no remedy.
    assert_eq!(outcome_of(&HOST, &devices("lapic\n")[..2], id), Warn);
    assert_eq!(outcome_of(&HOST, &[INVARIANT], id), Unknown);
    assert_eq!(
        outcome_of(&HOST, &[("proc/cpuinfo", "processor : 0\nFeatures : fp asimd\n")], id),
        NotApplicable
    );
}

#[test]
fn ticks_are_skewed_where_they_run() {
    let id = "skew-tick";
    assert_eq!(outcome_of(&HOST, &[], id), Fail);
    assert_eq!(outcome_of(&HOST, &[("proc/cmdline", "skew_tick=1\n")], id), Pass);
    assert_eq!(
        outcome_of(&HOST, &[("proc/cmdline", "skew_tick=1 skew_tick=0\n")], id),
        Fail
    );
    assert_eq!(
        outcome_of(&HOST, &[("sys/devices/system/cpu/nohz_full", "2-3\n")], id),
        Pass
    );
    assert_eq!(
        outcome_of(&HOST, &[("sys/devices/system/cpu/nohz_full", "(null)\n")], id),
        Fail
    );
    assert_eq!(
        outcome_of(&HOST, &[("sys/devices/system/cpu/online", "0-1\n")], id),
        Pass
    );
}
