//! The rate of a stream, and what happened before it was known.

use super::line::{Line, counts};
use super::{Counters, RateLearner, Sample, Sequence, What};

/// A wrap that takes longer than so many tenths of the time between frames may have lost some.
const WRAP_TENTHS: i64 = 25;

/// What happens before the rate is known, at the most; more is a doubt in itself.
const MOST: usize = 8;

/// A step of the counter that only the rate explains.
#[derive(Debug, Clone, Copy, Default)]
struct Unexplained {
    from: u32,
    to: u32,
    /// Time from the one to the other.
    took_ns: Option<i64>,
    /// What was counted as lost in it.
    counted: u64,
    /// Whether the counter went back.
    is_wrap: bool,
}

/// Steps of the counter that wait for the rate.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Pending {
    steps: [Unexplained; MOST],
    count: usize,
    /// Steps there was no room for.
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

impl Sequence {
    /// From here on the counter runs from 0 to `rate - 1`; what was counted stays, and what happened before is decided.
    pub fn set_rate(&mut self, rate: u32) {
        let was_known = self.is_rate_known;
        self.rate = rate.clamp(1, 1 << 16);
        self.is_rate_known = true;
        self.learner = None;
        // Both are in counts of the rate before.
        self.skipped.fill(0);
        self.before = None;
        self.strays.within(self.rate);
        self.line = self
            .newest_ns
            .map_or_else(Line::default, |at_ns| Line::from(self.index, at_ns));
        if !was_known {
            self.findings.push(What::RateLearned, u64::from(self.rate), 0);
            self.explain();
        }
    }

    /// Looks whether the count before this one was the last of a second.
    #[cold]
    pub(super) fn look_for_rate(&mut self, sample: &Sample) {
        let Some(mut learner) = self.learner.take() else { return };
        let highest = learner.highest();
        let shown = learner.observe(sample.smp_cnt);
        match shown {
            Some(rate) if !self.is_rate_known && self.is_shown(rate, &learner, sample) => self.set_rate(rate),
            _ if !self.is_rate_known => match self.rate_by_pace(&learner, sample) {
                Some(rate) => self.set_rate(rate),
                None => self.learner = Some(learner),
            },
            // It is what was said.
            Some(rate) if rate == self.rate => {}
            // Two wraps that agree may have lost the same counts; a profile's rate is none by chance.
            Some(rate) if learner.is_known(rate) => self.take_other_rate(rate, highest, learner),
            _ => self.learner = Some(learner),
        }
    }

    fn take_other_rate(&mut self, rate: u32, highest: u32, learner: RateLearner) {
        let said = self.rate;
        self.set_rate(rate);
        self.findings.push(What::OtherRate, u64::from(rate), u64::from(said));
        // The stream came as far as that, though its last counts may have been beyond the rate that was said.
        let newest = highest.min(rate - 1);
        if self.newest != Some(newest) {
            (self.newest, self.seen, self.missing) = (Some(newest), 1, 0);
        }
        // That it was one and no loss just there is certain when the next wrap shows it too.
        self.learner = Some(learner);
    }

    /// Whether a wrap at `rate` shows it. A profile's rate is none by chance. Another one may be the profile's with the same loss at
    /// every wrap: then more time passes there than between two frames.
    fn is_shown(&mut self, rate: u32, learner: &RateLearner, sample: &Sample) -> bool {
        if learner.is_known(rate) {
            return true;
        }
        let took_ns = sample
            .at_ns
            .zip(self.newest_ns)
            .map(|(now, before)| now.saturating_sub(before));
        match took_ns.zip(self.pace.frame_ns()) {
            Some((took_ns, frame_ns)) => took_ns / WRAP_TENTHS <= frame_ns / 10,
            None => {
                self.findings.push(What::OddRate, u64::from(rate), 0);
                true
            }
        }
    }

    /// The profile that the counter's pace is of.
    pub(super) fn profile_by_pace(&self) -> Option<u32> {
        self.pace.profile(self.learner.as_ref().map_or(1, RateLearner::asdus))
    }

    /// The profile that the counter's pace is of, where it explains the step back to this sample.
    fn rate_by_pace(&self, learner: &RateLearner, sample: &Sample) -> Option<u32> {
        let newest = self.newest?;
        let count = u32::from(sample.smp_cnt);
        let took_ns = sample.at_ns?.checked_sub(self.newest_ns?)?;
        if count + super::WINDOW >= newest {
            return None;
        }
        let rate = self.pace.profile(learner.asdus())?;
        if newest >= rate || count >= rate {
            return None;
        }
        let ahead = u64::from((count + rate - newest) % rate);
        (counts(took_ns, rate).abs_diff(ahead) <= ahead / 2 + 1).then_some(rate)
    }

    /// The counter went back, or far on, and the rate is not known.
    pub(super) fn pend_wrap(&mut self, count: u32, sample: &Sample) {
        self.pend(count, sample, 0, true);
    }

    pub(super) fn pend(&mut self, count: u32, sample: &Sample, counted: u64, is_wrap: bool) {
        let Some(from) = self.newest else { return };
        self.pending.push(Unexplained {
            from,
            to: count,
            took_ns: sample
                .at_ns
                .zip(self.newest_ns)
                .map(|(now, before)| now.saturating_sub(before)),
            counted,
            is_wrap,
        });
    }

    /// Decides what happened before the rate was known.
    fn explain(&mut self) {
        let pending = std::mem::take(&mut self.pending);
        for step in &pending.steps[..pending.count] {
            match self.missing_in(step) {
                Some(missing) => {
                    let Counters { lost, gaps, .. } = &mut self.counters;
                    *lost += missing - step.counted.min(missing);
                    *gaps += u64::from(missing > 0 && step.counted == 0);
                }
                None => self.unexplained(step),
            }
        }
        if pending.more {
            self.findings.push(What::Restart, 0, 0);
        }
    }

    /// How many counts a step left out; `None` where the rate does not explain it.
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
                let by_time = ahead + turns * rate;
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
        } else {
            let silent_ns = step.took_ns.unwrap_or(0).unsigned_abs();
            self.findings
                .push(What::Uncountable, silent_ns, to.saturating_sub(from));
        }
    }

    /// The stream has ended without having shown its rate: its pace may be that of a profile, else nothing explains what is pending.
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
            self.unexplained(step);
        }
    }
}
