//! Branches of three phases: resistance and inductance, or capacitance, each with a positive (and negative) and a zero sequence.

use super::matrix::Matrix;
use num_complex::Complex64 as Complex;
use std::f64::consts::TAU;

/// Values of three phases.
pub(super) type Three<T> = [T; 3];

/// Its constants in each sequence, positive and zero.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Element {
    /// Impedances in ohm at the frequency of the network; `None` conducts nothing.
    Series([Option<Complex>; 2]),
    /// Capacitances in F.
    Capacitance([f64; 2]),
}

/// A branch between two nodes; `None` is earth.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Branch {
    pub(super) from: Option<usize>,
    pub(super) to: Option<usize>,
    pub(super) element: Element,
}

/// A branch in steps of a given length. Its current is `conductance * (voltage + history)` or, in a series branch, `conductance * voltage + keep * current`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Stepped {
    pub(super) conductance: [f64; 2],
    pub(super) keep: [f64; 2],
    /// Admittance of the steps at the frequency of the network.
    pub(super) admittance: [Complex; 2],
}

impl Branch {
    /// The branch in steps of `step_s`, integrated by the implicit Euler method. R and L are chosen so that the steps have the exact impedance at the
    /// frequency of the network.
    pub(super) fn stepped(&self, hz: f64, step_s: f64) -> Stepped {
        let turn = TAU * hz * step_s;
        let difference = (1.0 - Complex::from_polar(1.0, -turn)) / step_s;
        let of: [(f64, f64, Complex); 2] = match self.element {
            Element::Series(ohm) => {
                ohm.map(|ohm| ohm.map_or_else(Default::default, |ohm| series(ohm, turn, step_s, difference)))
            }
            Element::Capacitance(farad) => farad.map(|farad| (farad / step_s, 0.0, difference * farad)),
        };
        Stepped {
            conductance: of.map(|(conductance, _, _)| conductance),
            keep: of.map(|(_, keep, _)| keep),
            admittance: of.map(|(_, _, admittance)| admittance),
        }
    }

    /// Smallest ratio of resistance and reactance of its sequences; `None` if none of them is inductive.
    pub(super) fn ratio(&self) -> Option<f64> {
        let Element::Series(ohm) = self.element else {
            return None;
        };
        let inductive = ohm.into_iter().flatten().filter(|ohm| ohm.im > 0.0);
        inductive.map(|ohm| ohm.re / ohm.im).min_by(f64::total_cmp)
    }

    pub(super) fn is_capacitance(&self) -> bool {
        matches!(self.element, Element::Capacitance(_))
    }

    /// Adds its admittances of the two sequences to the matrix of the nodes' phases.
    pub(super) fn stamp(&self, matrix: &mut Matrix, [one, zero]: [Complex; 2]) {
        let own = (zero + one * 2.0) / 3.0;
        let mutual = (zero - one) / 3.0;
        for phase in 0..3 {
            for other in 0..3 {
                let value = if phase == other { own } else { mutual };
                for (row, column, value) in [
                    (self.from, self.from, value),
                    (self.to, self.to, value),
                    (self.from, self.to, -value),
                    (self.to, self.from, -value),
                ] {
                    if let (Some(row), Some(column)) = (row, column) {
                        matrix.add(3 * row + phase, 3 * column + other, value);
                    }
                }
            }
        }
    }
}

fn series(ohm: Complex, turn: f64, step_s: f64, difference: Complex) -> (f64, f64, Complex) {
    let henry = ohm.im * step_s / turn.sin();
    // The steps of an inductance have a small resistance of their own.
    let resistance = (ohm.re - henry * (1.0 - turn.cos()) / step_s).max(0.0);
    let conductance = 1.0 / (resistance + henry / step_s);
    (
        conductance,
        conductance * henry / step_s,
        1.0 / (resistance + difference * henry),
    )
}

/// The values times the constants of the two sequences.
pub(super) fn weighted<T>([one, zero]: [T; 2], values: Three<T>) -> Three<T>
where
    T: Copy
        + std::ops::Add<Output = T>
        + std::ops::Sub<Output = T>
        + std::ops::Mul<Output = T>
        + std::ops::Div<f64, Output = T>,
{
    let mean = (values[0] + values[1] + values[2]) / 3.0;
    values.map(|value| one * (value - mean) + zero * mean)
}
