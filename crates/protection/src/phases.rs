//! Phases, and sets of them.

use std::ops::{BitAnd, BitOr, BitOrAssign, Not};

/// A set of phases and neutral, as in `phsA`, `phsB`, `phsC` and `neut` of IEC 61850's ACD and ACT. A quantity of no single phase (a frequency, a
/// positive-sequence voltage) counts as all three phases.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Phases(u8);

impl Phases {
    /// One bit per member: A the lowest, then B, C, neutral.
    #[must_use]
    pub const fn bits(self) -> u8 {
        self.0
    }

    /// The phases of these bits; other bits are ignored.
    #[must_use]
    pub const fn of_bits(bits: u8) -> Self {
        Self(bits & 0xf)
    }

    /// No phase.
    pub const NONE: Self = Self(0);
    /// Phase A.
    pub const A: Self = Self(1);
    /// Phase B.
    pub const B: Self = Self(2);
    /// Phase C.
    pub const C: Self = Self(4);
    /// Neutral.
    pub const NEUTRAL: Self = Self(8);
    /// All three phases.
    pub const ABC: Self = Self(7);
    /// The three phases, in order.
    pub const EACH: [Self; 3] = [Self::A, Self::B, Self::C];

    /// True if the set is not empty: `general` of IEC 61850.
    #[must_use]
    pub const fn any(self) -> bool {
        self.0 != 0
    }

    /// True if all of `other` are in this set.
    #[must_use]
    pub const fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// Number of the three phases in the set.
    #[must_use]
    pub const fn count(self) -> u32 {
        (self.0 & 7).count_ones()
    }

    /// `self` if `condition` is true, otherwise none.
    #[must_use]
    pub const fn when(self, condition: bool) -> Self {
        if condition { self } else { Self::NONE }
    }

    /// The phases whose condition is true.
    #[must_use]
    pub fn of(conditions: [bool; 3]) -> Self {
        let mut phases = Self::NONE;
        for (phase, condition) in Self::EACH.into_iter().zip(conditions) {
            phases |= phase.when(condition);
        }
        phases
    }
}

impl BitOr for Phases {
    type Output = Self;
    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

impl BitAnd for Phases {
    type Output = Self;
    fn bitand(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }
}

impl Not for Phases {
    type Output = Self;
    fn not(self) -> Self {
        Self(!self.0 & 15)
    }
}

impl BitOrAssign for Phases {
    fn bitor_assign(&mut self, other: Self) {
        *self = *self | other;
    }
}

impl std::fmt::Display for Phases {
    /// `A`, `BC`, `ABCN`, or `-` for none.
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if !self.any() {
            return out.write_str("-");
        }
        for (phase, letter) in [(Self::A, "A"), (Self::B, "B"), (Self::C, "C"), (Self::NEUTRAL, "N")] {
            if self.contains(phase) {
                out.write_str(letter)?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::Phases;

    #[test]
    fn sets_are_written_as_people_write_them() {
        assert_eq!((Phases::A | Phases::NEUTRAL).to_string(), "AN");
        assert_eq!(Phases::NONE.to_string(), "-");
        assert_eq!(Phases::of([false, true, true]).to_string(), "BC");
        assert_eq!(Phases::of([false, true, true]).count(), 2);
    }
}
