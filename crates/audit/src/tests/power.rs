use super::tree::{HOST, audit, changed, outcome_of, outcome_with};
use crate::finding::Outcome::{self, Fail, NotApplicable, Pass, Unknown, Warn};
use crate::parameters::Parameters;

/// One real-time CPU with idle states of 2 and 133 us, at a fixed frequency.
fn host() -> Vec<(&'static str, &'static str)> {
    let more = [
        ("sys/devices/system/cpu/isolated", "3\n"),
        ("sys/devices/system/cpu/cpuidle/current_driver", "intel_idle\n"),
        ("sys/devices/system/cpu/cpu3/cpuidle/state0/name", "C1\n"),
        ("sys/devices/system/cpu/cpu3/cpuidle/state0/latency", "2\n"),
        ("sys/devices/system/cpu/cpu3/cpuidle/state0/disable", "0\n"),
        ("sys/devices/system/cpu/cpu3/cpuidle/state1/name", "C6\n"),
        ("sys/devices/system/cpu/cpu3/cpuidle/state1/latency", "133\n"),
        ("sys/devices/system/cpu/cpu3/cpuidle/state1/disable", "0\n"),
        ("sys/devices/system/cpu/cpu3/cpufreq/scaling_governor", "performance\n"),
        ("sys/devices/system/cpu/cpu3/cpufreq/scaling_min_freq", "2000000\n"),
        ("sys/devices/system/cpu/cpu3/cpufreq/scaling_max_freq", "2000000\n"),
        ("sys/devices/pci0/0000:00:01.0/config", "x"),
        ("sys/devices/pci0/0000:00:01.0/link/l1_aspm", "0\n"),
        ("sys/devices/pci0/0000:00:01.0/0000:01:00.0/config", "x"),
        ("sys/devices/pci0/0000:00:01.0/0000:01:00.0/link/l1_aspm", "0\n"),
        ("sys/devices/pci0/0000:00:01.0/0000:01:00.0/power/control", "on\n"),
        ("sys/class/net/eth0/ifindex", "2\n"),
        (
            "sys/class/net/eth0/device",
            "->../../../devices/pci0/0000:00:01.0/0000:01:00.0",
        ),
        ("sys/class/net/veth0/ifindex", "3\n"),
        ("proc/2/comm", "kthreadd\n"),
    ];
    HOST.into_iter()
        .filter(|(path, _)| !path.ends_with("isolated"))
        .chain(more)
        .collect()
}

fn nic(name: &str) -> Parameters {
    Parameters {
        nics: vec![name.to_owned()],
        ..Parameters::default()
    }
}

#[test]
fn a_limit_below_c1_leaves_only_the_loop() {
    let folder = "sys/devices/system/cpu/cpu3";
    let asked = |c1: &str, limit: &str| {
        let [name, loops, lightest, qos] = [
            format!("{folder}/cpuidle/state0/name"),
            format!("{folder}/cpuidle/state0/latency"),
            format!("{folder}/cpuidle/state1/latency"),
            format!("{folder}/power/pm_qos_resume_latency_us"),
        ];
        let files = [
            (name.as_str(), "POLL\n"),
            (loops.as_str(), "0\n"),
            (lightest.as_str(), c1),
            (qos.as_str(), limit),
        ];
        outcome_of(&host(), &files, "cstate-exit-latency")
    };
    assert_eq!(asked("2\n", "2\n"), Pass);
    assert_eq!(asked("2\n", "1\n"), Warn);
    assert_eq!(asked("2\n", "n/a\n"), Warn);
    assert_eq!(asked("33\n", "10\n"), Warn);
    assert_eq!(asked("33\n", "33\n"), Fail);
}

