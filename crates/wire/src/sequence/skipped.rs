//! Counts that the stream skipped: those of the last turn, and those of the last turns.

use super::history::{Contents, REMEMBERED};
use super::{Sequence, WINDOW, What};

/// One bit for each count that is remembered.
pub(super) type Counts = [u64; REMEMBERED as usize / 64];

/// None of them.
pub(super) const NO_COUNTS: Counts = [0; REMEMBERED as usize / 64];

/// Number of turns after which no missing sample is expected any more.
const AWAITED_TURNS: u64 = 4;

/// The last place at which more counts were skipped than can be late.
#[derive(Debug, Clone, Copy)]
pub(super) struct Gap {
    /// The first count after it.
    end: u32,
    /// Number of the newest sample when it was certain.
    index: u64,
    /// Number of counts that were lost, and of those from the first to the last of them.
    lost: u64,
    span: u64,
    /// True if it is reported that samples of it came after all.
    is_told: bool,
}

impl Gap {
    /// True if at most 16 samples have come since, with those that were `seen` up to number `index`.
    fn is_recent(&self, index: u64, seen: u32) -> bool {
        let since = index.saturating_sub(self.index);
        let bits = u32::try_from(since)
            .ok()
            .map(|since| 1_u32.checked_shl(since).unwrap_or(0).wrapping_sub(1));
        since <= u64::from(2 * WINDOW) && bits.is_some_and(|bits| (seen & bits).count_ones() <= WINDOW)
    }

    /// True if it ended at a count below `rate`.
    pub(super) fn is_within(&self, rate: u32) -> bool {
        self.end < rate
    }

    /// Number of counts from this one to the end of the gap, if it is in the gap.
    fn back_to(&self, count: u32, rate: u32) -> Option<u64> {
        let back = u64::from((self.end + rate - count) % rate);
        (1..=self.span).contains(&back).then_some(back)
    }
}

impl Sequence {
    /// Remembers the `lost` counts before `count`, number `index`, at most those of the last second. Returns the number of those that are not lost.
    pub(super) fn skip(&mut self, index: u64, count: u32, lost: u64) -> u64 {
        // A shorter one is within the reach of late samples.
        if lost > u64::from(WINDOW) {
            self.begin_gap(count, lost);
        }
        let mut found = 0;
        let most = self.rate.min(REMEMBERED) - 1;
        for back in 1..=u32::try_from(lost).unwrap_or(most).min(most) {
            let skipped = (count + self.rate - back) % self.rate;
            if self.came_before(index.saturating_sub(u64::from(back)), skipped) {
                found += 1;
                continue;
            }
            self.mark_skipped(skipped);
            self.history.forget(skipped);
        }
        if found > 0 {
            self.out_of_turn(count);
        }
        found
    }

    fn begin_gap(&mut self, count: u32, lost: u64) {
        let first = self.index.saturating_sub(lost);
        // Samples of both sides of a burst may have overtaken it.
        let recent = self
            .gap
            .filter(|gap| first.saturating_sub(gap.index) <= u64::from(WINDOW));
        let span = recent.map_or(lost, |gap| {
            let between = u64::from(count + self.rate - gap.end).saturating_sub(lost) % u64::from(self.rate);
            gap.span + between + lost
        });
        self.gap = Some(Gap {
            end: count,
            index: self.index,
            lost: lost + recent.map_or(0, |gap| gap.lost),
            span,
            is_told: recent.is_some_and(|gap| gap.is_told),
        });
    }

    /// True if sample number `index` came when it seemed to be from before the stream's first sample: it is a doubt whether it is lost.
    fn came_before(&mut self, index: u64, count: u32) -> bool {
        let has_no_turn = self.is_rate_known || self.pending.len() == 0;
        let is_known = index <= u64::from(self.rate) && has_no_turn && self.history.knows(count);
        if !is_known || !self.mark_seen(self.index.saturating_sub(index)) {
            return false;
        }
        self.counters.too_late = self.counters.too_late.saturating_sub(1);
        self.counters.out_of_order += 1;
        self.found_one();
        true
    }

    pub(super) fn mark_skipped(&mut self, count: u32) {
        if !self.awaits_lacked() {
            self.lacked.fill(0);
        }
        self.lacked_at = self.index;
        for of in [&mut self.skipped, &mut self.lacked] {
            if let Some(word) = of.get_mut(word(count)) {
                *word |= bit(count);
            }
        }
    }

    /// True if samples that the stream skipped may still come.
    fn awaits_lacked(&self) -> bool {
        self.index.saturating_sub(self.lacked_at) <= AWAITED_TURNS * u64::from(self.rate)
    }

    /// True if the stream skipped this count in one of the last turns, so that a sample of that turn may still come.
    pub(super) fn has_lacked(&self, count: u32) -> bool {
        self.awaits_lacked() && self.lacked.get(word(count)).is_some_and(|word| word & bit(count) != 0)
    }

    pub(super) fn is_skipped(&self, count: u32) -> bool {
        let since_the_jump = self
            .before
            .as_ref()
            .is_some_and(|before| before.has_skipped(count, self.rate));
        since_the_jump || self.skipped.get(word(count)).is_some_and(|word| word & bit(count) != 0)
    }

    #[inline]
    pub(super) fn unskip(&mut self, count: u32) {
        if let Some(word) = self.skipped.get_mut(word(count)) {
            *word &= !bit(count);
        }
    }

    /// True if a missing sample comes soon after the gap, so that it was overtaken by more samples than may be late: then it is a doubt whether it
    /// was lost. A longer delay costs it.
    pub(super) fn returns_to_gap(&mut self, count: u32, contents: Option<Contents>) -> bool {
        // The samples since a second jump are at most 16, too.
        let (index, seen) = match &self.before {
            Some(before) if !before.is_a_restart() => before.reached(),
            _ => (self.index, self.seen),
        };
        let rate = self.rate;
        let is_in =
            |gap: Option<Gap>| gap.is_some_and(|gap| gap.is_recent(index, seen) && gap.back_to(count, rate).is_some());
        let (is_restarting, is_before) = match &self.before {
            Some(before) => (before.is_a_restart(), before.has_skipped(count, rate)),
            None => (false, false),
        };
        if is_restarting || !(is_before || is_in(self.gap)) {
            return false;
        }
        // The samples that jumped across it were lost, or overtaken: the jump itself is certain.
        self.confirm();
        let Some(gap) = self.gap.as_mut().filter(|gap| is_in(Some(**gap))) else {
            return false;
        };
        if !std::mem::replace(&mut gap.is_told, true) {
            self.findings.push(What::Overtaken, u64::from(count), gap.lost);
        }
        self.too_late_in_a_row = 0;
        self.unskip(count);
        self.history.set(count, contents);
        self.counters.out_of_order += 1;
        self.found_one();
        true
    }
}

/// Index of the word that holds the bit of a count.
fn word(count: u32) -> usize {
    (count / 64) as usize
}

fn bit(count: u32) -> u64 {
    1 << (count % 64)
}
