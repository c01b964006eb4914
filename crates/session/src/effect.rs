//! The effect of this program on the median wake-up: a bare loop against the whole path of a run, in blocks that follow each other.

use crate::session::flight::bare_wakeups;
use model::RunState;
use probes::wakeup::{WakeupConfig, WakeupOptions};
use probes::{OnCpus, Probe};
use run::{NewRun, Recorder, RecorderOptions, Stop, remove};
use std::path::Path;
use store::RunFile;
use trace::FlightRecorder;
use units::{CpuList, Period};

/// Interval of the wake-ups, in ns.
const INTERVAL_NS: u64 = 500_000;

/// Median wake-up latencies on one CPU, one of each block.
#[derive(Debug, Clone, PartialEq)]
pub struct OwnEffect {
    /// The CPU.
    pub cpu: u32,
    /// Bare loop: sleep, read the clock, keep the number; in ns.
    pub bare_ns: Vec<f64>,
    /// Whole path: the probe, its ring, the recorder with its file and, where it runs, the flight recorder; in ns.
    pub whole_ns: Vec<f64>,
    /// Why the flight recorder was not part of the path.
    pub no_flight: Option<String>,
}

impl OwnEffect {
    /// Measures `pairs` pairs of blocks of `cycles` wake-ups each, bare and whole in turn, the first of a pair alternating. The run
    /// files of the blocks go into `folder`, and are removed.
    ///
    /// # Errors
    /// A real-time thread could not be started, or a run file could not be made.
    pub fn measure(cpu: u32, pairs: usize, cycles: u64, folder: &Path) -> Result<Self, String> {
        let (mut flight, no_flight) = match FlightRecorder::start() {
            Ok(flight) => (Some(flight), None),
            Err(error) => (None, Some(error.to_string())),
        };
        let mut found = Self {
            cpu,
            bare_ns: Vec::new(),
            whole_ns: Vec::new(),
            no_flight,
        };
        for pair in 0..pairs {
            for is_bare in [pair % 2 == 0, pair % 2 != 0] {
                if is_bare {
                    found.bare_ns.push(bare(cpu, cycles, flight.as_mut())?);
                } else {
                    found.whole_ns.push(whole(cpu, cycles, folder)?);
                }
            }
        }
        Ok(found)
    }

    /// Mean of whole minus bare over the pairs, and its standard uncertainty (type A), in ns; `None` with fewer than two pairs.
    pub fn difference_ns(&self) -> Option<(f64, f64)> {
        let apart = self
            .bare_ns
            .iter()
            .zip(&self.whole_ns)
            .map(|(bare, whole)| whole - bare);
        let apart: Vec<f64> = apart.collect();
        let n = apart.len() as f64;
        if n < 2.0 {
            return None;
        }
        let mean = apart.iter().sum::<f64>() / n;
        let squares: f64 = apart.iter().map(|one| (one - mean).powi(2)).sum();
        Some((mean, (squares / (n - 1.0) / n).sqrt()))
    }
}

fn bare(cpu: u32, cycles: u64, flight: Option<&mut FlightRecorder>) -> Result<f64, String> {
    let measure = || bare_wakeups(cpu, INTERVAL_NS, cycles);
    let median = match flight {
        Some(flight) => flight.while_paused(measure).map_err(|error| error.to_string())?,
        None => measure(),
    };
    let refused = || format!("no real-time thread could be started on CPU {cpu}");
    median.map(|ns| ns as f64).ok_or_else(refused)
}

fn whole(cpu: u32, cycles: u64, folder: &Path) -> Result<f64, String> {
    let failed = |error: &dyn std::fmt::Display| format!("CPU {cpu}: {error}");
    let begin = sys::clock::pair();
    let mut run = NewRun {
        file: folder.join("calibrate.triptime"),
        may_be_numbered: true,
        command: WakeupConfig::ABOUT.name.to_owned(),
        arguments: Vec::new(),
        tool_version: String::new(),
        window_ns: INTERVAL_NS * cycles,
        file_budget: None,
        documents: Vec::new(),
    };
    let writer = run.create(begin.realtime).map_err(|error| failed(&error))?;
    let measured = recorded(cpu, cycles, writer, begin.monotonic).and_then(|()| {
        let view = RunFile::open(&run.file)
            .and_then(|file| file.view())
            .map_err(|error| failed(&error))?;
        let median = view.series.first().and_then(|series| series.histogram.quantile(0.5));
        median
            .map(|ns| ns as f64)
            .ok_or_else(|| failed(&"nothing was measured"))
    });
    remove(&run.file);
    measured
}

fn recorded(cpu: u32, cycles: u64, writer: store::RunWriter, start: units::Monotonic) -> Result<(), String> {
    let failed = |error: &dyn std::fmt::Display| format!("CPU {cpu}: {error}");
    let stop = Stop::new();
    let options = RecorderOptions {
        start,
        window_ns: INTERVAL_NS * cycles,
        explain: None,
    };
    let mut recorder = Recorder::start(writer, options, &stop);
    let cpus: CpuList = [cpu].into_iter().collect();
    let probe = WakeupConfig {
        options: WakeupOptions {
            interval: Period::of_ns(INTERVAL_NS),
            ..WakeupOptions::default()
        },
        on: OnCpus {
            duration_ns: Some(INTERVAL_NS * cycles),
            ..OnCpus::of(cpus)
        },
    };
    let started = probe.start((), &mut recorder, &stop).map_err(|error| failed(&error))?;
    started.join().map_err(|error| failed(&error))?;
    recorder.finish(RunState::Complete).map_err(|error| failed(&error))
}

#[cfg(test)]
mod tests {
    use super::OwnEffect;

    #[test]
    fn a_difference_has_the_uncertainty_of_its_pairs() {
        let mut effect = OwnEffect {
            cpu: 1,
            bare_ns: vec![1_000.0, 1_100.0, 900.0, 1_000.0],
            whole_ns: vec![1_200.0, 1_300.0, 1_100.0, 1_200.0],
            no_flight: None,
        };
        assert_eq!(effect.difference_ns(), Some((200.0, 0.0)));
        effect.whole_ns[0] = 1_400.0;
        let (mean, standard) = effect.difference_ns().expect("four pairs");
        assert!(
            (mean - 250.0).abs() < 1e-9 && (standard - 50.0).abs() < 1e-9,
            "{mean} {standard}"
        );
        effect.bare_ns.truncate(1);
        assert_eq!(effect.difference_ns(), None);
    }
}
