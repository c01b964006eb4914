//! What durations are worth telling one by one.

use ::trace::hops::HopSeries;
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
    threshold_ns: Option<u64>,
}

#[derive(Debug, Default)]
struct Worst {
    values: BinaryHeap<Reverse<u64>>,
    over: usize,
    floor_ns: u64,
}

impl Floors {
    pub(super) fn new(threshold_ns: Option<u64>) -> Self {
        Self {
            series: HashMap::new(),
            threshold_ns,
        }
    }

    /// Takes a duration; whether it is worth keeping.
    pub(super) fn take(&mut self, series: HopSeries, ns: u64) -> bool {
        let over = self.threshold_ns.is_some_and(|threshold| ns > threshold) && !series.total;
        let worst = self.series.entry(series).or_default();
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

    /// A new span begins.
    pub(super) fn next_span(&mut self) {
        self.series.values_mut().for_each(|worst| worst.over = 0);
    }

    /// The series whose floor has moved, with the new one.
    pub(super) fn moved(&mut self) -> Vec<(HopSeries, u64)> {
        let threshold_ns = self.threshold_ns;
        let moved = self.series.iter_mut().filter_map(|(series, worst)| {
            let floor_ns = worst.floor(threshold_ns.filter(|_| !series.total));
            let before = std::mem::replace(&mut worst.floor_ns, floor_ns);
            (before != floor_ns).then_some((*series, floor_ns))
        });
        moved.collect()
    }
}

impl Worst {
    fn floor(&self, threshold_ns: Option<u64>) -> u64 {
        if self.values.len() < WORST {
            return 0;
        }
        let lowest = self.values.peek().map_or(0, |Reverse(lowest)| *lowest);
        match threshold_ns {
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
        let mut floors = Floors::new(None);
        for ns in 0..WORST as u64 {
            assert!(floors.take(SERIES, ns), "room for all");
        }
        assert!(floors.moved().is_empty(), "the least of them is 0");
        assert!(floors.take(SERIES, 500));
        assert_eq!(floors.moved(), [(SERIES, 1)]);
        assert!(!floors.take(SERIES, 1), "no longer among the worst");
        assert!(floors.moved().is_empty());
    }

    #[test]
    fn durations_over_the_threshold_are_told_until_there_are_too_many() {
        let mut floors = Floors::new(Some(50));
        for ns in 1_000..1_000 + WORST as u64 {
            floors.take(SERIES, ns);
        }
        assert_eq!(floors.moved(), [(SERIES, 50)]);
        assert!(floors.take(SERIES, 51));
        for _ in 0..OVER_THRESHOLD_PER_SPAN {
            floors.take(SERIES, 51);
        }
        assert!(!floors.take(SERIES, 51));
        assert_eq!(floors.moved(), [(SERIES, 1_000)]);
        floors.next_span();
        assert!(floors.take(SERIES, 51));
    }
}
