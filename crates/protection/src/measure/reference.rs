//! The reference that phasors are measured against.

use std::f64::consts::TAU;

use crate::complex::Complex;
use crate::rated::Rated;

/// Orders whose phasors can be measured: the fundamental first, then the harmonics that functions use (2 and 5 of PDIF, 3 of
/// earth faults, all of the multi-frequency admittance).
pub const ORDERS: [u32; 6] = [1, 2, 3, 5, 7, 9];

/// Largest deviation of the reference from the rated frequency, as a share: 44 to 56 Hz, 52.8 to 67.2 Hz.
pub(super) const FURTHEST: f64 = 0.12;

/// Largest number of samples by which a bay may lag the reference.
const BEHIND: usize = 64;

/// Interval in samples at which the factor is computed from the angle; in between it is computed from the previous factor: 30 roundings are 10^-15.
const ANEW: u64 = 32;

/// The factors of one sample, by order.
pub(super) type Factors = [Complex; ORDERS.len()];

/// One cycle of the tracked frequency, in samples.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Window {
    /// Whole samples of a cycle.
    pub(super) whole: usize,
    /// The fractional rest of a cycle: the weight of the sample before them.
    pub(super) part: f64,
}

impl Window {
    pub(super) fn length(self) -> f64 {
        self.whole as f64 + self.part
    }
}

/// A unit phasor that rotates at the tracked frequency.
///
/// Its angle is an integer in units of 2^-64 turns, so that it is as exact after a year as after a second. At the rated frequency its angle at sample
/// `n` is `2 pi n f / rate`.
#[derive(Debug, Clone)]
pub struct Reference {
    rate: f64,
    rated_hz: f64,
    frequency_hz: f64,
    step: u64,
    phase: u64,
    next: u64,
    /// Factor of the last sample, and its rotation per sample; `None` if the factor must be computed from the angle.
    last: Option<Complex>,
    rotation: Complex,
    factors: Box<[Factors]>,
    window: Window,
    tuned: u32,
}

impl Reference {
    /// A reference at the rated frequency whose first sample has the number `first`. This is the only function here that allocates.
    #[must_use]
    pub fn new(rated: &Rated, first: u64) -> Self {
        let longest = rated.samples_per_second / (rated.frequency_hz * (1.0 - FURTHEST));
        let length = (longest as usize + 3 + BEHIND).next_power_of_two();
        let mut reference = Self {
            rate: rated.samples_per_second,
            rated_hz: rated.frequency_hz,
            frequency_hz: 0.0,
            step: 0,
            phase: 0,
            next: first,
            last: None,
            rotation: Complex::ONE,
            factors: vec![[Complex::ZERO; ORDERS.len()]; length].into_boxed_slice(),
            window: Window { whole: 1, part: 0.0 },
            tuned: 0,
        };
        reference.tune(rated.frequency_hz);
        reference.phase = reference.step.wrapping_mul(first);
        reference
    }

    /// Advances by one sample, and returns its number.
    pub fn advance(&mut self) -> u64 {
        let sample = self.next;
        let first = match self.last {
            Some(last) if !sample.is_multiple_of(ANEW) => last * self.rotation,
            _ => {
                // 53 bits of the angle are the precision of a double.
                let turns = (self.phase >> 11) as f64 / (1u64 << 53) as f64;
                Complex::polar(1.0, -TAU * turns)
            }
        };
        self.last = Some(first);
        let second = first * first;
        // With z on the unit circle, `z^(h+2) = 2 Re(z^2) z^h - z^(h-2)`: half the work of a complex product.
        let twice = 2.0 * second.re;
        let third = first * twice - first.conj();
        let fifth = third * twice - first;
        let seventh = fifth * twice - third;
        let ninth = seventh * twice - fifth;
        let slot = self.slot(sample);
        self.factors[slot] = [first, second, third, fifth, seventh, ninth];
        self.phase = self.phase.wrapping_add(self.step);
        self.next = sample + 1;
        sample
    }

    /// Rotates at `frequency_hz` from the next sample on, limited to within 12 % of the rated frequency. Ignores NaN.
    pub fn tune(&mut self, frequency_hz: f64) {
        if !frequency_hz.is_finite() {
            return;
        }
        let span = FURTHEST * self.rated_hz;
        let wanted = frequency_hz.clamp(self.rated_hz - span, self.rated_hz + span);
        if wanted.to_bits() == self.frequency_hz.to_bits() {
            return;
        }
        self.frequency_hz = wanted;
        // Uses integers: a double would be off by 10^-6 radians after a year.
        let nano = |hz: f64| (hz * 1e9).round() as u128;
        self.step = ((nano(wanted) << 64) / nano(self.rate)) as u64;
        let length = self.rate / wanted;
        // Rounding, so that a window of 79.999999999 samples counts as 80.
        let whole = (length + 1e-9).floor();
        self.window = Window {
            whole: whole as usize,
            part: (length - whole).max(0.0),
        };
        self.rotation = Complex::polar(1.0, -TAU * wanted / self.rate);
        // The step to the next sample still used the old frequency.
        self.last = None;
        self.tuned = self.tuned.wrapping_add(1);
    }

    /// Present frequency, in Hz.
    #[must_use]
    pub fn frequency_hz(&self) -> f64 {
        self.frequency_hz
    }

    /// Initial frequency, in Hz.
    #[must_use]
    pub fn rated_hz(&self) -> f64 {
        self.rated_hz
    }

    /// Number of the sample that the next [`Self::advance`] returns.
    #[must_use]
    pub fn next(&self) -> u64 {
        self.next
    }

    /// Radians of the fundamental from one sample to the next.
    pub(super) fn radians(&self) -> f64 {
        TAU * self.frequency_hz / self.rate
    }

    pub(super) fn window(&self) -> Window {
        self.window
    }

    /// A counter that changes with every change of the frequency.
    pub(super) fn tuned(&self) -> u32 {
        self.tuned
    }

    /// True if all factors of the window that ends at `sample` are available.
    pub(super) fn covers(&self, sample: u64) -> bool {
        let kept = (self.factors.len() - self.window.whole - 3) as u64;
        sample < self.next && self.next - sample <= kept
    }

    pub(super) fn factors(&self, sample: u64) -> &Factors {
        &self.factors[self.slot(sample)]
    }

    fn slot(&self, sample: u64) -> usize {
        (sample as usize) & (self.factors.len() - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::Reference;
    use crate::complex::Complex;
    use crate::rated::Rated;
    use std::f64::consts::TAU;

    #[test]
    fn a_year_later_the_angle_is_exact() {
        let rated = Rated::default();
        let year = 4000 * 86_400 * 365;
        let mut reference = Reference::new(&rated, year);
        for n in 0..200u64 {
            let sample = reference.advance();
            assert_eq!(sample, year + n);
            let truth = Complex::polar(1.0, -TAU * n as f64 / 80.0);
            assert!((reference.factors(sample)[0] - truth).norm() < 1e-7, "{n}");
            let ninth = Complex::polar(1.0, -TAU * 9.0 * n as f64 / 80.0);
            assert!((reference.factors(sample)[5] - ninth).norm() < 1e-6, "{n}");
        }
    }

    #[test]
    fn it_follows_only_so_far() {
        let mut reference = Reference::new(&Rated::default(), 0);
        reference.tune(f64::NAN);
        assert_eq!(reference.frequency_hz(), 50.0);
        reference.tune(1e9);
        assert_eq!(reference.frequency_hz(), 56.0);
        reference.tune(-3.0);
        assert_eq!(reference.frequency_hz(), 44.0);
        assert_eq!(reference.window().whole, 90);
    }
}
