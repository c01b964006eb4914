//! Follows one SV stream by its sample counter and by time, and finds lost, duplicate, late and contradicting samples,
//! and restarts.
//!
//! The rules are the same for every command that follows a stream. A sample is placed by its count. If arrival times
//! are known, they distinguish a loss from a jump of the counter, and show how many turns of the counter a silence
//! lasted. Everything that cannot be decided becomes a [`Finding`] that is a doubt: see [`What::is_doubt`].

mod accounting;
mod finding;
mod held;
mod history;
mod jump;
mod learn;
mod line;
mod pace;
mod quiet;
mod rate;
mod sample;
mod silence;
mod strays;

pub use accounting::{Accounting, Settled};
pub use finding::{Finding, What};
pub use history::{Contents, History};
pub use quiet::Quiet;
pub use rate::{KNOWN_RATES, RateLearner};
pub use sample::{Counters, Sample, SampleStep};

use crate::ether::Mac;
use finding::Findings;
use held::HeldLoss;
use history::{Likeness, REMEMBERED};
use jump::Before;
use learn::{ByPace, Pending};
use line::Earliest;
use pace::Pace;
use strays::Strays;

/// A sample up to this many counts older than the newest one is late, and no longer counts as lost; an older one is too
/// late and stays lost.
pub const WINDOW: u32 = 16;

const WORDS: usize = REMEMBERED as usize / 64;

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
    skipped: [u64; WORDS],
    history: History,
    /// Number of consecutive samples that were too late.
    too_late_in_a_row: u32,
    before: Option<Before>,
    strays: Strays,
    pending: Pending,
    /// A loss that later samples may disprove.
    held: Option<HeldLoss>,
    is_silent: bool,
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
            skipped: [0; WORDS],
            history: History::default(),
            too_late_in_a_row: 0,
            before: None,
            strays: Strays::default(),
            pending: Pending::default(),
            held: None,
            is_silent: false,
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
            self.doubt_jump(count);
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
        if ahead == 1 {
            self.go_on(count, 1, sample)
        } else if behind <= WINDOW.min(self.rate / 4) {
            self.late(count, behind, sample)
        } else if ahead <= WINDOW {
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
            Some(before) => before.keep(count, sample),
            None => self.history.set(count, sample.contents),
        }
    }

    /// Moves the stream on by `ahead` counts to `count`; the counts in between are lost.
    #[inline]
    fn go_on(&mut self, count: u32, ahead: u64, sample: &Sample) -> SampleStep {
        let silent_ns = self.move_on(count, ahead, sample);
        if ahead == 1 {
            return SampleStep::Next;
        }
        self.lose(ahead - 1, silent_ns);
        self.leave_out(count, ahead - 1)
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
        if let Some(word) = self.skipped.get_mut(word(count)) {
            *word &= !bit(count);
        }
        let silent_ns = self
            .newest_ns
            .zip(sample.at_ns)
            .map_or(0, |(before, now)| now.saturating_sub(before));
        self.came(count, sample);
        silent_ns
    }

    /// Marks the `lost` counts before `count` as missing.
    #[cold]
    fn leave_out(&mut self, count: u32, lost: u64) -> SampleStep {
        match &mut self.before {
            Some(before) => before.skips(count, lost),
            None => self.skip(count, lost),
        }
        SampleStep::Gap(u32::try_from(lost).unwrap_or(u32::MAX))
    }

    #[cold]
    fn lose(&mut self, lost: u64, silent_ns: i64) {
        self.counters.gaps += 1;
        self.counters.lost = self.counters.lost.saturating_add(lost);
        let lost_ns = lost.saturating_mul(1_000_000_000) / u64::from(self.rate);
        // A receiver that was only delayed misses none, or few, of the samples sent in the meantime.
        if silent_ns >= INTERRUPTION_NS && (lost_ns >= silent_ns.unsigned_abs() / 2 || !self.is_rate_known) {
            self.findings.push(What::Interrupted, silent_ns.unsigned_abs(), lost);
        }
    }

    /// Remembers the `lost` counts before `count`, at most those of the last second.
    fn skip(&mut self, count: u32, lost: u64) {
        let most = self.rate.min(REMEMBERED) - 1;
        for back in 1..=u32::try_from(lost).unwrap_or(most).min(most) {
            let skipped = (count + self.rate - back) % self.rate;
            self.mark_skipped(skipped);
            self.history.forget(skipped);
        }
    }

    fn mark_skipped(&mut self, count: u32) {
        if let Some(word) = self.skipped.get_mut(word(count)) {
            *word |= bit(count);
        }
    }

    fn is_skipped(&self, count: u32) -> bool {
        let since_the_jump = self
            .before
            .as_ref()
            .is_some_and(|before| before.has_skipped(count, self.rate));
        since_the_jump || self.skipped.get(word(count)).is_some_and(|word| word & bit(count) != 0)
    }

    fn late(&mut self, count: u32, behind: u32, sample: &Sample) -> SampleStep {
        let bit = 1 << behind;
        if self.seen & bit != 0 {
            return match self.likeness(count, sample.contents) {
                Likeness::Other => {
                    self.counters.conflicting += 1;
                    self.findings.push(What::Conflict, u64::from(count), 0);
                    SampleStep::Conflicting
                }
                _ => {
                    self.counters.duplicates += 1;
                    SampleStep::Duplicate
                }
            };
        }
        self.seen |= bit;
        self.counters.out_of_order += 1;
        if self.before.is_none() {
            self.history.set(count, sample.contents);
        }
        // Otherwise it was sent before the stream's first sample here, so it was never counted as lost.
        if self.missing & bit != 0 {
            self.missing &= !bit;
            self.found_one();
        }
        SampleStep::OutOfOrder
    }

    /// Compares the contents with those of the previous sample of the same count.
    fn likeness(&self, count: u32, contents: Option<Contents>) -> Likeness {
        match &self.before {
            Some(before) => before.likeness(count, contents),
            None => self.history.compare(count, contents),
        }
    }
}

/// Index of the word that holds the bit of a count.
fn word(count: u32) -> usize {
    (count / 64) as usize
}

fn bit(count: u32) -> u64 {
    1 << (count % 64)
}

#[cfg(test)]
mod tests;
