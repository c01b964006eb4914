//! Parses the texts of the hwlat tracer (`trace_hwlat_print` of `kernel/trace/trace_output.c`, `kernel/trace/trace_hwlat.c`).

use crate::tracefs::line;
use units::CpuList;

/// Gaps above the threshold in one window of the hwlat tracer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HwlatSample {
    /// The CPU.
    pub cpu: u32,
    /// The longest gap of the window, in ns, with a resolution of a microsecond.
    pub longest_ns: u64,
    /// Number of gaps of the window above the threshold; `None` before Linux 5.7, which does not count them.
    pub count: Option<u64>,
    /// Number of non-maskable interrupts in the window: they may be the cause of the gap.
    pub nmis: u64,
}

/// Parses `#1     inner/outer(us):   11/12    ts:1581527483.343962693 count:6 nmi-total:7 nmi-count:1`. The gap is between two
/// readings of the clock (inner), or between one pair of them and the next (outer).
pub(super) fn parse(text: &str) -> Option<HwlatSample> {
    line::read(text, |head, event, fields| {
        let number = event.strip_prefix('#')?.strip_suffix("inner/outer(us)")?;
        number.trim().parse::<u64>().ok()?;
        let mut words = fields.split_whitespace();
        let (inner, outer) = words.next()?.split_once('/')?;
        let (inner, outer): (u64, u64) = (inner.parse().ok()?, outer.parse().ok()?);
        let value = |key: &str| {
            let word = fields.split_whitespace().find_map(|word| word.strip_prefix(key))?;
            word.parse().ok()
        };
        Some(HwlatSample {
            cpu: head.cpu,
            longest_ns: inner.max(outer).saturating_mul(1_000),
            count: value("count:"),
            nmis: value("nmi-count:").unwrap_or(0),
        })
    })
}

/// CPUs in the format of `tracing_cpumask`: groups of 32, the highest first.
pub(super) fn cpumask(cpus: &CpuList) -> String {
    let highest = cpus.iter().last().unwrap_or(0);
    let groups = (0..=highest / 32).rev().map(|group| {
        let bits = cpus.iter().filter(|cpu| cpu / 32 == group);
        bits.fold(0_u32, |mask, cpu| mask | 1 << (cpu % 32))
    });
    let groups: Vec<String> = groups.map(|mask| format!("{mask:08x}")).collect();
    groups.join(",")
}

/// The word in brackets in `none [round-robin] per-cpu`.
pub(super) fn mode(modes: &str) -> String {
    let chosen = modes.split_once('[').and_then(|(_, rest)| rest.split_once(']'));
    chosen.map_or(modes.trim(), |(chosen, _)| chosen).to_owned()
}