#[test]
fn the_slowest_state_that_may_be_entered_decides() {
    let id = "cstate-exit-latency";
    let qos = |text: &'static str| [("sys/devices/system/cpu/cpu3/power/pm_qos_resume_latency_us", text)];
    assert_eq!(outcome_of(&host(), &[], id), Fail);
    assert_eq!(
        outcome_of(
            &host(),
            &[("sys/devices/system/cpu/cpu3/cpuidle/state1/disable", "1\n")],
            id
        ),
        Pass
    );
    // 0 is no limit, n/a tolerates no latency: then only polling remains, if it exists.
    for (text, expected) in [
        ("0\n", Fail),
        ("n/a\n", Pass),
        ("5\n", Pass),
        ("200\n", Fail),
        ("x\n", Unknown),
    ] {
        assert_eq!(outcome_of(&host(), &qos(text), id), expected, "{text}");
    }
    // A process holds the limit: it ends with that process.
    assert_eq!(outcome_of(&host(), &[(".answers/cpu-dma-latency-us", "0\n")], id), Warn);
    assert_eq!(
        outcome_of(&host(), &[(".answers/cpu-dma-latency-us", "2000000000\n")], id),
        Fail
    );
    assert_eq!(
        outcome_of(
            &host(),
            &[("sys/devices/system/cpu/cpu3/cpuidle/state1/latency", "?\n")],
            id
        ),
        Unknown
    );
    assert_eq!(outcome_of(&HOST, &[], id), Unknown);
    assert_eq!(
        outcome_of(
            &HOST,
            &[("sys/devices/system/cpu/cpuidle/current_driver", "none\n")],
            id
        ),
        Pass
    );
    assert_eq!(
        outcome_of(&HOST, &[("boot/config-6.12.0-rt", "CONFIG_SMP=y\n")], id),
        Pass
    );
}

#[test]
fn an_idle_state_of_which_a_part_is_missing_is_unknown() {
    let folder = "sys/devices/system/cpu/cpu3/cpuidle";
    let polls = [
        ("sys/devices/system/cpu/cpu3/cpuidle/state0/name", "POLL\n"),
        ("sys/devices/system/cpu/cpu3/cpuidle/state0/latency", "0\n"),
        ("sys/devices/system/cpu/cpu3/power/pm_qos_resume_latency_us", "n/a\n"),
    ];
    let without = |end: &str| {
        let all = host()
            .into_iter()
            .filter(|(path, _)| !polls.iter().any(|(other, _)| other == path));
        let all = all.chain(polls).filter(|(path, _)| !path.contains(end));
        outcome_of(&all.collect::<Vec<_>>(), &[], "cstate-exit-latency")
    };
    assert_eq!(without("no such file"), Warn, "only the loop is left");
    for end in ["state0/name", "state0/", "state1/disable"] {
        assert_eq!(without(&format!("{folder}/{end}")), Unknown, "{end}");
    }
}

#[test]
fn frequencies_are_constant() {
    let id = "cpufreq-constant";
    let of = |file: &str, text: &str| {
        outcome_of(
            &host(),
            &[(format!("sys/devices/system/cpu/cpu3/cpufreq/{file}").as_str(), text)],
            id,
        )
    };
    assert_eq!(outcome_of(&host(), &[], id), Pass);
    assert_eq!(of("scaling_governor", "schedutil\n"), Fail);
    assert_eq!(of("scaling_min_freq", "800000\n"), Warn);
    assert_eq!(outcome_of(&HOST, &[], id), Unknown, "no driver is no pass");
}

#[test]
fn hints_are_judged_where_they_exist() {
    let id = "cpu-energy-hints";
    let bias = "sys/devices/system/cpu/cpu3/power/energy_perf_bias";
    assert_eq!(outcome_of(&host(), &[], id), NotApplicable);
    assert_eq!(outcome_of(&host(), &[(bias, "0\n")], id), Pass);
    assert_eq!(outcome_of(&host(), &[(bias, "6\n")], id), Fail);
    assert_eq!(
        outcome_of(
            &host(),
            &[(bias, "0\n"), ("sys/firmware/acpi/platform_profile", "balanced\n")],
            id
        ),
        Fail
    );
}

#[test]
fn the_uncore_clock_is_fixed() {
    let id = "uncore-frequency-fixed";
    let die = "sys/devices/system/cpu/intel_uncore_frequency/package_00_die_00";
    let of = |lowest| {
        let (min, max) = (format!("{die}/min_freq_khz"), format!("{die}/max_freq_khz"));
        outcome_of(&host(), &[(min.as_str(), lowest), (max.as_str(), "2400000\n")], id)
    };
    assert_eq!(outcome_of(&host(), &[], id), NotApplicable);
    assert_eq!(of("2400000\n"), Pass);
    assert_eq!(of("800000\n"), Fail);
    assert_eq!(of("\n"), Unknown);
}

