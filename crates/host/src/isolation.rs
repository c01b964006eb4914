//! CPUs that the kernel keeps free of its own work.

use units::CpuList;

use crate::cgroup::Hierarchy;
use crate::cmdline::Cmdline;
use crate::config::Config;
use crate::cpu;
use crate::error::HostError;
use crate::fact::Sheet;
use crate::reader::Reader;
use model::Fact;

const ISOLATED: &str = "/sys/devices/system/cpu/isolated";
const NOHZ_FULL: &str = "/sys/devices/system/cpu/nohz_full";

/// CPUs without load balancing since boot: see [`crate::Host::isolated_cpus`].
///
/// # Errors
/// The file cannot be read or is not a CPU list.
pub fn isolated(reader: &Reader) -> Result<CpuList, HostError> {
    reader.cpus(ISOLATED)
}

/// CPUs without a periodic tick since boot; empty if the kernel has no such mode.
///
/// # Errors
/// No conclusive file can be read.
pub fn nohz_full(reader: &Reader) -> Result<CpuList, HostError> {
    match reader.line_or_blank(NOHZ_FULL) {
        Ok(line) if line == "(null)" => Ok(CpuList::default()),
        Ok(_) => reader.cpus(NOHZ_FULL),
        // A kernel without CONFIG_NO_HZ_FULL lacks this file: the list is empty, provided that this is a live or recorded kernel.
        Err(error) if error.is_absent() && !is_asked(reader) => {
            cpu::online(reader).map(|_| CpuList::default()).map_err(|_| error)
        }
        Err(error) => Err(error),
    }
}

/// True if a boot argument asks the kernel to stop ticks, and nothing shows that it cannot.
fn is_asked(reader: &Reader) -> bool {
    let asked = Cmdline::read(reader).is_ok_and(|line| line.last("nohz_full").is_some_and(|cpus| !cpus.is_empty()));
    asked && !Config::read(reader).is_ok_and(|config| !config.is_on("NO_HZ_FULL"))
}

pub(crate) fn facts(reader: &Reader) -> Vec<Fact> {
    let mut sheet = Sheet::new(reader, "isolation");
    sheet.add("isolated CPUs", ISOLATED, isolated(reader).map(|cpus| shown(&cpus)));
    sheet.add("nohz_full CPUs", NOHZ_FULL, nohz_full(reader).map(|cpus| shown(&cpus)));
    partitions(&mut sheet);
    let status = "/proc/self/status";
    sheet.add("CPUs this process may use", status, allowed(reader, status));
    sheet.line("default interrupt affinity (mask)", "/proc/irq/default_smp_affinity");
    sheet.line("unbound workqueues (mask)", "/sys/devices/virtual/workqueue/cpumask");
    let rcu = "not in this kernel";
    sheet.switch("RCU expedited", "/sys/kernel/rcu_expedited", rcu);
    sheet.switch("RCU normal", "/sys/kernel/rcu_normal", rcu);
    sheet.finish()
}

/// Isolation by cpuset partitions, which `isolated` does not show on most kernels.
fn partitions(sheet: &mut Sheet<'_>) {
    let name = "CPUs in isolated cpuset partitions";
    let unified = Hierarchy::read(sheet.reader).map(|mounts| mounts.unified_mount());
    match unified {
        Ok(Some(mount)) => {
            let path = format!("{mount}/cpuset.cpus.isolated");
            let value = sheet.reader.cpus(&path).map(|cpus| shown(&cpus));
            sheet.explained(
                name,
                &path,
                value,
                "kernel before 6.7, or the cpuset controller is not on version 2",
            );
        }
        Ok(None) => sheet.add(
            name,
            "/proc/self/mountinfo",
            Ok("none (no cgroup version 2)".to_owned()),
        ),
        Err(error) => sheet.add(name, "/proc/self/mountinfo", Err(error)),
    }
}

/// CPUs in isolated cpuset partitions, on kernels that list them (from Linux 6.7).
pub(crate) fn partition_cpus(reader: &Reader) -> Result<CpuList, HostError> {
    match Hierarchy::read(reader)?.unified_mount() {
        Some(mount) => reader.cpus(&format!("{mount}/cpuset.cpus.isolated")),
        None => Ok(CpuList::default()),
    }
}

fn allowed(reader: &Reader, path: &str) -> Result<String, HostError> {
    let text = reader.text(path)?;
    let list = text.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"));
    let list = list.ok_or_else(|| HostError::Undecided("no line Cpus_allowed_list".to_owned()))?;
    let cpus: CpuList = list
        .parse()
        .map_err(|_| HostError::unexpected(path, "a CPU list", list))?;
    Ok(shown(&cpus))
}

fn shown(cpus: &CpuList) -> String {
    if cpus.is_empty() {
        "none".to_owned()
    } else {
        cpus.to_string()
    }
}
