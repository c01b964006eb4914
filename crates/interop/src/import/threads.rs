//! One thread of a file: the known and the reconstructed properties of its samples.

use super::{ImportError, Source};
use crate::cyclictest::{Bucket, Measurement, Thread};
use model::{Counters, SeriesId, Window};
use stats::Histogram;

/// A thread with its reconstructed values.
pub(super) struct Rebuilt<'a> {
    /// The thread in the file.
    pub(super) thread: &'a Thread,
    /// Time between its due times in ns.
    pub(super) interval_ns: u64,
    /// Number of periods that were certainly skipped.
    pub(super) missed: u64,
    /// Largest possible number of skipped periods: more than `missed` only if latencies are unknown.
    pub(super) missed_at_most: u64,
    /// Number of samples with unknown latency.
    pub(super) unknown: u64,
}

/// The threads of a file.
pub(super) fn rebuilt<'a>(source: &'a Source, given: Option<u64>) -> Result<Vec<Rebuilt<'a>>, ImportError> {
    let measurement = &source.measurement;
    let threads = measurement.threads.iter();
    threads
        .map(|thread| {
            let interval_ns = interval(source, thread, given)?;
            Rebuilt::of(measurement, thread, interval_ns).ok_or_else(|| ImportError::TooMuch {
                file: source.file.clone(),
                thread: thread.number,
            })
        })
        .collect()
}

fn interval(source: &Source, thread: &Thread, given: Option<u64>) -> Result<u64, ImportError> {
    let file = || source.file.clone();
    match (thread.interval_ns, given) {
        (Some(found), Some(given)) if found != given => Err(ImportError::OtherInterval {
            file: file(),
            thread: thread.number,
            found,
            given,
        }),
        (Some(interval), _) | (None, Some(interval)) => Ok(interval),
        (None, None) => Err(ImportError::NoInterval {
            file: file(),
            thread: thread.number,
        }),
    }
}

impl<'a> Rebuilt<'a> {
    /// `None` if a count or a time exceeds 64 bits.
    fn of(measurement: &Measurement, thread: &'a Thread, interval_ns: u64) -> Option<Self> {
        let bucket = measurement.bucket;
        let skipped = |k: u64| k.checked_mul(bucket.ns()).map(|ns| ns / interval_ns);
        let in_buckets = thread.buckets.iter().try_fold(0u64, |sum, (k, count)| {
            sum.checked_add(skipped(*k)?.checked_mul(*count)?)
        })?;
        let overflows = thread.overflows();
        // The largest sample is known, and if there are overflows it is one of them.
        let unknown = overflows.saturating_sub(1);
        let of_largest = match thread.max {
            Some(max) if overflows > 0 => skipped(max)?,
            _ => 0,
        };
        let least = skipped(measurement.least_overflow(thread))?;
        let certain = in_buckets.checked_add(of_largest)?;
        let rebuilt = Self {
            thread,
            interval_ns,
            missed: certain.checked_add(least.checked_mul(unknown)?)?,
            missed_at_most: certain.checked_add(of_largest.checked_mul(unknown)?)?,
            unknown,
        };
        rebuilt.expected()?.checked_mul(interval_ns)?;
        Some(rebuilt)
    }

    /// Number of activations that were certainly due; `None` if it exceeds 64 bits.
    fn expected(&self) -> Option<u64> {
        self.thread.cycles.checked_add(self.missed)
    }

    /// Number of activations that were certainly due.
    pub(super) fn activations(&self) -> u64 {
        self.expected().unwrap_or(u64::MAX)
    }

    /// Their duration in ns.
    pub(super) fn duration_ns(&self) -> u64 {
        self.activations().saturating_mul(self.interval_ns)
    }

    /// The thread as one window that starts at `start_ns`.
    pub(super) fn window(&self, series: SeriesId, start_ns: u64, bucket: Bucket) -> Window {
        let thread = self.thread;
        let (histogram, beyond_range) = histogram(thread, bucket);
        let extreme = |k: Option<u64>| k.map(|k| i64::try_from(bucket.largest_ns(k)).unwrap_or(i64::MAX));
        Window {
            series,
            start_ns,
            end_ns: start_ns.saturating_add(self.duration_ns()),
            counters: Counters {
                expected: self.activations(),
                received: thread.cycles,
                missed: self.missed,
                // Samples beyond 60 s also lose their latency, and may already be among the unknown ones.
                clipped: self.unknown.max(beyond_range),
                ..Counters::default()
            },
            sum_ns: sum_ns(thread, bucket),
            min_ns: extreme(thread.min),
            max_ns: extreme(thread.max),
            histogram,
        }
    }
}

/// Every sample with its largest possible latency, and the number of samples beyond a histogram's range.
fn histogram(thread: &Thread, bucket: Bucket) -> (Histogram, u64) {
    let mut histogram = Histogram::new();
    let mut beyond = 0;
    for (k, count) in largest(thread) {
        if !histogram.record_n(bucket.largest_ns(k), count) {
            beyond += count;
        }
    }
    (histogram, beyond)
}

/// Buckets with their samples; samples in no bucket are in the bucket of the largest.
fn largest(thread: &Thread) -> impl Iterator<Item = (u64, u64)> {
    let overflows = thread.max.map(|max| (max, thread.overflows()));
    thread.buckets.iter().copied().chain(overflows)
}

/// The smaller of two upper bounds of the sum of the samples, in ns.
fn sum_ns(thread: &Thread, bucket: Bucket) -> i128 {
    let of_buckets = largest(thread).fold(0i128, |sum, (k, count)| {
        sum.saturating_add(i128::from(bucket.largest_ns(k)).saturating_mul(i128::from(count)))
    });
    let Some(mean) = thread.mean else { return of_buckets };
    // Each sample is truncated to a whole unit, and the mean may be truncated, too.
    let mean_ns = (mean.value + mean.resolution + 1.0) * bucket.ns() as f64;
    let of_mean = (mean_ns * thread.cycles as f64).ceil() as i128;
    of_buckets.min(of_mean)
}
