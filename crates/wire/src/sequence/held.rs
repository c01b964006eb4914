//! Whole turns of the counter that may have been lost in a silence.
//!
//! If the elapsed time suggests that whole turns are lost, there are two explanations for the first sample after the
//! silence: they were lost, or everything sent in the meantime was held back and arrives now. The following samples
//! decide: in a stream that lost samples, they never arrive early.

use super::line::{EARLY_NS, Earliest};
use super::{INTERRUPTION_NS, Sample, SampleStep, Sequence, What};

/// Time after the silence by which samples that were held back have arrived.
const RELEASED_NS: i64 = 250_000_000;

/// A possible loss that is not counted yet.
#[derive(Debug, Clone, Copy)]
pub(super) struct HeldLoss {
    /// Counts in the whole turns.
    turns: u64,
    /// Counts that are lost if the whole turns are lost.
    lost: u64,
    silent_ns: i64,
    /// Number of the first sample after the silence.
    index: u64,
    /// When the silence ended.
    since_ns: i64,
    /// The schedule before the silence.
    line: Earliest,
}

impl HeldLoss {
    pub(super) fn lost(&self) -> u64 {
        self.lost
    }
}

impl Sequence {
    /// Continues after a silence, `ahead` counts further, of which `turns` are in whole turns. Later samples decide
    /// whether these are lost.
    pub(super) fn go_on_held(&mut self, count: u32, ahead: u64, turns: u64, sample: &Sample) -> SampleStep {
        self.settle_held();
        let line = self.line;
        let silent_ns = self.move_on(count, ahead, sample);
        let lost = ahead - 1;
        self.held = Some(HeldLoss {
            turns,
            lost,
            silent_ns,
            index: self.index,
            since_ns: self.newest_ns.unwrap_or(0),
            line,
        });
        let found = self.leave_out(count, lost);
        SampleStep::Gap(u32::try_from(lost - found).unwrap_or(u32::MAX))
    }

    /// A late sample arrived that was counted as lost, or would be.
    pub(super) fn found_one(&mut self) {
        match self.held.as_mut().filter(|held| held.lost > 0) {
            Some(held) => held.lost -= 1,
            None => self.counters.lost = self.counters.lost.saturating_sub(1),
        }
    }

    /// Examines the samples after a silence; returns true if they show that the turns were not lost.
    #[cold]
    pub(super) fn look_at_held(&mut self, sample: &Sample) -> bool {
        let Some((held, at_ns)) = self.held.zip(self.newest_ns) else {
            return false;
        };
        let elapsed_ns = held.line.elapsed_ns(self.index, self.rate, at_ns);
        if elapsed_ns.is_some_and(|elapsed_ns| elapsed_ns < -EARLY_NS) {
            self.take_back_held(held, at_ns);
            return true;
        }
        if sample
            .at_ns
            .is_some_and(|now_ns| now_ns.saturating_sub(held.since_ns) > RELEASED_NS)
        {
            self.settle_held();
        }
        false
    }

    /// Takes the loss back: the turns were not lost.
    fn take_back_held(&mut self, held: HeldLoss, at_ns: i64) {
        self.held = None;
        self.nothing_is_missing_before(held.index);
        self.index = self.index.saturating_sub(held.turns);
        self.line = held.line;
        self.line.came(self.index, self.rate, at_ns);
        match held.lost.checked_sub(held.turns) {
            Some(lost) => self.count_lost(lost),
            // Late samples were already subtracted from the loss.
            None => self.counters.lost = self.counters.lost.saturating_sub(held.turns - held.lost),
        }
        self.findings
            .push(What::Held, held.silent_ns.unsigned_abs(), held.turns);
    }

    /// Marks every sample before number `index` as not missing.
    fn nothing_is_missing_before(&mut self, index: u64) {
        let since = u32::try_from(self.index.saturating_sub(index)).unwrap_or(u32::MAX);
        let before = u32::MAX.checked_shl(since.saturating_add(1)).unwrap_or(0);
        self.seen |= before;
        self.missing &= !before;
    }

    /// Counts the loss: no later sample has disproved it.
    pub(super) fn settle_held(&mut self) {
        let Some(held) = self.held.take() else { return };
        self.count_lost(held.lost);
        if held.silent_ns >= INTERRUPTION_NS {
            self.findings
                .push(What::Interrupted, held.silent_ns.unsigned_abs(), held.lost);
        }
    }

    fn count_lost(&mut self, lost: u64) {
        self.counters.lost = self.counters.lost.saturating_add(lost);
        self.counters.gaps += u64::from(lost > 0);
    }
}