#[test]
fn neither_the_device_nor_its_port_sleeps() {
    let id = "pcie-aspm-off";
    let port = "sys/devices/pci0/0000:00:01.0";
    let of = |changes: &[(&str, &str)]| outcome_with(&host(), changes, &nic("eth0"), id);
    assert_eq!(of(&[]), Pass);
    assert_eq!(of(&[("sys/devices/pci0/0000:00:01.0/link/l1_aspm", "1\n")]), Fail);
    assert_eq!(
        of(&[(format!("{port}/0000:01:00.0/power/control").as_str(), "auto\n")]),
        Fail
    );
    assert_eq!(of(&[(format!("{port}/link/clkpm").as_str(), "1\n")]), Fail);
    assert_eq!(outcome_with(&host(), &[], &nic("veth0"), id), NotApplicable);
    assert_eq!(outcome_with(&host(), &[], &nic("eth9"), id), Unknown);
    let without = |end: &str| {
        let all = host().into_iter().filter(|(path, _)| !path.ends_with(end));
        outcome_with(&all.collect::<Vec<_>>(), &[], &nic("eth0"), id)
    };
    assert_eq!(without("0000:01:00.0/power/control"), Unknown);
    assert_eq!(
        without("0000:01:00.0/config"),
        Pass,
        "its switches say that it does not sleep"
    );
    // The interface's link that shows its place, without the link to its device.
    let lost: Vec<_> = host()
        .into_iter()
        .filter(|(path, _)| !path.starts_with("sys/class/net/eth0"))
        .chain([
            (
                "sys/class/net/eth0",
                "->../../devices/pci0/0000:00:01.0/0000:01:00.0/net/eth0",
            ),
            ("sys/devices/pci0/0000:00:01.0/0000:01:00.0/net/eth0/ifindex", "2\n"),
        ])
        .collect();
    assert_eq!(outcome_with(&lost, &[], &nic("eth0"), id), Unknown);
    // Neither the switches nor the register can be read.
    let bare: Vec<_> = host()
        .into_iter()
        .filter(|(path, _)| !path.contains("/link/"))
        .collect();
    assert_eq!(outcome_with(&bare, &[], &nic("eth0"), id), Unknown);
}

#[test]
fn counts_that_are_zero_since_boot_need_no_second_look() {
    let id = "hw-error-counters";
    let ignoring = |ignored: &str, throttled: &str, corrected: &str, temperature: &str| -> Outcome {
        let files = [
            ("sys/devices/system/machinecheck/machinecheck3/check_interval", "300\n"),
            ("sys/devices/system/machinecheck/machinecheck3/ignore_ce", ignored),
            (
                "sys/devices/system/cpu/cpu3/thermal_throttle/core_throttle_count",
                throttled,
            ),
            (
                "sys/devices/system/cpu/cpu3/thermal_throttle/package_throttle_count",
                "0\n",
            ),
            ("sys/devices/system/edac/mc/mc0/ce_count", corrected),
            ("sys/devices/system/edac/mc/mc0/ue_count", "0\n"),
            ("sys/class/thermal/thermal_zone0/temp", temperature),
            ("sys/class/thermal/thermal_zone0/trip_point_0_type", "critical\n"),
            ("sys/class/thermal/thermal_zone0/trip_point_0_temp", "100000\n"),
            ("sys/class/thermal/thermal_zone0/trip_point_1_type", "active\n"),
            ("sys/class/thermal/thermal_zone0/trip_point_1_temp", "40000\n"),
        ];
        outcome_of(&host(), &files, id)
    };
    let of = |throttled: &str, corrected: &str, temperature: &str| ignoring("0\n", throttled, corrected, temperature);
    assert_eq!(ignoring("1\n", "0\n", "0\n", "50000\n"), Unknown, "nobody counts");
    assert_eq!(of("0\n", "0\n", "50000\n"), Pass);
    assert_eq!(of("0\n", "0\n", "95000\n"), Fail);
    assert_eq!(
        of("7\n", "0\n", "50000\n"),
        Unknown,
        "it cannot be told whether it still grows"
    );
    assert_eq!(of("0\n", "nan\n", "50000\n"), Unknown);
    assert_eq!(outcome_of(&host(), &[], id), Unknown);
}

