//! Settings of the scheduler and of background work that interrupts real-time threads.

use crate::cpu;
use crate::error::HostError;
use crate::fact::Sheet;
use crate::reader::Reader;
use model::Fact;

const RT_RUNTIME: &str = "/proc/sys/kernel/sched_rt_runtime_us";
const RT_PERIOD: &str = "/proc/sys/kernel/sched_rt_period_us";
const FAIR_SERVER: &str = "/sys/kernel/debug/sched/fair_server";

/// Time that real-time threads may run in each period before the kernel holds them back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RtRuntime {
    /// Microseconds per period; -1: no limit.
    pub runtime_us: i64,
    /// Length of the period in microseconds.
    pub period_us: u64,
}

impl RtRuntime {
    /// True if this setting never holds back a real-time thread that never sleeps. Kernels from 6.12 without RT group scheduling use the
    /// fair server instead, which this setting does not control.
    pub fn is_unlimited(self) -> bool {
        u64::try_from(self.runtime_us).map_or(true, |runtime_us| runtime_us >= self.period_us)
    }
}

pub(crate) fn rt_runtime(reader: &Reader) -> Result<RtRuntime, HostError> {
    Ok(RtRuntime {
        runtime_us: reader.parsed(RT_RUNTIME, "a number of microseconds, or -1")?,
        period_us: reader.parsed(RT_PERIOD, "a number of microseconds")?,
    })
}

pub(crate) fn facts(reader: &Reader) -> Vec<Fact> {
    let mut sheet = Sheet::new(reader, "scheduler");
    let budget = rt_runtime(reader).map(|rt| match rt.is_unlimited() {
        true => format!("no limit ({} us in each {} us)", rt.runtime_us, rt.period_us),
        false => format!("{} us in each {} us", rt.runtime_us, rt.period_us),
    });
    sheet.add("real-time budget", &format!("{RT_RUNTIME}, {RT_PERIOD}"), budget);
    sheet.explained(
        "fair server",
        FAIR_SERVER,
        fair_server(reader),
        "kernel before 6.12, or debugfs is not mounted",
    );
    sheet.switch(
        "autogroup",
        "/proc/sys/kernel/sched_autogroup_enabled",
        "kernel without CONFIG_SCHED_AUTOGROUP",
    );
    sheet.switch(
        "NUMA balancing",
        "/proc/sys/kernel/numa_balancing",
        "kernel without CONFIG_NUMA_BALANCING",
    );
    sheet.switch(
        "timer migration",
        "/proc/sys/kernel/timer_migration",
        "kernel without CONFIG_NO_HZ_COMMON",
    );
    sheet.line("vm.stat_interval (s)", "/proc/sys/vm/stat_interval");
    let absent = "kernel without lockup detector";
    sheet.switch("lockup watchdogs", "/proc/sys/kernel/watchdog", absent);
    sheet.switch("soft lockup watchdog", "/proc/sys/kernel/soft_watchdog", absent);
    sheet.switch("NMI watchdog", "/proc/sys/kernel/nmi_watchdog", absent);
    sheet.line_or("watchdog CPUs", "/proc/sys/kernel/watchdog_cpumask", absent);
    sheet.finish()
}

/// Time that the kernel reserves for normal threads on each CPU since 6.12, shown only in debugfs.
fn fair_server(reader: &Reader) -> Result<String, HostError> {
    cpu::values_by_cpu(reader, |cpu| {
        let runtime = reader.line(&format!("{FAIR_SERVER}/cpu{cpu}/runtime"))?;
        let period = reader.line(&format!("{FAIR_SERVER}/cpu{cpu}/period"))?;
        Ok(format!("{runtime} ns in each {period} ns"))
    })
}
