//! The figures of a histogram that a result line shows.

use crate::Histogram;

/// Count, extremes, mean and the quantiles that the count supports, in ns.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Summary {
    /// Number of samples.
    pub count: u64,
    /// Smallest sample; `None` without samples.
    pub min: Option<u64>,
    /// Mean in ns, to three digits.
    pub mean: Option<f64>,
    /// Median; `None` below 20 samples.
    pub p50: Option<u64>,
    /// 99 % quantile; `None` below 1000 samples.
    pub p99: Option<u64>,
    /// 99.9 % quantile; `None` below 10 000 samples.
    pub p999: Option<u64>,
    /// 99.99 % quantile; `None` below 100 000 samples.
    pub p9999: Option<u64>,
    /// 99.999 % quantile; `None` below 1 000 000 samples.
    pub p99999: Option<u64>,
    /// Largest sample; `None` without samples.
    pub max: Option<u64>,
}

/// The quantiles of a summary.
const QUANTILES: [f64; 5] = [0.5, 0.99, 0.999, 0.9999, 0.99999];

impl Summary {
    /// The figures of `histogram`. A quantile with fewer than ten samples beyond it is `None`: see
    /// [`Histogram::supports`].
    pub fn of(histogram: &Histogram) -> Self {
        let values = histogram.quantiles(QUANTILES);
        let supported = |index: usize| values[index].filter(|_| histogram.supports(QUANTILES[index]));
        Self {
            count: histogram.count(),
            min: histogram.min(),
            mean: histogram.mean(),
            p50: supported(0),
            p99: supported(1),
            p999: supported(2),
            p9999: supported(3),
            p99999: supported(4),
            max: histogram.max(),
        }
    }
}

impl From<&Histogram> for Summary {
    fn from(histogram: &Histogram) -> Self {
        Self::of(histogram)
    }
}

#[cfg(test)]
mod tests {
    use super::Summary;
    use crate::Histogram;

    #[test]
    fn nothing_measured_has_no_figures() {
        assert_eq!(Summary::of(&Histogram::new()), Summary::default());
    }

    #[test]
    fn a_quantile_appears_with_the_count_that_supports_it() {
        let mut histogram = Histogram::new();
        for (count, supported) in [
            (19, 0),
            (20, 1),
            (999, 1),
            (1_000, 2),
            (9_999, 2),
            (10_000, 3),
            (99_999, 3),
            (100_000, 4),
        ]
        .into_iter()
        .chain([(999_999, 4), (1_000_000, 5)])
        {
            histogram.record_n(1_500, count - histogram.count());
            let summary = Summary::of(&histogram);
            let shown = [summary.p50, summary.p99, summary.p999, summary.p9999, summary.p99999];
            assert_eq!(shown.iter().flatten().count(), supported, "{count} samples");
            assert!(
                shown[..supported].iter().all(|value| *value == Some(1_500)),
                "{count} samples"
            );
        }
    }

    #[test]
    fn figures_of_a_known_stream() {
        let mut histogram = Histogram::new();
        for ns in 1..=2_000 {
            histogram.record(ns);
        }
        let summary = Summary::of(&histogram);
        assert_eq!((summary.count, summary.min, summary.max), (2_000, Some(1), Some(2_000)));
        assert_eq!(
            (summary.mean, summary.p50, summary.p99),
            (Some(1_000.5), Some(1_000), Some(1_980))
        );
        assert_eq!(summary.p999, None);
    }
}
