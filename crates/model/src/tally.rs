//! Samples of a series in a span of time, collected during the measurement.

use crate::counters::{Counter, Counters};
use crate::series::SeriesId;
use crate::window::Window;
use stats::Histogram;

/// Samples and counts of one span, or of several spans merged.
#[derive(Debug, Clone)]
pub struct Tally {
    /// Counts of the samples that were due.
    pub counters: Counters,
    /// Exact sum of the samples, in ns.
    pub sum_ns: i128,
    /// Smallest sample, exact; `None` without samples.
    pub min_ns: Option<i64>,
    /// Largest sample, exact; `None` without samples.
    pub max_ns: Option<i64>,
    /// All samples. A negative one is recorded as 0, and counts as clipped.
    pub histogram: Histogram,
}

impl Default for Tally {
    fn default() -> Self {
        Self {
            counters: Counters::default(),
            sum_ns: 0,
            min_ns: None,
            max_ns: None,
            histogram: Histogram::new(),
        }
    }
}

impl Tally {
    /// Adds `n` samples of one value, which were due.
    #[inline]
    pub fn sample(&mut self, value_ns: i64, n: u64) {
        self.counters.expected += n;
        self.counters.received += n;
        self.sum_ns += i128::from(value_ns) * i128::from(n);
        self.min_ns = Some(self.min_ns.map_or(value_ns, |min| min.min(value_ns)));
        self.max_ns = Some(self.max_ns.map_or(value_ns, |max| max.max(value_ns)));
        let is_in_range = self.histogram.record_n(u64::try_from(value_ns).unwrap_or(0), n) && value_ns >= 0;
        if !is_in_range {
            self.counters.clipped += n;
        }
    }

    /// Adds to a counter; see [`Counters::count`].
    pub fn count(&mut self, counter: Counter, n: u64) {
        self.counters.count(counter, n);
    }

    /// True if nothing happened.
    pub fn is_empty(&self) -> bool {
        self.counters == Counters::default()
    }

    /// Mean in ns; `None` without samples.
    pub fn mean_ns(&self) -> Option<f64> {
        let n = self.histogram.count();
        (n > 0).then(|| self.sum_ns as f64 / n as f64)
    }

    /// Adds another span.
    pub fn merge(&mut self, other: &Self) {
        self.counters.add(&other.counters);
        self.sum_ns += other.sum_ns;
        self.extremes(other.min_ns, other.max_ns);
        self.histogram.merge(&other.histogram);
    }

    /// Widens the extremes to those of other samples.
    pub fn extremes(&mut self, min_ns: Option<i64>, max_ns: Option<i64>) {
        self.min_ns = self.min_ns.into_iter().chain(min_ns).min();
        self.max_ns = self.max_ns.into_iter().chain(max_ns).max();
    }

    /// Resets it to its initial state, but keeps the allocated memory.
    pub fn reset(&mut self) {
        self.counters = Counters::default();
        self.sum_ns = 0;
        (self.min_ns, self.max_ns) = (None, None);
        self.histogram.reset();
    }

    /// Turns this tally into the window from `start_ns` to `end_ns` of a series.
    pub fn window(&self, series: SeriesId, start_ns: u64, end_ns: u64) -> Window {
        Window {
            series,
            start_ns,
            end_ns,
            counters: self.counters,
            sum_ns: self.sum_ns,
            min_ns: self.min_ns,
            max_ns: self.max_ns,
            histogram: self.histogram.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Tally;
    use crate::counters::Counter;

    #[test]
    fn samples_out_of_range_are_clipped_and_keep_their_value_in_sum_and_extremes() {
        let mut tally = Tally::default();
        tally.sample(500, 2);
        tally.sample(-7, 1);
        tally.count(Counter::Lost, 3);
        let counters = tally.counters;
        assert_eq!(
            (counters.expected, counters.received, counters.lost, counters.clipped),
            (6, 3, 3, 1)
        );
        assert_eq!((tally.sum_ns, tally.min_ns, tally.max_ns), (993, Some(-7), Some(500)));
        assert_eq!(
            (tally.histogram.count(), tally.histogram.min()),
            (3, Some(1)),
            "a histogram begins at 1 ns"
        );
    }

    #[test]
    fn two_spans_are_one() {
        let (mut first, mut second) = (Tally::default(), Tally::default());
        first.sample(10, 1);
        second.sample(30, 3);
        let mut empty = Tally::default();
        assert!(empty.is_empty() && empty.mean_ns().is_none());
        empty.merge(&first);
        empty.merge(&second);
        assert_eq!(
            (empty.mean_ns(), empty.min_ns, empty.max_ns),
            (Some(25.0), Some(10), Some(30))
        );
        empty.reset();
        assert!(empty.is_empty() && empty.histogram.count() == 0);
    }
}
