//! Noise: CPU time taken from a thread that never waits.
//!
//! One thread per CPU reads the cycle counter without pause. If two readings are further apart than a threshold, something else
//! had the CPU: an interrupt, a softirq, another thread, the hypervisor, or the firmware. The gap is the sample. A series
//! contains only the gaps; `watched_ns` of its windows is the time during which the thread looked for gaps. The stolen time per
//! second is the sum of the samples divided by that time.
//!
//! If the kernel throttles real-time threads that never sleep, the thread pauses before that; a pause is not watched and not
//! counted.
//!
//! Hooks: none. Produces: `noise/cpuN`, one series per CPU. Needs: `CAP_SYS_NICE` for a real-time policy, `CAP_IPC_LOCK` to lock
//! memory. Uses each measured CPU fully: only for CPUs that are to be dedicated.

mod options;
mod series;
mod spin;

pub use options::NoiseOptions;

use crate::cpus::{CpuProbe, OnCpus};
use crate::error::ProbeError;
use crate::hot::{HotThread, Running};
use crate::need::{Need, of_thread};
use crate::probe::{About, Probe};
use crate::rest::Rest;
use model::kind;
use run::{Recorder, Stop};
use sys::cycles::Rate;
use sys::thread::Policy;

/// Time from the moment all threads are ready to their common start.
const LEAD_NS: i64 = 10_000_000;

/// Shortest gap that can be distinguished from the loop's own turns (about 10 ns each) and the recording of a gap (about 100 ns).
pub const LEAST_THRESHOLD_NS: u64 = 300;

/// Minimum and maximum number of gaps a second that the feed of one CPU has room for, and the number for all CPUs together, which
/// is the most that one recorder can take. With the usual gaps of 2 us and more, the maximum would be a tenth of the CPU's time.
/// The rings take 6.4 MB a CPU, and 51 MB in all up to 80 CPUs.
const GAPS_PER_SECOND: std::ops::RangeInclusive<u64> = 5_000..=50_000;
const GAPS_PER_SECOND_IN_ALL: u64 = 400_000;

/// Settings of a noise measurement.
#[derive(Debug, Clone)]
pub struct NoiseConfig {
    /// Options of the measurement.
    pub options: NoiseOptions,
    /// CPUs and duration of the measurement.
    pub on: OnCpus,
}

impl CpuProbe for NoiseConfig {
    type Options = NoiseOptions;

    fn told(options: NoiseOptions, on: OnCpus) -> Self {
        Self { options, on }
    }

    fn occupies(options: &NoiseOptions) -> bool {
        options.policy != Policy::Other
    }
}

impl NoiseConfig {
    /// Only real-time threads are throttled and need pauses.
    fn rest(&self) -> Rest {
        match self.options.policy {
            Policy::Other => Rest::NONE,
            _ => self.on.rest,
        }
    }
}

/// Description of this probe, independent of its settings.
pub static ABOUT: About = About {
    name: "noise",
    words: "noise",
    what: "A thread spins: each gap in which it did not run, from its start to its end.",
    kinds: &[&kind::NOISE],
    page: "guide/noise.md",
};

impl Probe for NoiseConfig {
    const ABOUT: &'static About = &ABOUT;
    type On = ();
    type Started = Running;

    fn needs(&self) -> Vec<Need> {
        of_thread(self.options.policy, self.on.cpus.iter())
    }

    fn start(&self, _: impl Into<()>, recorder: &mut Recorder, stop: &Stop) -> Result<Running, ProbeError> {
        check(self)?;
        let rate = Rate::measure();
        let threads = self.on.cpus.iter().map(|cpu| thread(self, cpu, rate, recorder, stop));
        let threads = threads.collect();
        Running::start(threads, || sys::clock::monotonic() + LEAD_NS)
    }
}

fn thread(config: &NoiseConfig, cpu: u32, rate: Rate, recorder: &mut Recorder, stop: &Stop) -> HotThread {
    let capacity = crate::hot::capacity(gaps_per_second(config.on.cpus.iter().count()));
    let mut feed = recorder.feed(capacity, 1, Box::new(series::Noise::of(config, rate.mhz())));
    feed.announce(0, &format!("cpu{cpu}"));
    let spin = spin::Spin {
        threshold_ns: config.options.gaps_above,
        duration_ns: config.on.duration_ns,
        rest: config.rest(),
        rate,
        stop: stop.clone(),
    };
    HotThread::new(
        &format!("noise/{cpu}"),
        config.options.policy,
        Some(cpu),
        feed,
        Box::new(move |start, feed| {
            spin.run(start, feed);
            Ok(())
        }),
    )
}

/// Gaps a second that each feed has room for, with this many CPUs.
fn gaps_per_second(cpus: usize) -> u64 {
    (GAPS_PER_SECOND_IN_ALL / cpus.max(1) as u64).clamp(*GAPS_PER_SECOND.start(), *GAPS_PER_SECOND.end())
}

fn check(config: &NoiseConfig) -> Result<(), ProbeError> {
    let refuse = |why: String| Err(ProbeError::Usage(format!("noise: {why}")));
    if config.on.cpus.is_empty() {
        return refuse("no CPU to measure on: name some with --cpus 1-3".into());
    }
    if config.options.gaps_above < LEAST_THRESHOLD_NS {
        return refuse(format!(
            "--gaps-above {}: the loop's own turns would count as gaps; use at least {LEAST_THRESHOLD_NS}ns",
            units::Ns(config.options.gaps_above)
        ));
    }
    if let Some(threshold) = config.options.threshold.filter(|ns| *ns < config.options.gaps_above) {
        return refuse(format!(
            "--threshold {}: shorter than the gaps that are counted (--gaps-above {}), so every gap would be over it; to count \
             shorter gaps use --gaps-above",
            units::Ns(threshold),
            units::Ns(config.options.gaps_above)
        ));
    }
    if matches!(config.options.policy, Policy::Deadline { .. }) {
        return refuse("a deadline thread has a budget and cannot spin: use fifo, rr or other".into());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::gaps_per_second;

    #[test]
    fn many_cpus_share_the_room_for_gaps() {
        let octets = |cpus: usize| cpus * crate::hot::capacity(gaps_per_second(cpus)) * 32;
        assert_eq!(octets(1), 6_400_000);
        for cpus in 1..=80 {
            assert!(octets(cpus) <= 64_000_000, "{cpus}: {}", octets(cpus));
        }
    }
}
