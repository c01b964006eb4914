//! Supervision of one SV stream by its sample counter: what was lost, doubled, late, or restarted.

mod accounting;
mod rate;

pub use accounting::{Accounting, Settled};
pub use rate::{KNOWN_RATES, RateLearner};

/// A sample up to this many counts behind the newest one is late; one further behind is too late to be taken back from those
/// that are lost.
pub const WINDOW: u32 = 16;

/// A stream that was silent for longer than this has lost whole seconds' worth of counts, perhaps: time tells.
const SILENCE_NS: u64 = 500_000_000;

/// Words that hold a bit for every count.
const COUNT_WORDS: usize = (1 << 16) / 64;

/// What the stream's counters say. Every sample falls in exactly one of: in order, first after a gap, duplicate, out of
/// order, restart, out of range.
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
    /// Counts that came later than that. They stay counted as lost.
    pub too_late: u64,
    /// Jumps that neither a loss nor the time since the sample before explains: the publisher started again or
    /// resynchronised. Not a loss.
    pub restarts: u64,
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
    /// So late that it was given up as lost, and stays so.
    TooLate,
    /// A jump that is no loss.
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
    /// A bit for every count: it was skipped when the stream last came by, and counted as lost.
    missing: [u64; COUNT_WORDS],
    /// Samples in a row that were too late.
    too_late_in_a_row: u32,
    counters: Counters,
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
            missing: [0; COUNT_WORDS],
            too_late_in_a_row: 0,
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

    /// Takes the next sample's count, of a stream that is not known to have been silent.
    #[inline]
    pub fn accept(&mut self, smp_cnt: u16) -> Step {
        self.accept_after(smp_cnt, 0)
    }

    /// Takes the next sample's count, which came `silent_ns` after the newest one.
    ///
    /// The counter alone cannot tell an interruption of half a second or more from a restart of the publisher, nor one of a whole
    /// second from none. Where the stream was silent for that long and its counter stands where the time says, the silence is
    /// counted as lost.
    #[inline]
    pub fn accept_after(&mut self, smp_cnt: u16, silent_ns: u64) -> Step {
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
        let Some(newest) = self.newest else {
            self.begin(count);
            return Step::First;
        };
        let ahead = (count + self.rate - newest) % self.rate;
        let behind = (newest + self.rate - count) % self.rate;
        if silent_ns > SILENCE_NS
            && let Some(ahead) = self.ahead_by_time(ahead, silent_ns)
        {
            self.ahead(count, ahead)
        } else if ahead == 1 {
            self.ahead(count, 1)
        } else if behind <= WINDOW.min(self.rate / 4) {
            self.late(count, behind)
        } else if ahead < self.rate.div_ceil(2) {
            self.ahead(count, u64::from(ahead))
        } else if self.is_missing(count) && self.too_late_in_a_row < self.rate / 4 {
            self.too_late_in_a_row += 1;
            self.counters.too_late += 1;
            Step::TooLate
        } else {
            self.begin(count);
            self.counters.restarts += 1;
            Step::Restart
        }
    }

    /// Counts that the stream moved on by in `silent_ns`, if its counter, `ahead` of the newest, stands about where it must then.
    #[cold]
    fn ahead_by_time(&self, ahead: u32, silent_ns: u64) -> Option<u64> {
        if self.learner.is_some() {
            return None;
        }
        let (rate, ahead) = (u64::from(self.rate), u64::from(ahead));
        let elapsed = u128::from(silent_ns) * u128::from(rate) / 1_000_000_000;
        let elapsed = u64::try_from(elapsed).ok()?;
        let seconds = (elapsed + rate / 2).checked_sub(ahead)? / rate;
        let by_time = ahead + seconds * rate;
        // A tenth of a second: the frame before the silence, or the one after it, may have been held up.
        (by_time > 0 && by_time.abs_diff(elapsed) <= rate.div_ceil(10)).then_some(by_time)
    }

    fn begin(&mut self, count: u32) {
        self.newest = Some(count);
        self.seen = 1;
        self.missing.fill(0);
        self.too_late_in_a_row = 0;
    }

    /// The stream moved on by `ahead` counts, to `count`.
    #[inline]
    fn ahead(&mut self, count: u32, ahead: u64) -> Step {
        self.newest = Some(count);
        self.too_late_in_a_row = 0;
        let shift = u32::try_from(ahead).unwrap_or(u32::MAX);
        self.seen = self.seen.checked_shl(shift).unwrap_or(0) | 1;
        self.missing[word(count)] &= !bit(count);
        if ahead == 1 {
            return Step::Next;
        }
        let skipped = ahead - 1;
        self.counters.gaps += 1;
        self.counters.lost += skipped;
        // Of several seconds, the last one is what can still come late.
        for back in 1..=skipped.min(u64::from(self.rate) - 1) as u32 {
            let lost = (count + self.rate - back) % self.rate;
            self.missing[word(lost)] |= bit(lost);
        }
        Step::Gap(u32::try_from(skipped).unwrap_or(u32::MAX))
    }

    fn late(&mut self, count: u32, behind: u32) -> Step {
        let seen = 1 << behind;
        if self.seen & seen != 0 {
            self.counters.duplicates += 1;
            return Step::Duplicate;
        }
        self.seen |= seen;
        self.counters.out_of_order += 1;
        // Not missing: it belongs to the time before the stream's first sample, so it was never counted as lost.
        if self.is_missing(count) {
            self.missing[word(count)] &= !bit(count);
            self.counters.lost -= 1;
        }
        Step::OutOfOrder
    }

    fn is_missing(&self, count: u32) -> bool {
        self.missing[word(count)] & bit(count) != 0
    }
}

/// Where the bit of a count is. Counts are below 65536.
fn word(count: u32) -> usize {
    (count / 64) as usize % COUNT_WORDS
}

fn bit(count: u32) -> u64 {
    1 << (count % 64)
}

#[cfg(test)]
mod tests;
