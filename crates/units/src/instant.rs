//! Instants, one type per clock.

use crate::ns::Ns;
use std::ops::{Add, Sub};

macro_rules! instant {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
        pub struct $name(i64);

        impl $name {
            /// The instant `ns` nanoseconds after the clock's zero.
            pub const fn from_ns(ns: i64) -> Self {
                Self(ns)
            }

            /// Nanoseconds since the clock's zero.
            pub const fn as_ns(self) -> i64 {
                self.0
            }
        }

        impl Sub for $name {
            /// Nanoseconds from the right-hand instant to the left-hand one; negative if the left-hand one is earlier.
            type Output = i64;

            fn sub(self, earlier: Self) -> i64 {
                self.0 - earlier.0
            }
        }

        impl Add<i64> for $name {
            type Output = Self;

            fn add(self, ns: i64) -> Self {
                Self(self.0 + ns)
            }
        }

        impl Add<Ns> for $name {
            type Output = Self;

            /// On overflow, the result is the last instant that can be represented.
            #[inline]
            fn add(self, ns: Ns) -> Self {
                Self(self.0.saturating_add_unsigned(ns.0))
            }
        }

        impl Sub<i64> for $name {
            type Output = Self;

            fn sub(self, ns: i64) -> Self {
                Self(self.0 - ns)
            }
        }
    };
}

instant!(
    /// `CLOCK_MONOTONIC`: counts from boot and never goes back. Used for schedules and for every instant in a run file.
    Monotonic
);
instant!(
    /// `CLOCK_REALTIME`: UTC since 1970; it can be stepped. The kernel's software time stamps use it.
    Realtime
);
instant!(
    /// `CLOCK_TAI`: seconds since 1970 without leap seconds, the time scale of PTP.
    Tai
);
instant!(
    /// The clock in a NIC (PHC), used for hardware time stamps.
    Ptp
);

#[cfg(test)]
mod tests {
    use super::Monotonic;

    #[test]
    fn differences_are_signed_nanoseconds() {
        let early = Monotonic::from_ns(1_000);
        let late = early + 250;
        assert_eq!(late - early, 250);
        assert_eq!(early - late, -250);
        assert_eq!(late - 250, early);
    }
}
