//! Windows: the measurements of a series in one span of time.

use crate::counters::Counters;
use crate::figures::{Figure, FigureValue};
use crate::series::SeriesId;
use stats::Histogram;

/// One closed window of one series, as it is passed to the file.
#[derive(Debug, Clone)]
pub struct Window {
    /// Series it belongs to.
    pub series: SeriesId,
    /// Start of the window.
    pub start_ns: u64,
    /// End of the window; the last one may be shorter than the rest.
    pub end_ns: u64,
    /// Counts of its samples.
    pub counters: Counters,
    /// Sum of the samples, for exact means over any set of windows. `i128` because delivery deltas may be negative.
    pub sum_ns: i128,
    /// Smallest sample, exact. `None` without samples.
    pub min_ns: Option<i64>,
    /// Largest sample, exact. `None` without samples.
    pub max_ns: Option<i64>,
    /// Its histogram: negative samples are recorded as 0 and counted in `clipped`.
    pub histogram: Histogram,
}

/// A window read back from the file. To keep the file small, its histogram may have been merged with those of neighbouring windows,
/// so histograms are read per series, not per window; the quantiles were computed before that.
#[derive(Debug, Clone, PartialEq)]
pub struct WindowRow {
    /// Start of the window.
    pub start_ns: u64,
    /// End of the window.
    pub end_ns: u64,
    /// Counts of its samples.
    pub counters: Counters,
    /// Number of samples in its histogram.
    pub samples: u64,
    /// Exact sum of the samples in ns.
    pub sum_ns: i128,
    /// Mean of the samples; `None` without samples.
    pub mean_ns: Option<f64>,
    /// Smallest sample.
    pub min_ns: Option<i64>,
    /// Largest sample.
    pub max_ns: Option<i64>,
    /// Median.
    pub p50_ns: Option<u64>,
    /// 99 % quantile.
    pub p99_ns: Option<u64>,
    /// 99.9 % quantile.
    pub p999_ns: Option<u64>,
}

impl WindowRow {
    /// The figures that a window keeps, in the order of the first run files.
    pub const FIGURES: [Figure; 6] = [
        Figure::Mean,
        Figure::Min,
        Figure::P50,
        Figure::P99,
        Figure::P999,
        Figure::Max,
    ];

    /// The value of one figure, in ns; also `None` for a figure that windows do not keep.
    pub fn figure(&self, figure: Figure) -> Option<FigureValue> {
        match figure {
            Figure::Mean => self.mean_ns.map(FigureValue::from),
            Figure::Min => self.min_ns.map(FigureValue::from),
            Figure::Max => self.max_ns.map(FigureValue::from),
            Figure::P50 => self.p50_ns.map(FigureValue::from),
            Figure::P99 => self.p99_ns.map(FigureValue::from),
            Figure::P999 => self.p999_ns.map(FigureValue::from),
            Figure::P9999 | Figure::P99999 => None,
        }
    }
}
