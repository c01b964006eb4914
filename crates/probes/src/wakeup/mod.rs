//! Wake-up latency: timer due -> thread running.
//!
//! One thread per CPU sleeps until absolute due instants `start + k * interval` of `CLOCK_MONOTONIC` and reads the clock
//! once when it runs. Latency of cycle k is that instant minus the due one. When it wakes after later due instants have
//! passed, those cycles are `missed`: counted, not measured, and the next due instant is the next future one, so one stall
//! is one sample and never a burst.
//!
//! Hooks: none. Produces: `wakeup/cpuN`, one series per CPU. Needs: `CAP_SYS_NICE` for a real-time policy,
//! `CAP_IPC_LOCK` to lock memory, write access to `/dev/cpu_dma_latency` to hold idle states.

mod cycle;
mod series;

use crate::error::ProbeError;
use crate::hot::{HotThread, Running};
use crate::record::Recorder;
use crate::stop::Stop;
use sys::thread::{Policy, RtThread};
use sys::wait::Wait;
use units::CpuList;

/// Time between the threads being ready and their first cycle.
const LEAD_NS: i64 = 10_000_000;

/// How wake-up latency is to be measured.
#[derive(Debug, Clone)]
pub struct WakeupConfig {
    /// One thread on each.
    pub cpus: CpuList,
    /// Scheduling policy of the threads.
    pub policy: Policy,
    /// Time between due instants.
    pub interval_ns: u64,
    /// Sleep until this long before the due instant, then spin.
    pub spin_ahead_ns: u64,
    /// How long to measure; `None` until told to stop.
    pub duration_ns: Option<u64>,
    /// Samples above are counted as overflow and kept as spikes.
    pub threshold_ns: Option<u64>,
    /// Whether idle states were held off, in words for the report.
    pub idle: String,
}

/// Shortest interval that leaves a thread time to do anything but wake up.
const SHORTEST_INTERVAL_NS: u64 = 10_000;

/// Starts measuring; the threads run until their duration is over or `stop` is set.
///
/// # Errors
/// A setting that cannot be, or what the kernel refused, before anything was measured.
pub fn start(config: &WakeupConfig, recorder: &mut Recorder, stop: &Stop) -> Result<Running, ProbeError> {
    check(config)?;
    let threads = config.cpus.iter().map(|cpu| {
        let mut feed = recorder.feed(
            feed_capacity(config.interval_ns),
            1,
            Box::new(series::Wakeup::of(config)),
        );
        feed.announce(0, &format!("cpu{cpu}"));
        feed.set_cpu(cpu);
        let cycle = cycle::Cycle {
            interval_ns: config.interval_ns,
            duration_ns: config.duration_ns,
            wait: Wait {
                spin_ahead_ns: config.spin_ahead_ns,
            },
            stop: stop.clone(),
        };
        HotThread {
            name: format!("wakeup/{cpu}"),
            real_time: RtThread {
                policy: config.policy,
                cpu: Some(cpu),
                stack_bytes: crate::hot::STACK_BYTES,
            },
            body: Box::new(move |start, feed| {
                cycle.run(start, feed);
                Ok(())
            }),
            feed,
        }
    });
    Running::start(threads.collect(), || sys::clock::monotonic() + LEAD_NS)
}

fn check(config: &WakeupConfig) -> Result<(), ProbeError> {
    if config.cpus.is_empty() {
        return Err(ProbeError::Usage(
            "wakeup: no CPU to measure on: name some with --cpus 1-3".into(),
        ));
    }
    if config.interval_ns < SHORTEST_INTERVAL_NS {
        let interval = units::format_ns(config.interval_ns as f64);
        return Err(ProbeError::Usage(format!(
            "wakeup: an interval of {interval} is too short: use at least 10us"
        )));
    }
    if config.spin_ahead_ns >= config.interval_ns {
        return Err(ProbeError::Usage(
            "wakeup: --spin-ahead must be shorter than --interval".into(),
        ));
    }
    Ok(())
}

/// Room for eight seconds of samples: the recorder may wait that long for a slow disk.
fn feed_capacity(interval_ns: u64) -> usize {
    crate::hot::capacity(1_000_000_000 / interval_ns.max(1))
}
