//! Silence: what was lost in it, and when to report it.

use super::learn::ByPace;
use super::line::{EARLY_NS, Earliest, counts};
use super::pace::Pace;
use super::{Sample, SampleStep, Sequence, WINDOW, What};

/// A stream that was silent for longer may have lost more than its counter shows: time tells.
const SILENCE_NS: i64 = 250_000_000;

/// A counter may have turned in this time, less the counts that come late.
pub(super) const NEARLY_A_TURN_NS: i64 = 700_000_000;

/// More strays in a row than those of a few frames: the stream itself goes on there.
const STRAYS: u32 = 3 * super::MOST_ASDUS;

/// A silence this long is told while it lasts, and is a loss, or a doubt, where the stream does not come back.
const STOPPED_NS: i64 = 500_000_000;

impl Sequence {
    /// How long nothing came before this sample, if that is long.
    #[inline]
    pub(super) fn silence_before(&self, sample: &Sample) -> Option<i64> {
        let silent_ns = sample.at_ns?.saturating_sub(self.newest_ns?);
        (silent_ns > SILENCE_NS).then_some(silent_ns)
    }

    /// Looks at a sample after a silence, which samples that the stream had passed do not end.
    #[cold]
    pub(super) fn in_silence(&mut self, count: u32, ahead: u32, silent_ns: i64, sample: &Sample) -> Option<SampleStep> {
        if !self.is_rate_known || ahead <= WINDOW || self.is_on_time(ahead, silent_ns) {
            return self.after_silence(count, ahead, silent_ns, sample);
        }
        if self.too_late_in_a_row > STRAYS {
            return Some(self.restart(count, sample));
        }
        match self.come_late(count, sample) {
            None => self.after_silence(count, ahead, silent_ns, sample),
            step => step,
        }
    }

    /// True where the counter stands where the time of the silence takes it, at the latest.
    fn is_on_time(&self, ahead: u32, silent_ns: i64) -> bool {
        let elapsed = counts(silent_ns, self.rate).saturating_add(u64::from(WINDOW / 2));
        let behind = elapsed.saturating_sub(u64::from(ahead)) % u64::from(self.rate);
        // The samples of a frame come together.
        elapsed >= u64::from(ahead) && behind <= u64::from(WINDOW + super::MOST_ASDUS)
    }

    /// Places a sample by its count and the time together; `None` where the silence changes nothing.
    ///
    /// The counter alone cannot tell an interruption of half a second or more from a restart of the publisher, nor one of a whole second
    /// from none. Where it stands where the time says, the samples of that time are lost.
    fn after_silence(&mut self, count: u32, ahead: u32, silent_ns: i64, sample: &Sample) -> Option<SampleStep> {
        if !self.is_rate_known {
            return self.after_silence_unrated(count, ahead, silent_ns, sample);
        }
        let rate = u64::from(self.rate);
        // No more is lost than was due in the silence, whatever the stream's pace was before.
        let most = counts(silent_ns.saturating_add(EARLY_NS), self.rate);
        let turns = most.checked_sub(u64::from(ahead))? / rate;
        let by_time = u64::from(ahead) + turns * rate;
        if by_time == 0 {
            return None;
        }
        // A publisher, or the network, that holds frames back for less than half a second leaves no doubt which turn they are of.
        let most_behind = if turns == 0 { rate.div_ceil(2) } else { rate.div_ceil(4) };
        let is_held_up = counts(silent_ns, self.rate).saturating_sub(by_time) > most_behind;
        let may_be_a_step = sample.alone && turns > 0 && ahead <= WINDOW;
        if is_held_up || may_be_a_step {
            return Some(self.uncountable(count, ahead, silent_ns, sample));
        }
        self.confirm();
        Some(match turns.min(by_time - 1) {
            0 => self.go_on(count, by_time, sample),
            _ => self.go_on_held(count, by_time, turns * rate, sample),
        })
    }

    /// The counter does not stand where the time says.
    fn uncountable(&mut self, count: u32, ahead: u32, silent_ns: i64, sample: &Sample) -> SampleStep {
        self.findings
            .push(What::Uncountable, silent_ns.unsigned_abs(), u64::from(ahead));
        if !(1..=WINDOW).contains(&ahead) {
            return self.restart(count, sample);
        }
        self.confirm();
        let step = self.go_on(count, u64::from(ahead), sample);
        // Whatever it was, the schedule is another one from here on.
        self.line = sample
            .at_ns
            .map_or_else(Earliest::default, |at_ns| Earliest::from(self.index, at_ns));
        step
    }

    /// Without the rate, the pace before the silence tells whether the counter went on in it.
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
            // A count near the newest sample may be a copy, or as many counts before it, of the next turn.
            return (silent_ns >= NEARLY_A_TURN_NS).then(|| self.restart(count, sample));
        }
        let expected = self.pace.counts_in(silent_ns);
        let half = self.pace.counts_in(1_000_000_000 / 2).unwrap_or(0);
        // Counters turn once a second: one that was held up for less than half of that has not gone round meanwhile.
        let fits = expected.is_some_and(|expected| {
            let apart = expected.abs_diff(u64::from(ahead));
            apart <= expected / 8 + 2 || (u64::from(ahead) <= expected && apart <= half)
        });
        if fits {
            self.confirm();
            return Some(self.go_on(count, u64::from(ahead), sample));
        }
        let is_too_far = expected.is_some_and(|expected| u64::from(ahead) > expected);
        if is_too_far {
            return None;
        }
        self.confirm();
        self.pend(count, sample, u64::from(ahead - 1), false);
        // The time of the silence is no part of the pace.
        self.pace = Pace::default();
        Some(self.go_on(count, u64::from(ahead), sample))
    }

    /// Looks at silence at `now_ns`, when every sample before was given: a stream that stops is told half a second later.
    pub fn look(&mut self, now_ns: i64) {
        if let Some(silent_ns) = self.stopped_for(now_ns)
            && !self.is_silent
        {
            self.is_silent = true;
            self.findings.push(What::Silent, silent_ns.unsigned_abs(), 0);
        }
    }

    /// How long nothing came, if that is longer than a stream of its pace is silent.
    fn stopped_for(&self, now_ns: i64) -> Option<i64> {
        let silent_ns = now_ns.saturating_sub(self.newest_ns?);
        let frame_ns = match self.is_rate_known {
            true => 1_000_000_000 / i64::from(self.rate),
            false => self.pace.frame_ns().unwrap_or(0),
        };
        (silent_ns > STOPPED_NS.max(frame_ns.saturating_mul(3))).then_some(silent_ns)
    }

    /// The stream is followed no longer, at `now_ns` of the samples' clock: all that came before was given. What was due since the newest
    /// sample is lost. To be said once, before the last findings are taken.
    pub fn end(&mut self, now_ns: Option<i64>) {
        self.end_jump();
        self.give_up_rate();
        self.settle_held();
        self.give_up_strays();
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
            // A sample that is due at the very end is not.
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
