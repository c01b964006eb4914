//! Combines several measurements of the same threads.

use super::{CyclictestError, Mean, Measurement, Thread};
use std::collections::BTreeMap;

impl Measurement {
    /// Adds a later measurement of the same threads, as if both had been one. Start, machine and command line are those of the first; the end is that
    /// of the last.
    ///
    /// # Errors
    /// [`CyclictestError::Apart`] if the unit, the buckets or the threads differ.
    pub fn add(&mut self, later: &Self) -> Result<(), CyclictestError> {
        let apart = |what: &str| Err(CyclictestError::Apart(what.to_owned()));
        if self.bucket != later.bucket {
            return apart("some count in microseconds, some in nanoseconds");
        }
        if self.range != later.range {
            return apart("their histograms have different numbers of buckets");
        }
        let who = |measurement: &Self| -> Vec<(u32, Option<u32>)> {
            let threads = measurement.threads.iter();
            threads.map(|thread| (thread.number, thread.cpu)).collect()
        };
        if who(self) != who(later) {
            return apart("their threads or CPUs differ");
        }
        for (thread, other) in self.threads.iter_mut().zip(&later.threads) {
            thread.add(other);
        }
        self.ended_ns = later.ended_ns;
        self.stopped |= later.stopped;
        Ok(())
    }
}

impl Thread {
    fn add(&mut self, other: &Self) {
        let mut buckets: BTreeMap<u64, u64> = self.buckets.iter().copied().collect();
        for (k, count) in &other.buckets {
            let sum = buckets.entry(*k).or_default();
            *sum = sum.saturating_add(*count);
        }
        self.buckets = buckets.into_iter().collect();
        self.mean = mean(self, other);
        self.cycles = self.cycles.saturating_add(other.cycles);
        self.min = self.min.into_iter().chain(other.min).min();
        self.max = self.max.max(other.max);
        self.interval_ns = self.interval_ns.or(other.interval_ns);
    }
}

/// The mean of both, weighted by their cycles.
fn mean(one: &Thread, two: &Thread) -> Option<Mean> {
    let (Some(a), Some(b)) = (one.mean, two.mean) else {
        return one.mean.or(two.mean);
    };
    let (n, m) = (one.cycles as f64, two.cycles as f64);
    Some(Mean {
        value: (a.value * n + b.value * m) / (n + m),
        resolution: a.resolution.max(b.resolution),
    })
}
