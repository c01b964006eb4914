//! One voltage on its way to operation.

use super::curve::VoltageConstants;
use crate::timing::Delay;

/// The parts that all voltages of a function have in common.
#[derive(Debug, Clone, Copy)]
pub(super) struct Stage {
    /// With inverse time: constants and time multiplier.
    pub(super) inverse: Option<(VoltageConstants, f64)>,
    /// Setting, in the per unit of the quantity.
    pub(super) pickup: f64,
    /// Definite time, in samples.
    pub(super) delay: u64,
    /// In samples.
    pub(super) reset_delay: u64,
    pub(super) seconds_per_sample: f64,
}

#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Lane {
    delay: Delay,
    travelled: f64,
    on: bool,
}

impl Lane {
    /// `passed` samples on; `distance` is that from the setting, in the unit of the setting. Whether it operates.
    pub(super) fn step(&mut self, stage: &Stage, passed: u64, started: bool, distance: f64) -> bool {
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
