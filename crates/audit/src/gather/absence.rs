//! Missing files: some are evidence about the kernel, others only show that a part of the recorded tree is lost.

use crate::value::{Unknown, Why};
use host::cmdline::Cmdline;
use host::config::Config;
use host::kernel;
use host::reader::Reader;

/// Files that the kernel creates together with another one, and since which release (0: always).
const MADE_WITH: [(&str, &str, u32); 10] = [
    // drivers/cpuidle/sysfs.c: a kernel without a driver has the file too, with `none`.
    (
        "/sys/devices/system/cpu/cpuidle/current_driver",
        "/sys/devices/system/cpu/cpuidle",
        0,
    ),
    // drivers/cpuidle/governors/haltpoll.c
    (
        "/sys/devices/system/cpu/cpuidle/current_driver",
        "/sys/module/haltpoll",
        0,
    ),
    // mm/huge_memory.c, hugepage_init_sysfs
    (
        "/sys/kernel/mm/transparent_hugepage/enabled",
        "/sys/kernel/mm/transparent_hugepage",
        0,
    ),
    // kernel/watchdog.c, watchdog_sysctls (Linux 6.12)
    ("/proc/sys/kernel/watchdog", "/proc/sys/kernel/watchdog_cpumask", 0),
    ("/proc/sys/kernel/nmi_watchdog", "/proc/sys/kernel/watchdog", 0),
    ("/proc/sys/kernel/soft_watchdog", "/proc/sys/kernel/softlockup_panic", 0),
    // kernel/time/Kconfig: NO_HZ_FULL selects NO_HZ_COMMON, which provides the other file (kernel/time/timer.c)
    (
        "/proc/sys/kernel/timer_migration",
        "/sys/devices/system/cpu/nohz_full",
        0,
    ),
    // mm/compaction.c, vm_compaction: one of the two is younger.
    (
        "/proc/sys/vm/compact_unevictable_allowed",
        "/proc/sys/vm/compaction_proactiveness",
        0,
    ),
    (
        "/proc/sys/vm/compaction_proactiveness",
        "/proc/sys/vm/compact_unevictable_allowed",
        5009,
    ),
    // arch/x86/kernel/cpu/mce/core.c, mce_device_create: creates all files of a CPU at once
    (
        "/sys/devices/system/machinecheck/machinecheck{cpu}/check_interval",
        "/sys/devices/system/machinecheck",
        0,
    ),
];

/// Files of every kernel with an option (Linux 6.12: mm/compaction.c, kernel/sched/core.c, mm/ksm.c, drivers/cpuidle/sysfs.c).
const BUILT_WITH: [(&str, &str); 4] = [
    ("/proc/sys/vm/compact_unevictable_allowed", "COMPACTION"),
    ("/proc/sys/kernel/numa_balancing", "NUMA_BALANCING"),
    ("/sys/kernel/mm/ksm/run", "KSM"),
    ("/sys/devices/system/cpu/cpuidle/current_driver", "CPU_IDLE"),
];

/// Files whose existence a word in another file implies, and since which release.
const TOLD_BY: [(&str, &str, &str, u32); 2] = [
    // fs/proc/meminfo.c (Linux 6.12): with CONFIG_TRANSPARENT_HUGEPAGE only
    (
        "/sys/kernel/mm/transparent_hugepage/enabled",
        "/proc/meminfo",
        "AnonHugePages:",
        0,
    ),
    // arch/x86/kernel/cpu/intel_epb.c, intel_epb_online (Linux 5.3)
    (
        "/sys/devices/system/cpu/cpu{cpu}/power/energy_perf_bias",
        "/proc/cpuinfo",
        " epb ",
        5003,
    ),
];

/// Files that a kernel argument removes.
const TAKEN_BY: [(&str, &str, &str); 1] = [
    // drivers/cpuidle/cpuidle.c, cpuidle_init
    ("/sys/devices/system/cpu/cpuidle/current_driver", "cpuidle.off", "1"),
];

