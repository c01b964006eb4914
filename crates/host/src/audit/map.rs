//! A row for each CPU: what it is for, how it is kept free, and what runs on it all the same.

use std::collections::BTreeMap;

use units::CpuList;

use super::facts::Facts;
use super::value::Value;
use crate::interrupt_counts;
use crate::reader::Reader;
use crate::roles::{self, CpuFacts};

/// What a CPU is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// Set aside for real-time work.
    RealTime,
    /// For everything else.
    Housekeeping,
}

impl Role {
    /// The word for it.
    pub fn word(self) -> &'static str {
        match self {
            Self::RealTime => "real-time",
            Self::Housekeeping => "housekeeping",
        }
    }
}

/// One CPU.
#[derive(Debug, Clone, PartialEq)]
pub struct CpuRow {
    /// Its number.
    pub cpu: u32,
    /// What it is for.
    pub role: Role,
    /// By which means the kernel keeps work away from it.
    pub kept_free_by: Vec<&'static str>,
    /// Interrupts of devices each second; `None`: not observed, or unknown.
    pub interrupts_per_s: Option<f64>,
    /// Interrupts of its own timer each second; `None`: not observed, or unknown.
    pub ticks_per_s: Option<f64>,
    /// Who has it to itself.
    pub owners: Vec<String>,
    /// Real-time threads, virtual CPUs and threads of interfaces in use that are on it.
    pub residents: Vec<String>,
    /// What contradicts its role.
    pub conflicts: Vec<String>,
}

/// Interrupts of devices and timer ticks so far, by CPU.
pub(super) type Counts = BTreeMap<u32, (u64, u64)>;

/// Reads `/proc/interrupts`; nothing where it cannot be read.
pub(super) fn counts(reader: &Reader) -> Option<Counts> {
    reader.text("/proc/interrupts").ok().map(|text| counted(&text))
}

/// Rows with a number are of devices; `LOC` is the CPU's own timer.
fn counted(text: &str) -> Counts {
    interrupt_counts::summed(text, |row, sums: &mut (u64, u64), count| match row {
        row if interrupt_counts::is_device(row) => sums.0 += count,
        "LOC" => sums.1 += count,
        _ => {}
    })
}

/// A row for each CPU that is online. `grown`: by how much the counts grew, and in how many seconds.
pub(super) fn rows(reader: &Reader, facts: &Facts, grown: Option<&(Counts, f64)>) -> Vec<CpuRow> {
    let Ok(cpus) = roles::read(reader) else {
        return Vec::new();
    };
    let residents = roles::residents(reader, &cpus.online).unwrap_or_default();
    let set_aside = match facts.get(None, "rt_cpus") {
        Ok(Value::Cpus(cpus)) => cpus,
        _ => CpuList::default(),
    };
    let row = |cpu| {
        let per_second = |pick: fn(&(u64, u64)) -> u64| {
            let (counts, seconds) = grown?;
            Some(pick(counts.get(&cpu)?) as f64 / seconds)
        };
        let owners = cpus.owners.iter().filter(|owner| owner.cpus.contains(cpu));
        let residents = residents.iter().filter(|resident| resident.cpu == cpu);
        let mut row = CpuRow {
            cpu,
            role: if set_aside.contains(cpu) {
                Role::RealTime
            } else {
                Role::Housekeeping
            },
            kept_free_by: means(&cpus, cpu),
            interrupts_per_s: per_second(|(devices, _)| *devices),
            ticks_per_s: per_second(|(_, ticks)| *ticks),
            owners: owners.map(ToString::to_string).collect(),
            residents: residents.map(|resident| resident.who.clone()).collect(),
            conflicts: Vec::new(),
        };
        row.conflicts = conflicts(&row);
        row
    };
    cpus.online.iter().map(row).collect()
}

/// How much the counts grew; CPUs that came or went meanwhile are left out.
pub(super) fn growth(before: &Counts, after: &Counts) -> Counts {
    let grown = before.iter().filter_map(|(cpu, first)| {
        let second = after.get(cpu)?;
        Some((*cpu, (second.0.checked_sub(first.0)?, second.1.checked_sub(first.1)?)))
    });
    grown.collect()
}

fn means(cpus: &CpuFacts, cpu: u32) -> Vec<&'static str> {
    let by = [
        ("isolcpus", &cpus.isolated),
        ("nohz_full", &cpus.nohz_full),
        ("partition", &cpus.partitions),
    ];
    by.iter()
        .filter(|(_, list)| list.contains(cpu))
        .map(|(name, _)| *name)
        .collect()
}

fn conflicts(row: &CpuRow) -> Vec<String> {
    let mut conflicts = Vec::new();
    if row.owners.len() > 1 {
        conflicts.push("more than one owner".to_owned());
    }
    match row.role {
        Role::RealTime => {
            if row.kept_free_by.is_empty() {
                conflicts.push("nothing keeps it free".to_owned());
            }
            if row.interrupts_per_s.is_some_and(|rate| rate >= 1.0) {
                conflicts.push("interrupts of devices".to_owned());
            }
        }
        Role::Housekeeping if !row.kept_free_by.is_empty() => {
            conflicts.push("kept free, and not used for real-time work".to_owned());
        }
        Role::Housekeeping => {}
    }
    conflicts
}

#[cfg(test)]
mod tests {
    use super::{counted, growth};

    #[test]
    fn device_interrupts_and_ticks_are_counted_by_cpu() {
        let text = "            CPU0       CPU2\n  24:  3  4  IO-APIC 5-edge eth0\n  25:  1  0  PCI-MSI eth1\nLOC:  100  200  Local timer\nERR:  7\n";
        let counts = counted(text);
        assert_eq!(counts.get(&0), Some(&(4, 100)));
        assert_eq!(counts.get(&2), Some(&(4, 200)));
        let later = counted(&text.replace(" 3  4", " 5  4").replace("100", "90"));
        let grown = growth(&counts, &later);
        assert_eq!(grown.get(&0), None, "a counter that went backwards says nothing");
        assert_eq!(grown.get(&2), Some(&(0, 0)));
    }
}
