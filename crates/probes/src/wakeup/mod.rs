//! Wake-up latency: timer due -> thread running.
//!
//! One thread per CPU sleeps until absolute due instants `start + k * interval` of a clock (`CLOCK_MONOTONIC` by default) and
//! reads the clock once when it runs. The latency of cycle k is that instant minus the due instant. If later due instants have
//! passed when the thread wakes, those cycles are `missed`: they are counted but not measured, and the thread continues with the
//! next future due instant, so that one stall is one sample and never a burst.
//!
//! Hooks: none. Produces: `wakeup/cpuN`, one series per CPU. Needs: `CAP_SYS_NICE` for a real-time policy,
//! `CAP_IPC_LOCK` to lock memory, write access to `/dev/cpu_dma_latency` to hold idle states.

mod cycle;
mod options;
mod series;

pub use options::{Clock, WakeupOptions};

use crate::cpus::{CpuProbe, OnCpus};
use crate::error::ProbeError;
use crate::hot::{HotThread, Running};
use crate::need::{Need, of_thread};
use crate::probe::{About, Probe};
use model::kind;
use run::{Recorder, Stop};
use sys::thread::Policy;
use sys::wait::Wait;
use units::{CpuList, Monotonic};

/// Time from the moment all threads are ready to their first cycle.
const LEAD_NS: i64 = 10_000_000;

/// Nanoseconds in a second.
const SECOND_NS: i64 = 1_000_000_000;

/// Settings of a measurement of wake-up latency. Threads of `SCHED_DEADLINE` cannot be pinned: there are as many of them as CPUs.
#[derive(Debug, Clone)]
pub struct WakeupConfig {
    /// Options of the measurement.
    pub options: WakeupOptions,
    /// CPUs and duration of the measurement.
    pub on: OnCpus,
}

impl CpuProbe for WakeupConfig {
    type Options = WakeupOptions;

    fn told(options: WakeupOptions, on: OnCpus) -> Self {
        Self { options, on }
    }
}

impl WakeupConfig {
    /// CPUs that its threads are pinned to. The kernel admits a deadline thread only if it may run on every CPU of its domain.
    fn pinned(&self) -> CpuList {
        match self.options.policy {
            Policy::Deadline { .. } => CpuList::default(),
            _ => self.on.cpus.clone(),
        }
    }
}

/// Shortest interval that leaves a thread time for more than waking up.
const SHORTEST_INTERVAL_NS: u64 = 10_000;

/// Description of this probe, independent of its settings.
pub static ABOUT: About = About {
    name: "wakeup",
    words: "wake-up",
    what: "A thread sleeps to due instants: each due instant -> the thread runs.",
    kinds: &[&kind::WAKEUP],
    page: "guide/wakeup.md",
};

impl Probe for WakeupConfig {
    const ABOUT: &'static About = &ABOUT;
    type On = ();
    type Started = Running;

    fn needs(&self) -> Vec<Need> {
        of_thread(self.options.policy, self.pinned().iter())
    }

    fn start(&self, _: impl Into<()>, recorder: &mut Recorder, stop: &Stop) -> Result<Running, ProbeError> {
        check(self)?;
        let wait = Wait::on(self.options.clock.into(), self.options.spin_ahead);
        let threads = (0i64..).zip(self.on.cpus.iter()).map(|(index, cpu)| {
            let offset_ns = index * i64::try_from(self.options.distance).unwrap_or(0);
            thread(self, cpu, offset_ns, wait, recorder, stop)
        });
        let threads = threads.collect();
        Running::start(threads, || first_due(self, &wait))
    }
}

fn thread(
    config: &WakeupConfig,
    cpu: u32,
    offset_ns: i64,
    wait: Wait,
    recorder: &mut Recorder,
    stop: &Stop,
) -> HotThread {
    let capacity = crate::hot::capacity(SECOND_NS.unsigned_abs() / config.options.interval.whole_ns());
    let mut feed = recorder.feed(capacity, 1, Box::new(series::Wakeup::of(config, offset_ns)));
    let pinned = config.pinned().contains(cpu);
    match pinned {
        true => feed.announce(0, &format!("cpu{cpu}")),
        false => feed.announce(0, &format!("thread{cpu}")),
    }
    feed.set_cpu(cpu);
    let cycle = cycle::Cycle {
        pinned,
        period: config.options.interval,
        offset_ns,
        duration_ns: config.on.duration_ns,
        wait,
        break_above_ns: config.options.break_above,
        stop: stop.clone(),
    };
    HotThread::new(
        &format!("wakeup/{cpu}"),
        config.options.policy,
        pinned.then_some(cpu),
        feed,
        Box::new(move |start, feed| {
            cycle.run(start, feed);
            Ok(())
        }),
    )
}

/// First due instant of the first thread: soon, or the next full second of the clock plus the offset.
fn first_due(config: &WakeupConfig, wait: &Wait) -> Monotonic {
    let soon = sys::clock::monotonic() + LEAD_NS;
    let Some(offset_ns) = config.options.secaligned else {
        return soon;
    };
    let offset_ns = i64::try_from(offset_ns).unwrap_or(0);
    let reading = wait.reading_at(soon) - offset_ns;
    soon + (SECOND_NS - reading.rem_euclid(SECOND_NS)) % SECOND_NS
}

fn check(config: &WakeupConfig) -> Result<(), ProbeError> {
    let refuse = |why: &str| Err(ProbeError::Usage(format!("wakeup: {why}")));
    if config.on.cpus.is_empty() {
        return refuse("no CPU to measure on: name some with --cpus 1-3");
    }
    if config.options.interval.whole_ns() < SHORTEST_INTERVAL_NS {
        return refuse(&format!(
            "an interval of {} is too short: use at least 10us",
            config.options.interval
        ));
    }
    if config.options.spin_ahead >= config.options.interval.whole_ns() {
        return refuse("--spin-ahead must be shorter than --interval");
    }
    if config
        .options
        .secaligned
        .is_some_and(|ns| ns >= SECOND_NS.unsigned_abs())
    {
        return refuse("--secaligned: the offset to the second must be less than 1s");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{Clock, OnCpus, SECOND_NS, WakeupConfig, WakeupOptions, first_due};
    use sys::wait::Wait;

    #[test]
    fn aligned_to_the_second_of_the_clock_it_wakes_by() {
        for clock in [Clock::Monotonic, Clock::Realtime, Clock::Tai] {
            let config = WakeupConfig {
                options: WakeupOptions {
                    secaligned: Some(500_000),
                    clock,
                    ..WakeupOptions::default()
                },
                on: OnCpus::of("0".parse().expect("a list")),
            };
            let wait = Wait::on(clock.into(), 0);
            let due = first_due(&config, &wait);
            assert_eq!(wait.reading_at(due) % SECOND_NS, 500_000);
            let ahead = due - sys::clock::monotonic();
            assert!((0..=SECOND_NS + super::LEAD_NS).contains(&ahead), "{ahead}");
        }
    }
}
