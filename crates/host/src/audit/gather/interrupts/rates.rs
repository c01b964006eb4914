//! Interrupts counted twice: those of each real-time CPU, and those of the firmware.

use std::collections::BTreeMap;
use std::fs::File;
use std::os::unix::fs::FileExt;

use super::super::observed::{Counter, Reading};
use super::super::shared;
use crate::audit::facts::{Class, Facts};
use crate::cpuinfo::CpuInfo;
use crate::error::{HostError, Unreadable};
use crate::interrupt_counts;
use crate::reader::Reader;

/// Rows of `/proc/interrupts` that one CPU sends another.
const FROM_OTHER_CPUS: [&str; 3] = ["RES", "CAL", "TLB"];
/// Rows that neither a device nor another CPU causes, or that repeat others.
const NEITHER: [&str; 4] = ["LOC", "ERR", "MIS", "HYP"];

/// Counts of one CPU.
#[derive(Debug, Clone, Copy, Default)]
struct Counts {
    local_timer: f64,
    ipi: f64,
    device: f64,
    other: f64,
}

/// Notes the counters of every real-time CPU.
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

/// Sums up each column. Interrupts in `planned` count for no one.
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

/// Notes how often the firmware took the CPUs away (MSR_SMI_COUNT of Intel, Software Developer's Manual volume 4).
pub(in super::super) fn smi(reader: &Reader, facts: &Facts, reading: &mut Reading) {
    let counter = Counter {
        part: None,
        fact: "smi.per-s".to_owned(),
    };
    reading.insert(counter, smi_count(reader, facts));
}

fn smi_count(reader: &Reader, facts: &Facts) -> Result<f64, HostError> {
    const MSR_SMI_COUNT: u64 = 0x34;
    const PATH: &str = "/.answers/smi-count";
    let vendor = CpuInfo::read(reader)?.distinct("vendor_id")?;
    if vendor != "GenuineIntel" {
        let why = "only Intel counts them: let the hwlat tracer look for gaps instead";
        return Err(HostError::Undecided(why.to_owned()));
    }
    // Every such interrupt stops all CPUs, so the count of one that has no real-time work will do.
    let cpu = shared::cpus(facts, "hk_cpus")
        .ok()
        .and_then(|cpus| cpus.first())
        .unwrap_or(0);
    let answer = reader.answer("smi-count", || {
        register(cpu, MSR_SMI_COUNT).map(|count| count.to_string())
    })?;
    let count: Result<u64, _> = answer.trim().parse();
    count
        .map(|count| count as f64)
        .map_err(|_| HostError::unexpected(PATH, "a number of interrupts", &answer))
}

/// A model-specific register of a CPU of this machine.
pub(in super::super) fn register(cpu: u32, number: u64) -> Result<u64, HostError> {
    let path = format!("/dev/cpu/{cpu}/msr");
    let mut octets = [0; 8];
    let read = File::open(&path).and_then(|file| file.read_exact_at(&mut octets, number));
    read.map_err(|error| HostError::Unreadable {
        path,
        why: Unreadable::from_io(&error),
    })?;
    Ok(u64::from_le_bytes(octets))
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
}
