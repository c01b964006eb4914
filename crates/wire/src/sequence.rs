//! Supervision of one SV stream by its sample counter: what was lost, doubled, late, or restarted.

mod accounting;
mod rate;

pub use accounting::{Accounting, Settled};
pub use rate::{KNOWN_RATES, RateLearner};

/// A sample this many counts behind the newest one is late, not a restart.
pub const WINDOW: u32 = 16;

/// Most samples in a frame: so many can come late together.
const MOST_ASDUS: u32 = 8;

/// What the stream's counters say. Every sample falls in exactly one of: in order, first after a gap, duplicate, out of
/// order, restart, too late, out of range.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counters {
    /// Samples given to [`Sequence::accept`].
    pub asdus: u64,
    /// Counts that never came.
    pub lost: u64,
    /// Places where at least one count was missing. Stays counted when the missing sample arrives late.
    pub gaps: u64,
    /// Counts that came again within the window.
    pub duplicates: u64,
    /// Counts that came late, at most 16 behind the newest.
    pub out_of_order: u64,
    /// Jumps of half a second or more: the publisher started again or resynchronised. Not a loss.
    pub restarts: u64,
    /// Samples first taken for a restart that came more than 16 counts late: the stream went on behind them where it had
    /// been. Those that were missing stay lost.
    pub too_late: u64,
    /// Counts at or beyond the sample rate. They do not move the stream.
    pub out_of_range: u64,
}

/// What one sample was.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// The first of the stream.
    First,
    /// The one expected.
    Next,
    /// So many counts are missing before it.
    Gap(u32),
    /// Already seen.
    Duplicate,
    /// Late.
    OutOfOrder,
    /// A jump of half a second or more.
    Restart,
    /// At or beyond the sample rate.
    OutOfRange,
}

/// The state of one stream.
#[derive(Debug, Clone)]
pub struct Sequence {
    rate: u32,
    learner: Option<RateLearner>,
    newest: Option<u32>,
    /// Bit n: the count n behind the newest one was seen.
    seen: u32,
    /// Bit n: the count n behind the newest one was counted as lost.
    missing: u32,
    before_restart: Option<Before>,
    counters: Counters,
}

/// Where the stream was before a restart that its next samples may show to be none.
#[derive(Debug, Clone, Copy)]
struct Before {
    newest: u32,
    seen: u32,
    missing: u32,
    lost: u64,
    gaps: u64,
    /// Samples that followed the restart, with the one that looked like it.
    since: u32,
}

impl Sequence {
    /// Supervises a stream whose counter runs from 0 to `rate - 1` (samples per second). A rate of 0 is taken as 1, one
    /// beyond 65536 as 65536.
    pub fn new(rate: u32) -> Self {
        let rate = rate.clamp(1, 1 << 16);
        Self {
            rate,
            learner: None,
            newest: None,
            seen: 0,
            missing: 0,
            before_restart: None,
            counters: Counters::default(),
        }
    }

    /// Supervises a stream of unknown rate: the counter is taken to run to 65535 until its wrap shows the rate.
    pub fn learning() -> Self {
        Self {
            learner: Some(RateLearner::new()),
            ..Self::new(1 << 16)
        }
    }

    /// Samples per second; `None` while it is not known.
    pub fn rate(&self) -> Option<u32> {
        self.learner.is_none().then_some(self.rate)
    }

    /// The counters so far.
    pub fn counters(&self) -> &Counters {
        &self.counters
    }

    /// Takes the next sample's count.
    #[inline]
    pub fn accept(&mut self, smp_cnt: u16) -> Step {
        if let Some(rate) = self.learner.as_mut().and_then(|learner| learner.observe(smp_cnt)) {
            self.rate = rate;
            self.learner = None;
        }
        self.counters.asdus += 1;
        let count = u32::from(smp_cnt);
        if count >= self.rate {
            self.counters.out_of_range += 1;
            return Step::OutOfRange;
        }
        self.doubt_restart(count);
        let Some(newest) = self.newest else {
            self.begin(count);
            return Step::First;
        };
        let ahead = (count + self.rate - newest) % self.rate;
        let behind = (newest + self.rate - count) % self.rate;
        if ahead == 1 {
            self.advance(count, 1);
            Step::Next
        } else if behind <= WINDOW.min(self.rate / 4) {
            self.late(behind)
        } else if ahead < self.rate.div_ceil(2) {
            self.advance(count, ahead);
            self.counters.gaps += 1;
            self.counters.lost += u64::from(ahead - 1);
            Step::Gap(ahead - 1)
        } else {
            self.before_restart = Some(Before {
                newest,
                seen: self.seen,
                missing: self.missing,
                lost: self.counters.lost,
                gaps: self.counters.gaps,
                since: 1,
            });
            self.begin(count);
            self.counters.restarts += 1;
            Step::Restart
        }
    }

    /// Takes a restart back when the stream goes on where it was before, a few samples later: those that looked like a new
    /// stream, one frame's at most, came far too late.
    fn doubt_restart(&mut self, count: u32) {
        let Some(mut before) = self.before_restart else { return };
        let ahead = (count + self.rate - before.newest) % self.rate;
        if (1..=WINDOW.min(self.rate / 4)).contains(&ahead) {
            self.counters.restarts -= 1;
            self.counters.too_late += u64::from(before.since);
            (self.counters.lost, self.counters.gaps) = (before.lost, before.gaps);
            (self.newest, self.seen, self.missing) = (Some(before.newest), before.seen, before.missing);
            self.before_restart = None;
        } else {
            before.since += 1;
            self.before_restart = (before.since <= MOST_ASDUS).then_some(before);
        }
    }

    fn begin(&mut self, count: u32) {
        self.newest = Some(count);
        self.seen = 1;
        self.missing = 0;
    }

    fn advance(&mut self, count: u32, ahead: u32) {
        self.newest = Some(count);
        let shifted = |bits: u32| bits.checked_shl(ahead).unwrap_or(0);
        let skipped = shifted(1).wrapping_sub(1) & !1;
        self.missing = shifted(self.missing) | skipped;
        self.seen = shifted(self.seen) | 1;
    }

    fn late(&mut self, behind: u32) -> Step {
        let bit = 1 << behind;
        if self.seen & bit != 0 {
            self.counters.duplicates += 1;
            return Step::Duplicate;
        }
        self.seen |= bit;
        self.counters.out_of_order += 1;
        // Not missing: it belongs to the time before the stream's first sample, so it was never counted as lost.
        if self.missing & bit != 0 {
            self.missing &= !bit;
            self.counters.lost -= 1;
        }
        Step::OutOfOrder
    }
}

#[cfg(test)]
mod tests;
