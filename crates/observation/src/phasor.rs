//! Phasors of the last cycle, sample by sample.

use crate::history::{History, Kept, Phasors, Values};
use crate::rule::MOST_MEMBERS;
use protection::Complex;

/// A correlation with the cycle over a window that slides.
#[derive(Debug)]
pub(crate) struct Phasing {
    /// Factors of a cycle, so that a phasor is the peak of its sine.
    factors: Box<[Complex]>,
    sums: Phasors,
    members: usize,
    /// Samples in a row, without one that is missing.
    run: u64,
}

impl Phasing {
    /// Of a cycle of so many samples.
    pub(crate) fn new(cycle: u64, members: usize) -> Self {
        let factor = |number: u64| {
            let turn = number as f64 / cycle as f64;
            Complex::polar(2.0 / cycle as f64, -std::f64::consts::TAU * turn)
        };
        Self {
            factors: (0..cycle).map(factor).collect(),
            sums: [Complex::ZERO; MOST_MEMBERS],
            members,
            run: 0,
        }
    }

    /// The samples before the next one are not there.
    pub(crate) fn interrupt(&mut self) {
        self.run = 0;
        self.sums = [Complex::ZERO; MOST_MEMBERS];
    }

    /// Takes the next sample; the phasors, where it ends a whole cycle.
    pub(crate) fn take(&mut self, index: u64, values: &Values, history: &History) -> Option<Phasors> {
        let cycle = self.factors.len() as u64;
        let factor = self.factors[(index % cycle) as usize];
        let leaving = (self.run >= cycle).then(|| history.get(index - cycle)).flatten();
        let gone = leaving.map_or([0; MOST_MEMBERS], |kept: &Kept| kept.values);
        let members = values.iter().zip(gone).take(self.members);
        for (sum, (value, gone)) in self.sums.iter_mut().zip(members) {
            *sum += factor * (f64::from(*value) - f64::from(gone));
        }
        self.run += 1;
        (self.run >= cycle).then_some(self.sums)
    }
}
