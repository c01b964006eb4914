//! cyclictest's results: the histogram text of both its dialects, its status lines, and its JSON.
//!
//! One [`Measurement`] stands for a file of any form. cyclictest truncates: bucket `k` of a file in microseconds holds the
//! latencies from `k` to just below `k + 1` microseconds. (A sample whose due instant and wake-up lie in different seconds is
//! rounded up instead, by at most one microsecond, so the bucket's upper end still is no less than the latency.)

mod command;
mod error;
mod merge;
mod read;
#[cfg(test)]
mod tests;
mod write;

pub use error::CyclictestError;
pub use read::read;
pub use write::{Dialect, write_json, write_text};

use serde::{Deserialize, Serialize};

/// Most buckets cyclictest accepts (`-h 1000000`).
pub const MOST_BUCKETS: u64 = 1_000_000;

/// Smallest latency of a thread that has not measured yet, as cyclictest prints it.
const MIN_WITHOUT_SAMPLES: u64 = 1_000_000;

/// Unit of a bucket and of every latency of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Bucket {
    /// Microseconds, cyclictest's normal mode.
    Microsecond,
    /// Nanoseconds, its `-N`.
    Nanosecond,
}

impl Bucket {
    /// Width of a bucket in ns.
    pub fn ns(self) -> u64 {
        match self {
            Self::Microsecond => 1_000,
            Self::Nanosecond => 1,
        }
    }

    /// Largest latency in ns that bucket `k` can hold: the value every sample of it is taken for, so that no judgement is
    /// too favourable.
    pub fn largest_ns(self, k: u64) -> u64 {
        k.saturating_add(1).saturating_mul(self.ns()).saturating_sub(1)
    }

    /// The bucket of a latency in ns.
    pub fn of_ns(self, ns: u64) -> u64 {
        ns / self.ns()
    }
}

/// Results of one run of cyclictest in a file. Latencies are in [`Measurement::bucket`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Measurement {
    /// Unit of every latency.
    pub bucket: Bucket,
    /// How many buckets the histogram had: a latency of this or more is an overflow. `None` when the file does not say.
    pub range: Option<u64>,
    /// The threads in the order of their numbers.
    pub threads: Vec<Thread>,
    /// The command line.
    pub command_line: Option<String>,
    /// Version of rt-tests as the JSON has it (`2.40` is 2.4).
    pub version: Option<String>,
    /// Start in ns since 1970, to the second.
    pub started_ns: Option<i64>,
    /// End in ns since 1970, to the second.
    pub ended_ns: Option<i64>,
    /// The machine.
    pub system: Option<System>,
    /// True if its own limit (`-b`) stopped it early.
    pub stopped: bool,
}

/// One measuring thread.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Thread {
    /// Its number, from 0.
    pub number: u32,
    /// The CPU it was pinned to; `None` when it was not, or the file does not say.
    pub cpu: Option<u32>,
    /// How many samples it took.
    pub cycles: u64,
    /// Smallest sample; `None` without samples.
    pub min: Option<u64>,
    /// Largest sample; `None` without samples.
    pub max: Option<u64>,
    /// Mean; `None` without samples.
    pub mean: Option<Mean>,
    /// Buckets that hold samples, ascending, and how many.
    pub buckets: Vec<(u64, u64)>,
    /// Time between its due instants in ns, where the file says it.
    pub interval_ns: Option<u64>,
}

/// A mean of truncated samples, itself truncated or rounded.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Mean {
    /// As it is written.
    pub value: f64,
    /// By how much it may be too low: 1 in the text, 0.01 in the JSON.
    pub resolution: f64,
}

/// The machine that was measured, as `uname` names it.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct System {
    /// Operating system.
    #[serde(default)]
    pub sysname: String,
    /// Host name.
    #[serde(default)]
    pub nodename: String,
    /// Kernel release.
    #[serde(default)]
    pub release: String,
    /// Kernel build.
    #[serde(default)]
    pub version: String,
    /// Processor architecture.
    #[serde(default)]
    pub machine: String,
    /// 1 when `/sys/kernel/realtime` said so.
    #[serde(default)]
    pub realtime: i64,
}

impl Thread {
    /// Samples in the buckets.
    pub fn in_buckets(&self) -> u64 {
        self.buckets
            .iter()
            .fold(0, |sum, (_, count)| sum.saturating_add(*count))
    }

    /// Samples beyond the last bucket: taken, but of unknown latency (only the largest is known). No file of cyclictest has the
    /// number in all forms; it is the samples that are in no bucket.
    pub fn overflows(&self) -> u64 {
        self.cycles.saturating_sub(self.in_buckets())
    }
}

impl Measurement {
    /// The least an overflow of `thread` can be, in the file's unit.
    pub fn least_overflow(&self, thread: &Thread) -> u64 {
        let beyond_the_last = thread.buckets.last().map_or(0, |(k, _)| k.saturating_add(1));
        self.range.unwrap_or(0).max(beyond_the_last)
    }
}
