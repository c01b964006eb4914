//! Samples that come a little late, or again.

use super::history::{Contents, Likeness};
use super::silence::NEARLY_A_TURN_NS;
use super::{Sample, SampleStep, Sequence, WINDOW, What};

impl Sequence {
    /// True if the sample `behind` the newest one is missing, and at most 16 later ones overtook it: a whole frame may be missing.
    pub(super) fn misses(&self, behind: u32) -> bool {
        let bit = 1_u32.checked_shl(behind).unwrap_or(0);
        self.missing & bit != 0 && behind <= self.rate / 4 && (self.seen & (bit - 1)).count_ones() <= WINDOW
    }

    pub(super) fn late(&mut self, count: u32, behind: u32, sample: &Sample) -> SampleStep {
        let bit = 1 << behind;
        if self.seen & bit != 0 {
            return match self.likeness(count, sample.contents) {
                Likeness::Other if self.may_be_of_another_turn(count, sample) => {
                    self.counters.too_late += 1;
                    self.out_of_turn(count);
                    SampleStep::TooLate
                }
                Likeness::Other => {
                    self.counters.conflicting += 1;
                    self.findings.push(What::Conflict, u64::from(count), 0);
                    SampleStep::Conflicting
                }
                _ => {
                    self.counters.duplicates += 1;
                    SampleStep::Duplicate
                }
            };
        }
        self.seen |= bit;
        self.counters.out_of_order += 1;
        let index = self.index.saturating_sub(u64::from(behind));
        match &mut self.before {
            Some(before) => before.keep(index, count, sample, true),
            None => self.history.set(count, sample.contents),
        }
        // Otherwise it was sent before the stream's first sample here, so it was never counted as lost.
        if self.missing & bit != 0 {
            self.missing &= !bit;
            self.found_one();
        }
        SampleStep::OutOfOrder
    }

    /// True if a sample, or the one with the same count before it, may be of another turn.
    fn may_be_of_another_turn(&self, count: u32, sample: &Sample) -> bool {
        let is_a_turn_later = self.silence_before(sample).is_some_and(|ns| ns >= NEARLY_A_TURN_NS);
        self.held.is_some() || is_a_turn_later || self.has_lacked(count)
    }

    /// Compares the contents with those of the previous sample of the same count.
    pub(super) fn likeness(&self, count: u32, contents: Option<Contents>) -> Likeness {
        match &self.before {
            Some(before) if before.is_unlike_history(count, self.rate) => before.likeness(count, contents),
            _ => self.history.compare(count, contents),
        }
    }
}
