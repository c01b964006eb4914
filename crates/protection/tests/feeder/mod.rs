//! One bay whose samples a function can look at.
#![allow(dead_code, reason = "each test program uses its part")]

use crate::common::Rig;
use protection::measure::BaySettings;
use protection::{Function, Inputs, Output, Rated, Waves};

pub(crate) struct Feeder(Rig);

impl std::fmt::Debug for Feeder {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str("Feeder")
    }
}

impl Waves for Feeder {
    fn phase_currents(&self, _set: usize, at: u64) -> Option<[f64; 3]> {
        let [a, b, c, ..] = *self.0.bay.sample(at)?;
        Some([a, b, c])
    }
}

impl Feeder {
    pub(crate) fn new(rated: Rated) -> Self {
        Self(Rig::new(rated, &BaySettings::default(), true))
    }

    pub(crate) fn push(&mut self, samples: [f64; 8]) {
        self.0.push(samples);
    }

    /// A run of the task; without `waves` the function has phasors only.
    pub(crate) fn task(&self, function: &mut dyn Function, waves: bool) -> Output {
        let sets = [self.0.set];
        let inputs = Inputs::of(&sets);
        function.step(&if waves { inputs.with_waves(self) } else { inputs })
    }
}
