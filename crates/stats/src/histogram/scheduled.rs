//! The view over scheduled activations: the measured ones, and the ones that a stall kept from being measured.
//!
//! HdrHistogram's correction for omitted cycles guesses from the values alone: it adds samples for every long value, even if no
//! period was skipped, and none for a stall of one to two periods. Here the number of skipped periods is known, and exactly as many
//! activations are added.

use super::{Histogram, bounds_of, index_of};
use crate::Summary;

/// A histogram over scheduled activations.
#[derive(Debug, Clone)]
pub struct Scheduled {
    /// Measured values, and the added ones that a measured sample explains.
    histogram: Histogram,
    /// Sum of the added values, in ns.
    added_ns: f64,
    /// Number of activations added.
    placed: u64,
    /// Skipped activations that no measured sample explains. Their length is unknown: they count as longer than all others.
    unplaced: u64,
}

impl Histogram {
    /// The view over scheduled activations, if `missed` of them were skipped and one is due every `period_ns`; `None` if no period
    /// is known.
    ///
    /// A sample of `v` that skipped `k` periods represents activations that would have taken `v - period`, `v - 2 period`, …: at
    /// most as many as there are periods in `v`. If long samples could have skipped more than were missed, the longest of these
    /// values are added, so that a quantile is never too favourable. If they could have skipped fewer, the rest has no value and
    /// counts as longer than everything: a quantile that reaches them is not given. In either case there are `missed` more
    /// activations than samples.
    pub fn scheduled(&self, period_ns: Option<f64>, missed: u64) -> Scheduled {
        let mut skipped = Self::new();
        // A damaged file may name a fraction of a nanosecond: then a sample has more periods than a float can count.
        if let Some(period_ns) = period_ns.filter(|ns| ns.is_finite() && *ns >= 1.0 && missed > 0) {
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

    /// Records `count` times the activations that a sample of `ns` can have skipped. Works bucket by bucket, not period by period:
    /// a stall of seconds skips millions of short periods.
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
    /// Number of activations: samples measured and periods skipped.
    pub fn count(&self) -> u64 {
        self.histogram.count().saturating_add(self.unplaced)
    }

    /// Skipped activations that no measured sample explains.
    pub fn unplaced(&self) -> u64 {
        self.unplaced
    }

    /// Measured and added values, without the skipped ones that no sample explains.
    pub fn placed(&self) -> &Histogram {
        &self.histogram
    }

    /// True if at least ten activations are expected beyond the quantile `q`: see [`Histogram::supports`].
    pub fn supports(&self, q: f64) -> bool {
        super::supports(self.count(), q)
    }

    /// The quantile `q` over all activations, in ns; never below the true one. `None` if too few are beyond it, or if it is one of
    /// those without a value.
    pub fn supported_quantile(&self, q: f64) -> Option<u64> {
        let rank = super::rank(q, self.count());
        let known = self.supports(q) && rank <= self.histogram.count();
        known.then(|| self.histogram.at_rank(rank).1)
    }

    /// Interval in ns that contains the quantile `q` over all activations, with at least the given confidence: between two order
    /// statistics whose ranks come from the binomial distribution (David and Nagaraja, Order Statistics, 2003, section 7.1),
    /// without any assumption about the distribution of the values. The ends are the outer edges of the buckets with these samples.
    ///
    /// It is valid for **independent** samples. Stalls come in bursts, so latency samples are not independent, and the interval is
    /// then too narrow.
    ///
    /// `None` if [`Scheduled::supported_quantile`] is `None`, if the confidence is not between 0 and 1, if it is so high that the
    /// interval would reach beyond the samples, or if an end would be an activation without a value.
    pub fn quantile_interval(&self, q: f64, confidence: f64) -> Option<(u64, u64)> {
        self.supported_quantile(q)?;
        let (low, high) = super::interval::ranks(q, self.count(), confidence)?;
        (high <= self.histogram.count()).then(|| (self.histogram.at_rank(low).0, self.histogram.at_rank(high).1))
    }

    /// Mean in ns, if the measured samples add up to `sum_ns`; `None` if some activations have no value. Added values count as the
    /// upper ends of their buckets.
    pub fn mean(&self, sum_ns: i128) -> Option<f64> {
        let known = self.unplaced == 0 && self.count() > 0;
        known.then(|| (sum_ns as f64 + self.added_ns) / self.count() as f64)
    }

    /// The figures over all activations, if the measured samples add up to `sum_ns`. There is no maximum if some activations have
    /// no value.
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
