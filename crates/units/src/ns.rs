//! Durations in nanoseconds as types: one for durations that may be negative, one for those that may not, both with
//! readable output.

use crate::duration::format_ns;
use std::cmp::Ordering;
use std::fmt;

/// A duration in nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
#[repr(transparent)]
pub struct Ns(pub u64);

/// A difference of two instants, or a sample, in nanoseconds; negative if the second event came first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
#[repr(transparent)]
pub struct SignedNs(pub i64);

impl SignedNs {
    /// The duration; `None` if it is negative.
    #[inline]
    pub fn forward(self) -> Option<Ns> {
        u64::try_from(self.0).ok().map(Ns)
    }

    /// The absolute value.
    #[inline]
    pub fn size(self) -> Ns {
        Ns(self.0.unsigned_abs())
    }
}

impl PartialEq<Ns> for SignedNs {
    #[inline]
    fn eq(&self, other: &Ns) -> bool {
        self.forward() == Some(*other)
    }
}

impl PartialOrd<Ns> for SignedNs {
    /// Compares values: a negative one is below every duration.
    #[inline]
    fn partial_cmp(&self, other: &Ns) -> Option<Ordering> {
        Some(self.forward().map_or(Ordering::Less, |ns| ns.cmp(other)))
    }
}

impl fmt::Display for Ns {
    /// Formats it with [`format_ns`]: `34.2 µs`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&format_ns(self.0 as f64))
    }
}

impl fmt::Display for SignedNs {
    /// Formats it with [`format_ns`]: `-34.2 µs`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&format_ns(self.0 as f64))
    }
}

#[cfg(test)]
mod tests {
    use super::{Ns, SignedNs};
    use crate::{Monotonic, format_ns};
    use proptest::prelude::{any, prop_assert_eq, proptest};

    #[test]
    fn words_and_columns() {
        assert_eq!(Ns(34_210).to_string(), "34.2 µs");
        assert_eq!(SignedNs(-34_210).to_string(), "-34.2 µs");
        assert_eq!(
            format!("[{:>9}] [{:<9}]", Ns(5), SignedNs(-5)),
            "[     5 ns] [-5 ns    ]"
        );
    }

    #[test]
    fn an_instant_plus_more_than_there_is_time_is_the_last_instant() {
        let start = Monotonic::from_ns(7);
        assert_eq!(start + Ns(3), Monotonic::from_ns(10));
        assert_eq!(start + Ns(u64::MAX), Monotonic::from_ns(i64::MAX));
    }

    proptest! {
        #[test]
        fn signed_and_unsigned_compare_by_their_values(a in any::<i64>(), b in any::<u64>()) {
            let wide = i128::from(a).cmp(&i128::from(b));
            prop_assert_eq!(SignedNs(a).partial_cmp(&Ns(b)), Some(wide));
            prop_assert_eq!(SignedNs(a) == Ns(b), wide.is_eq());
            prop_assert_eq!(SignedNs(a).size().to_string(), format_ns(a.unsigned_abs() as f64));
        }
    }
}
