//! Imports measurements of cyclictest, as a run of ours.
//!
//! Each thread becomes a series, `wakeup/cpuN`, or `wakeup/threadN` where the file does not say the CPU; each file is one
//! window, one after the other. cyclictest keeps a histogram, its extremes and its mean, and counts no period it slept through:
//! what is rebuilt from these, and what stays unknown, is written into the run as events. Every rule errs towards the worse:
//!
//! - a sample of bucket `k` is taken for the largest latency the bucket can hold, `(k + 1) us - 1 ns`, and so are the extremes;
//! - a sample beyond the last bucket is taken for the largest of the thread, and counted as `clipped` unless it is the largest;
//! - the sum of the samples is the smaller of two upper bounds: that of the buckets, and mean times cycles;
//! - a latency `L` skipped `floor(L / interval)` periods, which are `missed`; of a latency that is not known, those that the
//!   last bucket's end makes certain. A period skipped is an activation that was due, so `expected` is cycles and missed;
//! - samples over a threshold are counted where no bucket with samples lies on both its sides, else they are unknown;
//! - a window is as long as its activations took, `expected * interval`.

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

/// Name of the document that keeps what was read, so that it can be exported as it came.
pub const DOCUMENT: &str = "import";

/// A file that was read.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Source {
    /// Its name.
    pub file: String,
    /// Its content.
    pub measurement: Measurement,
}

/// A run made of files, to be written.
#[derive(Debug, Clone)]
pub struct Import {
    /// When the first file says it was started; `None` when it does not say.
    pub started: Option<Realtime>,
    /// Length of the run in ns: of all files together.
    pub duration_ns: u64,
    /// Length of the longest window in ns.
    pub window_ns: u64,
    /// True if a limit of its own (`-b`) stopped a measurement early.
    pub stopped_early: bool,
    /// The series, numbered as the windows are.
    pub series: Vec<SeriesSpec>,
    /// Windows and events.
    pub batch: Batch,
    /// Facts about the machine, from the files.
    pub facts: Vec<Fact>,
    /// The files as they were read, for [`DOCUMENT`].
    pub document: String,
}

impl Import {
    /// Makes a run of files, in the order they are given. `interval_ns` is the time between due instants, where the files do
    /// not say it. `thresholds`: from when on a sample is over; where a file does not tell how many are, the series has none.
    ///
    /// # Errors
    /// When the interval is not known, or cannot be the right one; when the files are of different machines; when counts are
    /// beyond what a run can hold.
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

/// Facts about the machine of a file, under the names the inventory has for them.
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
    // 0 also stands for a kernel without that file, and proves nothing.
    if *realtime == 1 {
        add(&PREEMPTION, "PREEMPT_RT");
    }
    facts
}
