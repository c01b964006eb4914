//! Operate timing of one current.

use super::curve::Constants;
use super::ptoc::Reset;
use crate::timing::{Comparator, Delay};

/// One current and its thresholds.
#[derive(Debug, Clone, Copy)]
pub(super) struct Stage {
    /// Setting in A.
    pub(super) pickup: f64,
    pub(super) reset_ratio: f64,
    /// For inverse time: constants and time multiplier.
    pub(super) inverse: Option<(Constants, f64)>,
    pub(super) most: f64,
    /// Definite time, or the minimum for inverse time; in samples.
    pub(super) delay: u64,
    pub(super) reset: Reset,
    /// Reset time of the definite-time reset, in samples.
    pub(super) reset_delay: u64,
    /// Reset time of the inverse reset at zero current, in s.
    pub(super) tr: f64,
    pub(super) seconds_per_sample: f64,
}

/// State of one current: progress to operation, like the angle of an induction disc.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Lane {
    comparator: Comparator,
    delay: Delay,
    travelled: f64,
    on: bool,
    off: u64,
}

impl Lane {
    /// Advances by `passed` samples with the present `value` in A. Returns two flags: started, and
    /// operated.
    #[inline]
    pub(super) fn step(&mut self, stage: &Stage, passed: u64, value: f64, permitted: bool) -> (bool, bool) {
        let started = self.comparator.above(value, stage.pickup, stage.reset_ratio) && permitted;
        if !started && self.delay.is_idle() && self.travelled == 0.0 {
            return (false, false);
        }
        self.go_on(stage, passed, value, started)
    }

    /// The rest of [`Self::step`], if a timer is running.
    #[inline(never)]
    fn go_on(&mut self, stage: &Stage, passed: u64, value: f64, started: bool) -> (bool, bool) {
        let was_on = std::mem::replace(&mut self.on, started);
        let timed = self.delay.step(passed, started, stage.delay, stage.reset_delay);
        let Some((constants, multiplier)) = &stage.inverse else {
            return (started, timed);
        };
        let m = || (value / stage.pickup).min(stage.most);
        let seconds = passed as f64 * stage.seconds_per_sample;
        if started {
            self.off = 0;
            if was_on {
                let time = multiplier * constants.operate_s(m());
                self.travelled += if time > 0.0 { seconds / time } else { 1.0 };
            }
        } else {
            self.off = if was_on { 0 } else { self.off.saturating_add(passed) };
            self.fall(stage, *multiplier, m, seconds);
        }
        (started, timed && self.travelled >= 1.0)
    }

    fn fall(&mut self, stage: &Stage, multiplier: f64, m: impl Fn() -> f64, seconds: f64) {
        match stage.reset {
            Reset::Immediate => self.travelled = 0.0,
            Reset::DefiniteTime if self.off >= stage.reset_delay => self.travelled = 0.0,
            Reset::DefiniteTime => {}
            Reset::Inverse => {
                let m = m();
                let back = seconds * (1.0 - m * m).max(0.0) / (multiplier * stage.tr);
                self.travelled = (self.travelled.min(1.0) - back).max(0.0);
            }
        }
    }
}
