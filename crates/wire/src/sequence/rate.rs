//! Learning a stream's sample rate from the wrap of its counter.

use super::{MOST_ASDUS, WINDOW};

/// Rates of the profiles in use (9-2LE at 50 and 60 Hz, IEC 61869-9), samples per second.
pub const KNOWN_RATES: [u32; 6] = [4000, 4800, 5760, 12_800, 14_400, 15_360];

/// Just before the counter wraps, copies from up to two frames may arrive.
const COPIES: u32 = 2 * MOST_ASDUS;

/// Watches a counter until its wrap shows the rate: immediately if the highest count matches a known profile (up to 16
/// lost samples around the wrap are allowed for), otherwise when two consecutive wraps agree. Only a step back to the
/// first counts of a second is a wrap; a sample that arrives far too late is not.
#[derive(Debug, Clone)]
pub struct RateLearner {
    /// Samples per count.
    asdus: u32,
    last: Option<u32>,
    highest: u32,
    candidate: Option<u32>,
    has_agreed: bool,
    /// The state before a step back that was not a wrap.
    before: Option<Before>,
}

/// The counter before samples that may only have been late.
#[derive(Debug, Clone, Copy)]
struct Before {
    last: u32,
    highest: u32,
    since: u32,
}

impl Default for RateLearner {
    fn default() -> Self {
        Self::new()
    }
}

impl RateLearner {
    /// Creates a learner that has seen nothing.
    pub fn new() -> Self {
        Self::of_frames(1)
    }

    /// Like [`Self::new`], for a counter of frames with `asdus` samples each: the rate is in frames per second. 0 is
    /// taken as 1.
    pub fn of_frames(asdus: u16) -> Self {
        Self {
            asdus: u32::from(asdus).max(1),
            last: None,
            highest: 0,
            candidate: None,
            has_agreed: false,
            before: None,
        }
    }

    /// True if `rate` belongs to a known profile.
    pub(super) fn is_known(&self, rate: u32) -> bool {
        rate.checked_mul(self.asdus)
            .is_some_and(|samples| KNOWN_RATES.contains(&samples))
    }

    /// Samples per count.
    pub(super) fn asdus(&self) -> u32 {
        self.asdus
    }

    /// The highest count since the last wrap.
    pub(super) fn highest(&self) -> u32 {
        self.highest
    }

    /// True if the last two wraps were at the same count.
    pub(super) fn has_agreed(&self) -> bool {
        self.has_agreed
    }

    /// The rate of a profile whose last counts may have been lost.
    fn known_from(&self, seen: u32) -> Option<u32> {
        (seen..=seen + WINDOW).find(|&rate| self.is_known(rate))
    }

    /// Takes the next count; returns the rate once it is known.
    pub fn observe(&mut self, smp_cnt: u16) -> Option<u32> {
        let count = u32::from(smp_cnt);
        self.go_on(count);
        let last = self.last.replace(count);
        let Some(last) = last.filter(|last| count + WINDOW < *last) else {
            self.highest = self.highest.max(count);
            return None;
        };
        if count > WINDOW {
            // Another publisher, a counter that was stepped, or a sample that is far too late: the next samples decide.
            let highest = std::mem::replace(&mut self.highest, count);
            self.before.get_or_insert(Before {
                last,
                highest,
                since: 0,
            });
            return None;
        }
        let seen = self.highest + 1;
        self.highest = count;
        // If late copies arrived, the count before the wrap belongs to one of them: the counter had been further.
        let further = self.before.take().map(|before| before.highest + 1);
        self.has_agreed = self.candidate == Some(seen);
        self.candidate = Some(seen);
        let known = [Some(seen), further]
            .into_iter()
            .flatten()
            .find_map(|seen| self.known_from(seen));
        known.or(self.has_agreed.then_some(seen))
    }

    /// Forgets a step back if the counter continues where it was before it.
    fn go_on(&mut self, count: u32) {
        let Some(before) = &mut self.before else { return };
        before.since += 1;
        if (1..=WINDOW).contains(&count.wrapping_sub(before.last)) {
            (self.last, self.highest) = (Some(before.last), before.highest);
            self.before = None;
        } else if before.since > COPIES {
            self.before = None;
        }
    }
}
