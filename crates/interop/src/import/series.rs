//! The series of a run that is converted from files.

use super::over::over;
use super::threads::Rebuilt;
use super::{ImportError, Source, notes};
use crate::cyclictest::Thread;
use model::{SeriesId, SeriesSpec, kind, setting};
use run::Thresholds;
use std::collections::BTreeSet;
use store::Batch;
use units::Ns;

/// A run under construction.
pub(super) struct Builder<'a> {
    thresholds: &'a Thresholds,
    series: Vec<SeriesSpec>,
    /// Series with an unknown number of samples over the threshold.
    untold: BTreeSet<SeriesId>,
    intervals: Vec<u64>,
    batch: Batch,
    end_ns: u64,
    window_ns: u64,
}

impl<'a> Builder<'a> {
    pub(super) fn new(thresholds: &'a Thresholds) -> Self {
        Self {
            thresholds,
            series: Vec::new(),
            untold: BTreeSet::new(),
            intervals: Vec::new(),
            batch: Batch::default(),
            end_ns: 0,
            window_ns: 0,
        }
    }

    /// Adds a file as one window of each of its threads, after the earlier files.
    pub(super) fn add(&mut self, source: &Source, threads: &[Rebuilt<'_>]) -> Result<(), ImportError> {
        let start_ns = self.end_ns;
        self.batch.events.push(notes::of_file(source, threads, start_ns));
        for rebuilt in threads {
            let id = self.series_of(source, rebuilt)?;
            let mut window = rebuilt.window(id, start_ns, source.measurement.bucket);
            if let Some(threshold_ns) = self.series[id.0 as usize].threshold_ns {
                match over(&source.measurement, rebuilt.thread, threshold_ns) {
                    Some(over) => window.counters.overflow = over,
                    None => {
                        self.untold.insert(id);
                        self.batch.events.push(notes::untold(threshold_ns, id, start_ns));
                    }
                }
            }
            self.end_ns = self.end_ns.max(window.end_ns);
            self.window_ns = self.window_ns.max(window.end_ns - start_ns);
            self.batch.windows.push(window);
            let notes = notes::of_thread(source, rebuilt, id, start_ns);
            self.batch.events.extend(notes);
        }
        Ok(())
    }

    /// Returns series, windows and events, length of the run, and length of the longest window.
    pub(super) fn finish(mut self) -> (Vec<SeriesSpec>, Batch, u64, u64) {
        for id in &self.untold {
            self.series[id.0 as usize].threshold_ns = None;
        }
        for window in &mut self.batch.windows {
            if self.untold.contains(&window.series) {
                window.counters.overflow = 0;
            }
        }
        (self.series, self.batch, self.end_ns, self.window_ns)
    }

    fn series_of(&mut self, source: &Source, rebuilt: &Rebuilt<'_>) -> Result<SeriesId, ImportError> {
        let label = label(source, rebuilt.thread);
        let index = match self.series.iter().position(|spec| spec.label() == label) {
            Some(index) if self.intervals[index] != rebuilt.interval_ns => {
                return Err(ImportError::TwoIntervals {
                    file: source.file.clone(),
                    series: self.series[index].name.clone(),
                    interval_ns: rebuilt.interval_ns,
                    before_ns: self.intervals[index],
                });
            }
            Some(index) => index,
            None => {
                let mut spec = spec(&label, source, rebuilt);
                spec.threshold_ns = self.thresholds.of(&spec.name);
                self.series.push(spec);
                self.intervals.push(rebuilt.interval_ns);
                self.series.len() - 1
            }
        };
        // A file with more threads would not fit into memory.
        Ok(SeriesId(u32::try_from(index).unwrap_or(u32::MAX)))
    }
}

/// `cpu1`; `thread1` if the CPU is unknown, `cpu1-thread0` if several threads ran on it.
fn label(source: &Source, thread: &Thread) -> String {
    let Some(cpu) = thread.cpu else {
        return format!("thread{}", thread.number);
    };
    let on_it = source.measurement.threads.iter().filter(|other| other.cpu == Some(cpu));
    match on_it.count() {
        1 => format!("cpu{cpu}"),
        _ => format!("cpu{cpu}-thread{}", thread.number),
    }
}

fn spec(label: &str, source: &Source, rebuilt: &Rebuilt<'_>) -> SeriesSpec {
    let measurement = &source.measurement;
    let interval_ns = rebuilt.interval_ns;
    let priority = match rebuilt.thread.priority {
        None => "not in the file".to_owned(),
        Some(0) => "0: an ordinary thread, not a real-time one".to_owned(),
        Some(priority) => priority.to_string(),
    };
    let known = |text: &Option<String>| text.clone().unwrap_or_else(|| "not in the file".to_owned());
    let settings = [
        (setting::TOOL, setting::CYCLICTEST.to_owned()),
        ("version", known(&measurement.version)),
        ("command line", known(&measurement.command_line)),
        ("interval", Ns(interval_ns).to_string()),
        ("priority", priority),
        ("bucket", Ns(measurement.bucket.ns()).to_string()),
        ("missed", "rebuilt from histogram and interval".to_owned()),
    ];
    SeriesSpec {
        interval_ns: Some(interval_ns as f64),
        settings: settings.map(|(name, value)| (name.to_owned(), value)).to_vec(),
        ..SeriesSpec::of(
            &kind::WAKEUP,
            label,
            "timer due -> thread running, measured by cyclictest",
        )
    }
}
