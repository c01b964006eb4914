//! Follows one SV stream by its sample counter and by time, and finds lost, duplicate, late and contradicting samples,
//! and restarts.
//!
//! The rules are the same for every command that follows a stream. A sample is placed by its count. If arrival times
//! are known, they distinguish a loss from a jump of the counter, and show how many turns of the counter a silence
//! lasted. Everything that cannot be decided becomes a [`Finding`] that is a doubt: see [`What::is_doubt`].

mod accounting;
mod early;
mod finding;
mod held;
mod history;
mod jump;
mod late;
mod learn;
mod line;
mod pace;
mod quiet;
mod rate;
mod sample;
mod silence;
mod skipped;
mod strays;

pub use accounting::{Accounting, Settled};
pub use finding::{Finding, What};
pub use history::{Contents, History};
pub use quiet::Quiet;
pub use rate::{KNOWN_RATES, RateLearner};
pub use sample::{Counters, Sample, SampleStep};

use crate::ether::Mac;
use early::{Overtaking, Reached};
use finding::Findings;
use held::HeldLoss;
use jump::Before;
use learn::{ByPace, Pending};
use line::Earliest;
use pace::Pace;
use skipped::{Counts, Gap, NO_COUNTS};
use strays::Strays;

/// A sample that at most this many later ones overtook is late, and no longer counts as lost. One that more overtook is too late and stays lost.
pub const WINDOW: u32 = 16;

/// Maximum number of samples in a frame: this many can be late together.
const MOST_ASDUS: u32 = crate::limits::MAX_ASDUS as u32;

/// A loss in a silence at least this long is reported as an interruption.
const INTERRUPTION_NS: i64 = 100_000_000;

/// The state of one stream.
#[derive(Debug, Clone)]
pub struct Sequence {
    rate: u32,
    /// True if `rate` was learned, given, or adopted for the stream.
    is_rate_known: bool,
    by_pace: ByPace,
    /// `Some` until the wrap has shown the rate.
    learner: Option<RateLearner>,
    newest: Option<u32>,
    /// Number of the newest sample in the schedule. The first sample has number 1.
    index: u64,
    /// Arrival time of the newest sample, in ns.
    newest_ns: Option<i64>,
    line: Earliest,
    pace: Pace,
    /// Bit n: the count n below the newest one was seen.
    seen: u32,
    /// Bit n: the count n below the newest one was counted as lost.
    missing: u32,
    /// One bit for each count: set if the stream skipped it in the last turn.
    skipped: Counts,
    /// One bit for each count: set if the stream skipped it in one of the last turns.
    lacked: Counts,
    /// Number of the newest sample when a count was last set in `lacked`.
    lacked_at: u64,
    gap: Option<Gap>,
    history: History,
    /// Number of consecutive samples that were too late.
    too_late_in_a_row: u32,
    before: Option<Before>,
    strays: Strays,
    overtaking: Overtaking,
    pending: Pending,
    /// A loss that later samples may disprove.
    held: Option<HeldLoss>,
    is_silent: bool,
    /// Counts that are no longer lost, since the last call of [`Sequence::take_returned`].
    returned: u64,
    counters: Counters,
    findings: Findings,
}

impl Sequence {
    /// Supervises a stream whose counter runs from 0 to `rate - 1` (samples per second). A rate of 0 is taken as 1, one
    /// beyond 65536 as 65536.
    pub fn new(rate: u32) -> Self {
        let rate = rate.clamp(1, 1 << 16);
        Self {
            rate,
            is_rate_known: true,
            by_pace: ByPace::Untried,
            learner: None,
            newest: None,
            index: 0,
            newest_ns: None,
            line: Earliest::default(),
            pace: Pace::default(),
            seen: 0,
            missing: 0,
            skipped: NO_COUNTS,
            lacked: NO_COUNTS,
            lacked_at: 0,
            gap: None,
            history: History::default(),
            too_late_in_a_row: 0,
            before: None,
            strays: Strays::default(),
            overtaking: Overtaking::default(),
            pending: Pending::default(),
            held: None,
            is_silent: false,
            returned: 0,
            counters: Counters::default(),
            findings: Findings::default(),
        }
    }

    /// Follows a stream of unknown rate. Its pace shows a profile's rate within a fifth of a second, and its wrap
    /// confirms or corrects the rate. Until then the counter is assumed to run to 65535; earlier events are decided
    /// when the rate is known.
    pub fn learning() -> Self {
        Self {
            is_rate_known: false,
            learner: Some(RateLearner::new()),
            ..Self::new(1 << 16)
        }
    }

