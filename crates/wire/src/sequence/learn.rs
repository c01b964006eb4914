//! Finds the rate of a stream, and decides about events from before it was known.

use super::line::{Earliest, counts};
use super::pace::Pace;
use super::silence::NEARLY_A_TURN_NS;
use super::{Counters, RateLearner, Sample, Sequence, WINDOW, What};

/// A wrap that takes longer than this many tenths of the time between frames may include lost samples.
const WRAP_TENTHS: i64 = 25;

/// Maximum number of stored events from before the rate is known. If there are more, the counts are in doubt.
const MOST: usize = 8;

/// A step of the counter that cannot be judged without the rate.
#[derive(Debug, Clone, Copy, Default)]
struct Unexplained {
    from: u32,
    to: u32,
    /// Time of the step in ns, if known.
    took_ns: Option<i64>,
    /// Counts in the step that were counted as lost.
    counted: u64,
    /// Number of samples before it whose place was not known.
    strays: u64,
    /// True if the counter went back.
    is_wrap: bool,
}

/// Steps of the counter that wait for the rate.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Pending {
    steps: [Unexplained; MOST],
    count: usize,
    /// True if further steps did not fit.
    more: bool,
}

impl Pending {
    pub(super) fn len(&self) -> usize {
        self.count
    }

    pub(super) fn truncate(&mut self, count: usize) {
        self.count = self.count.min(count);
    }

    fn push(&mut self, step: Unexplained) {
        match self.steps.get_mut(self.count) {
            Some(place) => {
                *place = step;
                self.count += 1;
            }
            None => self.more = true,
        }
    }
}

/// The rate estimated from the pace of the counter, before a wrap has shown it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ByPace {
    /// No estimate yet.
    Untried,
    /// A profile's rate, which is used until a wrap confirms it.
    Adopted,
    /// The counter has disproved the estimate.
    Refuted,
}

impl Sequence {
    /// From now on the counter runs from 0 to `rate - 1`; earlier counts remain, and earlier events are decided.
    fn set_rate(&mut self, rate: u32) {
        let was_certain = self.rate().is_some();
        self.adopt(rate);
        self.by_pace = ByPace::Untried;
        self.learner = None;
        if !was_certain {
            self.findings.push(What::RateLearned, u64::from(self.rate), 0);
        }
    }

    /// Uses this rate for the stream.
    fn adopt(&mut self, rate: u32) {
        let rate = rate.clamp(1, 1 << 16);
        if self.is_rate_known && self.rate == rate {
            return;
        }
        self.settle_held();
        let was_known = self.is_rate_known;
        self.rate = rate;
        self.is_rate_known = true;
        self.within_the_rate();
        // The jump refers to the previous rate.
        if let Some(before) = self.before.take() {
            self.counters.undecided = 0;
            before.tell_interruption(&mut self.findings);
        }
        self.gap = self.gap.filter(|gap| gap.is_within(rate));
        self.strays.within(self.rate);
        self.line = self
            .newest_ns
            .map_or_else(Earliest::default, |at_ns| Earliest::from(self.index, at_ns));
        if !was_known {
            self.explain();
        }
    }

    /// If the newest count is beyond the rate, it does not belong to the stream, which begins again with the next
    /// sample.
    fn within_the_rate(&mut self) {
        if let Some(beyond) = self.newest.filter(|newest| *newest >= self.rate) {
            self.newest = None;
            self.findings
                .push(What::OutOfRange, u64::from(beyond), u64::from(self.rate));
        }
    }

    /// Uses the rate of the profile that is closest to the measured pace.
    pub(super) fn adopt_pace(&mut self, rate: u32) {
        self.by_pace = ByPace::Adopted;
        self.adopt(rate);
    }

    /// Discards the estimate: the counter does not run at its pace.
    fn refute_pace(&mut self) {
        (self.rate, self.is_rate_known, self.by_pace) = (1 << 16, false, ByPace::Refuted);
        self.line = Earliest::default();
        self.pace = Pace::default();
    }

