//! Current transformers that saturate, as seen from the course of their own current.
//!
//! A transformer that passes its knee follows its primary current no further: the secondary one bends towards zero, within a sample or some, while it is
//! large. A current with a direct component bends by `w² dt²` of that in a sample, and the begin of a fault bends a load. So a bend at a large current, by
//! more than the steepest slope of its wave, is saturation. This is the criterion of second differences in the literature on numerical relays; the limits
//! are our choice. A transformer that saturates softly bends less, and errs less.
//!
//! The discharge of a capacitance makes an oscillation on a fault current, which bends it to and fro. So a bend is none of a knee if one of the other
//! direction came shortly before it. A transformer that leaves saturation bends the current in the other direction, too, but at its zero.

use crate::rated::Rated;
use std::f64::consts::{SQRT_2, TAU};

/// Size of a current, x rated as a peak, from which a bend is looked for: more than loads have, which a fault bends.
const LARGE: f64 = 2.5;

/// Bend of a sample as a part of the steepest slope of a wave with the largest value of the last cycle.
const BEND: f64 = 1.2;

/// Time in ms for which a bend of the other direction excludes a knee: more than half a period of an oscillation of 500 Hz. The parts of the bend, and of the
/// steepest slope, that it has at least; and the part of the largest value above which the current is not at its zero.
const BACK_MS: f64 = 1.25;
const BACK: f64 = 0.35;
const LEAST_BACK: f64 = 0.3;
const ZERO: f64 = 0.03;

/// Parts of a cycle for which the largest value is kept.
const PARTS: usize = 4;

/// Bends of one direction in a row: the first and the last sample, and the size of the largest.
#[derive(Debug, Clone, Copy, Default)]
struct Bends {
    begun: u64,
    at: u64,
    size: f64,
}

/// A phase of a transformer.
#[derive(Debug, Clone, Copy, Default)]
struct Phase {
    before: Option<[f64; 2]>,
    /// The last bends of both directions, upwards first.
    bends: [Bends; 2],
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
    back: u64,
    next: Option<u64>,
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
            back: rated.samples_in_ms(BACK_MS).max(2),
            next: None,
            phases: [Phase::default(); 3],
        }
    }

    pub(crate) fn reset(&mut self) {
        self.phases = [Phase::default(); 3];
    }

    /// Looks at sample `number`; true for each phase whose current bends at a knee. After a gap in the numbers it begins anew.
    pub(crate) fn look(&mut self, number: u64, samples: [f64; 3]) -> [bool; 3] {
        if self.next != Some(number) {
            self.reset();
        }
        self.next = number.checked_add(1);
        let mut bends = [false; 3];
        let part = (number / self.part) as usize % PARTS;
        let is_first = number.is_multiple_of(self.part);
        for ((phase, sample), bends) in self.phases.iter_mut().zip(samples).zip(&mut bends) {
            let before = phase.largest();
            phase.most[part] = sample.abs().max(if is_first { 0.0 } else { phase.most[part] });
            if let Some([older, old]) = phase.before {
                let bend = sample - self.wave * old + older;
                let least = BEND * self.slope * phase.largest();
                let is_knee = old.abs() > self.large && -bend * old.signum() > least;
                *bends = is_knee && !phase.has_bent_back(number, bend, self.back);
                // At its zero a current leaves saturation; before a fault it may have any value.
                let is_at_zero = before > self.large && old.abs() <= ZERO * before;
                if bend.abs() > LEAST_BACK * self.slope * before && !is_at_zero {
                    phase.keep(number, bend);
                }
            }
            phase.before = Some([phase.before.map_or(sample, |[_, old]| old), sample]);
        }
        bends
    }
}

impl Phase {
    /// Largest value of the last cycle.
    fn largest(&self) -> f64 {
        self.most.iter().copied().fold(0.0, f64::max)
    }

    /// True if a bend of the other direction came shortly before this one.
    fn has_bent_back(&self, number: u64, bend: f64, back: u64) -> bool {
        let Bends { begun, at, size } = self.bends[usize::from(bend > 0.0)];
        // A jump of one sample, as of a test set, is no oscillation.
        let is_jump = begun + 1 == number;
        number - at <= back && size > BACK * bend.abs() && !is_jump
    }

    fn keep(&mut self, number: u64, bend: f64) {
        let bends = &mut self.bends[usize::from(bend <= 0.0)];
        let is_in_a_row = bends.at + 1 == number;
        *bends = Bends {
            begun: if is_in_a_row { bends.begun } else { number },
            at: number,
            size: if is_in_a_row {
                bends.size.max(bend.abs())
            } else {
                bend.abs()
            },
        };
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

    /// An oscillation of 500 to 700 Hz, as cables and capacitors make it, of which every period would be a knee; and a task that was held up.
    #[test]
    fn an_oscillation_is_seldom_a_knee_and_a_gap_is_none() {
        for rate in [4000.0, 4800.0] {
            for (hz, share) in [(500.0, 0.2), (600.0, 0.15), (700.0, 0.1), (700.0, 0.2)] {
                for deg in [0.0_f64, 45.0, 90.0, 225.0, 300.0] {
                    let dc = deg.to_radians().cos();
                    let rated = Rated {
                        samples_per_second: rate,
                        ..Rated::default()
                    };
                    let mut knees = Knees::new(&rated, 1.0);
                    let wave = |n: u64| {
                        let seconds = n as f64 / rate - 0.05;
                        let angle = TAU * 50.0 * seconds + deg.to_radians();
                        let rings = share * (TAU * hz * seconds).sin() * (-seconds / 0.01).exp();
                        let fault = angle.cos() - dc * (-seconds / 0.06).exp() + rings;
                        if seconds < 0.0 { 0.5 * angle.cos() } else { 20.0 * fault }
                    };
                    let found = (0..400).filter(|n| knees.look(*n, [wave(*n), 0.0, 0.0])[0]).count();
                    assert!(found <= 2, "{rate}/s, {hz} Hz, {share}, {deg} degrees: {found}");
                }
            }
        }
        let mut knees = Knees::new(&Rated::default(), 1.0);
        let wave = |n: u64| 20.0 * (TAU * 50.0 * n as f64 / 4000.0).cos();
        let held_up = (0..100).chain(130..400);
        let found = held_up.filter(|n| knees.look(*n, [wave(*n), 0.0, 0.0])[0]).count();
        assert_eq!(found, 0, "a gap of 30 samples");
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