    /// Follows a stream with this stated rate. If its wrap shows the rate of another profile, that rate is used.
    pub fn checking(rate: u32) -> Self {
        Self {
            learner: Some(RateLearner::new()),
            ..Self::new(rate)
        }
    }

    /// Counts and rate refer to frames with `asdus` samples each. Call this before the first sample.
    #[must_use]
    pub fn of_frames(mut self, asdus: u16) -> Self {
        self.learner = self.learner.map(|_| RateLearner::of_frames(asdus));
        self
    }

    /// Compares the contents of samples. Call this before the first sample.
    #[must_use]
    pub fn comparing(self) -> Self {
        self.remembering(History::of_a_second())
    }

    /// Like [`Self::comparing`], with memory that was allocated before.
    #[must_use]
    pub fn remembering(mut self, history: History) -> Self {
        self.history = history;
        self
    }

    /// Samples per second; `None` while it is not certain.
    pub fn rate(&self) -> Option<u32> {
        (self.is_rate_known && self.by_pace != ByPace::Adopted).then_some(self.rate)
    }

    /// The counters so far.
    pub fn counters(&self) -> &Counters {
        &self.counters
    }

    /// Number of restarts that are certain: later samples can no longer show that they were only late samples.
    pub fn certain_restarts(&self) -> u64 {
        self.counters.restarts - u64::from(self.before.as_ref().is_some_and(Before::is_restart))
    }

    /// Takes the findings since the last call, oldest first. Call it after every sample.
    #[inline]
    pub fn take_finding(&mut self) -> Option<Finding> {
        self.findings.take()
    }

    /// Number of counts since the last call that were in a [`SampleStep::Gap`] and are not lost after all, without those of an
    /// [`SampleStep::OutOfOrder`] and of [`What::Held`].
    #[inline]
    pub fn take_returned(&mut self) -> u64 {
        std::mem::take(&mut self.returned)
    }

    /// Reports that a frame with the stream's identity came from another source address.
    pub fn source_changed(&mut self, before: Mac, now: Mac) {
        self.findings
            .push(What::Source, finding::packed(before), finding::packed(now));
    }

    /// Adds a finding of the caller, which is reported and counted like all others.
    pub fn find(&mut self, what: What, a: u64, b: u64) {
        self.findings.push(what, a, b);
    }

    /// Takes the next sample.
    #[inline]
    pub fn accept(&mut self, sample: impl Into<Sample>) -> SampleStep {
        let sample = sample.into();
        if self.learner.is_some() {
            self.look_for_rate(&sample);
        }
        self.counters.asdus += 1;
        let count = u32::from(sample.smp_cnt);
        if count >= self.rate {
            self.counters.out_of_range += 1;
            self.findings
                .push(What::OutOfRange, u64::from(count), u64::from(self.rate));
            return SampleStep::OutOfRange;
        }
        if self.before.is_some() {
            self.doubt_jump(count, &sample);
        }
        if self.strays.are_unproven() {
            self.look_at_unproven(count, &sample);
        }
        let was_held = self.held.is_some() && self.before.is_none() && self.look_at_held(&sample);
        match self.newest {
            Some(newest) => match self.place(newest, count, &sample) {
                step if was_held && step.is_newest() => SampleStep::Restart,
                step => step,
            },
            None => {
                self.begin(count, &sample);
                SampleStep::First
            }
        }
    }

    #[inline]
    fn place(&mut self, newest: u32, count: u32, sample: &Sample) -> SampleStep {
        let ahead = (count + self.rate - newest) % self.rate;
        let behind = (newest + self.rate - count) % self.rate;
        if let Some(silent_ns) = self.silence_before(sample)
            && let Some(step) = self.in_silence(count, ahead, silent_ns, sample)
        {
            return step;
        }
        if self.before.is_some()
            && let Some(step) = self.come_late_over_jump(count, sample.contents)
        {
            return step;
        }
        if ahead == 1 {
            self.go_on(count, 1, sample)
        } else if behind <= WINDOW.min(self.rate / 4) || self.misses(behind) {
            self.late(count, behind, sample)
        } else if ahead <= WINDOW || self.overtaking.leads(self.index, ahead) {
            self.go_on(count, u64::from(ahead), sample)
        } else {
            self.jump(count, ahead, sample)
        }
    }

