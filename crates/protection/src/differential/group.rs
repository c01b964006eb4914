//! Vector groups of transformers.

use std::str::FromStr;

use serde::Deserialize;

use crate::complex::Complex;

/// The text is not a vector group.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is not a vector group: write the high-voltage winding (D, Y, YN, Z, ZN), the low-voltage winding (d, y, yn, z, zn) \
     and the clock number, as in Dyn11; Yy, Dd and Dz have even numbers, Yd, Dy and Yz odd ones"
)]
pub struct GroupError(String);

/// Connection of a winding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Winding {
    Delta,
    Star,
    Zigzag,
}

/// A vector group, as in `Dyn11`: the connections of both windings, which neutrals are earthed, and the lag of the low-voltage side in steps of 30
/// degrees.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct VectorGroup {
    high: Winding,
    high_earthed: bool,
    low: Winding,
    low_earthed: bool,
    clock: u8,
}

/// Adjusts the currents of one side before the comparison: a rotation, and the removal of the zero sequence.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Compensation([[f64; 3]; 3]);

impl Compensation {
    /// No adjustment.
    pub const NONE: Self = Self([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]);

    /// A rotation of the positive sequence by `steps` times 30 degrees; the zero sequence is removed on request, and always by odd steps.
    ///
    /// Element `(i, j)` is `2/3 cos(t + (j - i) 120) + 1/3 cos(3 t)` degrees, without the last term if the zero sequence is
    /// removed. One step gives `(Ia - Ib) / sqrt(3)` and so on, as in our reference.
    #[must_use]
    pub fn new(steps: i32, remove_zero_sequence: bool) -> Self {
        let turn = f64::from(steps) * 30f64.to_radians();
        let third = 120f64.to_radians();
        let zero = if remove_zero_sequence {
            0.0
        } else {
            (3.0 * turn).cos() / 3.0
        };
        let mut matrix = [[0.0; 3]; 3];
        for (i, row) in matrix.iter_mut().enumerate() {
            for (j, element) in row.iter_mut().enumerate() {
                *element = 2.0 / 3.0 * (turn + (j as f64 - i as f64) * third).cos() + zero;
            }
        }
        Self(matrix)
    }

    /// The compensated phases.
    #[must_use]
    pub fn apply(&self, [a, b, c]: [Complex; 3]) -> [Complex; 3] {
        self.0.map(|[x, y, z]| a * x + b * y + c * z)
    }

    /// The compensated samples of an instant.
    #[must_use]
    pub fn apply_to(&self, [a, b, c]: [f64; 3]) -> [f64; 3] {
        self.0.map(|[x, y, z]| a * x + b * y + c * z)
    }
}

impl VectorGroup {
    /// Adjustments of the high-voltage and the low-voltage side. The star side is rotated to the delta side; the zero sequence is removed from
    /// earthed sides.
    #[must_use]
    pub fn compensations(&self) -> [Compensation; 2] {
        let clock = i32::from(self.clock);
        if self.high == Winding::Delta && self.low != Winding::Delta {
            return [
                Compensation::new(0, self.high_earthed),
                Compensation::new(clock, self.low_earthed),
            ];
        }
        [
            Compensation::new(-clock, self.high_earthed),
            Compensation::new(0, self.low_earthed),
        ]
    }
}

impl TryFrom<String> for VectorGroup {
    type Error = GroupError;
    fn try_from(text: String) -> Result<Self, GroupError> {
        text.parse()
    }
}

impl FromStr for VectorGroup {
    type Err = GroupError;

    fn from_str(text: &str) -> Result<Self, GroupError> {
        let error = || GroupError(text.to_owned());
        let (high, high_earthed, rest) = winding(text, ['D', 'Y', 'Z', 'N']).ok_or_else(error)?;
        let (low, low_earthed, number) = winding(rest, ['d', 'y', 'z', 'n']).ok_or_else(error)?;
        let clock: u8 = number.parse().ok().filter(|clock| *clock < 12).ok_or_else(error)?;
        let odd = match (high, low) {
            (Winding::Star, Winding::Star)
            | (Winding::Zigzag, Winding::Zigzag)
            | (Winding::Delta, Winding::Delta | Winding::Zigzag)
            | (Winding::Zigzag, Winding::Delta) => 0,
            _ => 1,
        };
        if clock % 2 != odd {
            return Err(error());
        }
        Ok(Self {
            high,
            high_earthed,
            low,
            low_earthed,
            clock,
        })
    }
}

/// Parses the winding at the start of the text: returns the winding, true if its neutral is earthed, and the rest of the text.
fn winding(text: &str, [delta, star, zigzag, neutral]: [char; 4]) -> Option<(Winding, bool, &str)> {
    let first = text.chars().next()?;
    let kind = match first {
        each if each == delta => Winding::Delta,
        each if each == star => Winding::Star,
        each if each == zigzag => Winding::Zigzag,
        _ => return None,
    };
    let rest = &text[1..];
    match rest.strip_prefix(neutral) {
        Some(_) if kind == Winding::Delta => None,
        Some(rest) => Some((kind, true, rest)),
        None => Some((kind, false, rest)),
    }
}

#[cfg(test)]
mod tests {
    use super::{Compensation, VectorGroup};
    use crate::complex::Complex;

    #[test]
    fn turns_are_those_of_the_reference() {
        let currents = [(7.0, 3.0), (2.0, -110.0), (5.0, 95.0)].map(|(size, angle)| Complex::degrees(size, angle));
        let [a, b, c] = currents;
        let root = 1.0 / 3f64.sqrt();
        let eleven = [(a - b) * root, (b - c) * root, (c - a) * root];
        let one = [(a - c) * root, (b - a) * root, (c - b) * root];
        let zero = (a + b + c) / 3.0;
        for (steps, remove, expected) in [
            (1, false, eleven),
            (1, true, eleven),
            (-1, false, one),
            (0, false, currents),
            (0, true, [a - zero, b - zero, c - zero]),
            (6, false, [-a, -b, -c]),
            (4, false, [c, a, b]),
        ] {
            let found = Compensation::new(steps, remove).apply(currents);
            for phase in 0..3 {
                assert!(
                    (found[phase] - expected[phase]).norm() < 1e-12,
                    "{steps} {remove} {phase}"
                );
            }
        }
    }

    #[test]
    fn what_is_no_group_is_refused() {
        for good in ["Dyn11", "Yd1", "YNyn0", "Yy6", "Dd0", "YNd5", "Dz0", "Yzn11"] {
            assert!(good.parse::<VectorGroup>().is_ok(), "{good}");
        }
        for bad in [
            "", "D", "Dy", "Dyn12", "Dyn0", "Yy1", "DNy1", "dY1", "Dyn-1", "Dyn11x", "Ää0",
        ] {
            let error = bad.parse::<VectorGroup>().unwrap_err().to_string();
            assert!(error.contains("as in Dyn11"), "{bad}");
        }
    }
}
