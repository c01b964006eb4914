//! Common parts of the probes that measure only CPUs.

use crate::hot::Running;
use crate::probe::Probe;
use crate::rest::Rest;
use serde::de::DeserializeOwned;
use std::fmt::Debug;
use units::CpuList;

/// Settings of a measurement on CPUs, in addition to the probe's own options.
#[derive(Debug, Clone)]
pub struct OnCpus {
    /// CPUs to measure, each with one thread.
    pub cpus: CpuList,
    /// Duration of the measurement; `None` measures until a stop is requested.
    pub duration_ns: Option<u64>,
    /// Second part of the series' names, such as the load that ran during the measurement.
    pub label: Option<String>,
    /// State of the idle states (held off or not), in words for the report.
    pub idle: String,
    /// Pauses that keep a spinning real-time thread within the kernel's budget.
    pub rest: Rest,
}

impl OnCpus {
    /// Settings for these CPUs, without pauses, until a stop is requested.
    pub fn of(cpus: CpuList) -> Self {
        Self {
            cpus,
            duration_ns: None,
            label: None,
            idle: String::new(),
            rest: Rest::NONE,
        }
    }
}

/// A probe that measures CPUs. Its command and its step of a plan use nothing but this trait.
pub trait CpuProbe: Probe<On = (), Started = Running> + Sized {
    /// Options of the probe, on the command line and in a plan.
    type Options: clap::Args + DeserializeOwned + Clone + Debug + 'static;

    /// Creates the probe with these options and settings.
    fn told(options: Self::Options, on: OnCpus) -> Self;

    /// True if its threads use their CPUs fully at real-time priority.
    fn occupies(_: &Self::Options) -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use super::{CpuProbe, OnCpus};
    use crate::need::Machine;
    use crate::options::defaults;
    use crate::probe::Probe;
    use crate::turn::{TurnConfig, TurnOptions};
    use model::RunState;
    use run::{NewRun, Recorder, RecorderOptions, Stop};
    use std::path::Path;
    use store::RunFile;

    fn recorder(file: &Path) -> Recorder {
        let start = sys::clock::pair();
        let mut run = NewRun {
            may_be_numbered: false,
            file: file.to_owned(),
            command: "turn".to_owned(),
            arguments: Vec::new(),
            tool_version: "0".to_owned(),
            window_ns: 1_000_000_000,
            file_budget: None,
            documents: Vec::new(),
        };
        let options = RecorderOptions {
            start: start.monotonic,
            window_ns: run.window_ns,
            explain: None,
        };
        Recorder::start(run.create(start.realtime).expect("a run"), options, &Stop::new())
    }

    #[test]
    fn the_probe_of_the_guide_measures() {
        let directory = tempfile::tempdir().expect("tempdir");
        let file = directory.path().join("run.triptime");
        let mut recorder = recorder(&file);
        let cpus = sys::thread::allowed_cpus();
        let on = OnCpus {
            duration_ns: Some(200_000_000),
            label: Some("guide".to_owned()),
            ..OnCpus::of(cpus.clone())
        };
        let probe = TurnConfig::told(TurnOptions::default(), on);
        probe
            .can_run(&Machine::live(), None)
            .expect("nothing special is needed");
        let running = probe.start((), &mut recorder, &Stop::new()).expect("started");
        running.join().expect("ended well");
        recorder.finish(RunState::Complete).expect("written");
        let run = RunFile::open(&file).expect("a run");
        let series = run.series().expect("series");
        assert_eq!(series.len(), cpus.len());
        for (id, spec) in &series {
            assert!(spec.name.starts_with("turn/guide/cpu"), "{}", spec.name);
            assert!(run.totals(*id).expect("totals").counters.received > 0, "{}", spec.name);
        }
    }

    #[test]
    fn a_plan_and_the_command_line_say_the_same() {
        let plan: TurnOptions = toml::from_str("interval = \"250us\"").expect("keys");
        assert_eq!(plan.interval, 250_000);
        assert_eq!(plan.policy, defaults::<TurnOptions>().policy, "left out in both");
        let wrong = toml::from_str::<TurnOptions>("intervall = \"250us\"").expect_err("no such key");
        assert!(wrong.to_string().contains("expected `interval` or `policy`"), "{wrong}");
        let zero = toml::from_str::<TurnOptions>("interval = \"0\"").expect_err("no interval");
        assert!(zero.to_string().contains("must be more than 0"), "{zero}");
    }
}
