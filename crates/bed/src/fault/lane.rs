//! One direction of the wire: decides for each entering frame which frames leave. It does no I/O.

use super::rule::{Chooser, Fault, Rule};
use units::Monotonic;

/// Largest number of frames that are held up at a time; further ones are passed on unharmed and counted.
pub const MOST_HELD: usize = 4_096;

/// Counts of the frames of a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RuleCounts {
    /// Frames with this fault.
    pub injected: u64,
    /// Number of these that left after an unharmed frame that entered later.
    pub overtaken: u64,
    /// Number of these that are still held up.
    pub held: u64,
    /// Chosen frames that were passed on unharmed, because [`MOST_HELD`] were already held up.
    pub left_alone: u64,
}

/// Counts of the frames of a direction so far.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LaneCounts {
    /// Frames that entered.
    pub entered: u64,
    /// Frames that left, including copies.
    pub left: u64,
    /// Frames that the interface at the far end did not accept, because it was down or full; they are included in `left`.
    pub refused: u64,
    /// By rule, in the order given.
    pub rules: Vec<RuleCounts>,
}

/// A direction.
#[derive(Debug)]
pub(super) struct Lane {
    chooser: Chooser,
    counts: LaneCounts,
    /// The highest number of a frame that left unharmed.
    highest: u64,
    held: Vec<HeldFrame>,
}

/// A frame that is held up.
#[derive(Debug)]
struct HeldFrame {
    /// Number of frames that entered before it.
    number: u64,
    rule: usize,
    until: Until,
    frame: Vec<u8>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Until {
    Instant(Monotonic),
    /// Number of frames that must still leave before it.
    Passed(u32),
}

impl Lane {
    pub(super) fn new(rules: Vec<Rule>, seed: u64) -> Self {
        let chooser = Chooser::new(rules, seed);
        let counts = LaneCounts {
            rules: vec![RuleCounts::default(); chooser.len()],
            ..LaneCounts::default()
        };
        Self {
            chooser,
            counts,
            highest: 0,
            held: Vec::new(),
        }
    }

    pub(super) fn counts(&self) -> &LaneCounts {
        &self.counts
    }

    /// Counts a frame that left but was not accepted.
    pub(super) fn refused(&mut self) {
        self.counts.refused += 1;
    }

    /// Time when the next delayed frame is due.
    pub(super) fn next_due(&self) -> Option<Monotonic> {
        let due = |held: &HeldFrame| match held.until {
            Until::Instant(due) => Some(due),
            Until::Passed(_) => None,
        };
        self.held.iter().filter_map(due).min()
    }

    /// The frames whose delay has ended at `now`, in order of their due times.
    pub(super) fn ripe(&mut self, now: Monotonic, out: &mut Vec<Vec<u8>>) {
        while let Some(due) = self.next_due().filter(|due| *due <= now) {
            self.release(|held| held.until == Until::Instant(due), out);
        }
    }

    /// Processes a frame that enters at `now`; appends the frames that leave because of it to `out`.
    pub(super) fn enter(&mut self, mut frame: Vec<u8>, now: Monotonic, out: &mut Vec<Vec<u8>>) {
        self.counts.entered += 1;
        let number = self.counts.entered;
        let Some(rule) = self.chooser.choose(&frame) else {
            return self.pass(number, frame, out);
        };
        let until = match self.chooser.rule(rule).fault() {
            Fault::Delay(time) => {
                let ns = i64::try_from(time.as_nanos()).unwrap_or(i64::MAX / 2);
                Some(Until::Instant(now + ns))
            }
            Fault::HoldBack(frames) => Some(Until::Passed(frames)),
            Fault::Drop | Fault::Duplicate | Fault::Corrupt { .. } => None,
        };
        if until.is_some() && self.held.len() >= MOST_HELD {
            self.counts.rules[rule].left_alone += 1;
            return self.pass(number, frame, out);
        }
        self.counts.rules[rule].injected += 1;
        match (self.chooser.rule(rule).fault(), until) {
            (_, Some(until)) => {
                self.counts.rules[rule].held += 1;
                self.held.push(HeldFrame {
                    number,
                    rule,
                    until,
                    frame,
                });
            }
            (Fault::Duplicate, None) => {
                self.come_out(number, frame.clone(), out);
                self.pass(number, frame, out);
            }
            (Fault::Corrupt { offset, bits }, None) => {
                frame[offset] ^= bits;
                // It does not count as a frame for others to be held back after: the receiver may not even recognize it.
                self.counts.left += 1;
                out.push(frame);
            }
            // A delay without an end does not occur.
            (Fault::Drop | Fault::Delay(_) | Fault::HoldBack(_), None) => {}
        }
    }