/// A machine of this vendor whose CPUs are monitored for errors, and count none.
fn watched(vendor: &'static str) -> Vec<(&'static str, &'static str)> {
    let mut all = host();
    all.retain(|(path, _)| *path != "proc/cpuinfo");
    all.extend([
        ("proc/cpuinfo", vendor),
        ("sys/devices/system/machinecheck/machinecheck3/check_interval", "300\n"),
        ("sys/devices/system/machinecheck/machinecheck3/cmci_disabled", "0\n"),
        ("sys/devices/system/machinecheck/machinecheck3/ignore_ce", "0\n"),
        (
            "sys/devices/system/cpu/cpu3/thermal_throttle/core_throttle_count",
            "0\n",
        ),
        (
            "sys/devices/system/cpu/cpu3/thermal_throttle/package_throttle_count",
            "0\n",
        ),
        ("sys/devices/system/edac/mc/mc0/ce_count", "0\n"),
        ("sys/devices/system/edac/mc/mc0/ue_count", "0\n"),
        ("sys/class/thermal/thermal_zone0/temp", "50000\n"),
        ("sys/class/thermal/thermal_zone0/trip_point_0_type", "critical\n"),
        ("sys/class/thermal/thermal_zone0/trip_point_0_temp", "100000\n"),
    ]);
    all
}

/// Each way to stop polling satisfies one rule; the other rule then reports that errors are no longer seen.
#[test]
fn no_polling_is_no_count_where_no_interrupt_comes_at_each_error() {
    let both = |base: &[(&str, &str)], changes: &[(&str, &str)]| {
        let paths: Vec<(String, &str)> = changes
            .iter()
            .map(|(file, value)| (format!("sys/devices/system/machinecheck/machinecheck3/{file}"), *value))
            .collect();
        let changes: Vec<(&str, &str)> = paths.iter().map(|(path, value)| (path.as_str(), *value)).collect();
        ["mce-polling", "hw-error-counters"].map(|id| outcome_of(base, &changes, id))
    };
    let intel = watched("vendor_id : GenuineIntel\nflags : tsc\n");
    let amd = watched("vendor_id : AuthenticAMD\nflags : tsc\n");
    for machine in [&intel, &amd] {
        assert_eq!(both(machine, &[]), [Fail, Pass]);
        assert_eq!(both(machine, &[("ignore_ce", "1\n")]), [Pass, Unknown]);
    }
    // A processor without PTS has no package count; if one with PTS has no such file, the file is missing.
    let mut bare = intel.clone();
    bare.retain(|(path, _)| !path.ends_with("package_throttle_count"));
    assert_eq!(outcome_of(&bare, &[], "hw-error-counters"), Pass);
    let with_package = ("proc/cpuinfo", "vendor_id : GenuineIntel\nflags : tsc pts\n");
    assert_eq!(outcome_of(&bare, &[with_package], "hw-error-counters"), Unknown);
    let never = ("check_interval", "0\n");
    assert_eq!(both(&intel, &[never]), [Pass, Pass]);
    assert_eq!(both(&intel, &[never, ("cmci_disabled", "1\n")]), [Pass, Unknown]);
    assert_eq!(both(&amd, &[never]), [Pass, Unknown]);
}

