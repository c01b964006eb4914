//! The voltages of a function: each is compared with the setting and timed.

use super::curve::VoltageConstants;
use super::quantity::Voltages;
use crate::function::Output;
use crate::timing::{Comparator, Delay, Pace};

/// Side of the setting on which a voltage starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    Above,
    Below,
}

/// The settings that all voltages of a function share.
#[derive(Debug, Clone, Copy)]
pub(super) struct Stage {
    pub(super) side: Side,
    /// For inverse time: constants and time multiplier.
    pub(super) inverse: Option<(VoltageConstants, f64)>,
    /// Setting, in the per unit of the quantity.
    pub(super) pickup: f64,
    /// Multiple of the setting at which it resets.
    pub(super) reset_ratio: f64,
    /// Number of voltages that must be beyond the setting.
    pub(super) phases: u32,
    /// Definite time, in samples.
    pub(super) delay: u64,
    /// Reset time, in samples.
    pub(super) reset_delay: u64,
    pub(super) seconds_per_sample: f64,
}

/// Up to three voltages with the same settings.
#[derive(Debug, Clone)]
pub(super) struct Lanes {
    stage: Stage,
    pace: Pace,
    comparators: [Comparator; 3],
    lanes: [Lane; 3],
}

impl Lanes {
    pub(super) fn new(stage: Stage) -> Self {
        Self {
            stage,
            pace: Pace::default(),
            comparators: [Comparator::default(); 3],
            lanes: [Lane::default(); 3],
        }
    }

    /// Evaluates these voltages, measured at sample number `at`.
    pub(super) fn step(&mut self, at: u64, found: &Voltages) -> Output {
        let passed = self.pace.passed(at);
        let Stage {
            side,
            pickup,
            reset_ratio,
            phases,
            ..
        } = self.stage;
        let mut beyond = [false; 3];
        for (lane, is_beyond) in beyond.iter_mut().enumerate().take(found.count) {
            let (comparator, value) = (&mut self.comparators[lane], found.values[lane]);
            *is_beyond = match side {
                Side::Above => comparator.above(value, pickup, reset_ratio),
                Side::Below => comparator.below(value, pickup, reset_ratio),
            };
        }
        let enough = beyond.iter().filter(|each| **each).count() >= phases as usize;
        let mut output = Output::default();
        for (lane, is_beyond) in beyond.into_iter().enumerate().take(found.count) {
            let started = is_beyond && enough;
            let distance = match side {
                Side::Above => found.values[lane] - pickup,
                Side::Below => pickup - found.values[lane],
            };
            let operated = self.lanes[lane].step(&self.stage, passed, started, distance);
            output.started |= found.phases[lane].when(started);
            output.operated |= found.phases[lane].when(operated);
        }
        output
    }

    pub(super) fn reset(&mut self) {
        *self = Self::new(self.stage);
    }
}

/// Operate timing of one voltage.
#[derive(Debug, Clone, Copy, Default)]
struct Lane {
    delay: Delay,
    travelled: f64,
    on: bool,
}

impl Lane {
    /// Advances by `passed` samples; `distance` is the distance from the setting, as a share of the setting. Returns true if it operates.
    fn step(&mut self, stage: &Stage, passed: u64, started: bool, distance: f64) -> bool {
        if !started && self.delay.is_idle() {
            self.travelled = 0.0;
            self.on = false;
            return false;
        }
        let was_on = std::mem::replace(&mut self.on, started);
        let operate = if stage.inverse.is_some() { 0 } else { stage.delay };
        let timed = self.delay.step(passed, started, operate, stage.reset_delay);
        let Some((constants, k)) = &stage.inverse else {
            return timed;
        };
        if started && was_on {
            let seconds = passed as f64 * stage.seconds_per_sample;
            self.travelled += seconds / constants.operate_s(distance / stage.pickup, *k);
        } else if !started && self.delay.run() == 0 {
            self.travelled = 0.0;
        }
        started && self.travelled >= 1.0
    }
}
