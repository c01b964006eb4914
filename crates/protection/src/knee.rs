//! Current transformers that saturate, as seen from the course of their own current.
//!
//! A transformer that passes its knee follows its primary current no further: the secondary one bends towards zero, within a sample or some, while it is
//! large. A current with a direct component bends by `w² dt²` of that in a sample, and the begin of a fault bends a load. So a bend at a large current, by
//! more than the steepest slope of its wave, is saturation. This is the criterion of second differences in the literature on numerical relays; the limits
//! are our choice. A transformer that saturates softly bends less, and errs less.

use crate::rated::Rated;
use std::f64::consts::{SQRT_2, TAU};

/// Size of a current, x rated as a peak, from which a bend is looked for: more than loads have, which a fault bends.
const LARGE: f64 = 2.5;

/// Bend of a sample as a part of the steepest slope of a wave with the largest value of the last cycle.
const BEND: f64 = 1.2;

/// Parts of a cycle for which the largest value is kept.
const PARTS: usize = 4;

/// A phase of a transformer.
#[derive(Debug, Clone, Copy, Default)]
struct Phase {
    before: Option<[f64; 2]>,
    /// Largest values of parts of a cycle.
    most: [f64; PARTS],
}

/// The three transformers of a bay.
#[derive(Debug, Clone)]
pub(crate) struct Knees {
    large: f64,
    /// Factor of the value before in a wave without a bend, and the slope of a wave of 1, per sample.
    wave: f64,
    slope: f64,
    part: u64,
    phases: [Phase; 3],
}

impl Knees {
    /// Transformers whose currents are given in units of which `rated_a` are the rated current.
    pub(crate) fn new(rated: &Rated, rated_a: f64) -> Self {
        let step = TAU * rated.frequency_hz / rated.samples_per_second;
        Self {
            large: LARGE * SQRT_2 * rated_a,
            wave: 2.0 * step.cos(),
            slope: step,
            part: rated.samples_per_cycle().div_ceil(PARTS as u64),
            phases: [Phase::default(); 3],
        }
    }

    pub(crate) fn reset(&mut self) {
        self.phases = [Phase::default(); 3];
    }

    /// Looks at sample `number`; true for each phase whose current bends.
    pub(crate) fn look(&mut self, number: u64, samples: [f64; 3]) -> [bool; 3] {
        let mut bends = [false; 3];
        let part = (number / self.part) as usize % PARTS;
        let is_first = number.is_multiple_of(self.part);
        for ((phase, sample), bends) in self.phases.iter_mut().zip(samples).zip(&mut bends) {
            phase.most[part] = sample.abs().max(if is_first { 0.0 } else { phase.most[part] });
            if let Some([older, old]) = phase.before {
                let most = phase.most.iter().copied().fold(0.0, f64::max);
                let bend = -(sample - self.wave * old + older) * old.signum();
                *bends = old.abs() > self.large && bend > BEND * self.slope * most;
            }
            phase.before = Some([phase.before.map_or(sample, |[_, old]| old), sample]);
        }
        bends
    }
}

#[cfg(test)]
mod tests {
    use super::Knees;
    use crate::rated::Rated;
    use std::f64::consts::TAU;

    /// Number of bends in a fault current of `size` with this direct component, lost above `knee` by this part of the excess.
    fn bends(size: f64, dc: f64, knee: f64, lost: f64) -> usize {
        let mut knees = Knees::new(&Rated::default(), 1.0);
        let wave = |n: u64| {
            let seconds = n as f64 / 4000.0;
            let current = size * ((TAU * 50.0 * seconds).cos() - dc * (-seconds / 0.06).exp());
            if current.abs() > knee {
                knee.copysign(current) + (current.abs() - knee).copysign(current) * (1.0 - lost)
            } else {
                current
            }
        };
        (0..400).filter(|n| knees.look(*n, [wave(*n), 0.0, 0.0])[0]).count()
    }

    #[test]
    fn a_bend_of_a_large_current_is_found_and_no_other() {
        for dc in [0.0, 0.5, 1.0] {
            assert_eq!(bends(20.0, dc, f64::INFINITY, 0.0), 0, "{dc}");
            assert!(bends(20.0, dc, 10.0, 1.5) > 0, "{dc}");
            assert_eq!(bends(1.5, dc, 0.5, 1.5), 0, "{dc}: a load");
        }
    }
}
