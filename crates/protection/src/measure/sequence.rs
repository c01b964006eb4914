//! Symmetrical components.

use crate::complex::Complex;

/// Zero, positive and negative sequence of three phasors, referred to phase A, in their unit.
///
/// `X0 = (A + B + C) / 3`, `X1 = (A + aB + a^2 C) / 3`, `X2 = (A + a^2 B + aC) / 3` with `a` one at 120 degrees (Fortescue).
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Sequence {
    /// Zero sequence: a third of the residual.
    pub zero: Complex,
    /// Positive sequence.
    pub positive: Complex,
    /// Negative sequence.
    pub negative: Complex,
}

impl Sequence {
    /// The components of phases A, B and C.
    #[must_use]
    pub fn of([a, b, c]: [Complex; 3]) -> Self {
        let third = 1.0 / 3.0;
        // a and a^2 have the same real part, and opposite imaginary ones.
        let (sum, difference) = (b + c, (b - c) * Complex::A.im);
        let along = a + sum * Complex::A.re;
        let across = Complex::new(-difference.im, difference.re);
        Self {
            zero: (a + sum) * third,
            positive: (along + across) * third,
            negative: (along - across) * third,
        }
    }

    /// Phases A, B and C computed from the components.
    #[must_use]
    pub fn phases(&self) -> [Complex; 3] {
        let Self {
            zero,
            positive,
            negative,
        } = *self;
        [
            zero + positive + negative,
            zero + Complex::A2 * positive + Complex::A * negative,
            zero + Complex::A * positive + Complex::A2 * negative,
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::Sequence;
    use crate::complex::Complex;

    /// Reference numbers of section 3.2.
    #[test]
    fn components_of_two_phases() {
        let found = Sequence::of([
            Complex::degrees(100.0, 0.0),
            Complex::degrees(100.0, -120.0),
            Complex::ZERO,
        ]);
        for (component, magnitude, angle) in [
            (found.zero, 33.333_333, -60.0),
            (found.positive, 66.666_667, 0.0),
            (found.negative, 33.333_333, 60.0),
        ] {
            assert!(
                (component - Complex::degrees(magnitude, angle)).norm() < 1e-6,
                "{component:?}"
            );
        }
        let again = found.phases();
        assert!((again[1] - Complex::degrees(100.0, -120.0)).norm() < 1e-12);
        assert!(again[2].norm() < 1e-12);
    }
}