/// Folders of every kernel, or of every kernel with a certain file. If one is missing, a missing file below it is no evidence.
const FOLDERS: [(&str, &str); 4] = [
    // kernel/ksysfs.c, ksysfs_init; mm/mm_init.c, mm_sysfs_init
    ("/sys/kernel", "/sys"),
    ("/sys/kernel/mm", "/sys"),
    // kernel/sysctl.c, vm_table
    ("/proc/sys/vm", "/proc/sys"),
    // drivers/cpufreq/intel_pstate.c: while it is active, each CPU has a policy.
    (
        "/sys/devices/system/cpu/cpu{cpu}/cpufreq",
        "/sys/devices/system/cpu/intel_pstate/no_turbo",
    ),
];

/// Returns the reason unchanged, except for a file that the kernel has and only the tree lacks. `part` replaces `{cpu}`; empty for the
/// machine itself.
pub(super) fn believed(reader: &Reader, path: &str, part: &str, unknown: impl Into<Unknown>) -> Unknown {
    let unknown = unknown.into();
    match unknown.why {
        Why::Absent => lost(reader, path, part).map_or(unknown, Unknown::unclear),
        _ => unknown,
    }
}

/// Evidence that the kernel has the file; `None`: the kernel may lack it.
fn lost(reader: &Reader, path: &str, part: &str) -> Option<String> {
    let file = path.replace("{cpu}", part).replace("{nic}", part);
    let sign = || of_kernel(reader, path).or_else(|| made_with(reader, path));
    match (!is_taken(reader, path)).then(sign).flatten() {
        Some(sign) => Some(format!("{file} is missing, and {sign}: a part of the tree is lost")),
        None => {
            let witness = without_folder(reader, path, part).or_else(|| without_all(reader, &file))?;
            Some(format!("{file}: {witness} is missing too, so this is no evidence"))
        }
    }
}

fn is_taken(reader: &Reader, path: &str) -> bool {
    let mut taken = TAKEN_BY.iter().filter(|(file, ..)| *file == path);
    let Ok(line) = Cmdline::read(reader) else { return false };
    taken.any(|(_, name, value)| line.last(name) == Some(value))
}

fn made_with(reader: &Reader, path: &str) -> Option<String> {
    let mut made = MADE_WITH.iter().filter(|(file, ..)| *file == path);
    let (_, with, _) = made.find(|(_, with, since)| is_there(reader, with) && is_since(reader, *since))?;
    Some(format!("{with} is there"))
}

fn of_kernel(reader: &Reader, path: &str) -> Option<String> {
    let mut told = TOLD_BY.iter().filter(|(file, ..)| *file == path);
    let says = |teller: &str, word: &str| {
        reader
            .text(teller)
            .is_ok_and(|text| text.replace('\n', " ").contains(word))
    };
    let told = told.find(|(_, teller, word, since)| says(teller, word) && is_since(reader, *since));
    if let Some((_, teller, word, _)) = told {
        return Some(format!("{teller} says {}", word.trim()));
    }
    let mut built = BUILT_WITH.iter().filter(|(file, _)| *file == path);
    let config = built.clone().next().and_then(|_| Config::read(reader).ok())?;
    let (_, option) = built.find(|(_, option)| config.is_on(option))?;
    Some(format!("the kernel is built with {option}"))
}

fn without_folder(reader: &Reader, path: &str, part: &str) -> Option<String> {
    let named = |text: &str| text.replace("{cpu}", part);
    let is_below = |folder: &str| path.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'));
    let mut folders = FOLDERS.iter().filter(|(folder, _)| is_below(folder));
    let missing = folders.find(|(folder, with)| !is_there(reader, &named(folder)) && is_there(reader, with));
    missing.map(|(folder, _)| named(folder))
}

/// A missing file is evidence only if `/proc`, `/sys` or the folder exists at all.
fn without_all(reader: &Reader, path: &str) -> Option<String> {
    let witness = match path.split('/').nth(1) {
        Some("proc") => "/proc/sys/kernel/osrelease",
        Some("sys") => "/sys/devices/system/cpu/online",
        _ => path.rsplit_once('/').map_or("/", |(folder, _)| folder),
    };
    let is_seen = reader.exists(witness).unwrap_or(false);
    (!is_seen).then(|| witness.to_owned())
}

fn is_there(reader: &Reader, path: &str) -> bool {
    reader.exists(path).unwrap_or(true)
}

fn is_since(reader: &Reader, release: u32) -> bool {
    release == 0 || kernel::number(reader).is_ok_and(|number| number >= release)
}
