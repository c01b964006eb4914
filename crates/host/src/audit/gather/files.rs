//! Files that rules name by their path. `{cpu}` and `{nic}` stand for the part that is asked.

use crate::audit::facts::{Class, Facts};
use crate::audit::rule::Rule;
use crate::audit::value::{Known, Unknown, Value, Why};
use crate::reader::Reader;

pub(super) fn gather<'a>(reader: &Reader, rules: impl Iterator<Item = &'a Rule>, facts: &mut Facts) {
    for rule in rules {
        for path in rule.facts().into_iter().filter(|name| name.starts_with('/')) {
            match rule.each {
                Some(class) if path.contains('{') => of_parts(reader, class, path, facts),
                _ if facts.is_gathered(None, path) => {}
                _ => facts.set_known(path, read(reader, path)),
            }
        }
    }
}

fn of_parts(reader: &Reader, class: Class, path: &str, facts: &mut Facts) {
    for part in facts.parts_mut(class) {
        let place = path.replace("{cpu}", &part.name).replace("{nic}", &part.name);
        part.set_known(path, read(reader, &place));
    }
}

/// The one line of a file.
fn read(reader: &Reader, path: &str) -> Known {
    let line = reader.line_or_blank(path).map(Value::Text).map_err(Unknown::from);
    line.map_err(|unknown| believed(reader, path, unknown))
}

/// Files that the kernel makes together with another: where that is there, the first is missing from the tree and not from the kernel.
const MADE_WITH: [(&str, &str); 6] = [
    // drivers/cpuidle/sysfs.c: a kernel without a driver says `none`.
    (
        "/sys/devices/system/cpu/cpuidle/current_driver",
        "/sys/devices/system/cpu/cpuidle",
    ),
    // mm/huge_memory.c, hugepage_init_sysfs
    (
        "/sys/kernel/mm/transparent_hugepage/enabled",
        "/sys/kernel/mm/transparent_hugepage",
    ),
    // kernel/watchdog.c, watchdog_sysctls (Linux 6.12)
    ("/proc/sys/kernel/watchdog", "/proc/sys/kernel/watchdog_cpumask"),
    ("/proc/sys/kernel/nmi_watchdog", "/proc/sys/kernel/watchdog"),
    ("/proc/sys/kernel/soft_watchdog", "/proc/sys/kernel/softlockup_panic"),
    // kernel/time/Kconfig: NO_HZ_FULL selects NO_HZ_COMMON, which has the other (kernel/time/timer.c)
    ("/proc/sys/kernel/timer_migration", "/sys/devices/system/cpu/nohz_full"),
];

/// A missing file says something only where `/proc`, `/sys` or the folder is there at all, and nothing that comes with it.
fn believed(reader: &Reader, path: &str, unknown: Unknown) -> Unknown {
    let with = MADE_WITH
        .iter()
        .find(|(file, with)| *file == path && unknown.why == Why::Absent && reader.exists(with).unwrap_or(true));
    if let Some((_, with)) = with {
        return Unknown::unclear(format!(
            "{path} is missing, and {with} is there: a part of the tree is lost"
        ));
    }
    let witness = match path.split('/').nth(1) {
        Some("proc") => "/proc/sys/kernel/osrelease",
        Some("sys") => "/sys/devices/system/cpu/online",
        _ => path.rsplit_once('/').map_or("/", |(folder, _)| folder),
    };
    if unknown.why == Why::Absent && !reader.exists(witness).unwrap_or(false) {
        return Unknown::unclear(format!("{path}: {witness} is missing too, so that says nothing"));
    }
    unknown
}