    /// Checks whether the count before this one was the last of a second.
    #[cold]
    pub(super) fn look_for_rate(&mut self, sample: &Sample) {
        let Some(mut learner) = self.learner.take() else { return };
        let highest = learner.highest();
        let shown = learner.observe(sample.smp_cnt);
        let is_certain = self.rate().is_some();
        match shown {
            Some(rate) if !is_certain && self.is_shown(rate, &learner, sample) => {
                self.settle_jump(u32::from(sample.smp_cnt), rate);
                self.set_rate(rate);
            }
            _ if !is_certain => {
                self.learner = Some(learner);
                self.look_at_pace(sample);
            }
            // The wrap confirms the stated rate.
            Some(rate) if rate == self.rate => {}
            // Two wraps can agree because both lost the same counts. The rate of a profile is not a coincidence.
            Some(rate) if learner.is_known(rate) => self.take_other_rate(rate, highest, learner),
            _ => self.learner = Some(learner),
        }
    }

    fn take_other_rate(&mut self, rate: u32, highest: u32, learner: RateLearner) {
        let said = self.rate;
        self.set_rate(rate);
        self.findings.push(What::OtherRate, u64::from(rate), u64::from(said));
        // The stream has reached this count, although its last counts may have been beyond the stated rate.
        let newest = highest.min(rate - 1);
        if self.newest != Some(newest) {
            (self.newest, self.seen, self.missing) = (Some(newest), 1, 0);
        }
        // Only a second wrap at the same count makes it certain that no samples were lost there.
        self.learner = Some(learner);
    }

    /// True if a wrap at `rate` proves the rate. A profile's rate is not a coincidence, unless the pace suggests
    /// another. Any other rate may be a profile's with the same loss at every wrap: then the wrap takes longer than the
    /// time between two frames.
    fn is_shown(&mut self, rate: u32, learner: &RateLearner, sample: &Sample) -> bool {
        if learner.is_known(rate) {
            return match self.by_pace {
                ByPace::Untried => true,
                ByPace::Adopted => self.rate == rate,
                ByPace::Refuted => learner.has_agreed(),
            };
        }
        match self.took_ns(sample).zip(self.pace.frame_ns()) {
            Some((took_ns, frame_ns)) => took_ns / WRAP_TENTHS <= frame_ns / 10,
            None => {
                self.findings.push(What::OddRate, u64::from(rate), 0);
                true
            }
        }
    }

    /// Time since the newest sample.
    fn took_ns(&self, sample: &Sample) -> Option<i64> {
        let (now_ns, newest_ns) = sample.at_ns.zip(self.newest_ns)?;
        Some(now_ns.saturating_sub(newest_ns))
    }

    /// Adopts the rate of the profile that matches the counter's pace, and discards it if the counter disproves it.
    fn look_at_pace(&mut self, sample: &Sample) {
        match self.by_pace {
            ByPace::Untried if self.before.is_none() => {
                if let Some(rate) = self.profile_by_pace().filter(|rate| self.newest < Some(*rate)) {
                    self.adopt_pace(rate);
                }
            }
            ByPace::Adopted if self.is_refuted(sample) => self.refute_pace(),
            _ => {}
        }
    }

    /// True for a count beyond the rate. Also true for a step back to the first counts of a second that took only one
    /// frame interval: at the adopted rate, further counts would be missing before it.
    fn is_refuted(&self, sample: &Sample) -> bool {
        let count = u32::from(sample.smp_cnt);
        let (Some(newest), Some(took_ns)) = (self.newest, self.took_ns(sample)) else {
            return false;
        };
        let ahead = u64::from((count + self.rate - newest) % self.rate);
        let is_wrap = count <= WINDOW && ahead > u64::from(WINDOW) && ahead < u64::from(self.rate / 2);
        count >= self.rate || (is_wrap && counts(took_ns, self.rate) < ahead / 2)
    }

    /// The profile rate that matches the counter's pace.
    pub(super) fn profile_by_pace(&self) -> Option<u32> {
        self.pace.profile(self.learner.as_ref().map_or(1, RateLearner::asdus))
    }

