//! Noise: time taken from a thread that never waits.
//!
//! One thread per CPU reads the cycle counter without pause; when two readings lie further apart than the threshold,
//! something else had the CPU: an interrupt, a softirq, another thread, the hypervisor, the firmware. The gap is the sample.
//! A series holds the gaps only; `watched_ns` of its windows says for how long they were looked for, so that time stolen per
//! second is the sum of the samples over it.
//!
//! Where the kernel takes a CPU away from real-time threads that never sleep, the thread pauses before that; a pause is not
//! watched and not counted.
//!
//! Hooks: none. Produces: `noise/cpuN`, one series per CPU. Needs: `CAP_SYS_NICE` for a real-time policy, `CAP_IPC_LOCK` to
//! lock memory. Takes each measured CPU whole: only for CPUs that are to be dedicated.

mod series;
mod spin;

use crate::error::ProbeError;
use crate::hot::{HotThread, Running};
use crate::rest::Rest;
use run::{Recorder, Stop};
use sys::cycles::Rate;
use sys::thread::{Policy, RtThread};
use units::CpuList;

/// Time between the threads being ready and their common start.
const LEAD_NS: i64 = 10_000_000;

/// Shortest gap that is told from the loop's own turns (some 10 ns each) and the recording of a gap (some 100 ns).
pub const LEAST_THRESHOLD_NS: u64 = 300;

/// Gaps a second that a feed has room for.
const GAPS_PER_SECOND: u64 = 100_000;

/// How noise is to be measured.
#[derive(Debug, Clone)]
pub struct NoiseConfig {
    /// One thread on each.
    pub cpus: CpuList,
    /// Scheduling policy of the threads.
    pub policy: Policy,
    /// Gaps longer than this are samples.
    pub threshold_ns: u64,
    /// Samples above are counted as overflow and kept as spikes.
    pub spike_above_ns: Option<u64>,
    /// How long to measure; `None` until told to stop.
    pub duration_ns: Option<u64>,
    /// Pauses that keep the threads below the kernel's real-time budget.
    pub rest: Rest,
    /// Whether idle states were held off, in words for the report.
    pub idle: String,
    /// Second part of the series' names, such as the load they ran under.
    pub label: Option<String>,
}

/// Starts measuring; the threads run until their duration is over or `stop` is set.
///
/// # Errors
/// A setting that cannot be, or what the kernel refused, before anything was measured.
pub fn start(config: &NoiseConfig, recorder: &mut Recorder, stop: &Stop) -> Result<Running, ProbeError> {
    check(config)?;
    let rate = Rate::measure();
    let threads = config.cpus.iter().map(|cpu| thread(config, cpu, rate, recorder, stop));
    let threads = threads.collect();
    Running::start(threads, || sys::clock::monotonic() + LEAD_NS)
}

fn thread(config: &NoiseConfig, cpu: u32, rate: Rate, recorder: &mut Recorder, stop: &Stop) -> HotThread {
    let capacity = crate::hot::capacity(GAPS_PER_SECOND);
    let mut feed = recorder.feed(capacity, 1, Box::new(series::Noise::of(config, rate.mhz())));
    feed.announce(0, &format!("cpu{cpu}"));
    feed.set_cpu(cpu);
    let spin = spin::Spin {
        threshold_ns: config.threshold_ns,
        duration_ns: config.duration_ns,
        rest: config.rest,
        rate,
        stop: stop.clone(),
    };
    HotThread {
        name: format!("noise/{cpu}"),
        real_time: RtThread {
            policy: config.policy,
            cpu: Some(cpu),
            stack_bytes: crate::hot::STACK_BYTES,
        },
        body: Box::new(move |start, feed| {
            spin.run(start, feed);
            Ok(())
        }),
        feed,
        own_files: false,
    }
}

fn check(config: &NoiseConfig) -> Result<(), ProbeError> {
    let refuse = |why: String| Err(ProbeError::Usage(format!("noise: {why}")));
    if config.cpus.is_empty() {
        return refuse("no CPU to measure on: name some with --cpus 1-3".into());
    }
    if config.threshold_ns < LEAST_THRESHOLD_NS {
        return refuse(format!(
            "--threshold {}: the loop's own turns would count as gaps; use at least {LEAST_THRESHOLD_NS}ns",
            units::format_ns(config.threshold_ns as f64)
        ));
    }
    if matches!(config.policy, Policy::Deadline { .. }) {
        return refuse("a deadline thread has a budget and cannot spin: use fifo, rr or other".into());
    }
    Ok(())
}
