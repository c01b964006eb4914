//! Inverse-time curves of voltage.

use serde::Deserialize;

/// A curve of operate time over voltage: `t = k A / (B x - C)^E + D` s, with `x` the distance of the voltage from the
/// setting, as a share of the setting, and `k` the time multiplier. Curves and constants are ABB's, as in our reference (3.6).
#[derive(Debug, Clone, Copy, PartialEq, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum VoltageCurve {
    /// The same time for every voltage beyond the setting.
    #[default]
    DefiniteTime,
    /// A: 1, 1, 0, 0, 1.
    A,
    /// B: 480, 32, 0.5, 0.035, 2; for undervoltage with 0.055 instead of 0.035 (not verified).
    B,
    /// C: 480, 32, 0.5, 0.035, 3; for overvoltage only.
    C,
}

/// The constants of a curve, by the letters of its formula.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct VoltageConstants {
    /// Factor, s.
    pub a: f64,
    /// Factor of the distance.
    pub b: f64,
    /// Offset of the distance.
    pub c: f64,
    /// Additional time, s.
    pub d: f64,
    /// Exponent.
    pub e: i32,
}

impl VoltageCurve {
    /// Constants for overvoltage; `None` for definite time.
    #[must_use]
    pub fn over(self) -> Option<VoltageConstants> {
        let of = |a, b, c, d, e| Some(VoltageConstants { a, b, c, d, e });
        match self {
            Self::DefiniteTime => None,
            Self::A => of(1.0, 1.0, 0.0, 0.0, 1),
            Self::B => of(480.0, 32.0, 0.5, 0.035, 2),
            Self::C => of(480.0, 32.0, 0.5, 0.035, 3),
        }
    }

    /// Constants for undervoltage; `None` for definite time and for C, which undervoltage does not have.
    #[must_use]
    pub fn under(self) -> Option<VoltageConstants> {
        match self {
            Self::DefiniteTime | Self::C => None,
            Self::A => self.over(),
            Self::B => self.over().map(|constants| VoltageConstants { d: 0.055, ..constants }),
        }
    }
}

impl VoltageConstants {
    /// Operate time in s at a distance `x` from the setting and a time multiplier `k`; infinite if the formula has no solution.
    #[must_use]
    pub fn operate_s(&self, x: f64, k: f64) -> f64 {
        let base = self.b * x - self.c;
        if base > 0.0 {
            k * self.a / base.powi(self.e) + self.d
        } else {
            f64::INFINITY
        }
    }
}
