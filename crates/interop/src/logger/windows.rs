//! Windows of the series that are made of a logger's samples.

use model::{Counters, SeriesId, Spike, Window};
use stats::Histogram;
use store::Batch;

/// Worst samples of a window that are kept.
const WORST: usize = 20;

/// A series with its open window.
pub(crate) struct Open {
    series: SeriesId,
    start_ns: u64,
    counters: Counters,
    sum_ns: i128,
    extremes: Option<(i64, i64)>,
    histogram: Histogram,
    worst: Vec<Spike>,
}

impl Open {
    pub(crate) fn new(series: SeriesId) -> Self {
        Self {
            series,
            start_ns: 0,
            counters: Counters::default(),
            sum_ns: 0,
            extremes: None,
            histogram: Histogram::new(),
            worst: Vec::with_capacity(WORST + 1),
        }
    }

    /// The same, with its first window from `start_ns` on.
    pub(crate) fn starting(series: SeriesId, start_ns: u64) -> Self {
        Self {
            start_ns,
            ..Self::new(series)
        }
    }

    /// The series.
    pub(crate) fn series(&self) -> SeriesId {
        self.series
    }

    /// Takes a sample.
    #[inline]
    pub(crate) fn sample(&mut self, at_ns: u64, value_ns: i64, number: u64) {
        self.counters.expected += 1;
        self.counters.received += 1;
        self.sum_ns += i128::from(value_ns);
        let (min, max) = self.extremes.unwrap_or((value_ns, value_ns));
        self.extremes = Some((min.min(value_ns), max.max(value_ns)));
        let in_range = u64::try_from(value_ns).is_ok_and(|ns| self.histogram.record(ns));
        if !in_range {
            self.counters.clipped += 1;
            if value_ns < 0 {
                self.histogram.record(0);
            }
        }
        if self.worst.len() < WORST || self.worst.last().is_some_and(|least| value_ns > least.value_ns) {
            let at = self.worst.partition_point(|other| other.value_ns >= value_ns);
            let spike = Spike {
                series: self.series,
                at_ns,
                value_ns,
                cpu: None,
                sequence: i64::try_from(number).ok().map(|_| number),
                explanation: None,
            };
            self.worst.insert(at, spike);
            self.worst.truncate(WORST);
        }
    }

    /// The counters of the open window.
    pub(crate) fn counters(&mut self) -> &mut Counters {
        &mut self.counters
    }

    /// Closes the window at `end_ns` into `batch`, and opens the next one.
    pub(crate) fn close(&mut self, end_ns: u64, batch: &mut Batch) {
        let counters = std::mem::take(&mut self.counters);
        if counters != Counters::default() {
            batch.windows.push(Window {
                series: self.series,
                start_ns: self.start_ns,
                end_ns: end_ns.max(self.start_ns + 1),
                counters,
                sum_ns: self.sum_ns,
                min_ns: self.extremes.map(|(min, _)| min),
                max_ns: self.extremes.map(|(_, max)| max),
                histogram: self.histogram.clone(),
            });
            batch.spikes.append(&mut self.worst);
        }
        self.histogram.reset();
        self.worst.clear();
        self.sum_ns = 0;
        self.extremes = None;
        self.start_ns = end_ns;
    }
}
