//! Supervision of one SV stream by its sample counter: what was lost, doubled, late, or restarted.

mod accounting;
mod rate;

pub use accounting::{Accounting, Settled};
pub use rate::{KNOWN_RATES, RateLearner};

/// A sample up to this many counts behind the newest one is late; one further behind is too late to be taken back from those
/// that are lost.
pub const WINDOW: u32 = 16;

/// A stream that was silent for longer than this may have lost more than its counter shows: time tells.
const SILENCE_NS: u64 = 500_000_000;

/// Highest rate at which every count of a second is remembered as come or missing.
const REMEMBERED: u32 = 1 << 14;

const WORDS: usize = REMEMBERED as usize / 64;

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
    /// Jumps of half a second or more that the time since the sample before does not explain: the publisher started again or
    /// resynchronised. Not a loss.
    pub restarts: u64,
    /// Samples that came more than 16 counts late: they were missing, and stay lost, or the stream went on behind them where
    /// it had been.
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
    /// Missing for so long that it stays lost.
    TooLate,
    /// A jump of half a second or more.
    Restart,
    /// At or beyond the sample rate.
    OutOfRange,
}

/// The state of one stream.
#[derive(Debug, Clone)]
pub struct Sequence {
    rate: u32,
    /// Whether `rate` is that of the stream, or was given as that.
    is_rate_known: bool,
    /// While the wrap has not shown the rate.
    learner: Option<RateLearner>,
    newest: Option<u32>,
    /// Bit n: the count n behind the newest one was seen.
    seen: u32,
    /// Bit n: the count n behind the newest one was counted as lost.
    missing: u32,
    /// A bit for each count: the stream skipped it when it last came by.
    skipped: [u64; WORDS],
    /// Samples in a row that were too late.
    too_late_in_a_row: u32,
    before_restart: Option<Before>,
    silences: u64,
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
    doubled_or_swapped: u64,
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
            is_rate_known: true,
            learner: None,
            newest: None,
            seen: 0,
            missing: 0,
            skipped: [0; WORDS],
            too_late_in_a_row: 0,
            before_restart: None,
            silences: 0,
            counters: Counters::default(),
        }
    }

    /// Supervises a stream of unknown rate: the counter is taken to run to 65535 until its wrap shows the rate.
    pub fn learning() -> Self {
        Self {
            is_rate_known: false,
            learner: Some(RateLearner::new()),
            ..Self::new(1 << 16)
        }
    }

    /// Supervises a stream that is said to have this rate. Where its wrap shows that of another profile, that one is taken.
    pub fn checking(rate: u32) -> Self {
        Self {
            learner: Some(RateLearner::new()),
            ..Self::new(rate)
        }
    }

    /// Counts and rate are of frames, with so many samples in each. To be said before the first one.
    #[must_use]
    pub fn of_frames(mut self, asdus: u16) -> Self {
        self.learner = self.learner.map(|_| RateLearner::of_frames(asdus));
        self
    }

    /// Samples per second; `None` while it is not known.
    pub fn rate(&self) -> Option<u32> {
        self.is_rate_known.then_some(self.rate)
    }

    /// From here on the counter runs from 0 to `rate - 1`; what was counted stays.
    pub fn set_rate(&mut self, rate: u32) {
        self.rate = rate.clamp(1, 1 << 16);
        self.is_rate_known = true;
        self.learner = None;
        // Both are in counts of the rate before.
        self.skipped.fill(0);
        self.before_restart = None;
    }

    /// The counters so far.
    pub fn counters(&self) -> &Counters {
        &self.counters
    }

    /// Restarts that the samples since have not shown to be one that came far too late: these are never taken back.
    pub fn certain_restarts(&self) -> u64 {
        self.counters.restarts - u64::from(self.before_restart.is_some())
    }

    /// Silences of half a second or more so far of which time and count together told what was lost.
    pub fn silences(&self) -> u64 {
        self.silences
    }

    /// Takes the next sample's count, of a stream that is not known to have been silent.
    #[inline]
    pub fn accept(&mut self, smp_cnt: u16) -> Step {
        self.accept_after(smp_cnt, 0)
    }

    /// Takes the next sample's count, which came `silent_ns` after the newest one.
    ///
    /// The counter alone cannot tell an interruption of half a second or more from a restart of the publisher, nor one of a whole
    /// second from none. Where the stream was silent for that long and its counter stands where the time says, the samples of
    /// that time are lost.
    #[inline]
    pub fn accept_after(&mut self, smp_cnt: u16, silent_ns: u64) -> Step {
        if self.learner.is_some() {
            self.look_for_rate(smp_cnt);
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
        if silent_ns > SILENCE_NS
            && let Some(ahead) = self.ahead_by_time(ahead, silent_ns)
        {
            self.silences += 1;
            self.go_on(count, ahead)
        } else if ahead == 1 {
            self.go_on(count, 1)
        } else if behind <= WINDOW.min(self.rate / 4) {
            self.late(behind)
        } else if ahead < self.rate.div_ceil(2) {
            self.go_on(count, u64::from(ahead))
        } else if self.is_rate_known && self.is_skipped(count) && self.too_late_in_a_row < self.rate / 4 {
            self.too_late_in_a_row += 1;
            self.counters.too_late += 1;
            Step::TooLate
        } else {
            self.before_restart = Some(Before {
                newest,
                seen: self.seen,
                missing: self.missing,
                lost: self.counters.lost,
                gaps: self.counters.gaps,
                doubled_or_swapped: self.counters.duplicates + self.counters.out_of_order,
                since: 1,
            });
            self.begin(count);
            self.counters.restarts += 1;
            Step::Restart
        }
    }

    /// Looks whether the count before this one was the last of a second.
    fn look_for_rate(&mut self, smp_cnt: u16) {
        let Some(mut learner) = self.learner.take() else { return };
        let highest = learner.highest();
        let shown = learner.observe(smp_cnt);
        match shown {
            Some(rate) if !self.is_rate_known => self.set_rate(rate),
            // It is what was said.
            Some(rate) if rate == self.rate => {}
            // Two wraps that agree may have lost the same counts; a profile's rate is none by chance.
            Some(rate) if learner.is_known(rate) => {
                self.set_rate(rate);
                // The stream came as far as that, though its last counts may have been beyond the rate that was said.
                let newest = highest.min(rate - 1);
                if self.newest != Some(newest) {
                    self.begin(newest);
                }
                // That it was one and no loss just there is certain when the next wrap shows it too.
                self.learner = Some(learner);
            }
            _ => self.learner = Some(learner),
        }
    }

    /// Takes a restart back when the stream goes on where it was before, a few samples later: those that looked like a new
    /// stream, one frame's at most, came far too late.
    fn doubt_restart(&mut self, count: u32) {
        let Some(mut before) = self.before_restart else { return };
        let ahead = (count + self.rate - before.newest) % self.rate;
        if (1..=WINDOW.min(self.rate / 4)).contains(&ahead) {
            self.counters.restarts -= 1;
            // Those that were doubled or swapped among them are counted as that.
            let other = self.counters.duplicates + self.counters.out_of_order - before.doubled_or_swapped;
            self.counters.too_late += u64::from(before.since).saturating_sub(other);
            (self.counters.lost, self.counters.gaps) = (before.lost, before.gaps);
            (self.newest, self.seen, self.missing) = (Some(before.newest), before.seen, before.missing);
            self.before_restart = None;
        } else {
            before.since += 1;
            self.before_restart = (before.since <= MOST_ASDUS).then_some(before);
            if self.before_restart.is_none() {
                // It was one: what the stream before skipped is no part of this one.
                self.skipped.fill(0);
            }
        }
    }

    fn begin(&mut self, count: u32) {
        self.newest = Some(count);
        self.seen = 1;
        self.missing = 0;
    }

    /// Counts that the stream moved on by in `silent_ns`, if its counter, `ahead` of the newest, stands about where it must then.
    #[cold]
    fn ahead_by_time(&self, ahead: u32, silent_ns: u64) -> Option<u64> {
        if !self.is_rate_known {
            return None;
        }
        let (rate, ahead) = (u64::from(self.rate), u64::from(ahead));
        let elapsed = u128::from(silent_ns) * u128::from(rate) / 1_000_000_000;
        let elapsed = u64::try_from(elapsed).ok()?;
        let seconds = (elapsed + rate / 2).checked_sub(ahead)? / rate;
        let by_time = ahead + seconds * rate;
        // A quarter of a second: the frame before the silence, or the one after it, may have been held up.
        (by_time > 0 && by_time.abs_diff(elapsed) <= rate.div_ceil(4)).then_some(by_time)
    }

    /// The stream moved on by `ahead` counts, to `count`.
    #[inline]
    fn go_on(&mut self, count: u32, ahead: u64) -> Step {
        self.newest = Some(count);
        self.too_late_in_a_row = 0;
        let shift = u32::try_from(ahead).unwrap_or(u32::MAX);
        let shifted = |bits: u32| bits.checked_shl(shift).unwrap_or(0);
        self.missing = shifted(self.missing) | (shifted(1).wrapping_sub(1) & !1);
        self.seen = shifted(self.seen) | 1;
        if let Some(word) = self.skipped.get_mut(word(count)) {
            *word &= !bit(count);
        }
        if ahead == 1 {
            return Step::Next;
        }
        let lost = ahead - 1;
        self.counters.gaps += 1;
        self.counters.lost += lost;
        self.skip(count, lost);
        Step::Gap(u32::try_from(lost).unwrap_or(u32::MAX))
    }

    /// Remembers the `lost` counts before `count`; of more than a second's, the last second's.
    #[cold]
    fn skip(&mut self, count: u32, lost: u64) {
        let most = self.rate.min(REMEMBERED) - 1;
        for back in 1..=u32::try_from(lost).unwrap_or(most).min(most) {
            let skipped = (count + self.rate - back) % self.rate;
            if let Some(word) = self.skipped.get_mut(word(skipped)) {
                *word |= bit(skipped);
            }
        }
    }

    fn is_skipped(&self, count: u32) -> bool {
        self.skipped.get(word(count)).is_some_and(|word| word & bit(count) != 0)
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

/// Where the bit of a count is.
fn word(count: u32) -> usize {
    (count / 64) as usize
}

fn bit(count: u32) -> u64 {
    1 << (count % 64)
}

#[cfg(test)]
mod tests;
