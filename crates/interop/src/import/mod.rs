//! Imports measurements of cyclictest as a run.
//!
//! Each thread becomes a series, `wakeup/cpuN`, or `wakeup/threadN` if the file does not state the CPU; each file is one window, in order. cyclictest
//! stores a histogram, its extremes and its mean, and does not count the periods that it slept through. Reconstructed and unknown values are noted in
//! the run as events. Every rule prefers the worse value:
//!
//! - a sample of bucket `k` counts with the largest possible latency, `(k + 1) us - 1 ns`, and so do the extremes;
//! - a sample beyond the last bucket counts with the largest latency of the thread, and is counted as `clipped` unless it is the largest;
//! - the sum of the samples is the smaller of two upper bounds: that of the buckets, and mean times cycles;
//! - a latency `L` skipped `floor(L / interval)` periods, which are `missed`; an unknown latency skipped at least those up to the last bucket's end.
//!   A skipped period is an activation that was due, so `expected` is cycles plus missed;
//! - samples over a threshold are counted if no bucket with samples includes the threshold, otherwise their number is unknown;
//! - the length of a window is the time of its activations, `expected * interval`.

mod check;
mod error;
mod notes;
mod over;
mod series;
#[cfg(test)]
mod tests;
mod threads;

pub use error::ImportError;

use crate::cyclictest::{Measurement, System};
use model::fact::{HOST_NAME, KERNEL_ARCHITECTURE, KERNEL_RELEASE, KERNEL_VERSION, PREEMPTION};
use model::{Fact, FactOf, SeriesSpec};
use run::Thresholds;
use serde::{Deserialize, Serialize};
use store::Batch;
use units::Realtime;

/// Name of the document that stores the input, so that it can be exported unchanged.
pub const DOCUMENT: &str = "import";

/// An input file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Source {
    /// Its name.
    pub file: String,
    /// Its content.
    pub measurement: Measurement,
}

/// A run converted from files, to be written.
#[derive(Debug, Clone)]
pub struct Import {
    /// Start according to the first file; `None` if it is not stated.
    pub started: Option<Realtime>,
    /// Length of the run in ns: of all files together.
    pub duration_ns: u64,
    /// Length of the longest window in ns.
    pub window_ns: u64,
    /// True if a measurement was stopped early by its own limit (`-b`).
    pub stopped_early: bool,
    /// The series, numbered as in the windows.
    pub series: Vec<SeriesSpec>,
    /// Windows and events.
    pub batch: Batch,
    /// Facts about the machine, from the files.
    pub facts: Vec<Fact>,
    /// The input files, for [`DOCUMENT`].
    pub document: String,
}

impl Import {
    /// Converts files to a run, in the given order. `interval_ns` is the time between due times, if the files do not state it. `thresholds`: limits
    /// above which samples are counted; a series has none if a file does not show the number of samples above.
    ///
    /// # Errors
    /// The interval is unknown or wrong; the files are of different machines; or counts exceed the limits of a run.
    pub fn of(sources: &[Source], interval_ns: Option<u64>, thresholds: &Thresholds) -> Result<Self, ImportError> {
        let first = sources.first().ok_or(ImportError::Nothing)?;
        check::one_machine(sources)?;
        let mut run = series::Builder::new(thresholds);
        for source in sources {
            let threads = threads::rebuilt(source, interval_ns)?;
            check::length(source, &threads)?;
            run.add(source, &threads)?;
        }
        let document = serde_json::to_string(sources).map_err(|error| ImportError::NotKept(error.to_string()))?;
        let (series, batch, duration_ns, window_ns) = run.finish();
        Ok(Self {
            started: first.measurement.started_ns.map(Realtime::from_ns),
            duration_ns,
            window_ns,
            stopped_early: sources.iter().any(|source| source.measurement.stopped),
            series,
            batch,
            facts: facts(first),
            document,
        })
    }
}

/// Facts about the machine of a file, with the names of the inventory.
fn facts(source: &Source) -> Vec<Fact> {
    let Some(system) = &source.measurement.system else {
        return Vec::new();
    };
    let System {
        sysname: _,
        nodename,
        release,
        version,
        machine,
        realtime,
    } = system;
    let mut facts = Vec::new();
    let mut add = |of: &FactOf<String>, value: &str| {
        let known = Some(value.to_owned()).filter(|value| !value.is_empty());
        facts.push(of.fact(
            known.ok_or_else(|| "empty in the imported file".to_owned()),
            &source.file,
        ));
    };
    add(&HOST_NAME, nodename);
    add(&KERNEL_RELEASE, release);
    add(&KERNEL_VERSION, version);
    add(&KERNEL_ARCHITECTURE, machine);
    // 0 also means a kernel without that file, and proves nothing.
    if *realtime == 1 {
        add(&PREEMPTION, "PREEMPT_RT");
    }
    facts
}
