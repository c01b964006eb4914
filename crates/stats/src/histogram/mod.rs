//! A histogram of nanoseconds with fixed bounds and a fixed relative resolution.

mod bins;
mod bytes;
mod counts;
mod interval;
#[cfg(test)]
mod interval_tests;
mod scheduled;
#[cfg(test)]
mod scheduled_tests;
#[cfg(test)]
mod tests;

pub use bytes::HistogramError;
pub(crate) use interval::ranks;
pub use scheduled::Scheduled;

use counts::{Counts, bounds_of, index_of};

/// Significant decimal digits a value keeps: two values that differ by less than one part in a thousand may share a bucket.
const DIGITS: u8 = 3;

/// Fewest samples that must be beyond a quantile so that it does not depend on the luck of single samples.
const SAMPLES_BEYOND: f64 = 10.0;

/// An HdrHistogram of nanoseconds: 1 ns to 60 s, three significant digits.
///
/// Counts are allocated where samples fall: 10 to 100 KB for the latencies of a stream, at most 220 KB ([`Histogram::heap_bytes`]).
/// So recording may allocate, and a measuring thread must not own one. In addition to the buckets, the smallest and largest sample
/// are kept to the nanosecond.
///
/// Two histograms are equal if their buckets are; the exact extremes are not compared, because they are not part of the serialised
/// form.
#[derive(Clone)]
pub struct Histogram {
    counts: Counts,
    min_ns: u64,
    max_ns: u64,
}

/// Samples between two values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bucket {
    /// Lowest value that falls into it, in ns.
    pub low_ns: u64,
    /// Highest value that falls into it, in ns.
    pub high_ns: u64,
    /// Number of samples.
    pub count: u64,
}

impl Histogram {
    /// Lowest value that is distinguished from others: 1 ns.
    pub const LOWEST_NS: u64 = 1;

    /// Highest value a sample can keep: 60 s.
    pub const HIGHEST_NS: u64 = 60_000_000_000;

    /// An empty histogram, which takes no memory yet.
    pub fn new() -> Self {
        Self::around(Counts::default())
    }

    /// Makes a histogram from `counts`, whose extremes are known only to its buckets' edges.
    fn around(counts: Counts) -> Self {
        let mut extremes = (u64::MAX, 0);
        for (index, _) in counts.in_use() {
            let (low, high) = bounds_of(index);
            extremes = (extremes.0.min(low), high);
        }
        let (min_ns, max_ns) = match counts.total() {
            0 => extremes,
            _ => (extremes.0.max(Self::LOWEST_NS), extremes.1.min(Self::HIGHEST_NS)),
        };
        Self { counts, min_ns, max_ns }
    }

    /// Adds one sample of `ns` nanoseconds. Returns `false` if it was above 60 s: it is then recorded as 60 s, and the caller
    /// counts it as clipped. 0 is recorded as 1 ns and is not clipped: no clock here distinguishes the two.
    pub fn record(&mut self, ns: u64) -> bool {
        self.record_n(ns, 1)
    }

    /// Adds `count` samples of the same value; otherwise as [`Histogram::record`].
    pub fn record_n(&mut self, ns: u64, count: u64) -> bool {
        let value = ns.clamp(Self::LOWEST_NS, Self::HIGHEST_NS);
        if count > 0 {
            self.counts.add(index_of(value), count);
            self.min_ns = self.min_ns.min(value);
            self.max_ns = self.max_ns.max(value);
        }
        ns <= Self::HIGHEST_NS
    }

    /// Adds all samples of `other`.
    pub fn merge(&mut self, other: &Self) {
        self.counts.merge(&other.counts);
        self.min_ns = self.min_ns.min(other.min_ns);
        self.max_ns = self.max_ns.max(other.max_ns);
    }

    /// Removes every sample. Memory is kept where samples were since the last reset, and freed elsewhere.
    pub fn reset(&mut self) {
        self.counts.reset();
        self.min_ns = u64::MAX;
        self.max_ns = 0;
    }

    /// Bytes of memory that its counts take now.
    pub fn heap_bytes(&self) -> usize {
        self.counts.heap_bytes()
    }

    /// Number of recorded samples.
    pub fn count(&self) -> u64 {
        self.counts.total()
    }

    /// True if nothing was recorded.
    pub fn is_empty(&self) -> bool {
        self.count() == 0
    }

    /// Smallest sample in ns. Exact for samples recorded or merged here; after [`Histogram::from_bytes`] it is the lower edge of
    /// its bucket, unless [`Histogram::with_extremes`] restored it.
    pub fn min(&self) -> Option<u64> {
        (!self.is_empty()).then_some(self.min_ns)
    }

    /// Largest sample in ns, at most 60 s. Exact under the same conditions as [`Histogram::min`]; else the upper edge of its
    /// bucket.
    pub fn max(&self) -> Option<u64> {
        (!self.is_empty()).then_some(self.max_ns)
    }

