//! A row for each CPU: its purpose, how it is kept free, and what runs on it nevertheless.

use std::collections::BTreeMap;

use units::CpuList;

use super::facts::Facts;
use super::gather::observed::{Counter, Reading};
use super::value::Value;
use host::interrupt_counts;
use host::reader::Reader;
use host::roles::{self, CpuFacts};

/// Purposes of a CPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// Reserved for real-time work.
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
    /// Its purpose.
    pub role: Role,
    /// Means by which the kernel keeps work away from it.
    pub kept_free_by: Vec<&'static str>,
    /// Device interrupts per second; `None`: not observed, or unknown.
    pub interrupts_per_s: Option<f64>,
    /// Interrupts of its own timer per second; `None`: not observed, or unknown.
    pub ticks_per_s: Option<f64>,
    /// Threads that have the CPU to themselves.
    pub owners: Vec<String>,
    /// Real-time threads, virtual CPUs and threads of interfaces in use that run on it.
    pub residents: Vec<String>,
    /// Facts that contradict its role.
    pub conflicts: Vec<String>,
}

/// Device interrupts and timer ticks so far, by CPU.
type Counts = BTreeMap<u32, (u64, u64)>;

/// Facts with the interrupt rates of a CPU: by devices, and by its own timer.
fn per_second(cpu: u32) -> [String; 2] {
    ["devices", "ticks"].map(|of| format!("cpu{cpu}.{of}-per-s"))
}

/// Stores both counters of every CPU; none if `/proc/interrupts` is unreadable.
pub(super) fn count(reader: &Reader, _facts: &Facts, reading: &mut Reading) {
    let counts = reader.text("/proc/interrupts").map(|text| counted(&text));
    for (cpu, (devices, ticks)) in counts.unwrap_or_default() {
        for (fact, count) in per_second(cpu).into_iter().zip([devices, ticks]) {
            reading.insert(Counter { part: None, fact }, Ok(count as f64));
        }
    }
}

/// Rows with a number belong to devices; `LOC` is the CPU's own timer.
fn counted(text: &str) -> Counts {
    interrupt_counts::summed(text, |row, sums: &mut (u64, u64), count| match row {
        row if interrupt_counts::is_device(row) => sums.0 += count,
        "LOC" => sums.1 += count,
        _ => {}
    })
}

/// A row for each online CPU.
pub(super) fn rows(reader: &Reader, facts: &Facts) -> Vec<CpuRow> {
    let Ok(cpus) = roles::read(reader) else {
        return Vec::new();
    };
    let residents = roles::residents(reader, &cpus.online).unwrap_or_default();
    let set_aside = match facts.get(None, "rt_cpus") {
        Ok(Value::Cpus(cpus)) => cpus,
        _ => CpuList::default(),
    };
    let row = |cpu| {
        let [interrupts_per_s, ticks_per_s] = per_second(cpu).map(|fact| match facts.get(None, &fact) {
            Ok(Value::Number(rate)) => Some(rate),
            _ => None,
        });
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
            interrupts_per_s,
            ticks_per_s,
            owners: owners.map(ToString::to_string).collect(),
            residents: residents.map(|resident| resident.who.clone()).collect(),
            conflicts: Vec::new(),
        };
        row.conflicts = conflicts(&row);
        row
    };
    cpus.online.iter().map(row).collect()
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
    use super::counted;

    #[test]
    fn device_interrupts_and_ticks_are_counted_by_cpu() {
        let text = "            CPU0       CPU2\n  24:  3  4  IO-APIC 5-edge eth0\n  25:  1  0  PCI-MSI eth1\nLOC:  100  200  Local timer\nERR:  7\n";
        let counts = counted(text);
        assert_eq!(counts.get(&0), Some(&(4, 100)));
        assert_eq!(counts.get(&2), Some(&(4, 200)));
    }
}
