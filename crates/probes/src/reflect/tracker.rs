//! Which sequence numbers are on their way, came, came twice, or never did.

use units::Monotonic;

/// State of one sequence number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Slot {
    Unused,
    Outstanding(Monotonic),
    Received,
}

/// What an answer turned out to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Arrival {
    /// The first answer to a frame sent then.
    First {
        /// When the frame was sent.
        sent: Monotonic,
        /// A later frame was answered before.
        reordered: bool,
    },
    /// Answered before.
    Duplicate,
    /// Never sent, or so long ago that it was given up as lost.
    Stale,
}

/// The last `capacity` sequence numbers. A frame whose place is needed again before its answer came is lost.
#[derive(Debug)]
pub(super) struct Tracker {
    slots: Box<[Slot]>,
    next: u64,
    highest: Option<u64>,
}

impl Tracker {
    pub(super) fn new(capacity: usize) -> Self {
        Self {
            slots: vec![Slot::Unused; capacity.next_power_of_two()].into(),
            next: 0,
            highest: None,
        }
    }

    /// The sequence number that is sent next.
    pub(super) fn next(&self) -> u64 {
        self.next
    }

    /// Notes that [`Tracker::next`] was sent; returns how many older frames were given up for it (0 or 1).
    pub(super) fn sent(&mut self, at: Monotonic) -> u64 {
        let index = self.index(self.next);
        let given_up = matches!(self.slots[index], Slot::Outstanding(_));
        self.slots[index] = Slot::Outstanding(at);
        self.next += 1;
        u64::from(given_up)
    }

    /// Notes an answer.
    pub(super) fn received(&mut self, sequence: u64) -> Arrival {
        let oldest = self.next.saturating_sub(self.slots.len() as u64);
        if sequence >= self.next || sequence < oldest {
            return Arrival::Stale;
        }
        let index = self.index(sequence);
        match self.slots[index] {
            Slot::Outstanding(sent) => {
                self.slots[index] = Slot::Received;
                let reordered = self.highest.is_some_and(|highest| sequence < highest);
                self.highest = self.highest.max(Some(sequence));
                Arrival::First { sent, reordered }
            }
            Slot::Received => Arrival::Duplicate,
            Slot::Unused => Arrival::Stale,
        }
    }

    /// Whether the answer to `sequence` is still to come.
    pub(super) fn outstanding(&self, sequence: u64) -> bool {
        self.sent_at(sequence).is_some()
    }

    /// When `sequence` was sent, as long as its answer is still to come.
    pub(super) fn sent_at(&self, sequence: u64) -> Option<Monotonic> {
        match self.slots[self.index(sequence)] {
            Slot::Outstanding(sent) => Some(sent),
            Slot::Unused | Slot::Received => None,
        }
    }

    /// Forgets every frame sent so far; their answers will be stale. Sequence numbers go on.
    pub(super) fn forget(&mut self) {
        self.slots.fill(Slot::Unused);
        self.highest = None;
    }

    /// How many answers are still to come.
    pub(super) fn still_out(&self) -> u64 {
        self.slots
            .iter()
            .filter(|slot| matches!(slot, Slot::Outstanding(_)))
            .count() as u64
    }

    fn index(&self, sequence: u64) -> usize {
        // The mask keeps the low bits, which fit; the length is a power of two.
        (sequence & (self.slots.len() as u64 - 1)) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::{Arrival, Tracker};
    use units::Monotonic;

    fn at(ns: i64) -> Monotonic {
        Monotonic::from_ns(ns)
    }

    #[test]
    fn every_fate_of_a_frame() {
        let mut tracker = Tracker::new(4);
        for ns in 0..4 {
            assert_eq!(tracker.sent(at(ns)), 0);
        }
        assert_eq!(
            tracker.received(1),
            Arrival::First {
                sent: at(1),
                reordered: false
            }
        );
        assert_eq!(
            tracker.received(0),
            Arrival::First {
                sent: at(0),
                reordered: true
            }
        );
        assert_eq!(tracker.received(1), Arrival::Duplicate);
        assert_eq!(tracker.received(9), Arrival::Stale);
        assert_eq!(tracker.still_out(), 2);
        assert_eq!((tracker.sent(at(4)), tracker.sent(at(5))), (0, 0), "0 and 1 had come");
        assert_eq!(tracker.sent(at(6)), 1, "2 never came");
        assert_eq!(tracker.received(2), Arrival::Stale, "given up as lost, stays lost");
        assert!(tracker.outstanding(6));
    }

    #[test]
    fn nothing_is_counted_twice_whatever_comes() {
        let mut tracker = Tracker::new(8);
        let (mut lost, mut first, mut duplicate) = (0, 0, 0);
        for k in 0..1_000_u64 {
            lost += tracker.sent(at(0));
            if k % 10 != 3 {
                for _ in 0..1 + u64::from(k % 7 == 0) {
                    match tracker.received(k) {
                        Arrival::First { .. } => first += 1,
                        Arrival::Duplicate => duplicate += 1,
                        Arrival::Stale => panic!("{k} was sent"),
                    }
                }
            }
        }
        lost += tracker.still_out();
        let doubled = (0..1_000).filter(|k| k % 10 != 3 && k % 7 == 0).count();
        assert_eq!((first, lost, duplicate), (900, 100, doubled));
    }
}
