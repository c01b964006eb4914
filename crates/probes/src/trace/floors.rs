//! Floors above which durations are worth listing one by one.

use ::trace::hops::{Distribution, HopSeries, bucket_bounds, bucket_of};
use std::cell::Cell;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

/// Number of worst samples that a run keeps of a series.
const WORST: usize = 100;

/// Maximum number of durations over the threshold that are reported singly in one span; further ones are only counted.
const OVER_THRESHOLD_PER_SPAN: usize = 1_000;

/// The worst durations of each series, and the floor from which a further one belongs to them.
#[derive(Debug, Default)]
pub(super) struct Floors {
    series: HashMap<HopSeries, Worst>,
    /// True if the ring was full in the next span to be counted, so that some long durations were not reported.
    is_untold: bool,
}

#[derive(Debug, Default)]
struct Worst {
    values: BinaryHeap<Reverse<u64>>,
    threshold_ns: Option<u64>,
    /// Number of durations over the threshold reported in this span.
    over: usize,
    floor_ns: u64,
    /// Number of reported durations over the threshold by less than a bucket that are not yet in a counted span.
    near: Cell<u64>,
    /// True if the floor was above the threshold since a span was counted, so that some such durations were not reported.
    hides: Cell<bool>,
}

impl Floors {
    /// Takes a duration of a series with this threshold; returns true if it is worth keeping.
    pub(super) fn take(&mut self, series: HopSeries, ns: u64, threshold_ns: Option<u64>) -> bool {
        let over = threshold_ns.is_some_and(|threshold| ns > threshold);
        let worst = self.series.entry(series).or_default();
        worst.threshold_ns = threshold_ns;
        let is_near =
            threshold_ns.is_some_and(|threshold| ns > threshold && bucket_bounds(bucket_of(ns)).0 <= threshold);
        worst.near.set(worst.near.get() + u64::from(is_near));
        let lowest = worst.values.peek().map_or(0, |Reverse(lowest)| *lowest);
        let among_worst = worst.values.len() < WORST || ns > lowest;
        if among_worst {
            worst.values.push(Reverse(ns));
            if worst.values.len() > WORST {
                worst.values.pop();
            }
        }
        worst.over += usize::from(over);
        among_worst || (over && worst.over <= OVER_THRESHOLD_PER_SPAN)
    }

    /// Number of durations of a span over the threshold. It includes all buckets that are completely above the threshold, and of
    /// the bucket that contains the threshold the reported durations. If some of these were not reported, it includes the whole
    /// bucket: the number may be too large, but never too small. Reported durations that are not in this span belong to the next
    /// one, so that no span has more durations over the threshold than durations.
    pub(super) fn over(&self, series: HopSeries, found: &Distribution, threshold_ns: u64) -> u64 {
        let (mut above, mut cut) = (0, 0);
        for (bucket, count) in &found.buckets {
            let (low, high) = bucket_bounds(*bucket);
            match (low > threshold_ns, high > threshold_ns) {
                (true, _) => above += count,
                (false, true) => cut += count,
                (false, false) => {}
            }
        }
        // The longest duration is known exactly.
        let cut = if found.max_ns > threshold_ns { cut } else { 0 };
        above
            + self
                .series
                .get(&series)
                .map_or(0, |worst| worst.over_of(cut, self.is_untold))
    }

    /// Sets whether the ring was full in the next span to be counted.
    pub(super) fn set_untold(&mut self, is_untold: bool) {
        self.is_untold = is_untold;
    }

    /// Starts a new span.
    pub(super) fn next_span(&mut self) {
        self.series.values_mut().for_each(|worst| worst.over = 0);
    }

    /// Series whose floor has moved, with the new floor in ns.
    pub(super) fn moved(&mut self) -> Vec<(HopSeries, u64)> {
        let moved = self.series.iter_mut().filter_map(|(series, worst)| {
            let floor_ns = worst.floor();
            let before = std::mem::replace(&mut worst.floor_ns, floor_ns);
            worst.hides.set(worst.hides.get() || worst.is_hiding());
            (before != floor_ns).then_some((*series, floor_ns))
        });
        moved.collect()
    }
}

impl Worst {
    /// Number of durations over the threshold, of `cut` durations in the bucket that contains the threshold.
    fn over_of(&self, cut: u64, is_untold: bool) -> u64 {
        let told = self.near.get().min(cut);
        self.near.set(self.near.get() - told);
        let was_hiding = self.hides.replace(self.is_hiding());
        if was_hiding || is_untold { cut } else { told }
    }

    fn is_hiding(&self) -> bool {
        self.threshold_ns.is_some_and(|threshold| self.floor_ns > threshold)
    }

