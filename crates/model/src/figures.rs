//! The figures of a series.

use stats::Summary;

/// The figures of a series that every form of the report shows, in ns.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Figures {
    /// Smallest sample.
    pub min: Option<i64>,
    /// Mean.
    pub mean: Option<f64>,
    /// Median. As all quantiles, `None` where fewer than ten samples lie beyond it.
    pub p50: Option<u64>,
    /// 99 % quantile.
    pub p99: Option<u64>,
    /// 99.9 % quantile.
    pub p999: Option<u64>,
    /// 99.99 % quantile.
    pub p9999: Option<u64>,
    /// 99.999 % quantile.
    pub p99999: Option<u64>,
    /// Largest sample.
    pub max: Option<i64>,
}

impl From<&Summary> for Figures {
    fn from(summary: &Summary) -> Self {
        let whole = |ns: Option<u64>| ns.and_then(|ns| i64::try_from(ns).ok());
        Self {
            min: whole(summary.min),
            mean: summary.mean,
            p50: summary.p50,
            p99: summary.p99,
            p999: summary.p999,
            p9999: summary.p9999,
            p99999: summary.p99999,
            max: whole(summary.max),
        }
    }
}

impl Figures {
    /// Negative samples are in the histogram as its lowest value: a quantile that would be above the largest sample is not
    /// known, but for being below zero. Without a maximum as they are.
    pub(crate) fn below(mut self, max_ns: Option<i64>) -> Self {
        let Some(max_ns) = max_ns else { return self };
        let quantiles = [
            &mut self.p50,
            &mut self.p99,
            &mut self.p999,
            &mut self.p9999,
            &mut self.p99999,
        ];
        for quantile in quantiles {
            *quantile = quantile.filter(|_| max_ns >= 0).map(|ns| ns.min(max_ns.unsigned_abs()));
        }
        self
    }
}
