//! Kernel arguments without effect here, or with a misleading name.

use units::CpuList;

use super::arguments::{Lists, possible};
use crate::facts::Facts;
use crate::gather::cpus;
use crate::value::Unknown;
use host::cmdline::{Cmdline, boot_cpus};
use host::cmdline_facts::split_flags;
use host::cpuinfo::CpuInfo;
use host::kernel::RT_GROUP_ARGUMENT_SINCE;
use host::reader::Reader;

/// First version with `workqueue.unbound_cpus=`.
pub(in crate::gather) const UNBOUND_SINCE: f64 = 6006.0;

pub(super) fn gather(reader: &Reader, facts: &mut Facts) {
    facts.set("kernel.arguments-in-vain", vain(reader, facts));
}

fn vain(reader: &Reader, facts: &Facts) -> Result<Vec<String>, Unknown> {
    let line = Cmdline::read(reader)?;
    let highest = possible(reader)?.iter().last().unwrap_or(0);
    let lists = Lists::read(&line, highest);
    let partitions = cpus::known(facts, "cpus.partitions").unwrap_or_default();
    let mut found: Vec<String> = Vec::new();
    found.extend(always(&line));
    found.extend(half_isolated(&line, highest, &partitions));
    found.extend(ticks(reader, &line, &lists)?);
    found.extend(of_other_kernels(reader, &line, facts)?);
    found.extend(of_other_processors(reader, &line)?);
    found.extend(idle_states(reader, &line)?);
    Ok(found)
}

/// Arguments that mislead on every kernel.
fn always(line: &Cmdline) -> Vec<String> {
    let known = [
        (
            "mce",
            Some("0"),
            "mce=0 sets a timeout to 0 and leaves machine checks on",
        ),
        (
            "pcie_aspm",
            Some("off"),
            "pcie_aspm=off leaves the link power states as the firmware set them",
        ),
        (
            "ktimer_lockless_check",
            None,
            "ktimer_lockless_check is known to no mainline kernel",
        ),
    ];
    let given = known
        .iter()
        .filter(|(name, value, _)| line.values(name).any(|given| value.is_none_or(|value| value == given)));
    given.map(|(.., text)| (*text).to_owned()).collect()
}

fn half_isolated(line: &Cmdline, highest: u32, partitions: &CpuList) -> Vec<String> {
    let without = line.values("isolcpus").filter(|value| {
        let (flags, list) = split_flags(value);
        let covered = boot_cpus(list, highest).is_some_and(|cpus| cpus.without(partitions).is_empty());
        !flags.is_empty() && !flags.contains(&"domain") && !covered
    });
    let text = |value: &str| format!("isolcpus={value} has no flag domain: the scheduler still uses these CPUs");
    without.map(text).collect()
}

fn ticks(reader: &Reader, line: &Cmdline, lists: &Lists) -> Result<Vec<String>, Unknown> {
    let mut found = Vec::new();
    let offloads = line.last("rcu_nocbs").is_some() || line.last("nohz_full").is_some();
    if line.last("rcu_nocb_poll").is_some() && !offloads {
        found.push("rcu_nocb_poll without rcu_nocbs or nohz_full polls nothing".to_owned());
    }
    if line.last("nohz_full").is_some() && !reader.exists("/sys/devices/system/cpu/nohz_full")? {
        found.push("nohz_full: this kernel is built without NO_HZ_FULL".to_owned());
    }
    if lists.nohz_full.contains(0) {
        found.push("nohz_full names CPU 0, which the kernel removes".to_owned());
    }
    Ok(found)
}

fn of_other_kernels(reader: &Reader, line: &Cmdline, facts: &Facts) -> Result<Vec<String>, Unknown> {
    let mut found = Vec::new();
    if line.last("kthread_cpus").is_some() {
        let version = reader.line("/proc/sys/kernel/version")?;
        if !version.contains("Ubuntu") {
            found.push("kthread_cpus is known to kernels of Ubuntu only".to_owned());
        }
    }
    let number = cpus::number(facts, "kernel.number");
    if line.last("workqueue.unbound_cpus").is_some() && number.is_some_and(|number| number < UNBOUND_SINCE) {
        found.push("workqueue.unbound_cpus exists since kernel 6.6".to_owned());
    }
    let is_older = number.is_some_and(|number| number < f64::from(RT_GROUP_ARGUMENT_SINCE));
    if line.last("rt_group_sched").is_some() && is_older {
        found.push("rt_group_sched exists since kernel 6.16".to_owned());
    }
    Ok(found)
}

fn of_other_processors(reader: &Reader, line: &Cmdline) -> Result<Vec<String>, Unknown> {
    let mut found = Vec::new();
    for (name, vendor) in [
        ("intel_pstate", "GenuineIntel"),
        ("amd_pstate", "AuthenticAMD"),
        ("intel_iommu", "GenuineIntel"),
    ] {
        if line.last(name).is_none() {
            continue;
        }
        let own = CpuInfo::read(reader)?.distinct("vendor_id")?;
        // AMD's arguments also apply to Hygon.
        if own != vendor && !(name == "amd_pstate" && own == "HygonGenuine") {
            found.push(format!("{name} is meant for processors of {vendor}, this one is {own}"));
        }
    }
    Ok(found)
}

fn idle_states(reader: &Reader, line: &Cmdline) -> Result<Option<String>, Unknown> {
    let alone = line.last("processor.max_cstate").is_some() && line.last("intel_idle.max_cstate").is_none();
    if !alone {
        return Ok(None);
    }
    let driver = match reader.line("/sys/devices/system/cpu/cpuidle/current_driver") {
        // A kernel without idle states, or with the idle driver disabled.
        Err(error) if error.is_absent() => return Ok(None),
        driver => driver?,
    };
    Ok((driver == "intel_idle").then(|| {
        "processor.max_cstate does nothing while intel_idle is active: give intel_idle.max_cstate too".to_owned()
    }))
}
