//! The neutral admittance, and its cumulative sum.

use crate::complex::Complex;
use crate::measure::{Channel, Measured};

/// Harmonics that are used.
const HARMONICS: [u32; 5] = [2, 3, 5, 7, 9];

/// Smallest phasors that are used as divisors.
#[derive(Debug, Clone, Copy)]
pub(super) struct Floors {
    /// 3 I0 at a harmonic, in A.
    pub(super) current_a: f64,
    /// U0 at any order, in V.
    pub(super) voltage_v: f64,
}

/// The neutral admittance of one instant, in S.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Neutral {
    /// `Y1 = 3 I0 / (-U0)` of the fundamental.
    pub fundamental: Complex,
    /// `Re Y1 + j (Im Y1 + sum Im Yn)` over the harmonics 2, 3, 5, 7 and 9 that can be measured.
    pub sum: Complex,
}

impl Neutral {
    /// The admittance from the residual current and voltage of two sets; `None` if the voltage is too low.
    pub(super) fn of(current: &Measured, voltage: &Measured, floors: Floors, harmonics: bool) -> Option<Self> {
        let zero = voltage.residual_voltage / 3.0;
        let fundamental = current.residual_current.ratio(-zero, floors.voltage_v)?;
        let mut sum = fundamental;
        for order in HARMONICS.into_iter().filter(|_| harmonics) {
            let (Some(i), Some(u)) = (current.phasor(Channel::IN, order), voltage.phasor(Channel::UN, order)) else {
                continue;
            };
            if i.norm() > floors.current_a
                && let Some(admittance) = i.ratio(-(u / 3.0), floors.voltage_v)
            {
                sum.im += admittance.im;
            }
        }
        Some(Self { fundamental, sum })
    }

    /// True if both sets have all harmonics.
    pub(super) fn has_harmonics(current: &Measured, voltage: &Measured) -> bool {
        HARMONICS
            .into_iter()
            .all(|order| current.phasor(Channel::IN, order).is_some() && voltage.phasor(Channel::UN, order).is_some())
    }
}

/// Cumulative phasor sums since the detection of a fault: `Ysum_CPS(m) = sum Ysum(i)`, and separate sums of 3 I0 and U0. A single outlier hardly
/// changes the sum of many values.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Cumulative {
    admittance: Complex,
    current: Complex,
    voltage: Complex,
    count: u32,
}

impl Cumulative {
    /// Adds the values of one instant: admittance in S, 3 I0 in A, U0 in V. Ignores NaN.
    pub fn add(&mut self, admittance: Complex, residual_current: Complex, zero_voltage: Complex) {
        if admittance.is_finite() && residual_current.is_finite() && zero_voltage.is_finite() {
            self.admittance += admittance;
            self.current += residual_current;
            self.voltage += zero_voltage;
            self.count = self.count.saturating_add(1);
        }
    }

    /// Sum of the admittances, S.
    #[must_use]
    pub fn admittance(&self) -> Complex {
        self.admittance
    }

    /// `Y1_stab = 3 I0_CPS / (-U0_CPS)`, S.
    #[must_use]
    pub fn stabilised(&self) -> Option<Complex> {
        self.current.ratio(-self.voltage, f64::MIN_POSITIVE)
    }

    /// Number of instants in the sum.
    #[must_use]
    pub fn count(&self) -> u32 {
        self.count
    }
}
