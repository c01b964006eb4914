//! A series whose samples are read from a file instead of measured.

use crate::thresholds::Thresholds;
use model::{Counters, SeriesId, SeriesSpec, Spike, Tally};
use stats::Worst;
use store::{Batch, RunWriter, StoreError};
use units::{Ns, SignedNs};

/// Number of worst samples kept per window.
const WORST: usize = 20;

/// A series with its open window.
pub struct ReadSeries {
    series: SeriesId,
    threshold_ns: Option<u64>,
    start_ns: u64,
    tally: Tally,
    worst: Worst<Read>,
}

/// Instant of a sample, and its number.
struct Read {
    at_ns: u64,
    number: u64,
}

impl ReadSeries {
    /// Adds a series to `run`, with the threshold set for its name if `spec` has none; its first window begins at `start_ns` since
    /// the run's start.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn open(
        run: &mut RunWriter,
        spec: SeriesSpec,
        thresholds: &Thresholds,
        start_ns: u64,
    ) -> Result<Self, StoreError> {
        let threshold_ns = spec.threshold_ns.or_else(|| thresholds.of(&spec.name));
        let series = run.add_series(&SeriesSpec { threshold_ns, ..spec })?;
        Ok(Self::new(series, threshold_ns, start_ns))
    }

    /// Continues a series that the run already has; samples above `threshold_ns` are counted as over the threshold.
    pub fn new(series: SeriesId, threshold_ns: Option<u64>, start_ns: u64) -> Self {
        Self {
            series,
            threshold_ns,
            start_ns,
            tally: Tally::default(),
            worst: Worst::new(WORST),
        }
    }

    /// The series.
    pub fn series(&self) -> SeriesId {
        self.series
    }

    /// Adds a sample measured at `at_ns` since the run's start.
    #[inline]
    pub fn sample(&mut self, at_ns: u64, value_ns: i64, number: u64) {
        self.tally.sample(value_ns, 1);
        let is_over = |allowed: u64| SignedNs(value_ns) > Ns(allowed);
        self.tally.counters.overflow += u64::from(self.threshold_ns.is_some_and(is_over));
        if self.worst.takes(value_ns) {
            self.worst.offer(value_ns, Read { at_ns, number });
        }
    }

    /// The counters of the open window.
    pub fn counters(&mut self) -> &mut Counters {
        &mut self.tally.counters
    }

    /// Closes the window at `end_ns` into `batch`, and opens the next one. An empty window adds nothing.
    pub fn close(&mut self, end_ns: u64, batch: &mut Batch) {
        if !self.tally.is_empty() {
            let end_ns = end_ns.max(self.start_ns + 1);
            batch
                .windows
                .push(self.tally.window(self.series, self.start_ns, end_ns));
            let worst = self.worst.take().into_iter();
            batch.spikes.extend(worst.map(|(value_ns, read)| Spike {
                series: self.series,
                at_ns: read.at_ns,
                value_ns,
                cpu: None,
                // The run file cannot store larger numbers.
                sequence: i64::try_from(read.number).ok().map(|_| read.number),
                explanation: None,
            }));
        }
        self.tally.reset();
        self.start_ns = end_ns;
    }
}
