//! One bay whose samples a function can look at.
#![allow(dead_code, reason = "each test program uses its part")]

use crate::common::Rig;
use protection::measure::{BaySettings, Blocks};
use protection::{Function, Inputs, Output, Rated, Waves};

pub(crate) struct Feeder {
    rig: Rig,
    /// A sample that cannot be looked at.
    pub(crate) missing: Option<u64>,
}

impl std::fmt::Debug for Feeder {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str("Feeder")
    }
}

impl Waves for Feeder {
    fn phase_currents(&self, _set: usize, at: u64) -> Option<[f64; 3]> {
        let [a, b, c, ..] = *self.rig.bay.sample(at).filter(|_| self.missing != Some(at))?;
        Some([a, b, c])
    }
}

impl Feeder {
    pub(crate) fn new(rated: Rated) -> Self {
        Self {
            rig: Rig::new(rated, &BaySettings::default(), true),
            missing: None,
        }
    }

    pub(crate) fn push(&mut self, samples: [f64; 8]) {
        self.rig.push(samples);
    }

    /// Until the next sample the voltages are blocked.
    pub(crate) fn block(&mut self, blocks: Blocks) {
        self.rig.set.health.voltages = blocks;
    }

    /// A run of the task; without `waves` the function has phasors only.
    pub(crate) fn task(&self, function: &mut dyn Function, waves: bool) -> Output {
        let sets = [self.rig.set];
        let inputs = Inputs::of(&sets);
        function.step(&if waves { inputs.with_waves(self) } else { inputs })
    }
}
