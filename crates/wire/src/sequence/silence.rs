//! Silence of a stream: the samples lost in it, and when to report it.

use super::early::{Origin, Reached};
use super::jump::Jump;
use super::learn::ByPace;
use super::line::{EARLY_NS, counts};
use super::pace::Pace;
use super::{Sample, SampleStep, Sequence, WINDOW, What};

/// After a longer silence, more may be lost than the counter shows; the elapsed time shows how much.
const SILENCE_NS: i64 = 250_000_000;

/// The counter may have wrapped in this time, which is a turn minus the counts that may be late.
pub(super) const NEARLY_A_TURN_NS: i64 = 700_000_000;

/// If more consecutive strays than this arrive, which is more than a few frames hold, the stream itself continues
/// there.
const STRAYS: u32 = 3 * super::MOST_ASDUS;

/// A silence this long is reported while it lasts. If the stream does not return, the silence is a loss or a doubt.
const STOPPED_NS: i64 = 500_000_000;

impl Sequence {
    /// Length of the silence before this sample in ns, if it was long.
    #[inline]
    pub(super) fn silence_before(&self, sample: &Sample) -> Option<i64> {
        let silent_ns = sample.at_ns?.saturating_sub(self.newest_ns?);
        (silent_ns > SILENCE_NS).then_some(silent_ns)
    }

    /// Handles a sample after a silence. Late samples do not end a silence.
    #[cold]
    pub(super) fn in_silence(&mut self, count: u32, ahead: u32, silent_ns: i64, sample: &Sample) -> Option<SampleStep> {
        if !self.is_rate_known || ahead <= WINDOW || self.is_on_time(ahead, silent_ns) {
            return self.after_silence(count, ahead, silent_ns, sample);
        }
        if self.too_late_in_a_row > STRAYS {
            return Some(self.restart(count, sample));
        }
        let step = self.come_late(count, sample);
        match step {
            None => self.after_silence(count, ahead, silent_ns, sample),
            Some(step) => {
                if step == SampleStep::Duplicate {
                    self.doubt_copy(ahead, silent_ns, sample);
                }
                Some(step)
            }
        }
    }

    /// A copy in a silence may be a sample that overtook those that are held back, if there was time for it.
    fn doubt_copy(&mut self, ahead: u32, silent_ns: i64, sample: &Sample) {
        if u64::from(ahead) > counts(silent_ns.saturating_add(EARLY_NS), self.rate) {
            return;
        }
        self.counters.duplicates -= 1;
        self.counters.too_late += 1;
        let early = Reached {
            index: self.index.saturating_add(u64::from(ahead)),
            count: u32::from(sample.smp_cnt),
            contents: sample.contents,
        };
        self.await_turn(early, Origin::Copy);
    }

    /// True if the counter is where the elapsed time would put it, or a little behind.
    fn is_on_time(&self, ahead: u32, silent_ns: i64) -> bool {
        let elapsed = counts(silent_ns, self.rate).saturating_add(u64::from(WINDOW / 2));
        let behind = elapsed.saturating_sub(u64::from(ahead)) % u64::from(self.rate);
        // The samples of a frame arrive together.
        elapsed >= u64::from(ahead) && behind <= u64::from(WINDOW + super::MOST_ASDUS)
    }

    /// Places a sample by its count and the elapsed time together; `None` if the silence changes nothing.
    ///
    /// The counter alone cannot distinguish an interruption of half a second or more from a restart of the publisher,
    /// nor one of a whole second from none. If the counter fits the elapsed time, the samples of that time are lost.
    fn after_silence(&mut self, count: u32, ahead: u32, silent_ns: i64, sample: &Sample) -> Option<SampleStep> {
        if !self.is_rate_known {
            return self.after_silence_unrated(count, ahead, silent_ns, sample);
        }
        let rate = u64::from(self.rate);
        // At most the counts that were due in the silence are lost, whatever the stream's pace was before.
        let most = counts(silent_ns.saturating_add(EARLY_NS), self.rate);
        let turns = most.checked_sub(u64::from(ahead))? / rate;
        let by_time = u64::from(ahead) + turns * rate;
        if by_time == 0 {
            return None;
        }
        // If frames are held back for less than half a second, there is no doubt about their turn.
        let most_behind = if turns == 0 { rate.div_ceil(2) } else { rate.div_ceil(4) };
        let is_held_up = counts(silent_ns, self.rate).saturating_sub(by_time) > most_behind;
        let may_be_a_step = sample.alone && turns > 0 && ahead <= WINDOW;
        if is_held_up || may_be_a_step {
            return Some(self.uncountable(count, ahead, silent_ns, sample));
        }
        self.doubt_silence(ahead);
        Some(match turns.min(by_time - 1) {
            0 => self.go_on(count, by_time, sample),
            _ => self.go_on_held(count, by_time, turns * rate, sample),
        })
    }

    /// The samples of a silence are lost, unless this sample overtook them: the next ones show it, if they are not the same ones for both.
    fn doubt_silence(&mut self, ahead: u32) {
        match (WINDOW + 1..self.rate.saturating_sub(3 * WINDOW)).contains(&ahead) {
            true => self.doubt(Jump::Loss),
            false => self.confirm(),
        }
    }

