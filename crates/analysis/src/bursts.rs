//! Bursts: runs of frames that come much closer together than they are due, because a stall upstream released them at once.

use stats::Histogram;

/// Number of spacings after which the nominal one is first computed; it is computed again each time their number has doubled.
const FIRST_LOOK: u64 = 64;
/// Smallest number of spacings from which the nominal one is computed.
const FEWEST: usize = 8;

/// Bursts of a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct BurstCounts {
    /// Number of bursts.
    pub count: u64,
    /// Number of frames in the longest burst.
    pub longest: u64,
}

/// Counts bursts: runs of frames closer than a quarter of the nominal spacing, which is the median of the spacings so far.
#[derive(Debug, Clone, Default)]
pub(crate) struct Bursts {
    nominal_ns: Option<i64>,
    /// Spacings from before the nominal one was known.
    early: Vec<i64>,
    seen: u64,
    next_look: u64,
    /// Short spacings in a row.
    run: u64,
    counts: BurstCounts,
}

impl Bursts {
    /// The nominal spacing in ns, if it is already known.
    pub(crate) fn nominal_ns(&self) -> Option<i64> {
        self.nominal_ns
    }

    /// Takes a spacing that is already in `histogram`.
    #[inline]
    pub(crate) fn take(&mut self, ns: i64, histogram: &Histogram) {
        self.seen += 1;
        match self.nominal_ns {
            Some(nominal_ns) => self.judge(ns, nominal_ns),
            None => self.early.push(ns),
        }
        if self.seen >= self.next_look.max(FIRST_LOOK) {
            self.look(histogram);
        }
    }

    #[cold]
    fn look(&mut self, histogram: &Histogram) {
        self.next_look = 2 * self.seen;
        if self.nominal_ns.is_none() {
            self.settle_on(median(&self.early));
        } else if histogram.count() >= FIRST_LOOK {
            self.nominal_ns = histogram.quantile(0.5).and_then(|ns| i64::try_from(ns).ok());
        } else {
            // The window has just begun.
            self.next_look = self.seen + FIRST_LOOK;
        }
    }

    fn settle_on(&mut self, nominal_ns: Option<i64>) {
        let Some(nominal_ns) = nominal_ns else { return };
        self.nominal_ns = Some(nominal_ns);
        for ns in std::mem::take(&mut self.early) {
            self.judge(ns, nominal_ns);
        }
    }

    #[inline]
    fn judge(&mut self, ns: i64, nominal_ns: i64) {
        if ns < nominal_ns / 4 {
            self.run += 1;
        } else if self.run > 0 {
            self.end_run();
        }
    }

    fn end_run(&mut self) {
        self.counts.count += 1;
        self.counts.longest = self.counts.longest.max(self.run + 1);
        self.run = 0;
    }

    /// The bursts and the nominal spacing, at the end of the stream.
    pub(crate) fn finish(&mut self) -> (BurstCounts, Option<i64>) {
        if self.nominal_ns.is_none() && self.early.len() >= FEWEST {
            self.settle_on(median(&self.early));
        }
        if self.run > 0 {
            self.end_run();
        }
        (self.counts, self.nominal_ns)
    }
}

fn median(spacings: &[i64]) -> Option<i64> {
    let mut sorted = spacings.to_vec();
    sorted.sort_unstable();
    sorted.get(sorted.len() / 2).copied()
}

#[cfg(test)]
mod tests {
    use super::{BurstCounts, Bursts};
    use stats::Histogram;

    fn of(spacings: impl IntoIterator<Item = i64>) -> (BurstCounts, Option<i64>) {
        let (mut bursts, mut histogram) = (Bursts::default(), Histogram::new());
        for ns in spacings {
            histogram.record(ns as u64);
            bursts.take(ns, &histogram);
        }
        bursts.finish()
    }

    #[test]
    fn runs_closer_than_a_quarter_are_counted_wherever_they_are() {
        for total in [10, 63, 64, 65, 500] {
            for first in 0..6 {
                let spacing = |at: i64| if (first..first + 3).contains(&at) { 20 } else { 1_000 };
                let (counts, nominal) = of((0..total).map(spacing));
                assert_eq!(counts, BurstCounts { count: 1, longest: 4 }, "from {first} of {total}");
                assert_eq!(nominal, Some(1_000));
            }
        }
    }

    #[test]
    fn a_quarter_is_no_burst_and_the_last_run_counts() {
        let even = (0..100).map(|_| 1_000);
        assert_eq!(of(even.clone().chain([250])).0.count, 0);
        assert_eq!(of(even.chain([249, 249])).0, BurstCounts { count: 1, longest: 3 });
        assert_eq!(of([1_000, 1, 1]), (BurstCounts::default(), None), "too few to tell");
    }
}
