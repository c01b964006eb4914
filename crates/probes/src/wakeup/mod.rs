//! Wake-up latency: timer due -> thread running.
//!
//! One thread per CPU sleeps until absolute due instants `start + k * interval` of a clock (`CLOCK_MONOTONIC` unless told
//! otherwise) and reads the clock once when it runs. Latency of cycle k is that instant minus the due one. When it wakes
//! after later due instants have passed, those cycles are `missed`: counted, not measured, and the next due instant is the
//! next future one, so one stall is one sample and never a burst.
//!
//! Hooks: none. Produces: `wakeup/cpuN`, one series per CPU. Needs: `CAP_SYS_NICE` for a real-time policy,
//! `CAP_IPC_LOCK` to lock memory, write access to `/dev/cpu_dma_latency` to hold idle states.

mod cycle;
mod series;

use crate::error::ProbeError;
use crate::hot::{HotThread, Running};
use run::{Recorder, Stop};
use sys::thread::{Policy, RtThread};
use sys::wait::{Wait, WakeClock};
use units::{CpuList, Monotonic, Period};

/// Time between the threads being ready and their first cycle.
const LEAD_NS: i64 = 10_000_000;

/// Nanoseconds in a second.
const SECOND_NS: i64 = 1_000_000_000;

/// How wake-up latency is to be measured.
#[derive(Debug, Clone)]
pub struct WakeupConfig {
    /// One thread on each. Threads of `SCHED_DEADLINE` cannot be pinned: of those, as many as there are CPUs here.
    pub cpus: CpuList,
    /// Scheduling policy of the threads.
    pub policy: Policy,
    /// Time between due instants.
    pub period: Period,
    /// Each further thread's due instants lie this long after those of the one before.
    pub distance_ns: u64,
    /// The first cycle is due on a full second of the clock plus this, instead of at once.
    pub second_aligned_ns: Option<u64>,
    /// The clock whose timers wake the threads.
    pub clock: WakeClock,
    /// Sleep until this long before the due instant, then spin.
    pub spin_ahead_ns: u64,
    /// How long to measure; `None` until told to stop.
    pub duration_ns: Option<u64>,
    /// Samples above are counted as overflow and kept as spikes.
    pub threshold_ns: Option<u64>,
    /// The first sample above ends the measurement.
    pub break_above_ns: Option<u64>,
    /// Whether idle states were held off, in words for the report.
    pub idle: String,
    /// Second part of the series' names, such as the load they ran under.
    pub label: Option<String>,
}

impl WakeupConfig {
    /// Every millisecond with FIFO priority 80, until told to stop.
    pub fn on(cpus: CpuList) -> Self {
        Self {
            cpus,
            policy: Policy::Fifo(80),
            period: Period::of_ns(1_000_000),
            distance_ns: 0,
            second_aligned_ns: None,
            clock: WakeClock::Monotonic,
            spin_ahead_ns: 0,
            duration_ns: None,
            threshold_ns: None,
            break_above_ns: None,
            idle: String::new(),
            label: None,
        }
    }
}

/// Shortest interval that leaves a thread time to do anything but wake up.
const SHORTEST_INTERVAL_NS: u64 = 10_000;

/// Starts measuring; the threads run until their duration is over or `stop` is set.
///
/// # Errors
/// A setting that cannot be, or what the kernel refused, before anything was measured.
pub fn start(config: &WakeupConfig, recorder: &mut Recorder, stop: &Stop) -> Result<Running, ProbeError> {
    check(config)?;
    let wait = Wait::on(config.clock, config.spin_ahead_ns);
    let threads = (0i64..).zip(config.cpus.iter()).map(|(index, cpu)| {
        let offset_ns = index * i64::try_from(config.distance_ns).unwrap_or(0);
        thread(config, cpu, offset_ns, wait, recorder, stop)
    });
    let threads = threads.collect();
    Running::start(threads, || first_due(config, &wait))
}

fn thread(
    config: &WakeupConfig,
    cpu: u32,
    offset_ns: i64,
    wait: Wait,
    recorder: &mut Recorder,
    stop: &Stop,
) -> HotThread {
    let capacity = crate::hot::capacity(SECOND_NS.unsigned_abs() / config.period.whole_ns());
    let mut feed = recorder.feed(capacity, 1, Box::new(series::Wakeup::of(config, offset_ns)));
    // The kernel admits a deadline thread only if it may run on every CPU of its domain.
    let pinned = !matches!(config.policy, Policy::Deadline { .. });
    match pinned {
        true => feed.announce(0, &format!("cpu{cpu}")),
        false => feed.announce(0, &format!("thread{cpu}")),
    }
    feed.set_cpu(cpu);
    let cycle = cycle::Cycle {
        pinned,
        period: config.period,
        offset_ns,
        duration_ns: config.duration_ns,
        wait,
        break_above_ns: config.break_above_ns,
        stop: stop.clone(),
    };
    HotThread {
        name: format!("wakeup/{cpu}"),
        real_time: RtThread {
            policy: config.policy,
            cpu: pinned.then_some(cpu),
            stack_bytes: crate::hot::STACK_BYTES,
        },
        body: Box::new(move |start, feed| {
            cycle.run(start, feed);
            Ok(())
        }),
        feed,
        own_files: false,
    }
}

/// The first due instant of the first thread: soon, or on the next full second of the clock plus the offset.
fn first_due(config: &WakeupConfig, wait: &Wait) -> Monotonic {
    let soon = sys::clock::monotonic() + LEAD_NS;
    let Some(offset_ns) = config.second_aligned_ns else {
        return soon;
    };
    let offset_ns = i64::try_from(offset_ns).unwrap_or(0);
    let reading = wait.reading_at(soon) - offset_ns;
    soon + (SECOND_NS - reading.rem_euclid(SECOND_NS)) % SECOND_NS
}

fn check(config: &WakeupConfig) -> Result<(), ProbeError> {
    let refuse = |why: &str| Err(ProbeError::Usage(format!("wakeup: {why}")));
    if config.cpus.is_empty() {
        return refuse("no CPU to measure on: name some with --cpus 1-3");
    }
    if config.period.whole_ns() < SHORTEST_INTERVAL_NS {
        return refuse(&format!(
            "an interval of {} is too short: use at least 10us",
            config.period
        ));
    }
    if config.spin_ahead_ns >= config.period.whole_ns() {
        return refuse("--spin-ahead must be shorter than --interval");
    }
    if config
        .second_aligned_ns
        .is_some_and(|ns| ns >= SECOND_NS.unsigned_abs())
    {
        return refuse("--secaligned: the offset to the second must be less than 1s");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{SECOND_NS, WakeupConfig, first_due};
    use sys::wait::{Wait, WakeClock};

    #[test]
    fn aligned_to_the_second_of_the_clock_it_wakes_by() {
        for clock in [WakeClock::Monotonic, WakeClock::Realtime, WakeClock::Tai] {
            let config = WakeupConfig {
                second_aligned_ns: Some(500_000),
                clock,
                ..WakeupConfig::on("0".parse().expect("a list"))
            };
            let wait = Wait::on(clock, 0);
            let due = first_due(&config, &wait);
            assert_eq!(wait.reading_at(due) % SECOND_NS, 500_000);
            let ahead = due - sys::clock::monotonic();
            assert!((0..=SECOND_NS + super::LEAD_NS).contains(&ahead), "{ahead}");
        }
    }
}
