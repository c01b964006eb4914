//! The buckets of a histogram, unchanged or on a logarithmic scale.

use super::{Bucket, Histogram, bounds_of};

impl Histogram {
    /// The buckets that contain samples, in ascending order. Their edges are HdrHistogram's: the first may begin below
    /// [`Histogram::min`], the last may end above [`Histogram::max`].
    pub fn buckets(&self) -> impl Iterator<Item = Bucket> + '_ {
        self.counts.in_use().map(|(index, count)| {
            let (low_ns, high_ns) = bounds_of(index);
            Bucket { low_ns, high_ns, count }
        })
    }

    /// The samples in logarithmic bins, `per_decade` (1 to 1000) for each factor of ten, for plots. All bins from the first to the
    /// last with samples are included, also empty ones, and each begins at the end of the previous one. Bins narrower than 1 ns are
    /// joined. A bucket across an edge counts in the bin of its upper end, which moves a sample by less than one part in a
    /// thousand.
    pub fn log_buckets(&self, per_decade: u32) -> Vec<Bucket> {
        let mut bins = log_bins(per_decade);
        let mut at = 0;
        for bucket in self.buckets() {
            let value = bucket.high_ns.min(self.max_ns);
            at += bins[at..].iter().take_while(|bin| bin.high_ns < value).count();
            bins[at].count = bins[at].count.saturating_add(bucket.count);
        }
        let holds_samples = |bin: &Bucket| bin.count > 0;
        match (
            bins.iter().position(holds_samples),
            bins.iter().rposition(holds_samples),
        ) {
            (Some(first), Some(last)) => bins[first..=last].to_vec(),
            _ => Vec::new(),
        }
    }
}

/// Empty bins from 1 ns until the last contains 60 s, without a gap.
fn log_bins(per_decade: u32) -> Vec<Bucket> {
    let per_decade = f64::from(per_decade.clamp(1, 1000));
    let edge = |k: u32| 10f64.powf(f64::from(k) / per_decade).round() as u64;
    let mut bins = Vec::new();
    let mut low_ns = Histogram::LOWEST_NS;
    let mut k = 0;
    while low_ns <= Histogram::HIGHEST_NS {
        k += 1;
        let next = edge(k);
        if next > low_ns {
            bins.push(Bucket {
                low_ns,
                high_ns: next - 1,
                count: 0,
            });
            low_ns = next;
        }
    }
    bins
}
