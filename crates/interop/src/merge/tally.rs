//! A series between two runs: what of it was measured, what was lost, and what is not known.

use super::own::Lost;
use crate::logger::windows::Open;
use std::collections::VecDeque;
use store::Batch;

/// What became of a frame on its way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Outcome {
    /// It took so long, in ns.
    Took(i64),
    /// It was at both ends; how long it took is not known.
    Passed,
    /// It never came.
    Lost,
    /// Whether it came is not known.
    Unknown,
}

/// A series in the making.
pub(super) struct Tally {
    open: Open,
    /// Frames that count as lost here and were lost further on: those of another run's first hop, which has no record of them.
    lost_later: VecDeque<Lost>,
    credit: i64,
    /// Frames that were lost before, without a record, and are lost here, too.
    lost_before: VecDeque<Lost>,
    debit: u64,
    /// Frames that were paired.
    pub(super) paired: u64,
    /// Records that were not paired because they may be either of two.
    pub(super) doubtful: u64,
    /// Records of the later run that the earlier one should have, and has not.
    pub(super) strange: u64,
}

impl Tally {
    pub(super) fn new(open: Open, lost_later: &[Lost], lost_before: &[Lost]) -> Self {
        Self {
            open,
            lost_later: lost_later.iter().copied().collect(),
            credit: 0,
            lost_before: lost_before.iter().copied().collect(),
            debit: 0,
            paired: 0,
            doubtful: 0,
            strange: 0,
        }
    }

    /// Counts a frame of so many samples that was due at `at_ns` since the run's start.
    pub(super) fn count(&mut self, outcome: Outcome, at_ns: u64, smp_cnt: u16) {
        self.paired += u64::from(matches!(outcome, Outcome::Took(_) | Outcome::Passed));
        match outcome {
            Outcome::Took(ns) => self.open.sample(at_ns, ns, u64::from(smp_cnt)),
            Outcome::Passed | Outcome::Unknown => self.open.counters().expected += 1,
            Outcome::Lost => {
                let counters = self.open.counters();
                counters.expected += 1;
                counters.lost += 1;
            }
        }
    }

    /// Whether a frame with a record is among those of `lost_before` and `lost_later`, too: it is known by its record.
    pub(super) fn recorded(&mut self, before: bool, later: bool) {
        self.debit += u64::from(before);
        self.credit -= i64::from(later);
    }

    /// Counts a frame that came again.
    pub(super) fn again(&mut self) {
        self.open.counters().duplicate += 1;
    }

    /// Closes the window at `end_ns`.
    pub(super) fn close(&mut self, end_ns: u64, batch: &mut Batch) {
        while let Some(lost) = self.lost_later.pop_front_if(|lost| lost.from_ns < end_ns) {
            self.credit += i64::try_from(lost.frames).unwrap_or(i64::MAX);
        }
        let counters = self.open.counters();
        let taken = u64::try_from(self.credit).unwrap_or(0).min(counters.lost);
        counters.lost -= taken;
        self.credit -= taken as i64;
        while let Some(lost) = self.lost_before.pop_front_if(|lost| lost.from_ns < end_ns) {
            let known = lost.frames.min(self.debit);
            self.debit -= known;
            counters.lost += lost.frames - known;
            counters.expected += lost.frames - known;
        }
        self.open.close(end_ns, batch);
    }
}
