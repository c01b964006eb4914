//! Turn: time from the instant at which a thread gives up its CPU until it has the CPU again, repeated. The example of `docs/adding-a-probe.md`,
//! compiled and run by the tests.
//!
//! Hooks: sched_yield(2). Produces: `turn/cpuN`. Needs: nothing; `CAP_SYS_NICE` for a real-time policy.

use crate::cpus::{CpuProbe, OnCpus};
use crate::error::ProbeError;
use crate::hot::{HotThread, Running, capacity};
use crate::need::{Need, of_thread};
use crate::options::{defaults, positive_duration, positive_ns, text};
use crate::probe::{About, Probe};
use model::kind::{Accounts, Kind, Samples};
use model::{SeriesSpec, under};
use run::{Describe, Feed, Recorder, Stop};
use serde::Deserialize;
use sys::clock::monotonic;
use sys::thread::Policy;
use sys::wait::sleep_until;
use units::Monotonic;

/// `turn/*`: for a real probe, this is an entry in a file of `crates/model/src/kind`, and in `ALL` of its `mod.rs`.
static TURN: Kind = Kind {
    name: "turn",
    title: "Turn",
    what: "A thread gives up its CPU to the instant it has it back.",
    samples: Samples::OfThread,
    line: None,
    accounts: Accounts::None,
    is_repeated: true,
    counts: &[],
    words: &[],
};

/// Options of the probe. In a plan each option is a key of the step.
#[derive(Debug, Clone, clap::Args, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct TurnOptions {
    /// Time between two turns
    #[arg(long, value_name = "DURATION", default_value = "1ms", value_parser = positive_duration)]
    #[serde(deserialize_with = "positive_ns")]
    pub interval: u64,
    /// Scheduling policy: other, fifo:PRIORITY, rr:PRIORITY
    #[arg(long, default_value = "other")]
    #[serde(deserialize_with = "text")]
    pub policy: Policy,
}

impl Default for TurnOptions {
    fn default() -> Self {
        defaults()
    }
}

/// Settings of the measurement of turns.
#[derive(Debug, Clone)]
pub struct TurnConfig {
    options: TurnOptions,
    on: OnCpus,
}

impl CpuProbe for TurnConfig {
    type Options = TurnOptions;

    fn told(options: TurnOptions, on: OnCpus) -> Self {
        Self { options, on }
    }
}

/// Description of this probe.
pub static ABOUT: About = About {
    name: "turn",
    words: "turn",
    what: "A thread gives up its CPU -> it has it back.",
    kinds: &[&TURN],
    page: "guide/turn.md",
};

impl Probe for TurnConfig {
    const ABOUT: &'static About = &ABOUT;
    type On = ();
    type Started = Running;

    fn needs(&self) -> Vec<Need> {
        of_thread(self.options.policy, self.on.cpus.iter())
    }

    fn start(&self, _: impl Into<()>, recorder: &mut Recorder, stop: &Stop) -> Result<Running, ProbeError> {
        let threads = self.on.cpus.iter().map(|cpu| {
            let mut feed = recorder.feed(
                capacity(1_000_000_000 / self.options.interval),
                1,
                Box::new(self.clone()),
            );
            feed.announce(0, &format!("cpu{cpu}"));
            let (config, stop) = (self.clone(), stop.clone());
            HotThread::new(
                &format!("turn/{cpu}"),
                self.options.policy,
                Some(cpu),
                feed,
                Box::new(move |start, feed| {
                    config.run(start, feed, &stop);
                    Ok(())
                }),
            )
        });
        Running::start(threads.collect(), monotonic)
    }
}

impl TurnConfig {
    fn run(&self, start: Monotonic, feed: &mut Feed, stop: &Stop) {
        let ns = |ns: u64| i64::try_from(ns).unwrap_or(i64::MAX / 2);
        let end = self.on.duration_ns.map(|duration| start + ns(duration));
        let (mut due, mut turn) = (start, 0);
        while end.is_none_or(|end| due < end) && !stop.requested() {
            sleep_until(due);
            let before = monotonic();
            std::thread::yield_now();
            let back = monotonic();
            feed.sample(0, back, back - before, turn);
            turn += 1;
            due = back + ns(self.options.interval);
        }
    }
}

impl Describe for TurnConfig {
    fn series(&self, _slot: u16, label: &str) -> SeriesSpec {
        SeriesSpec {
            settings: vec![("policy".into(), self.options.policy.to_string())],
            ..SeriesSpec::of(
                &TURN,
                &under(self.on.label.as_deref(), label),
                "sched_yield(2): gave up its CPU -> has it back",
            )
        }
    }
}
