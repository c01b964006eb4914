//! State of the sequence numbers: under way, answered, answered twice, or lost.

use units::Monotonic;

/// State of one sequence number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Slot {
    Unused,
    /// Sent at this instant; its answer is still awaited.
    UnderWay(Monotonic),
    /// Sent at this instant and given up; its answer may still come.
    GivenUp(Monotonic),
    Received,
}

/// Result for an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Arrival {
    /// First answer to its frame.
    First {
        /// Instant at which the frame was sent.
        sent: Monotonic,
        /// True if a later frame was answered before.
        reordered: bool,
    },
    /// The frame was already answered.
    Duplicate,
    /// The frame was never sent, or so long ago that it is already counted as lost.
    Stale,
}

/// State of the last `capacity` sequence numbers. A frame whose slot is needed again before its answer came is lost.
#[derive(Debug)]
pub(super) struct Tracker {
    slots: Box<[Slot]>,
    next: u64,
    highest: Option<u64>,
    under_way: u64,
    given_up: u64,
    /// No frame with a lower number is under way.
    watched: u64,
}

impl Tracker {
    pub(super) fn new(capacity: usize) -> Self {
        Self {
            slots: vec![Slot::Unused; capacity.next_power_of_two()].into(),
            next: 0,
            highest: None,
            under_way: 0,
            given_up: 0,
            watched: 0,
        }
    }

    /// Sequence number of the next frame.
    pub(super) fn next(&self) -> u64 {
        self.next
    }

    /// Records that frame [`Tracker::next`] was sent; returns the number of older frames that are lost because their slot was
    /// needed (0 or 1). Calls `missing` with the sending instant of such a frame, unless it was given up before.
    pub(super) fn sent(&mut self, at: Monotonic, mut missing: impl FnMut(Monotonic)) -> u64 {
        let index = self.index(self.next);
        if let Slot::UnderWay(sent) = self.slots[index] {
            missing(sent);
        }
        let lost = u64::from(self.leave(index));
        self.slots[index] = Slot::UnderWay(at);
        self.under_way += 1;
        self.next += 1;
        lost
    }

    /// Records an answer.
    pub(super) fn received(&mut self, sequence: u64) -> Arrival {
        let oldest = self.next.saturating_sub(self.slots.len() as u64);
        if sequence >= self.next || sequence < oldest {
            return Arrival::Stale;
        }
        let index = self.index(sequence);
        match self.slots[index] {
            Slot::UnderWay(sent) | Slot::GivenUp(sent) => {
                self.leave(index);
                self.slots[index] = Slot::Received;
                let reordered = self.highest.is_some_and(|highest| sequence < highest);
                self.highest = self.highest.max(Some(sequence));
                Arrival::First { sent, reordered }
            }
            Slot::Received => Arrival::Duplicate,
            Slot::Unused => Arrival::Stale,
        }
    }

    /// Gives up frames sent before `then`; calls `missing` with the sending instant of each.
    pub(super) fn give_up(&mut self, then: Monotonic, mut missing: impl FnMut(Monotonic)) {
        self.watched = self.watched.max(self.next.saturating_sub(self.slots.len() as u64));
        while self.watched < self.next {
            let index = self.index(self.watched);
            if let Slot::UnderWay(sent) = self.slots[index] {
                if sent >= then {
                    return;
                }
                self.leave(index);
                self.slots[index] = Slot::GivenUp(sent);
                self.given_up += 1;
                missing(sent);
            }
            self.watched += 1;
        }
    }

    /// Number of awaited answers.
    pub(super) fn under_way(&self) -> u64 {
        self.under_way
    }

    /// Number of missing answers, including those given up.
    pub(super) fn unanswered(&self) -> u64 {
        self.under_way + self.given_up
    }

    /// Forgets every frame sent so far; their answers will count as stale. Sequence numbers continue.
    pub(super) fn forget(&mut self) {
        self.slots.fill(Slot::Unused);
        self.highest = None;
        (self.under_way, self.given_up) = (0, 0);
    }

    /// Removes a slot from the counts; returns true if its answer never came.
    fn leave(&mut self, index: usize) -> bool {
        match self.slots[index] {
            Slot::UnderWay(_) => self.under_way -= 1,
            Slot::GivenUp(_) => self.given_up -= 1,
            Slot::Unused | Slot::Received => return false,
        }
        true
    }

    fn index(&self, sequence: u64) -> usize {
        // The mask keeps the low bits, which fit, since the length is a power of two.
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
            assert_eq!(tracker.sent(at(ns), |_| panic!("no place was needed")), 0);
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
        assert_eq!((tracker.under_way(), tracker.unanswered()), (2, 2));
        for ns in [4, 5] {
            assert_eq!(tracker.sent(at(ns), |_| panic!("0 and 1 had come")), 0);
        }
        let mut missing = None;
        assert_eq!(tracker.sent(at(6), |sent| missing = Some(sent)), 1, "2 never came");
        assert_eq!(missing, Some(at(2)));
        assert_eq!(tracker.received(2), Arrival::Stale, "given up as lost, stays lost");
        assert_eq!((tracker.under_way(), tracker.unanswered()), (4, 4), "3 to 6");
    }

    #[test]
    fn a_frame_given_up_is_not_waited_for_but_may_still_come() {
        let mut tracker = Tracker::new(8);
        for ns in 0..6 {
            tracker.sent(at(ns), |_| {});
        }
        tracker.received(1);
        let mut missing = Vec::new();
        tracker.give_up(at(4), |sent| missing.push(sent));
        assert_eq!(missing, [at(0), at(2), at(3)], "each is reported once");
        assert_eq!(
            (tracker.under_way(), tracker.unanswered()),
            (2, 5),
            "4 and 5 are young enough"
        );
        tracker.give_up(at(4), |sent| panic!("{sent:?} was reported before"));
        assert_eq!((tracker.under_way(), tracker.unanswered()), (2, 5));
        let late = Arrival::First {
            sent: at(3),
            reordered: false,
        };
        assert_eq!(tracker.received(3), late);
        assert_eq!(tracker.received(3), Arrival::Duplicate);
        assert_eq!((tracker.under_way(), tracker.unanswered()), (2, 4));
        tracker.forget();
        assert_eq!((tracker.under_way(), tracker.unanswered()), (0, 0));
        assert_eq!(tracker.received(5), Arrival::Stale);
    }

    #[test]
    fn nothing_is_counted_twice_whatever_comes() {
        let mut tracker = Tracker::new(8);
        let (mut lost, mut first, mut duplicate) = (0, 0, 0);
        for k in 0..1_000_u64 {
            lost += tracker.sent(at(0), |_| {});
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
        lost += tracker.unanswered();
        let doubled = (0..1_000).filter(|k| k % 10 != 3 && k % 7 == 0).count();
        assert_eq!((first, lost, duplicate), (900, 100, doubled));
    }
}