    /// Starts the stream, or restarts it, with this sample.
    fn begin(&mut self, count: u32, sample: &Sample) {
        self.newest = Some(count);
        self.seen = 1;
        self.missing = 0;
        self.index = self.index.saturating_add(1);
        self.line = Earliest::default();
        self.pace = Pace::default();
        self.came(count, sample);
    }

    /// Records the newest sample.
    #[inline]
    fn came(&mut self, count: u32, sample: &Sample) {
        if let Some(at_ns) = sample.at_ns {
            match self.is_rate_known {
                true => self.line.came(self.index, self.rate, at_ns),
                false => self.pace.came(count, at_ns),
            }
            self.is_silent = false;
        }
        self.newest_ns = sample.at_ns;
        match &mut self.before {
            Some(before) => before.keep(self.index, count, sample, false),
            None => self.history.set(count, sample.contents),
        }
    }

    /// Moves the stream on by `ahead` counts to `count`; the counts in between are lost.
    #[inline]
    fn go_on(&mut self, count: u32, ahead: u64, sample: &Sample) -> SampleStep {
        let silent_ns = self.move_on(count, ahead, sample);
        if ahead == 1 && self.overtaking.is_empty() {
            return SampleStep::Next;
        }
        self.go_on_over(count, ahead, silent_ns, sample.contents)
    }

    /// Counts what is missing before the newest sample, without the samples that came early.
    #[cold]
    fn go_on_over(&mut self, count: u32, ahead: u64, silent_ns: i64, contents: Option<Contents>) -> SampleStep {
        let lost = ahead - 1;
        let mut found = 0;
        if lost > 0 {
            self.lose(lost, silent_ns);
            found = self.leave_out(count, lost);
        }
        if self.before.is_none() {
            let (index, from) = (self.index, self.index.saturating_sub(ahead));
            found += self.meet_early(from, Reached { index, count, contents });
            if lost > 0 && found == lost {
                self.counters.gaps -= 1;
                self.strays.forget_reached(count, self.rate, ahead);
            }
        }
        match lost.saturating_sub(found) {
            0 => SampleStep::Next,
            lost => SampleStep::Gap(u32::try_from(lost).unwrap_or(u32::MAX)),
        }
    }

    /// Moves the newest sample on by `ahead` counts to `count`; returns the silence before it in ns.
    #[inline]
    fn move_on(&mut self, count: u32, ahead: u64, sample: &Sample) -> i64 {
        self.newest = Some(count);
        self.index = self.index.saturating_add(ahead);
        self.too_late_in_a_row = 0;
        let shift = u32::try_from(ahead).unwrap_or(u32::MAX);
        let shifted = |bits: u32| bits.checked_shl(shift).unwrap_or(0);
        self.missing = shifted(self.missing) | (shifted(1).wrapping_sub(1) & !1);
        self.seen = shifted(self.seen) | 1;
        self.unskip(count);
        let silent_ns = self
            .newest_ns
            .zip(sample.at_ns)
            .map_or(0, |(before, now)| now.saturating_sub(before));
        self.came(count, sample);
        silent_ns
    }

    /// Marks the `lost` counts before `count` as missing. Returns the number of those that are not lost.
    #[cold]
    fn leave_out(&mut self, count: u32, lost: u64) -> u64 {
        match &mut self.before {
            Some(before) => {
                before.skips(count, lost);
                0
            }
            None => self.skip(self.index, count, lost),
        }
    }

    #[cold]
    fn lose(&mut self, lost: u64, silent_ns: i64) {
        self.counters.gaps += 1;
        self.counters.lost = self.counters.lost.saturating_add(lost);
        if self.before.is_some() {
            self.counters.undecided = self.counters.undecided.saturating_add(lost);
        }
        let lost_ns = lost.saturating_mul(1_000_000_000) / u64::from(self.rate);
        // A receiver that was only delayed misses none, or few, of the samples sent in the meantime.
        if silent_ns >= INTERRUPTION_NS && (lost_ns >= silent_ns.unsigned_abs() / 2 || !self.is_rate_known) {
            match &mut self.before {
                // It is no interruption if the stream goes on before it.
                Some(before) => before.interrupts(silent_ns.unsigned_abs(), lost),
                None => self.findings.push(What::Interrupted, silent_ns.unsigned_abs(), lost),
            }
        }
    }
}

#[cfg(test)]
mod tests;