    /// Handles a counter that does not fit the elapsed time.
    fn uncountable(&mut self, count: u32, ahead: u32, silent_ns: i64, sample: &Sample) -> SampleStep {
        self.findings
            .push(What::Uncountable, silent_ns.unsigned_abs(), u64::from(ahead));
        if ahead > WINDOW {
            let step = self.restart(count, sample);
            let most = counts(silent_ns.saturating_add(EARLY_NS), self.rate);
            if let Some(before) = self.before.as_mut().filter(|_| u64::from(ahead) <= most) {
                before.allow_overtaking();
            }
            return step;
        }
        self.confirm();
        match ahead {
            // A whole turn later or no step at all: nothing is counted.
            0 => {
                self.move_on(count, 0, sample);
                SampleStep::Next
            }
            _ => self.go_on(count, u64::from(ahead), sample),
        }
    }

    /// Without a known rate, the pace before the silence shows whether the counter ran on during it.
    fn after_silence_unrated(&mut self, count: u32, ahead: u32, silent_ns: i64, sample: &Sample) -> Option<SampleStep> {
        if let Some(rate) = self
            .profile_by_pace()
            .filter(|rate| count < *rate && self.newest < Some(*rate) && self.by_pace == ByPace::Untried)
        {
            self.adopt_pace(rate);
            let ahead = (count + rate - self.newest.unwrap_or(0)) % rate;
            return self.after_silence(count, ahead, silent_ns, sample);
        }
        if !(1..self.rate / 2).contains(&ahead) {
            // A count near the newest sample may be a copy, or a late count of the next turn.
            return (silent_ns >= NEARLY_A_TURN_NS).then(|| self.restart(count, sample));
        }
        let expected = self.pace.counts_in(silent_ns);
        let half = self.pace.counts_in(1_000_000_000 / 2).unwrap_or(0);
        // Counters wrap once a second: a counter delayed by less than half of that has not wrapped in the meantime.
        let fits = expected.is_some_and(|expected| {
            let apart = expected.abs_diff(u64::from(ahead));
            apart <= expected / 8 + 2 || (u64::from(ahead) <= expected && apart <= half)
        });
        if fits {
            self.doubt_silence(ahead);
            return Some(self.go_on(count, u64::from(ahead), sample));
        }
        let is_too_far = expected.is_some_and(|expected| u64::from(ahead) > expected);
        if is_too_far {
            return None;
        }
        self.doubt_silence(ahead);
        self.pend(count, sample, u64::from(ahead - 1), false);
        // The time of the silence must not enter the pace.
        self.pace = Pace::default();
        Some(self.go_on(count, u64::from(ahead), sample))
    }

    /// Checks for silence at `now_ns`, after every earlier sample was given: a stream that stops is reported half a
    /// second later.
    pub fn look(&mut self, now_ns: i64) {
        if let Some(silent_ns) = self.stopped_for(now_ns)
            && !self.is_silent
        {
            self.is_silent = true;
            self.findings.push(What::Silent, silent_ns.unsigned_abs(), 0);
        }
    }

    /// Length of the current silence in ns, if it is longer than the normal pauses of a stream of this pace.
    fn stopped_for(&self, now_ns: i64) -> Option<i64> {
        let silent_ns = now_ns.saturating_sub(self.newest_ns?);
        let frame_ns = match self.is_rate_known {
            true => 1_000_000_000 / i64::from(self.rate),
            false => self.pace.frame_ns().unwrap_or(0),
        };
        (silent_ns > STOPPED_NS.max(frame_ns.saturating_mul(3))).then_some(silent_ns)
    }

    /// Ends the stream at `now_ns` of the samples' clock; every earlier sample must have been given. Samples due since
    /// the newest one are lost. Call it once, before taking the last findings.
    pub fn end(&mut self, now_ns: Option<i64>) {
        self.end_jump();
        self.give_up_rate();
        self.settle_held();
        self.give_up_strays();
        self.give_up_early();
        if let Some(silent_ns) = now_ns.and_then(|now_ns| self.stopped_for(now_ns)) {
            self.stopped(silent_ns);
        }
        if self.counters.too_late > 0 {
            self.findings
                .push(What::TooLate, self.counters.too_late, u64::from(WINDOW));
        }
        self.findings.end();
    }

    fn stopped(&mut self, silent_ns: i64) {
        let lost = match self.is_rate_known {
            // A sample that is due exactly at the end is not lost.
            true => Some(counts(silent_ns.saturating_sub(1), self.rate)),
            false => self.profile_by_pace().map(|rate| counts(silent_ns, rate)),
        };
        let silent_ns = silent_ns.unsigned_abs();
        match lost {
            Some(lost) => {
                self.counters.lost = self.counters.lost.saturating_add(lost);
                self.counters.gaps += 1;
                self.findings.push(What::Stopped, silent_ns, lost);
            }
            None => self.findings.push(What::StoppedUncounted, silent_ns, 0),
        }
    }
}