/// If no file counts throttling, a temperature must be known; memory without error correction needs no count.
#[test]
fn heat_and_memory_are_judged_by_what_the_machine_has() {
    let id = "hw-error-counters";
    let amd = ("proc/cpuinfo", "vendor_id : AuthenticAMD\nflags : tsc\n");
    let sensor = |celsius: &'static str| {
        [
            ("sys/class/hwmon/hwmon0/name", "k10temp\n"),
            ("sys/class/hwmon/hwmon0/temp1_label", "Tctl\n"),
            ("sys/class/hwmon/hwmon0/temp1_input", celsius),
        ]
    };
    let none = (".answers/memory-correction", "none\nnone\n");
    let of = |celsius, memory| outcome_of(&host(), &[&sensor(celsius)[..], &[amd, memory]].concat(), id);
    assert_eq!(of("52000\n", none), Pass);
    assert_eq!(
        of("85000\n", none),
        Unknown,
        "some of AMD's processors are near their limit"
    );
    assert_eq!(of("rubbish\n", none), Unknown);
    assert_eq!(of("52000\n", (none.0, "none\ncorrected\n")), Unknown, "nobody counts");
    assert_eq!(of("52000\n", (none.0, "unknown\n")), Unknown);
    assert_eq!(of("52000\n", (none.0, "\n")), Unknown);
    let intel = outcome_of(&host(), &[&sensor("52000\n")[..], &[none]].concat(), id);
    assert_eq!(intel, Unknown, "Intel counts, and the files are missing");
}

#[test]
fn one_daemon_tunes_the_machine() {
    let id = "tuning-daemons-agree";
    let tuned = [
        ("proc/60/comm", "tuned\n"),
        ("etc/tuned/active_profile", "realtime-virtual-host\n"),
        (
            "etc/tuned/tuned-main.conf",
            "dynamic_tuning = 0\nrollback = not_on_exit\n",
        ),
        ("etc/tuned/realtime-virtual-host-variables.conf", "isolated_cores=3-N\n"),
    ];
    let with = |change: (&'static str, &'static str)| outcome_of(&host(), &[&tuned[..], &[change]].concat(), id);
    // A custom profile; its arguments are in the profile itself or in variables.
    let own = |text: &'static str| {
        let files = [
            ("etc/tuned/active_profile", "triptime\n"),
            ("etc/tuned/triptime/tuned.conf", text),
        ];
        let rest = tuned
            .iter()
            .filter(|(path, _)| !path.ends_with("variables.conf") && !path.ends_with("profile"));
        outcome_of(&host(), &rest.copied().chain(files).collect::<Vec<_>>(), id)
    };
    assert_eq!(
        own("[bootloader]\ncmdline_triptime=+skew_tick=1 isolcpus=managed_irq,domain,3\n"),
        Pass
    );
    assert_eq!(own("[bootloader]\ncmdline_triptime=+isolcpus=domain,2-3\n"), Fail);
    assert_eq!(own("[main]\ninclude=balanced\n"), Fail);
    assert_eq!(own("[main]\ninclude=realtime\n"), Unknown, "which CPUs, nobody says");
    assert_eq!(own("[bootloader]\ncmdline=isolcpus=${isolated_cores}\n"), Unknown);
    assert_eq!(outcome_of(&host(), &[], id), Pass);
    let units = |files: &[(&str, &str)]| {
        let facts = audit(&changed(&host(), files), &Parameters::default()).facts;
        facts.get(None, "tuning.rival-units").map(|units| units.to_string())
    };
    let rivals = [("proc/60/comm", "tuned-ppd\n"), ("proc/61/comm", "tlp\n")];
    assert_eq!(units(&rivals).as_deref(), Ok("tuned-ppd.service tlp.service"));
    assert!(units(&[]).is_err(), "no unit is masked where none runs");
    assert_eq!(outcome_of(&host(), &[("proc/60/comm", "power-profiles-\n")], id), Fail);
    assert_eq!(outcome_of(&host(), &tuned, id), Pass);
    assert_eq!(with(("etc/tuned/active_profile", "balanced\n")), Fail);
    assert_eq!(
        with(("etc/tuned/realtime-virtual-host-variables.conf", "isolated_cores=2-3\n")),
        Fail
    );
    assert_eq!(with(("etc/tuned/tuned-main.conf", "dynamic_tuning = 0\n")), Fail);
    assert_eq!(
        with(("etc/tuned/realtime-virtual-host-variables.conf", "# isolated_cores=3\n")),
        Unknown
    );
}