    /// Lets a frame leave, followed by those that waited for it.
    fn pass(&mut self, number: u64, frame: Vec<u8>, out: &mut Vec<Vec<u8>>) {
        for held in &mut self.held {
            if let Until::Passed(left) = &mut held.until
                && self.chooser.rule(held.rule).is_about(&frame)
            {
                *left = left.saturating_sub(1);
            }
        }
        self.come_out(number, frame, out);
        self.release(|held| held.until == Until::Passed(0), out);
    }

    /// Lets the frames leave for which `is_ready` is true, in order of their arrival.
    fn release(&mut self, is_ready: impl Fn(&HeldFrame) -> bool, out: &mut Vec<Vec<u8>>) {
        let (ready, held): (Vec<HeldFrame>, Vec<HeldFrame>) =
            std::mem::take(&mut self.held).into_iter().partition(is_ready);
        self.held = held;
        for HeldFrame {
            number, rule, frame, ..
        } in ready
        {
            let counts = &mut self.counts.rules[rule];
            counts.held -= 1;
            counts.overtaken += u64::from(number < self.highest);
            self.come_out(number, frame, out);
        }
    }

    fn come_out(&mut self, number: u64, frame: Vec<u8>, out: &mut Vec<Vec<u8>>) {
        self.highest = self.highest.max(number);
        self.counts.left += 1;
        out.push(frame);
    }
}

#[cfg(test)]
mod tests {
    use super::{Fault, Lane, MOST_HELD, Rule};
    use crate::fault::Which;
    use std::time::Duration;
    use units::Monotonic;

    fn at(ns: i64) -> Monotonic {
        Monotonic::from_ns(ns)
    }

    fn lane(rules: Vec<(Vec<u64>, Fault)>) -> Lane {
        let rules = rules
            .into_iter()
            .map(|(numbers, fault)| Rule::new(Which::Numbers(numbers.into_iter().collect()), fault));
        Lane::new(rules.collect(), 0)
    }

    /// Puts in frames 1 to `count`, 100 ns apart; returns the frames that come out, in order.
    fn through(lane: &mut Lane, count: u8) -> Vec<u8> {
        let mut out = Vec::new();
        for number in 1..=count {
            let now = at(i64::from(number) * 100);
            lane.ripe(now, &mut out);
            lane.enter(vec![number], now, &mut out);
        }
        out.iter().map(|frame| frame[0]).collect()
    }

    #[test]
    fn every_fault() {
        let mut lane = lane(vec![
            (vec![2], Fault::Drop),
            (vec![3], Fault::Duplicate),
            (vec![4], Fault::HoldBack(2)),
            (vec![7], Fault::Delay(Duration::from_nanos(150))),
            (vec![10], Fault::Corrupt { offset: 0, bits: 0x80 }),
        ]);
        assert_eq!(through(&mut lane, 11), [1, 3, 3, 5, 6, 4, 8, 7, 9, 0x8a, 11]);
        let counts = lane.counts();
        assert_eq!((counts.entered, counts.left), (11, 11));
        let rules: Vec<(u64, u64)> = counts
            .rules
            .iter()
            .map(|rule| (rule.injected, rule.overtaken))
            .collect();
        assert_eq!(rules, [(1, 0), (1, 0), (1, 1), (1, 1), (1, 0)]);
    }

    #[test]
    fn neighbours_held_back_come_out_in_their_order() {
        let mut lane = lane(vec![(vec![1, 2, 4], Fault::HoldBack(1))]);
        assert_eq!(through(&mut lane, 4), [3, 1, 2]);
        let rule = lane.counts().rules[0];
        assert_eq!((rule.injected, rule.overtaken, rule.held), (3, 2, 1), "4 waits for 5");
    }

    #[test]
    fn behind_a_corrupted_frame_is_not_overtaken() {
        let mut lane = lane(vec![
            (vec![1], Fault::HoldBack(1)),
            (vec![2], Fault::Corrupt { offset: 0, bits: 0x80 }),
        ]);
        assert_eq!(through(&mut lane, 4), [0x82, 3, 1, 4]);
        assert_eq!(lane.counts().rules[0].overtaken, 1);
    }

    #[test]
    fn a_delay_that_nothing_overtakes_is_no_reorder() {
        let mut lane = lane(vec![(vec![1], Fault::Delay(Duration::from_nanos(50)))]);
        assert_eq!(through(&mut lane, 2), [1, 2]);
        assert_eq!(lane.counts().rules[0].overtaken, 0);
        assert_eq!(lane.next_due(), None);
    }

    #[test]
    fn not_more_are_held_than_there_is_room_for() {
        let mut lane = Lane::new(
            vec![Rule::new(Which::Every(1), Fault::Delay(Duration::from_secs(1)))],
            0,
        );
        let mut out = Vec::new();
        for _ in 0..MOST_HELD + 3 {
            lane.enter(vec![0], at(0), &mut out);
        }
        let rule = lane.counts().rules[0];
        assert_eq!((out.len(), rule.left_alone, rule.held), (3, 3, MOST_HELD as u64));
    }
}
