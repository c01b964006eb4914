//! The entry of a run in the roster.

use super::process::Process;
use serde::{Deserialize, Serialize};

/// Version of the file format, raised when an older reader would misread it.
const SCHEMA: &str = "triptime.underway/1";

/// A run as it last described itself. Instants `…_seen_ns` are on CLOCK_MONOTONIC, which all processes of a boot share.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    schema: String,
    /// Name on this machine.
    pub name: String,
    /// The command that measures.
    pub command: String,
    /// The plan, if it runs one.
    pub plan: Option<String>,
    /// Its process.
    pub process: Process,
    /// How it was started.
    pub way: StartKind,
    /// Its unit, if a service manager started it.
    pub unit: Option<String>,
    /// The run file.
    pub file: String,
    /// File for its output, if there is one.
    pub log: Option<String>,
    /// When it began, in ns since 1970-01-01 UTC.
    pub started_ns: i64,
    /// Length of a window, in ns.
    pub window_ns: u64,
    /// Phase of the run.
    pub phase: Phase,
    /// The phase in words.
    pub doing: String,
    /// Position in its plan.
    pub step: Option<StepUnderWay>,
    /// How long it will still measure, in ns, when it was last seen; `None`: until it is requested to end.
    pub left_ns: Option<u64>,
    /// When this entry was written.
    pub seen_ns: i64,
    /// When the recorder last looked at the rings.
    pub recorder_seen_ns: Option<i64>,
    /// When a window was last written; if that was before the current step, when that step began. `None`: no window is due, because
    /// the run waits for frames from others.
    pub window_seen_ns: Option<i64>,
    /// Number of series.
    pub series: usize,
    /// The series with the largest samples.
    pub largest: Vec<Largest>,
    /// Bytes that the run file is expected to take in the end.
    pub expected: Option<u64>,
    /// The same if many samples are over their limits.
    pub at_most: Option<u64>,
    /// How it ended.
    pub end: Option<RunEnd>,
}

/// How a run was started.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StartKind {
    /// In the foreground of the caller.
    Foreground,
    /// In a separate session.
    Session,
    /// As a unit that ends with it.
    Unit,
    /// As a unit that starts again after a reboot.
    LastingUnit,
}

/// Phases of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Phase {
    /// Taking the inventory, building the test bed.
    Starting,
    /// Measuring.
    Measuring,
    /// Closing the run file, writing the report.
    Finishing,
    /// Ended.
    Ended,
}

/// Position in a plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct StepUnderWay {
    /// The current step, counted from 1; steps that run in parallel count as one.
    pub number: usize,
    /// Number of steps.
    pub of: usize,
}

/// The largest sample of a series.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Largest {
    /// The series.
    pub series: String,
    /// Its largest sample so far, in ns.
    pub max_ns: i64,
    /// The limit on it, in ns.
    pub limit_ns: Option<u64>,
}

impl Largest {
    /// True if it is over the value of its limit. This is no verdict: the limit may stay undecided if the cause of the delay is in
    /// doubt.
    pub fn is_over(&self) -> bool {
        let max = u64::try_from(self.max_ns).unwrap_or(0);
        self.limit_ns.is_some_and(|limit| max > limit)
    }
}

/// How a run ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunEnd {
    /// When, in ns since 1970-01-01 UTC.
    pub at_ns: i64,
    /// Its exit status.
    pub status: u8,
    /// True if it reached its planned end.
    pub complete: bool,
    /// Why not, as far as known.
    pub why: Option<String>,
}

impl Entry {
    /// The entry of a run of `command` by this process that is about to start.
    pub fn new(command: &str, file: &str, started_ns: i64) -> Self {
        Self {
            schema: SCHEMA.to_owned(),
            name: String::new(),
            command: command.to_owned(),
            plan: None,
            process: Process::own(),
            way: StartKind::Foreground,
            unit: None,
            file: file.to_owned(),
            log: None,
            started_ns,
            window_ns: 0,
            phase: Phase::Starting,
            doing: "getting ready".to_owned(),
            step: None,
            left_ns: None,
            seen_ns: sys::clock::monotonic().as_ns(),
            recorder_seen_ns: None,
            window_seen_ns: None,
            series: 0,
            largest: Vec::new(),
            expected: None,
            at_most: None,
            end: None,
        }
    }

    /// True if this version can read the entry.
    pub(super) fn is_known(&self) -> bool {
        self.schema == SCHEMA
    }
}
