//! Turns the sequence counters of a stream into counts that only grow. The counters themselves can decrease when a late
//! sample arrives.

use super::{Counters, WINDOW};

/// Counts that became final since the last look.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Settled {
    /// Counts that never arrived.
    pub lost: u64,
    /// Counts that arrived again.
    pub duplicates: u64,
    /// Counts that arrived again with other contents.
    pub conflicting: u64,
    /// Counts that arrived late.
    pub out_of_order: u64,
}

/// Remembers which counts are already settled.
///
/// A sample counted as lost is taken back if it arrives up to 16 counts late. So a loss is settled only at the second
/// look after it, because looks are more than 16 counts apart; until then, each late sample may be one that was counted
/// as lost.
#[derive(Debug, Clone, Copy, Default)]
pub struct Accounting {
    settled: Settled,
    lost_at_last_look: u64,
    looked_at: u64,
}

impl Accounting {
    /// True if enough samples arrived since the last look.
    pub fn is_due(&self, counters: &Counters) -> bool {
        progress(counters).saturating_sub(self.looked_at) > 2 * u64::from(WINDOW)
    }

    /// Returns the counts that became settled since the last look.
    pub fn look(&mut self, counters: &Counters) -> Settled {
        // A loss may also have been taken back, and a late sample with it.
        let came_late = counters.out_of_order.saturating_sub(self.settled.out_of_order);
        let certain = counters.lost.saturating_sub(counters.undecided);
        let lost = self.lost_at_last_look.saturating_sub(came_late).min(certain);
        self.lost_at_last_look = certain;
        self.looked_at = progress(counters);
        self.settle(counters, lost)
    }

    /// Like [`Self::look`], at the end of the run, when nothing can change any more.
    pub fn last_look(&mut self, counters: &Counters) -> Settled {
        self.settle(counters, counters.lost)
    }

    fn settle(&mut self, counters: &Counters, lost: u64) -> Settled {
        let before = self.settled;
        self.settled = Settled {
            lost: lost.max(before.lost),
            duplicates: counters.duplicates,
            conflicting: counters.conflicting,
            out_of_order: counters.out_of_order.max(before.out_of_order),
        };
        Settled {
            lost: self.settled.lost - before.lost,
            duplicates: self.settled.duplicates - before.duplicates,
            conflicting: self.settled.conflicting - before.conflicting,
            out_of_order: self.settled.out_of_order - before.out_of_order,
        }
    }
}

/// Number of samples that moved the stream on. Only they move a lost sample out of the window.
fn progress(counters: &Counters) -> u64 {
    let moved_nothing = counters.duplicates + counters.conflicting + counters.out_of_order + counters.too_late;
    counters.asdus - moved_nothing - counters.out_of_range
}

#[cfg(test)]
mod tests {
    use super::{Accounting, Settled};
    use crate::sequence::Sequence;

    fn total(counts: impl IntoIterator<Item = u16>) -> Settled {
        let (mut sequence, mut accounting, mut total) =
            (Sequence::new(4_800), Accounting::default(), Settled::default());
        let mut add = |settled: Settled| {
            total.lost += settled.lost;
            total.duplicates += settled.duplicates;
            total.out_of_order += settled.out_of_order;
        };
        for count in counts {
            sequence.accept(count);
            if accounting.is_due(sequence.counters()) {
                add(accounting.look(sequence.counters()));
            }
        }
        add(accounting.last_look(sequence.counters()));
        total
    }

    #[test]
    fn a_late_sample_is_never_counted_as_lost() {
        for swapped in 1..200 {
            let mut counts: Vec<u16> = (0..200).collect();
            counts.swap(swapped - 1, swapped);
            let late = total(counts);
            assert_eq!((late.lost, late.duplicates), (0, 0), "swapped at {swapped}");
        }
    }

    #[test]
    fn a_swap_across_every_look_is_no_loss() {
        for distance in 2..70 {
            for first in 1..40 {
                let mut counts: Vec<u16> = (0..400).collect();
                for at in (first..400).step_by(distance) {
                    counts.swap(at - 1, at);
                }
                let swaps = (first..400).step_by(distance).count() as u64;
                let found = total(counts);
                assert_eq!(
                    (found.lost, found.out_of_order),
                    (0, swaps),
                    "every {distance} from {first}"
                );
            }
        }
    }

    #[test]
    fn repeated_samples_do_not_settle_a_loss() {
        let counts = (0..60).chain(std::iter::repeat_n(61, 100)).chain([60]).chain(62..200);
        let found = total(counts);
        assert_eq!((found.lost, found.duplicates, found.out_of_order), (0, 99, 1));
    }

    #[test]
    fn every_loss_and_duplicate_is_counted_once() {
        let counts = (0..4_000u16).filter(|count| count % 100 != 57).flat_map(|count| {
            let times = if count % 250 == 3 { 2 } else { 1 };
            std::iter::repeat_n(count, times)
        });
        assert_eq!(
            total(counts),
            Settled {
                lost: 40,
                duplicates: 16,
                conflicting: 0,
                out_of_order: 0
            }
        );
    }
}