    /// Restores the smallest and largest sample, which the serialised form lost. A value outside the first or last bucket cannot be
    /// the extreme of these samples: then the bucket's edge stays. If the smallest is above the largest, both edges stay.
    #[must_use]
    pub fn with_extremes(mut self, min_ns: u64, max_ns: u64) -> Self {
        if self.is_empty() || min_ns > max_ns {
            return self;
        }
        let min_ns = min_ns.clamp(Self::LOWEST_NS, Self::HIGHEST_NS);
        let max_ns = max_ns.clamp(Self::LOWEST_NS, Self::HIGHEST_NS);
        if index_of(min_ns) == index_of(self.min_ns) {
            self.min_ns = min_ns;
        }
        if index_of(max_ns) == index_of(self.max_ns) {
            self.max_ns = max_ns;
        }
        self
    }

    /// Mean in ns from the middles of the buckets, so accurate to three digits. The exact mean needs the exact sum, which the run
    /// file keeps.
    pub fn mean(&self) -> Option<f64> {
        let count = self.count();
        let sum: f64 = self
            .buckets()
            .map(|bucket| {
                let low = bucket.low_ns.max(self.min_ns) as f64;
                let high = bucket.high_ns.min(self.max_ns) as f64;
                (low + (high - low) / 2.0) * bucket.count as f64
            })
            .sum();
        (count > 0).then(|| (sum / count as f64).clamp(self.min_ns as f64, self.max_ns as f64))
    }

    /// A value in ns that at least the share `q` of the samples do not exceed: the upper edge of the bucket with the sample of rank
    /// `ceil(q * count)`, but never above [`Histogram::max`]. So its error is towards the worse, by less than one part in a
    /// thousand. `None` without samples; a `q` outside 0 to 1 is taken as 0 or 1.
    pub fn quantile(&self, q: f64) -> Option<u64> {
        let [value] = self.quantiles([q]);
        value
    }

    /// Several quantiles in one pass; `qs` in ascending order. Each equals the result of [`Histogram::quantile`].
    pub fn quantiles<const N: usize>(&self, qs: [f64; N]) -> [Option<u64>; N] {
        let ranks = qs.map(|q| rank(q, self.count()));
        let mut values = [None; N];
        let mut seen = 0u64;
        let mut next = 0;
        for bucket in self.buckets() {
            seen = seen.saturating_add(bucket.count);
            while next < N && seen >= ranks[next] {
                values[next] = Some(bucket.high_ns.min(self.max_ns));
                next += 1;
            }
            if next == N {
                break;
            }
        }
        values
    }

    /// True if at least ten samples are expected beyond the quantile `q`, on its thinner side: with fewer, it depends on the luck
    /// of single samples. The 99.9 % quantile takes 10 000 samples.
    pub fn supports(&self, q: f64) -> bool {
        supports(self.count(), q)
    }

    /// Largest possible number of samples above `ns`: samples in the bucket of `ns` count if that bucket or the largest sample
    /// reaches beyond it. So it is an upper bound, and exact if `ns` is the upper edge of a bucket (as below 2048 ns, where every
    /// nanosecond has its own bucket). An exact count over a threshold is kept during the measurement.
    pub fn count_above_at_most(&self, ns: u64) -> u64 {
        self.buckets()
            .skip_while(|bucket| bucket.high_ns.min(self.max_ns) <= ns)
            .fold(0, |sum, bucket| sum.saturating_add(bucket.count))
    }

    /// Number of samples that are certainly above `ns`: samples in the same bucket as `ns` are not counted, although some may be
    /// above it. A lower bound, while [`Histogram::count_above_at_most`] is an upper one.
    pub fn count_above(&self, ns: u64) -> u64 {
        self.buckets()
            .skip_while(|bucket| bucket.low_ns <= ns)
            .fold(0, |sum, bucket| sum.saturating_add(bucket.count))
    }
}

/// True if ten of `count` samples are expected beyond the quantile `q`.
fn supports(count: u64, q: f64) -> bool {
    let beyond = count as f64 * q.min(1.0 - q);
    // 1.0 - 0.9999 is not quite 0.0001: the last bits of q must not decide.
    beyond >= SAMPLES_BEYOND * (1.0 - 1e-9)
}

/// Rank, from 1, of the sample that is the quantile `q` of `count` samples.
fn rank(q: f64, count: u64) -> u64 {
    let exact = q.clamp(0.0, 1.0) * count as f64;
    let nearest = exact.round();
    // 0.07 * 100 is a little over 7: a result within a few units in the last place of a whole number is taken as that number.
    let whole = if (exact - nearest).abs() <= exact * 4.0 * f64::EPSILON {
        nearest
    } else {
        exact.ceil()
    };
    (whole as u64).clamp(1, count.max(1))
}

impl Default for Histogram {
    fn default() -> Self {
        Self::new()
    }
}

impl PartialEq for Histogram {
    fn eq(&self, other: &Self) -> bool {
        self.counts == other.counts
    }
}

impl std::fmt::Debug for Histogram {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Histogram")
            .field("count", &self.count())
            .field("min_ns", &self.min())
            .field("max_ns", &self.max())
            .finish()
    }
}
