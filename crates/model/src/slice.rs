//! Slices: the course of a series in steps of a tenth of a second, so that the time around a shot can be looked at alone.

use crate::counters::Counter;
use crate::kind::{self, Kind};
use crate::series::SeriesId;

/// Length of a slice as it is measured, in ns. Older slices of a long run may be merged into longer ones.
pub const SLICE_NS: u64 = 100_000_000;

/// Samples and counts of one slice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Slice {
    /// Number of samples.
    pub samples: u64,
    /// Largest sample in ns; no meaning without samples.
    pub max_ns: i64,
    /// Samples that took longer than their interval, as [`Counter::Late`].
    pub late: u64,
    /// Periods skipped, as [`Counter::Missed`].
    pub missed: u64,
}

impl Slice {
    /// Adds the samples and counts of another slice.
    pub fn add(&mut self, other: &Self) {
        self.max_ns = match (self.samples, other.samples) {
            (0, _) => other.max_ns,
            (_, 0) => self.max_ns,
            _ => self.max_ns.max(other.max_ns),
        };
        self.samples = self.samples.saturating_add(other.samples);
        self.late = self.late.saturating_add(other.late);
        self.missed = self.missed.saturating_add(other.missed);
    }
}

/// Consecutive slices of a series, or of all series of its kind that one thread measured: a relay's streams.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Slices {
    /// The series; of several, the first.
    pub series: SeriesId,
    /// Start of the first slice.
    pub start_ns: u64,
    /// Length of each slice.
    pub slice_ns: u64,
    /// The slices, without a gap.
    pub slices: Vec<Slice>,
}

impl Slices {
    /// Slices of a series from the slice that contains `at_ns`; none yet.
    pub fn from(series: SeriesId, at_ns: u64) -> Self {
        Self {
            series,
            start_ns: at_ns / SLICE_NS * SLICE_NS,
            slice_ns: SLICE_NS,
            slices: Vec::new(),
        }
    }

    /// End of the last slice.
    pub fn end_ns(&self) -> u64 {
        let length_ns = self.slice_ns.saturating_mul(self.slices.len() as u64);
        self.start_ns.saturating_add(length_ns)
    }

    /// Number of the slice that contains `at_ns`; an instant before the first one is in the first.
    pub fn index(&self, at_ns: u64) -> usize {
        usize::try_from(at_ns.saturating_sub(self.start_ns) / self.slice_ns.max(1)).unwrap_or(usize::MAX)
    }

    /// The slice with this number, made if it is beyond the last.
    pub fn at(&mut self, index: usize) -> &mut Slice {
        if self.slices.len() <= index {
            self.slices.resize(index + 1, Slice::default());
        }
        &mut self.slices[index]
    }

    /// Merges each two neighbours: half as many slices, each twice as long.
    pub fn halve(&mut self) {
        let merged = self.slices.chunks(2).map(|pair| {
            let mut sum = pair[0];
            pair.get(1).into_iter().for_each(|second| sum.add(second));
            sum
        });
        self.slices = merged.collect();
        self.slice_ns = self.slice_ns.saturating_mul(2);
    }
}

impl Kind {
    /// True if the course of such series is kept in slices: the task of a relay, and the three readings of its receive latency.
    pub fn is_sliced(&self) -> bool {
        [&kind::TASK, &kind::DELIVERY, &kind::AGE, &kind::USE].contains(&self)
    }
}

impl Slice {
    /// Counts `n` of a counter that slices have; the others stand in the windows alone.
    pub fn count(&mut self, counter: Counter, n: u64) {
        match counter {
            Counter::Late => self.late += n,
            Counter::Missed => self.missed += n,
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{SLICE_NS, Slice, Slices};
    use crate::series::SeriesId;

    fn slice(samples: u64, max_ns: i64, late: u64) -> Slice {
        Slice {
            samples,
            max_ns,
            late,
            missed: 0,
        }
    }

    #[test]
    fn merged_slices_keep_every_count_and_the_largest_sample() {
        let mut slices = Slices::from(SeriesId(3), 250_000_000);
        assert_eq!(slices.start_ns, 200_000_000);
        *slices.at(0) = slice(2, -7, 0);
        *slices.at(2) = slice(1, 900, 1);
        assert_eq!(slices.end_ns(), 500_000_000);
        slices.halve();
        assert_eq!((slices.slice_ns, slices.slices.len()), (2 * SLICE_NS, 2));
        assert_eq!(
            slices.slices,
            [slice(2, -7, 0), slice(1, 900, 1)],
            "no sample is no sample of 0"
        );
        slices.halve();
        assert_eq!(slices.slices, [slice(3, 900, 1)]);
        assert_eq!(slices.index(1_000_000_000), 2);
    }
}
