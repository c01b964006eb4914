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
