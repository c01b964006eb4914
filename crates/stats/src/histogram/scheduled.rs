//! The view over scheduled activations: what was measured, and what a stall kept from being measured.
//!
//! HdrHistogram's correction for omitted cycles guesses from the values alone: it puts samples back for every long value, also
//! where no period was skipped, and none for a stall of one to two periods. Here the number of skipped periods is known, and
//! exactly as many activations are put back.

use super::{Histogram, bounds_of, index_of};
use crate::Summary;

/// A histogram over scheduled activations.
#[derive(Debug, Clone)]
pub struct Scheduled {
    /// Measured values, and those that could be put back.
    histogram: Histogram,
    /// Sum of what was put back, in ns.
    added_ns: f64,
    /// Activations put back.
    placed: u64,
    /// Skipped activations that no measured sample explains. Nothing is known of them: they count as longer than all others.
    unplaced: u64,
}

impl Histogram {
    /// The view over scheduled activations, when `missed` of them were skipped and one is due every `period_ns`; `None`
    /// where no period is known.
    ///
    /// A sample of `v` that skipped `k` periods stands for activations that would have taken `v - period`, `v - 2 period`, …:
    /// at most as many as periods fit into `v`. Where long samples could have skipped more than were missed, the longest of
    /// these values are put back, so that a quantile is never too favourable. Where they could have skipped fewer, the rest has
    /// no place and counts as longer than everything: a quantile that reaches them is not given. In either case there are
    /// `missed` more activations than samples.
    pub fn scheduled(&self, period_ns: Option<f64>, missed: u64) -> Scheduled {
        let mut skipped = Self::new();
        if let Some(period_ns) = period_ns.filter(|ns| ns.is_finite() && *ns > 0.0 && missed > 0) {
            for bucket in self.buckets() {
                skipped.add_skipped(bucket.high_ns.min(self.max_ns), bucket.count, period_ns);
            }
        }
        let mut scheduled = Scheduled {
            histogram: self.clone(),
            added_ns: 0.0,
            placed: 0,
            unplaced: missed,
        };
        let values: Vec<(u64, u64)> = skipped
            .buckets()
            .map(|bucket| (bucket.high_ns.min(skipped.max_ns), bucket.count))
            .collect();
        for (ns, count) in values.into_iter().rev() {
            let taken = count.min(scheduled.unplaced);
            scheduled.histogram.record_n(ns, taken);
            scheduled.added_ns += ns as f64 * taken as f64;
            scheduled.placed += taken;
            scheduled.unplaced -= taken;
        }
        scheduled
    }

    /// Records `count` times the activations that a sample of `ns` can have skipped. Goes bucket by bucket, not period by
    /// period: a stall of seconds skips millions of short ones.
    fn add_skipped(&mut self, ns: u64, count: u64, period_ns: f64) {
        let periods = (ns as f64 / period_ns).floor() as u64;
        let mut k = 1;
        while k <= periods {
            let value = (ns as f64 - k as f64 * period_ns).ceil().max(0.0) as u64;
            let (low, _) = bounds_of(index_of(value));
            let last = ((ns.saturating_sub(low)) as f64 / period_ns).floor() as u64;
            let last = last.clamp(k, periods);
            self.record_n(value, count.saturating_mul(last - k + 1));
            k = last + 1;
        }
    }
}

impl Scheduled {
    /// Activations: samples measured and periods skipped.
    pub fn count(&self) -> u64 {
        self.histogram.count().saturating_add(self.unplaced)
    }

    /// Skipped activations that no measured sample explains.
    pub fn unplaced(&self) -> u64 {
        self.unplaced
    }

    /// Measured values and those put back, without the ones that have no place.
    pub fn placed(&self) -> &Histogram {
        &self.histogram
    }

    /// True if at least ten activations are expected beyond the quantile `q`: see [`Histogram::supports`].
    pub fn supports(&self, q: f64) -> bool {
        super::supports(self.count(), q)
    }

    /// The quantile `q` over all activations, in ns; never below the true one. `None` where too few lie beyond it, and where
    /// it is one of those that have no place.
    pub fn supported_quantile(&self, q: f64) -> Option<u64> {
        let rank = super::rank(q, self.count());
        let known = self.supports(q) && rank <= self.histogram.count();
        known.then(|| self.histogram.at_rank(rank).1)
    }

    /// Interval in ns that holds the quantile `q` over all activations, with at least the given confidence: between two order
    /// statistics whose ranks come from the binomial distribution (David and Nagaraja, Order Statistics, 2003, section
    /// 7.1), without any assumption about the distribution of the values. The ends are the outer edges of the buckets that
    /// hold these samples.
    ///
    /// It holds for **independent** samples. Stalls come in bursts, so latency samples are not, and the interval is then too
    /// narrow.
    ///
    /// `None` where [`Scheduled::supported_quantile`] is `None`, where the confidence is not between 0 and 1, where it is so high
    /// that the interval would reach beyond the samples, and where an end would be one that has no place.
    pub fn quantile_interval(&self, q: f64, confidence: f64) -> Option<(u64, u64)> {
        self.supported_quantile(q)?;
        let (low, high) = super::interval::ranks(q, self.count(), confidence)?;
        (high <= self.histogram.count()).then(|| (self.histogram.at_rank(low).0, self.histogram.at_rank(high).1))
    }

    /// Mean in ns, when the measured samples add up to `sum_ns`; `None` where some have no place. What was put back counts with
    /// the upper ends of its buckets.
    pub fn mean(&self, sum_ns: i128) -> Option<f64> {
        let known = self.unplaced == 0 && self.count() > 0;
        known.then(|| (sum_ns as f64 + self.added_ns) / self.count() as f64)
    }

    /// The figures over all activations, when the measured samples add up to `sum_ns`. There is no maximum where some have no
    /// place.
    pub fn summary(&self, sum_ns: i128) -> Summary {
        Summary {
            count: self.count(),
            min: self.histogram.min(),
            mean: self.mean(sum_ns),
            p50: self.supported_quantile(0.5),
            p99: self.supported_quantile(0.99),
            p999: self.supported_quantile(0.999),
            p9999: self.supported_quantile(0.9999),
            p99999: self.supported_quantile(0.99999),
            max: self.histogram.max().filter(|_| self.unplaced == 0),
        }
    }
}
