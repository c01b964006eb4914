//! Learning a stream's sample rate from the wrap of its counter.

use super::WINDOW;

/// Rates of the profiles in use (9-2LE at 50 and 60 Hz, IEC 61869-9), samples per second.
pub const KNOWN_RATES: [u32; 6] = [4000, 4800, 5760, 12_800, 14_400, 15_360];

/// Watches a counter until its wrap shows the rate: at once when the highest count is that of a known profile (up to 16
/// lost samples around the wrap are forgiven), otherwise when two wraps in a row agree.
#[derive(Debug, Clone, Default)]
pub struct RateLearner {
    last: Option<u32>,
    highest: u32,
    candidate: Option<u32>,
}

impl RateLearner {
    /// Knows nothing yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes the next count; returns the rate once it is known.
    pub fn observe(&mut self, smp_cnt: u16) -> Option<u32> {
        let count = u32::from(smp_cnt);
        let last = self.last.replace(count);
        let wrapped = last.is_some_and(|last| count + WINDOW < last);
        if !wrapped {
            self.highest = self.highest.max(count);
            return None;
        }
        let seen = self.highest + 1;
        self.highest = count;
        if let Some(known) = KNOWN_RATES
            .into_iter()
            .find(|&rate| rate >= seen && rate - seen <= WINDOW)
        {
            return Some(known);
        }
        let agreed = self.candidate == Some(seen);
        self.candidate = Some(seen);
        agreed.then_some(seen)
    }
}
