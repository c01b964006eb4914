//! Jobs that run at fixed hours.

use std::path::Path;

use units::CpuList;

use super::super::shared::{Search, cpus, unclear};
use crate::facts::Facts;
use crate::value::Unknown;
use host::reader::Reader;

/// Timers whose jobs load disks, memory or buses.
const HEAVY: [&str; 17] = [
    "apt-daily.timer",
    "apt-daily-upgrade.timer",
    "dnf-makecache.timer",
    "dnf-automatic.timer",
    "packagekit-offline-update.timer",
    "man-db.timer",
    "fstrim.timer",
    "mdcheck_start.timer",
    "mdcheck_continue.timer",
    "mdmonitor-oneshot.timer",
    "raid-check.timer",
    "logrotate.timer",
    "plocate-updatedb.timer",
    "mlocate-updatedb.timer",
    "fwupd-refresh.timer",
    "e2scrub_all.timer",
    "btrfs-scrub@-.timer",
];

const ENABLED: [&str; 2] = [
    "/etc/systemd/system/timers.target.wants",
    "/usr/lib/systemd/system/timers.target.wants",
];
/// Debian's scripts that leave their work to a timer if systemd runs (`[ -d /run/systemd/system ] && exit 0`).
const LEFT_TO_TIMERS: [&str; 4] = ["apt-compat", "dpkg", "logrotate", "man-db"];
const CRON: [&str; 3] = ["/etc/cron.daily", "/etc/cron.weekly", "/etc/cron.hourly"];

pub(super) fn gather(reader: &Reader, facts: &mut Facts) {
    facts.set("jobs.heavy", heavy(reader));
    facts.set("jobs.cpus", job_cpus(reader, facts));
}

/// Enabled timers and cron scripts.
fn heavy(reader: &Reader) -> Result<Vec<String>, Unknown> {
    if !reader.exists("/etc").unwrap_or(false) {
        return Err(Unknown::unclear("/etc is missing: the enabled timers are unknown"));
    }
    let mut search = Search::default();
    let mut seen = false;
    let has_timers = ENABLED.iter().any(|folder| reader.exists(folder).unwrap_or(false));
    for folder in ENABLED.iter().chain(&CRON) {
        let is_cron = CRON.contains(folder);
        let is_left = |name: &str| has_timers && LEFT_TO_TIMERS.contains(&name);
        let is_job = |name: &str| match is_cron {
            true => !name.starts_with('.') && !is_left(name),
            false => HEAVY.contains(&name) && !is_masked(reader, name),
        };
        match reader.names(folder, is_job) {
            Ok(names) => {
                seen = true;
                for name in names {
                    search.add(if is_cron { format!("{folder}/{name}") } else { name });
                }
            }
            Err(error) if error.is_absent() => {}
            Err(error) => search.missed(error),
        }
    }
    if !seen {
        search.missed(Unknown::unclear(
            "neither systemd's timers nor the folders of cron can be seen",
        ));
    }
    search.result()
}

/// True if a unit links to `/dev/null` or to a missing file: it is never started (systemd.unit(5)).
fn is_masked(reader: &Reader, unit: &str) -> bool {
    ["/etc/systemd/system", "/run/systemd/system"].iter().any(|folder| {
        let path = format!("{folder}/{unit}");
        let is_listed = reader
            .names(folder, |name| name == unit)
            .is_ok_and(|names| !names.is_empty());
        is_listed && reader.target(&path).map_or(true, |to| to == Path::new("/dev/null"))
    })
}

/// CPUs that services run on: those of their slice, except those without load balancing.
fn job_cpus(reader: &Reader, facts: &Facts) -> Result<CpuList, Unknown> {
    let groups = ["system.slice/", ""].map(|slice| format!("/sys/fs/cgroup/{slice}cpuset.cpus.effective"));
    let of_slice = groups.iter().find_map(|path| reader.cpus(path).ok());
    // Every running program has a CPU, so an empty list is invalid.
    let of_slice = of_slice.filter(|cpus| !cpus.is_empty());
    let all = match of_slice {
        Some(cpus) => cpus,
        None => cpus(facts, "cpus.online").map_err(unclear)?,
    };
    let without = all.without(&cpus(facts, "cpus.isolated")?);
    // If the partitions are unknown, no CPU is excluded.
    Ok(without.without(&cpus(facts, "cpus.partitions").unwrap_or_default()))
}
