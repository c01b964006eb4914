//! cyclictest's results: the histogram text in both variants, its status lines, and its JSON.
//!
//! A [`Measurement`] represents a file of any format. cyclictest truncates: bucket `k` of a file in microseconds has the latencies from `k` to just
//! below `k + 1` microseconds. (A sample whose due time and wake-up are in different seconds is rounded up instead, by at most one microsecond, so
//! the bucket's upper end is never less than the latency.)

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

/// Smallest latency of a thread without samples, as cyclictest prints it.
const MIN_WITHOUT_SAMPLES: u64 = 1_000_000;

/// Unit of the buckets and latencies of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Bucket {
    /// Microseconds, cyclictest's normal mode.
    Microsecond,
    /// Nanoseconds, cyclictest's option `-N`.
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

    /// Largest latency in ns in bucket `k`: all its samples count with this value, so that no judgement is too favourable.
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
    /// Number of buckets of the histogram: larger latencies are overflows. `None` if the file does not state it.
    pub range: Option<u64>,
    /// The threads, ordered by number.
    pub threads: Vec<Thread>,
    /// The command line.
    pub command_line: Option<String>,
    /// Version of rt-tests as in the JSON (`2.40` means 2.4).
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
    /// The CPU it was pinned to; `None` if it was not pinned, or the file does not state it.
    pub cpu: Option<u32>,
    /// Number of samples.
    pub cycles: u64,
    /// Smallest sample; `None` without samples.
    pub min: Option<u64>,
    /// Largest sample; `None` without samples.
    pub max: Option<u64>,
    /// Mean; `None` without samples.
    pub mean: Option<Mean>,
    /// Buckets with samples, ascending, and their counts.
    pub buckets: Vec<(u64, u64)>,
    /// Time between its due times in ns, if the file states it.
    pub interval_ns: Option<u64>,
    /// Its real-time priority, 0 for an ordinary thread; `None` if the file does not state it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub priority: Option<u64>,
}

/// A mean of truncated samples, itself truncated or rounded.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Mean {
    /// The value as written.
    pub value: f64,
    /// Largest amount by which it is too low: 1 in the text, 0.01 in the JSON.
    pub resolution: f64,
}

/// The measured machine, in terms of `uname`.
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
    /// 1 if `/sys/kernel/realtime` had it.
    #[serde(default)]
    pub realtime: i64,
}

impl Thread {
    /// Number of samples in the buckets.
    pub fn in_buckets(&self) -> u64 {
        self.buckets
            .iter()
            .fold(0, |sum, (_, count)| sum.saturating_add(*count))
    }

    /// Samples beyond the last bucket: they were measured, but their latency is unknown (only the largest is known). No field has this number in all
    /// formats; it is computed as the samples that are in no bucket.
    pub fn overflows(&self) -> u64 {
        self.cycles.saturating_sub(self.in_buckets())
    }
}

impl Measurement {
    /// The smallest possible overflow of `thread`, in the file's unit.
    pub fn least_overflow(&self, thread: &Thread) -> u64 {
        let beyond_the_last = thread.buckets.last().map_or(0, |(k, _)| k.saturating_add(1));
        self.range.unwrap_or(0).max(beyond_the_last)
    }
}
