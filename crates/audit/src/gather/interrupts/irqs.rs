//! Device interrupts: the CPUs that receive them, and those that the kernel places itself.

use std::collections::BTreeMap;

use units::CpuList;

use super::super::shared::{Search, cpus};
use crate::facts::{Class, Facts};
use crate::parameters::Parameters;
use crate::value::Unknown;
use host::error::HostError;
use host::reader::Reader;

/// Names of the interrupts with a handler, by number.
pub(super) type Names = Result<BTreeMap<u32, String>, Unknown>;

/// Per-CPU interrupts, by the names of their handlers (Arm, RISC-V).
const OF_EACH_CPU: [&str; 7] = [
    "arch_timer",
    "arm-pmu",
    "arm_spe",
    "kvm guest",
    "vgic",
    "riscv-timer",
    "percpu",
];

/// Drivers that let the kernel place their queue interrupts. Kernels without CONFIG_GENERIC_IRQ_DEBUGFS do not list these, so the name
/// decides.
const MANAGED: [&str; 11] = [
    "nvme", "megasas", "mpt3sas", "mpi3mr", "hisi_sas", "qla2xxx", "-req", "aacraid", "smartpqi", "hpsa", "lpfc",
];

pub(super) fn gather(reader: &Reader, parameters: &Parameters, names: &Names, facts: &mut Facts) {
    let rt_cpus = cpus(facts, "rt_cpus");
    let found = rt_cpus.and_then(|rt_cpus| sort(reader, names, &of_nics(parameters, facts), &rt_cpus));
    let of = |pick: fn(&Sorted) -> Result<Vec<String>, Unknown>| found.as_ref().map_err(Unknown::clone).and_then(pick);
    facts.set("irqs.on-rt-cpus", of(|found| found.stray.clone()));
    facts.set("irqs.managed", of(|found| Ok(found.managed.clone())));
    facts.set("irqs.managed-on-rt-cpus", of(|found| found.managed_stray.clone()));
}

struct Sorted {
    stray: Result<Vec<String>, Unknown>,
    managed: Vec<String>,
    managed_stray: Result<Vec<String>, Unknown>,
}

/// Interrupts of the named interfaces are left out: another rule covers them, and they may belong there.
fn sort(reader: &Reader, names: &Names, planned: &[u32], rt_cpus: &CpuList) -> Result<Sorted, Unknown> {
    let names = names.as_ref().map_err(Unknown::clone)?;
    let debug = reader.exists("/sys/kernel/debug/irq/irqs").unwrap_or(false);
    let (mut stray, mut managed_stray, mut managed) = (Search::default(), Search::default(), Vec::new());
    for (number, name) in names.iter().filter(|(number, _)| !planned.contains(number)) {
        if OF_EACH_CPU.iter().any(|own| name.contains(own)) {
            continue;
        }
        let said = debug.then(|| said_to_be_managed(reader, *number)).flatten();
        let is_managed = said.unwrap_or_else(|| looks_managed(name));
        if is_managed {
            managed.push(format!("{number} {name}"));
        }
        let search = if is_managed { &mut managed_stray } else { &mut stray };
        match delivered(reader, *number) {
            Ok(cpus) if !is_on(&cpus, rt_cpus) => {}
            Ok(_) if is_managed && has_no_other_place(reader, *number, rt_cpus) => {}
            Ok(cpus) => search.add(format!("{number} {name} (CPU {cpus})")),
            Err(error) => search.missed(error),
        }
    }
    Ok(Sorted {
        stray: stray.result(),
        managed,
        managed_stray: managed_stray.result(),
    })
}

fn is_on(cpus: &CpuList, rt_cpus: &CpuList) -> bool {
    cpus.iter().any(|cpu| rt_cpus.contains(cpu))
}

/// `managed_irq` is best effort: a queue whose CPUs are all reserved stays there, but interrupts only when they use it.
fn has_no_other_place(reader: &Reader, number: u32, rt_cpus: &CpuList) -> bool {
    allowed(reader, number).is_ok_and(|cpus| cpus.without(rt_cpus).is_empty())
}

/// CPUs that actually get an interrupt; if the controller does not report it, those that may.
pub(super) fn delivered(reader: &Reader, number: u32) -> Result<CpuList, HostError> {
    match reader.cpus(&format!("/proc/irq/{number}/effective_affinity_list")) {
        Ok(cpus) if !cpus.is_empty() => Ok(cpus),
        Ok(_) => allowed(reader, number),
        Err(error) if error.is_absent() => allowed(reader, number),
        Err(error) => Err(error),
    }
}

/// CPUs that may get an interrupt.
pub(super) fn allowed(reader: &Reader, number: u32) -> Result<CpuList, HostError> {
    let path = format!("/proc/irq/{number}/smp_affinity_list");
    let cpus = reader.cpus(&path)?;
    if cpus.is_empty() {
        return Err(HostError::unexpected(&path, "at least one CPU", ""));
    }
    Ok(cpus)
}

/// For interfaces that were not named, any of them may be there by accident.
fn of_nics(parameters: &Parameters, facts: &Facts) -> Vec<u32> {
    let parts = facts.parts(Class::Nic).iter();
    let each = parts.filter(|part| parameters.nics.contains(&part.name));
    let all = each.flat_map(|part| super::of_nic(facts, part).unwrap_or_default());
    all.filter_map(|number| number.parse().ok()).collect()
}

fn said_to_be_managed(reader: &Reader, number: u32) -> Option<bool> {
    let text = reader.text(&format!("/sys/kernel/debug/irq/irqs/{number}")).ok()?;
    Some(text.contains("IRQD_AFFINITY_MANAGED"))
}

/// The first queue of an NVMe controller is for administration and is placed like any other interrupt.
fn looks_managed(name: &str) -> bool {
    let is_administration = name.starts_with("nvme") && name.ends_with("q0");
    !is_administration && MANAGED.iter().any(|driver| name.contains(driver))
}

#[cfg(test)]
mod tests {
    use super::looks_managed;

    #[test]
    fn managed_interrupts_are_known_by_their_drivers() {
        for name in [
            "nvme0q1",
            "virtio1-req.0",
            "megasas0-msix3",
            "smartpqi",
            "hpsa0-msix3",
            "lpfc:1",
        ] {
            assert!(looks_managed(name), "{name}");
        }
        for name in ["nvme0q0", "virtio2-input.0", "eth0-TxRx-0", "ttyS0"] {
            assert!(!looks_managed(name), "{name}");
        }
    }
}
