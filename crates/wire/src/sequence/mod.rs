//! Supervision of one SV stream by its sample counter and by time: what was lost, doubled, late, contradicted, or restarted.
//!
//! The rules are the same for every command that follows a stream. A sample is placed by its count; where instants are known, time tells
//! a loss from a jump of the counter, and how many turns of the counter a silence took. What cannot be known is a [`Finding`] that is a
//! doubt: see [`What::is_doubt`].

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

/// A sample up to this many counts behind the newest one is late; one further behind is too late to be taken back from those
/// that are lost.
pub const WINDOW: u32 = 16;

const WORDS: usize = REMEMBERED as usize / 64;

/// Most samples in a frame: so many can come late together.
const MOST_ASDUS: u32 = crate::sv::MAX_ASDUS as u32;

/// A loss in a silence this long is told as one.
const INTERRUPTION_NS: i64 = 100_000_000;

/// The state of one stream.
#[derive(Debug, Clone)]
pub struct Sequence {
    rate: u32,
    /// True where `rate` is that of the stream, or was given as that, or is taken for it.
    is_rate_known: bool,
    by_pace: ByPace,
    /// While the wrap has not shown the rate.
    learner: Option<RateLearner>,
    newest: Option<u32>,
    /// Number of the newest sample, in order of the schedule. That of the first one is 1.
    index: u64,
    /// When it came.
    newest_ns: Option<i64>,
    line: Earliest,
    pace: Pace,
    /// Bit n: the count n behind the newest one was seen.
    seen: u32,
    /// Bit n: the count n behind the newest one was counted as lost.
    missing: u32,
    /// A bit for each count: the stream skipped it when it last came by.
    skipped: [u64; WORDS],
    history: History,
    /// Samples in a row that were too late.
    too_late_in_a_row: u32,
    before: Option<Before>,
    strays: Strays,
    pending: Pending,
    /// A loss that what follows may disprove.
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

    /// Supervises a stream of unknown rate. Its pace tells a profile's rate within a fifth of a second, and its wrap confirms it, or tells
    /// another one. Until then the counter is taken to run to 65535; what happened before is decided when the rate is known.
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

    /// The contents of samples are compared. To be said before the first one.
    #[must_use]
    pub fn comparing(self) -> Self {
        self.remembering(History::of_a_second())
    }

    /// The same, with room that was made before.
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

    /// Restarts that the samples since have not shown to be one that came far too late: these are never taken back.
    pub fn certain_restarts(&self) -> u64 {
        self.counters.restarts - u64::from(self.before.as_ref().is_some_and(Before::is_restart))
    }

    /// Takes the findings since the last call, oldest first. Call it after every sample.
    #[inline]
    pub fn take_finding(&mut self) -> Option<Finding> {
        self.findings.take()
    }

    /// A frame of another source came under the stream's identity.
    pub fn source_changed(&mut self, before: Mac, now: Mac) {
        self.findings
            .push(What::Source, finding::packed(before), finding::packed(now));
    }

    /// Adds what somebody else found in the stream, to be told and counted with the rest.
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

    /// The stream begins, or begins anew, with this sample.
    fn begin(&mut self, count: u32, sample: &Sample) {
        self.newest = Some(count);
        self.seen = 1;
        self.missing = 0;
        self.index = self.index.saturating_add(1);
        self.line = Earliest::default();
        self.pace = Pace::default();
        self.came(count, sample);
    }

    /// The newest sample is there.
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

    /// The stream moved on by `ahead` counts, to `count`; those between are lost.
    #[inline]
    fn go_on(&mut self, count: u32, ahead: u64, sample: &Sample) -> SampleStep {
        let silent_ns = self.move_on(count, ahead, sample);
        if ahead == 1 {
            return SampleStep::Next;
        }
        self.lose(ahead - 1, silent_ns);
        self.leave_out(count, ahead - 1)
    }

    /// The newest sample is `ahead` counts further, at `count`; returns how long nothing came before it, in ns.
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

    /// So many counts are missing before `count`.
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
        // A receiver that was held up misses none, or few, of those that came meanwhile.
        if silent_ns >= INTERRUPTION_NS && (lost_ns >= silent_ns.unsigned_abs() / 2 || !self.is_rate_known) {
            self.findings.push(What::Interrupted, silent_ns.unsigned_abs(), lost);
        }
    }

    /// Remembers the `lost` counts before `count`; of more than a second's, the last second's.
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
        // Not missing: it belongs to the time before the stream's first sample, so it was never counted as lost.
        if self.missing & bit != 0 {
            self.missing &= !bit;
            self.found_one();
        }
        SampleStep::OutOfOrder
    }

    /// How the contents are to those of the same count in the stream as it stands.
    fn likeness(&self, count: u32, contents: Option<Contents>) -> Likeness {
        match &self.before {
            Some(before) => before.likeness(count, contents),
            None => self.history.compare(count, contents),
        }
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
