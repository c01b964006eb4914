//! Interrupts of each real-time CPU, counted twice.

use std::collections::BTreeMap;

use super::super::observed::{Counter, Reading};
use crate::facts::{Class, Facts};
use host::error::HostError;
use host::interrupt_counts;
use host::reader::Reader;

/// Rows of `/proc/interrupts` with interrupts between CPUs.
const FROM_OTHER_CPUS: [&str; 3] = ["RES", "CAL", "TLB"];
/// Rows of interrupts that neither a device nor another CPU causes, or that repeat other rows.
const NEITHER: [&str; 5] = ["LOC", "ERR", "Err", "MIS", "HYP"];

/// Counts of one CPU.
#[derive(Debug, Clone, Copy, Default)]
struct Counts {
    local_timer: f64,
    ipi: f64,
    device: f64,
    other: f64,
}

/// Stores the counters of every real-time CPU.
pub(in super::super) fn per_cpu(reader: &Reader, facts: &Facts, reading: &mut Reading) {
    let counted = reader.text("/proc/interrupts").and_then(|text| {
        let planned = facts.parts(Class::Nic).iter();
        let planned = planned.flat_map(|part| super::of_nic(facts, part).unwrap_or_default());
        counts(&text, &planned.collect::<Vec<_>>())
    });
    for part in facts.parts(Class::RtCpu) {
        let of_cpu = counted.as_ref().map_err(HostError::clone).and_then(|counted| {
            let cpu = part.name.parse().ok().and_then(|cpu: u32| counted.get(&cpu).copied());
            cpu.ok_or_else(|| HostError::Undecided(format!("/proc/interrupts has no column CPU{}", part.name)))
        });
        let mut note = |fact: &str, pick: fn(Counts) -> f64| {
            let counter = Counter {
                part: Some((Class::RtCpu, part.name.clone())),
                fact: fact.to_owned(),
            };
            reading.insert(counter, of_cpu.clone().map(pick));
        };
        note("interrupts.local-timer-per-s", |counts| counts.local_timer);
        note("interrupts.ipi-per-s", |counts| counts.ipi);
        note("interrupts.device-per-s", |counts| counts.device);
        note("interrupts.other-per-s", |counts| counts.other);
    }
}

/// Sums each column. Interrupts in `planned` are not counted.
fn counts(text: &str, planned: &[String]) -> Result<BTreeMap<u32, Counts>, HostError> {
    let all = interrupt_counts::summed(text, |row, sums: &mut Counts, count| match row {
        row if planned.iter().any(|number| number == row) => {}
        "LOC" => sums.local_timer += count as f64,
        row if FROM_OTHER_CPUS.contains(&row) => sums.ipi += count as f64,
        row if NEITHER.contains(&row) => {}
        row if interrupt_counts::is_device(row) => sums.device += count as f64,
        _ => sums.other += count as f64,
    });
    match all.is_empty() {
        true => Err(HostError::unexpected("/proc/interrupts", "a first line of CPUs", text)),
        false => Ok(all),
    }
}

#[cfg(test)]
mod tests {
    use super::counts;

    #[test]
    fn columns_are_summed_by_kind() {
        let text = "      CPU0  CPU2\n 24:  1  10 IO-APIC 5-edge x\n 25:  2  20 PCI-MSI 1-edge eth0\n\
                    LOC:  3  30 Local\nRES: 4 40\nCAL: 5 50\nNMI: 6 60\nERR: 9\n";
        let counts = counts(text, &["25".to_owned()]).expect("counts");
        let of = counts[&2];
        assert_eq!([of.local_timer, of.ipi, of.device, of.other], [30.0, 90.0, 10.0, 60.0]);
        assert!(super::counts("", &[]).is_err());
    }

    #[test]
    fn a_timer_and_calls_of_other_cpus_are_no_devices_on_arm() {
        let text = "           CPU0       CPU1\n 11:  3  30  GICv3  27 Level     arch_timer\n 14:  1  10  GICv3  23 Level  arm-pmu\n \
                    40:  2  20  GICv3-MSI 5 Edge  eth0\nIPI0: 4 40 Rescheduling interrupts\nIPI1: 5 50 Function call interrupts\nErr: 0\n";
        let of = counts(text, &[]).expect("counts")[&1];
        assert_eq!([of.local_timer, of.ipi, of.device, of.other], [30.0, 90.0, 20.0, 10.0]);
    }
}