    fn floor(&self) -> u64 {
        if self.values.len() < WORST {
            return 0;
        }
        let lowest = self.values.peek().map_or(0, |Reverse(lowest)| *lowest);
        match self.threshold_ns {
            Some(threshold) if self.over < OVER_THRESHOLD_PER_SPAN => lowest.min(threshold),
            _ => lowest,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Floors, OVER_THRESHOLD_PER_SPAN, WORST};
    use ::trace::hops::{Distribution, HopSeries, bucket_of};

    const SERIES: HopSeries = HopSeries {
        stream: 0,
        point: 1,
        total: false,
    };

    #[test]
    fn the_floor_rises_to_the_least_of_the_worst() {
        let mut floors = Floors::default();
        for ns in 0..WORST as u64 {
            assert!(floors.take(SERIES, ns, None), "room for all");
        }
        assert!(floors.moved().is_empty(), "the least of them is 0");
        assert!(floors.take(SERIES, 500, None));
        assert_eq!(floors.moved(), [(SERIES, 1)]);
        assert!(!floors.take(SERIES, 1, None), "no longer among the worst");
        assert!(floors.moved().is_empty());
    }

    #[test]
    fn durations_over_the_threshold_are_told_until_there_are_too_many() {
        let mut floors = Floors::default();
        for ns in 1_000..1_000 + WORST as u64 {
            floors.take(SERIES, ns, Some(50));
        }
        assert_eq!(floors.moved(), [(SERIES, 50)]);
        assert!(floors.take(SERIES, 51, Some(50)));
        for _ in 0..OVER_THRESHOLD_PER_SPAN {
            floors.take(SERIES, 51, Some(50));
        }
        assert!(!floors.take(SERIES, 51, Some(50)));
        assert_eq!(floors.moved(), [(SERIES, 1_000)]);
        floors.next_span();
        assert!(floors.take(SERIES, 51, Some(50)));
    }

    /// Distribution of these durations as counted by the kernel.
    fn span(durations: &[u64]) -> Distribution {
        let mut found = Distribution {
            min_ns: durations.iter().copied().min().unwrap_or(0),
            max_ns: durations.iter().copied().max().unwrap_or(0),
            ..Distribution::default()
        };
        for ns in durations {
            let bucket = bucket_of(*ns);
            match found.buckets.iter_mut().find(|(known, _)| *known == bucket) {
                Some((_, count)) => *count += 1,
                None => found.buckets.push((bucket, 1)),
            }
        }
        found
    }

    /// A threshold in the same bucket of 16 ns as the durations just below and above it.
    const THRESHOLD: u64 = 1_030;

    #[test]
    fn those_that_share_the_thresholds_bucket_are_counted_once_by_what_was_told() {
        let mut floors = Floors::default();
        for ns in [THRESHOLD, THRESHOLD + 1, THRESHOLD + 500] {
            floors.take(SERIES, ns, Some(THRESHOLD));
        }
        let all = span(&[THRESHOLD, THRESHOLD + 1, THRESHOLD + 500]);
        assert_eq!(floors.over(SERIES, &all, THRESHOLD), 2);
        assert_eq!(floors.over(SERIES, &span(&[THRESHOLD]), THRESHOLD), 0);
        let untold = HopSeries { total: true, ..SERIES };
        assert_eq!(
            floors.over(untold, &all, THRESHOLD),
            1,
            "none near the threshold was reported"
        );
    }

    #[test]
    fn of_no_span_more_are_over_the_threshold_than_it_has() {
        let mut floors = Floors::default();
        let first = vec![2 * THRESHOLD; 24];
        assert_eq!(
            floors.over(SERIES, &span(&first), THRESHOLD),
            24,
            "none was reported yet"
        );
        for ns in first {
            floors.take(SERIES, ns, Some(THRESHOLD));
        }
        let second = vec![2 * THRESHOLD; 800];
        for ns in &second {
            floors.take(SERIES, *ns, Some(THRESHOLD));
        }
        assert_eq!(floors.over(SERIES, &span(&second), THRESHOLD), 800);
        assert_eq!(floors.over(SERIES, &span(&[]), THRESHOLD), 0);
    }

    #[test]
    fn one_told_before_its_span_is_counted_with_it() {
        let mut floors = Floors::default();
        floors.take(SERIES, THRESHOLD + 1, Some(THRESHOLD));
        assert_eq!(floors.over(SERIES, &span(&[THRESHOLD - 1]), THRESHOLD), 0);
        assert_eq!(
            floors.over(SERIES, &span(&[THRESHOLD - 1, THRESHOLD + 1]), THRESHOLD),
            1
        );
    }

    #[test]
    fn many_over_the_threshold_hide_none_near_it() {
        let mut floors = Floors::default();
        let many = vec![2 * THRESHOLD; OVER_THRESHOLD_PER_SPAN];
        for ns in &many {
            floors.take(SERIES, *ns, Some(THRESHOLD));
        }
        assert_eq!(floors.moved(), [(SERIES, 2 * THRESHOLD)]);
        let hidden = span(&[THRESHOLD + 1, THRESHOLD + 2]);
        assert_eq!(
            floors.over(SERIES, &hidden, THRESHOLD),
            2,
            "the kernel reported neither"
        );
        floors.next_span();
        assert_eq!(floors.moved(), [(SERIES, THRESHOLD)]);
        assert_eq!(
            floors.over(SERIES, &hidden, THRESHOLD),
            2,
            "nor those before the floor moved"
        );
        floors.take(SERIES, THRESHOLD + 1, Some(THRESHOLD));
        let near = span(&[THRESHOLD, THRESHOLD + 1]);
        assert_eq!(floors.over(SERIES, &near, THRESHOLD), 1);
        floors.set_untold(true);
        assert_eq!(floors.over(SERIES, &near, THRESHOLD), 2, "the ring was full");
    }
}
