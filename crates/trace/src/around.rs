//! The counters around a late sample: stolen time, system management interrupts, and the CPU quota of the control group.

use std::collections::{BTreeMap, VecDeque};
use std::fs::File;
use std::os::unix::fs::FileExt;

use host::{CpuStatFiles, Host, StealTicks, USER_HZ};
use units::{Monotonic, Ns};

/// `MSR_SMI_COUNT` of Intel processors since Nehalem (Intel SDM volume 4, table 2-15): system management interrupts since
/// reset.
const MSR_SMI_COUNT: u64 = 0x34;

/// Number of readings kept: 5 s with one every 20 ms. Questions come well within that.
const KEPT: usize = 256;

/// Length of a tick of the steal counter, in ns.
pub(crate) const TICK_NS: u64 = 1_000_000_000 / USER_HZ;

/// Changes of a CPU's counters around a late sample.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Around {
    /// True if the machine is virtual; `None`: unknown.
    pub is_virtual: Option<bool>,
    /// Span between the two readings, in ns; 0: there were none.
    pub span_ns: u64,
    /// Time that the hypervisor reports as taken from this CPU in that span, in ns, in steps of 10 ms; `None`: unknown.
    pub steal_ns: Option<u64>,
    /// Number of system management interrupts in that span; `None`: unknown.
    pub smis: Option<u64>,
    /// Time for which the CPU quota of this process's control groups stopped threads in that span, in ns, added up over the CPUs;
    /// `None`: no quota, or unknown.
    pub throttled_ns: Option<u64>,
}

impl Around {
    /// The changes in words, one sentence each.
    pub fn lines(&self) -> Vec<String> {
        let span = Ns(self.span_ns);
        let mut lines = Vec::new();
        if self.is_virtual != Some(false) {
            lines.push(match self.steal_ns {
                Some(ns) => format!("steal time {} in {span} around it (counts in steps of 10 ms)", Ns(ns)),
                None => "steal time unknown".to_owned(),
            });
        }
        // A virtual machine has no system management interrupts of its own, and does not see the host's.
        if self.is_virtual != Some(true) {
            lines.push(match self.smis {
                Some(count) => format!("{count} system management interrupts in {span} around it"),
                None => "system management interrupts unknown (needs /dev/cpu/*/msr: modprobe msr, CAP_SYS_RAWIO)"
                    .to_owned(),
            });
        }
        if let Some(ns) = self.throttled_ns.filter(|ns| *ns > 0) {
            let ns = Ns(ns);
            lines.push(format!(
                "the CPU quota of its control group held this process back for {ns} in {span} around it (all CPUs together)"
            ));
        }
        lines
    }
}

/// The counters of every CPU at one instant.
#[derive(Debug, Clone)]
struct Reading {
    at: Monotonic,
    steal_ticks: BTreeMap<u32, u64>,
    smis: BTreeMap<u32, u64>,
    throttled_ns: Option<u64>,
}

/// Reads the counters and keeps the readings for a while.
pub(crate) struct Counters {
    is_virtual: Option<bool>,
    steal_ticks: Option<StealTicks>,
    registers: BTreeMap<u32, File>,
    cpu_stat: Option<CpuStatFiles>,
    readings: VecDeque<Reading>,
}

impl Counters {
    pub(crate) fn new() -> Self {
        let host = Host::live();
        let cpu_stat = host.cpu_stat_files().ok();
        let is_virtual = host.hypervisor().ok().map(|found| found.is_virtual());
        Self {
            is_virtual,
            steal_ticks: StealTicks::open().ok(),
            registers: BTreeMap::new(),
            cpu_stat,
            readings: VecDeque::new(),
        }
    }

    /// From now on also reads the machine's own counter on this CPU, if it can be read.
    pub(crate) fn watch(&mut self, cpu: u32) {
        if let Ok(file) = File::open(format!("/dev/cpu/{cpu}/msr")) {
            self.registers.insert(cpu, file);
        }
    }

    /// Takes a reading.
    pub(crate) fn observe(&mut self) {
        let steals = self.steal_ticks.as_mut().and_then(StealTicks::read).unwrap_or_default();
        let smis = self
            .registers
            .iter()
            .filter_map(|(cpu, file)| Some((*cpu, smi_count(file)?)));
        self.readings.push_back(Reading {
            at: sys::clock::monotonic(),
            steal_ticks: steals.into_iter().map(|steal| (steal.cpu, steal.ticks)).collect(),
            smis: smis.collect(),
            throttled_ns: self.cpu_stat.as_mut().and_then(CpuStatFiles::throttled_ns),
        });
        if self.readings.len() > KEPT {
            self.readings.pop_front();
        }
    }

    /// The counters' changes between the last reading before `from` and the first after `to`, which is taken now if there is none.
    pub(crate) fn around(&mut self, cpu: u32, from: Monotonic, to: Monotonic) -> Around {
        if self.readings.back().is_none_or(|last| last.at < to) {
            self.observe();
        }
        let before = self.readings.iter().rev().find(|reading| reading.at <= from);
        let after = self.readings.iter().find(|reading| reading.at >= to);
        let mut around = Around {
            is_virtual: self.is_virtual,
            ..Around::default()
        };
        if let (Some(before), Some(after)) = (before, after) {
            around.span_ns = (after.at - before.at).unsigned_abs();
            around.steal_ns = moved(&before.steal_ticks, &after.steal_ticks, cpu).map(|ticks| ticks * TICK_NS);
            around.smis = moved(&before.smis, &after.smis, cpu);
            let throttled = before.throttled_ns.zip(after.throttled_ns);
            around.throttled_ns = throttled.map(|(before, after)| after.saturating_sub(before));
        }
        around
    }
}

fn moved(before: &BTreeMap<u32, u64>, after: &BTreeMap<u32, u64>, cpu: u32) -> Option<u64> {
    Some(after.get(&cpu)?.saturating_sub(*before.get(&cpu)?))
}

/// Reads the register. A processor without it refuses.
fn smi_count(register: &File) -> Option<u64> {
    let mut octets = [0; 8];
    register.read_exact_at(&mut octets, MSR_SMI_COUNT).ok()?;
    // The count is in the low half.
    Some(u64::from_ne_bytes(octets) & u64::from(u32::MAX))
}

#[cfg(test)]
mod tests {
    use super::{Around, Counters};
    use sys::clock::monotonic;

    #[test]
    fn a_question_before_the_first_reading_gets_no_figures() {
        let mut counters = Counters::new();
        let around = counters.around(0, monotonic(), monotonic());
        assert_eq!((around.span_ns, around.steal_ns, around.smis), (0, None, None));
    }

    #[test]
    fn differences_are_between_the_readings_around_the_sample() {
        let mut counters = Counters::new();
        counters.observe();
        let from = monotonic();
        let to = monotonic();
        let around = counters.around(0, from, to);
        assert!(around.span_ns > 0);
        assert!(around.steal_ns.is_some(), "/proc/stat of CPU 0");
    }

    #[test]
    fn unknown_is_said_and_not_zero() {
        let lines = |around: Around| around.lines().join("; ");
        let bare = Around {
            is_virtual: Some(false),
            span_ns: 40_000_000,
            smis: Some(2),
            ..Around::default()
        };
        assert_eq!(lines(bare), "2 system management interrupts in 40.0 ms around it");
        let held = Around {
            throttled_ns: Some(50_000_000),
            ..bare
        };
        assert!(lines(held).contains("held this process back for 50.0 ms in 40.0 ms"));
        let unknown = lines(Around::default());
        assert!(unknown.starts_with("steal time unknown; system management interrupts unknown"));
    }
}
