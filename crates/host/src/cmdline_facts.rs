//! The boot arguments that matter for latency.

use units::CpuList;

use crate::cmdline::{Cmdline, PATH, boot_cpus};
use crate::error::HostError;
use crate::fact::Sheet;
use crate::reader::Reader;
use model::Fact;

/// Arguments whose value is a CPU list; facts even if not given.
pub const CPU_LISTS: [&str; 4] = ["isolcpus", "nohz_full", "rcu_nocbs", "irqaffinity"];

/// Other arguments that affect latency, facts if given (kernel documentation, admin-guide/kernel-parameters.txt).
pub const OTHERS: [&str; 43] = [
    "kthread_cpus",
    "workqueue.unbound_cpus",
    "rcu_nocb_poll",
    "rcutree.kthread_prio",
    "rcupdate.rcu_expedited",
    "skew_tick",
    "nohz",
    "preempt",
    "threadirqs",
    "rt_group_sched",
    "mitigations",
    "pti",
    "nosmt",
    "maxcpus",
    "nr_cpus",
    "intel_pstate",
    "amd_pstate",
    "cpufreq.off",
    "cpufreq.default_governor",
    "cpuidle.off",
    "cpuidle.governor",
    "intel_idle.max_cstate",
    "processor.max_cstate",
    "idle",
    "tsc",
    "clocksource",
    "nowatchdog",
    "nmi_watchdog",
    "nosoftlockup",
    "mce",
    "pcie_aspm",
    "pcie_aspm.policy",
    "efi",
    "numa_balancing",
    "transparent_hugepage",
    "default_hugepagesz",
    "hugepagesz",
    "hugepages",
    "iommu",
    "intel_iommu",
    "amd_iommu",
    "audit",
    "systemd.unified_cgroup_hierarchy",
];

pub(crate) fn facts(reader: &Reader) -> Vec<Fact> {
    let mut sheet = Sheet::new(reader, "kernel arguments");
    let line = match Cmdline::read(reader) {
        Ok(line) => line,
        Err(error) => {
            sheet.add("command line", PATH, Err(error));
            return sheet.finish();
        }
    };
    sheet.add("command line", PATH, Ok(line.shown()));
    let highest = highest_cpu(reader);
    for name in CPU_LISTS {
        sheet.add(name, PATH, Ok(cpu_argument(&line, name, highest)));
    }
    for name in OTHERS {
        if let Some(value) = given(&line, name) {
            sheet.add(name, PATH, Ok(value));
        }
    }
    sheet.finish()
}

/// All values of an argument as one text.
fn given(line: &Cmdline, name: &str) -> Option<String> {
    let values: Vec<&str> = line
        .values(name)
        .map(|value| if value.is_empty() { "given" } else { value })
        .collect();
    (!values.is_empty()).then(|| values.join(", then "))
}

fn cpu_argument(line: &Cmdline, name: &str, highest: Option<u32>) -> String {
    let meanings: Vec<String> = line.values(name).map(|value| meaning(name, value, highest)).collect();
    if meanings.is_empty() {
        "not given".to_owned()
    } else {
        meanings.join(", then ")
    }
}

/// Value, with its meaning if that differs from its notation.
fn meaning(name: &str, value: &str, highest: Option<u32>) -> String {
    let (flags, list) = if name == "isolcpus" {
        split_flags(value)
    } else {
        (Vec::new(), value)
    };
    let mut notes = Vec::new();
    match highest.and_then(|highest| boot_cpus(list, highest)) {
        Some(cpus) if cpus.to_string() != list => notes.push(format!("CPUs {cpus}")),
        Some(_) => {}
        None => notes.push("not understood as a CPU list".to_owned()),
    }
    if !flags.is_empty() && !flags.contains(&"domain") {
        // kernel/sched/isolation.c: domain is the default only if no flag is given.
        notes.push("without the flag domain: the scheduler does not isolate them".to_owned());
    }
    if notes.is_empty() {
        value.to_owned()
    } else {
        format!("{value} ({})", notes.join("; "))
    }
}

/// Splits off the flags before the list of `isolcpus=`.
pub fn split_flags(value: &str) -> (Vec<&str>, &str) {
    let (mut flags, mut rest) = (Vec::new(), value);
    while let Some((first, after)) = rest.split_once(',') {
        if !first.starts_with(|c: char| c.is_ascii_lowercase()) || first == "all" {
            break;
        }
        flags.push(first);
        rest = after;
    }
    (flags, rest)
}

/// Value of `N`: the highest CPU the kernel can have.
fn highest_cpu(reader: &Reader) -> Option<u32> {
    let list = |path| -> Result<CpuList, HostError> { reader.cpus(path) };
    let possible = list("/sys/devices/system/cpu/possible")
        .or_else(|_| list("/sys/devices/system/cpu/online"))
        .ok()?;
    possible.iter().last()
}

#[cfg(test)]
mod tests {
    use super::meaning;

    #[test]
    fn flags_are_told_from_cpus() {
        assert_eq!(
            meaning("isolcpus", "domain,managed_irq,2-3", Some(3)),
            "domain,managed_irq,2-3"
        );
        assert_eq!(meaning("isolcpus", "2-3", Some(3)), "2-3");
        let half = meaning("isolcpus", "managed_irq,2-N", Some(7));
        assert!(half.contains("CPUs 2-7") && half.contains("does not isolate"), "{half}");
        assert!(meaning("nohz_full", "x", Some(7)).contains("not understood"));
    }
}
