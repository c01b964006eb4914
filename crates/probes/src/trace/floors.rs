//! Which durations are worth listing one by one.

use ::trace::hops::HopSeries;
use std::cell::Cell;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

/// Worst samples that a run keeps of a series.
const WORST: usize = 100;

/// Durations over the threshold that are told in one span; the rest is only counted.
const OVER_THRESHOLD_PER_SPAN: usize = 1_000;

/// The worst durations of each series, and from which on a further one would be among them.
#[derive(Debug, Default)]
pub(super) struct Floors {
    series: HashMap<HopSeries, Worst>,
}

#[derive(Debug, Default)]
struct Worst {
    values: BinaryHeap<Reverse<u64>>,
    threshold_ns: Option<u64>,
    /// Told in this span.
    over: usize,
    /// Told in all.
    told: u64,
    /// Of these, handed over.
    counted: Cell<u64>,
    floor_ns: u64,
}

impl Floors {
    /// Takes a duration of a series with this threshold; whether it is worth keeping.
    pub(super) fn take(&mut self, series: HopSeries, ns: u64, threshold_ns: Option<u64>) -> bool {
        let over = threshold_ns.is_some_and(|threshold| ns > threshold);
        let worst = self.series.entry(series).or_default();
        worst.threshold_ns = threshold_ns;
        worst.told += u64::from(over);
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

    /// How many durations over the threshold are to be counted for a span whose histogram shows `certain` of them: those in the bucket
    /// that the threshold lies in are known because they were told, a few of them only in the next span.
    pub(super) fn over(&self, series: HopSeries, certain: u64) -> u64 {
        let Some(worst) = self.series.get(&series) else {
            return certain;
        };
        let over = certain.max(worst.told.saturating_sub(worst.counted.get()));
        worst.counted.set(worst.counted.get() + over);
        over
    }

    /// A new span begins.
    pub(super) fn next_span(&mut self) {
        self.series.values_mut().for_each(|worst| worst.over = 0);
    }

    /// The series whose floor has moved, with the new one.
    pub(super) fn moved(&mut self) -> Vec<(HopSeries, u64)> {
        let moved = self.series.iter_mut().filter_map(|(series, worst)| {
            let floor_ns = worst.floor();
            let before = std::mem::replace(&mut worst.floor_ns, floor_ns);
            (before != floor_ns).then_some((*series, floor_ns))
        });
        moved.collect()
    }
}

impl Worst {
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
    use ::trace::hops::HopSeries;

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

    #[test]
    fn those_that_the_buckets_do_not_show_are_counted_once_by_what_was_told() {
        let total = HopSeries { total: true, ..SERIES };
        let mut floors = Floors::default();
        assert_eq!(floors.over(total, 3), 3, "none was told yet");
        floors.take(total, 51, Some(50));
        floors.take(total, 50, Some(50));
        floors.take(SERIES, 51, None);
        assert_eq!(floors.over(total, 0), 1, "51 shares a bucket with 50");
        assert_eq!(floors.over(total, 0), 0);
        floors.take(total, 51, Some(50));
        floors.take(total, 500, Some(50));
        assert_eq!(floors.over(total, 1), 2);
        assert_eq!(
            floors.over(SERIES, 0),
            0,
            "a series without a threshold has none over it"
        );
    }
}
