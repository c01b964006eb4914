//! Clock source, properties of the TSC, stolen time, uptime and load.

use crate::cpuinfo::{self, CpuInfo};
use crate::error::HostError;
use crate::fact::Sheet;
use crate::open_text::OpenText;
use crate::reader::Reader;
use model::Fact;
use std::io;

const CURRENT: &str = "/sys/devices/system/clocksource/clocksource0/current_clocksource";
const AVAILABLE: &str = "/sys/devices/system/clocksource/clocksource0/available_clocksource";
const STAT: &str = "/proc/stat";

/// Ticks per second in which `/proc/stat` counts: `USER_HZ`, part of the ABI and 100 on x86, Arm, Power and RISC-V,
/// whatever HZ the kernel is built with.
pub const USER_HZ: u64 = 100;

/// Time the hypervisor took from one CPU since boot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Steal {
    /// The CPU.
    pub cpu: u32,
    /// Ticks of [`USER_HZ`].
    pub ticks: u64,
}

/// Time taken by the hypervisor, per online CPU: see [`crate::Host::steal_ticks`].
///
/// # Errors
/// The file cannot be read or has no per-CPU lines with a steal column.
pub fn steal(reader: &Reader) -> Result<Vec<Steal>, HostError> {
    let text = reader.text(STAT)?;
    steal_in(&text).ok_or_else(|| HostError::unexpected(STAT, "lines cpu0, cpu1… with at least 8 counts", &text))
}

/// As above, from a text of `/proc/stat`; `None` if it has no per-CPU lines with a steal column.
fn steal_in(text: &str) -> Option<Vec<Steal>> {
    let lines = text.lines().filter_map(|line| line.strip_prefix("cpu"));
    let steals: Option<Vec<Steal>> = lines.filter_map(cpu_steal).collect();
    steals.filter(|steals| !steals.is_empty())
}

/// Time that the hypervisor took from the CPUs of this machine, for callers that ask many times a second.
#[derive(Debug)]
pub struct StealTicks(OpenText);

impl StealTicks {
    /// Opens `/proc/stat`.
    /// Opens `/proc/stat`.
    /// # Errors
    /// The kernel refuses.
    pub fn open() -> io::Result<Self> {
        OpenText::open(STAT).map(Self)
    }

    /// Same as [`crate::Host::steal_ticks`], now; `None` if it is not reported.
    pub fn read(&mut self) -> Option<Vec<Steal>> {
        self.0.read().and_then(steal_in)
    }
}

/// Parses the text after `cpu` on the line of a single CPU: number, then user, nice, system, idle, iowait, irq, softirq, steal.
/// The line for all CPUs has no number and returns `None`; a line without the column returns `Some(None)`.
fn cpu_steal(rest: &str) -> Option<Option<Steal>> {
    let mut columns = rest.split_whitespace();
    if rest.starts_with(char::is_whitespace) {
        return None;
    }
    let cpu = columns.next()?.parse().ok()?;
    Some(
        columns
            .nth(7)
            .and_then(|ticks| ticks.parse().ok())
            .map(|ticks| Steal { cpu, ticks }),
    )
}

pub(crate) fn facts(reader: &Reader) -> Vec<Fact> {
    let mut sheet = Sheet::new(reader, "clock");
    sheet.line("clock source", CURRENT);
    sheet.line("clock sources on offer", AVAILABLE);
    sheet.add("TSC", cpuinfo::PATH, tsc(reader));
    let stolen = steal(reader).map(|steals| {
        let each = steals.iter().map(|steal| format!("CPU {} {}", steal.cpu, steal.ticks));
        format!(
            "{} (ticks of 1/{USER_HZ} s since boot)",
            each.collect::<Vec<_>>().join(", ")
        )
    });
    sheet.add("stolen time", STAT, stolen);
    let uptime = reader.line("/proc/uptime").and_then(|line| {
        let seconds = line
            .split_whitespace()
            .next()
            .and_then(|seconds| seconds.parse::<f64>().ok());
        seconds
            .map(|s| format!("{s:.0} s"))
            .ok_or_else(|| HostError::unexpected("/proc/uptime", "seconds", &line))
    });
    sheet.add("uptime", "/proc/uptime", uptime);
    let load = reader
        .line("/proc/loadavg")
        .map(|line| line.split_whitespace().take(3).collect::<Vec<_>>().join(" "));
    sheet.add("load average (1, 5, 15 min)", "/proc/loadavg", load);
    sheet.finish()
}

/// Properties of the time stamp counter that qualify it as a clock, by the processor's flags.
fn tsc(reader: &Reader) -> Result<String, HostError> {
    let info = CpuInfo::read(reader)?;
    let flags = [
        "constant_tsc",
        "nonstop_tsc",
        "tsc_known_freq",
        "tsc_reliable",
        "tsc_deadline_timer",
    ];
    let has = |flag| {
        info.has_flag(flag)
            .ok_or_else(|| HostError::Undecided("no line \"flags\" (not x86)".to_owned()))
    };
    let mut found = Vec::new();
    for flag in flags {
        if has(flag)? {
            found.push(flag);
        }
    }
    Ok(if found.is_empty() {
        "neither constant nor nonstop".to_owned()
    } else {
        found.join(" ")
    })
}