    /// Stores a step for later: the counter went back, or far ahead, and the rate is not known.
    pub(super) fn pend_wrap(&mut self, count: u32, sample: &Sample) {
        self.pend(count, sample, 0, true);
    }

    pub(super) fn pend(&mut self, count: u32, sample: &Sample, counted: u64, is_wrap: bool) {
        let Some(from) = self.newest else { return };
        self.pending.push(Unexplained {
            from,
            to: count,
            took_ns: self.took_ns(sample),
            counted,
            strays: self.counters.too_late,
            is_wrap,
        });
    }

    /// Decides about the events from before the rate was known.
    fn explain(&mut self) {
        let pending = std::mem::take(&mut self.pending);
        for step in &pending.steps[..pending.count] {
            match self.missing_in(step) {
                // They may be those that seem to be missing at the wrap.
                Some(missing @ 1..) if step.is_wrap && missing <= step.strays => self.out_of_turn(step.to),
                Some(missing) => {
                    let Counters { lost, gaps, .. } = &mut self.counters;
                    *lost = lost.saturating_add(missing - step.counted.min(missing));
                    *gaps += u64::from(missing > 0 && step.counted == 0);
                }
                None => self.unexplained(step),
            }
        }
        if pending.more {
            self.findings.push(What::Restart, 0, 0);
        }
    }

    /// Number of counts that a step left out; `None` if the rate does not explain the step.
    fn missing_in(&self, step: &Unexplained) -> Option<u64> {
        let rate = u64::from(self.rate);
        let (from, to) = (u64::from(step.from), u64::from(step.to));
        if from >= rate || to >= rate {
            return None;
        }
        let ahead = (to + rate - from) % rate;
        let by_time = match step.took_ns {
            None => ahead,
            Some(took_ns) => {
                let slack = rate.div_ceil(20);
                let elapsed = counts(took_ns, self.rate);
                let turns = (elapsed + slack).checked_sub(ahead)? / rate;
                // Whole turns may also have been held back: the samples that followed are no longer known.
                let by_time = Some(ahead).filter(|ahead| turns == 0 || *ahead > WINDOW.into())? + turns * rate;
                (elapsed.abs_diff(by_time) <= rate.div_ceil(4)).then_some(by_time)?
            }
        };
        by_time.checked_sub(1)
    }

    fn unexplained(&mut self, step: &Unexplained) {
        let (from, to) = (u64::from(step.from), u64::from(step.to));
        if step.is_wrap {
            self.counters.restarts += 1;
            self.findings.push(What::Restart, from, to);
            return;
        }
        let Counters { lost, gaps, .. } = &mut self.counters;
        *lost = lost.saturating_sub(step.counted);
        *gaps = gaps.saturating_sub(u64::from(step.counted > 0));
        let silent_ns = step.took_ns.unwrap_or(0).unsigned_abs();
        self.findings
            .push(What::Uncountable, silent_ns, to.saturating_sub(from));
    }

    /// The stream ended before it showed its rate. Its pace may match a profile; otherwise pending steps can only be
    /// judged by the time they took.
    pub(super) fn give_up_rate(&mut self) {
        if self.is_rate_known || self.pending.count == 0 {
            return;
        }
        if let Some(rate) = self.profile_by_pace() {
            self.set_rate(rate);
            return;
        }
        let pending = std::mem::take(&mut self.pending);
        for step in &pending.steps[..pending.count] {
            if !self.is_plain_loss(step) {
                self.unexplained(step);
            }
        }
    }

    /// True for a single step forward that had enough time.
    fn is_plain_loss(&self, step: &Unexplained) -> bool {
        let ahead = u64::from(step.to.saturating_sub(step.from));
        let has_time = |took_ns| took_ns < NEARLY_A_TURN_NS && self.pace.allows(ahead, took_ns);
        !step.is_wrap && step.took_ns.is_none_or(has_time)
    }
}
