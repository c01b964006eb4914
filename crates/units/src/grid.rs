//! Absolute schedules whose period need not be a whole number of nanoseconds.

use crate::{Monotonic, Period};

/// Due instants `start + k * numerator / denominator` nanoseconds.
///
/// A grid never drifts: each due instant is computed from `k`, so 4800 periods of 208 333.3 ns make exactly one second.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Grid {
    start: Monotonic,
    numerator_ns: u64,
    denominator: u64,
}

impl Grid {
    /// A grid with this period.
    pub fn new(start: Monotonic, period: Period) -> Self {
        let (numerator_ns, denominator) = period.fraction();
        Self {
            start,
            numerator_ns,
            denominator,
        }
    }

    /// A grid with a period of `interval_ns` (at least 1) whole nanoseconds.
    pub fn every_ns(start: Monotonic, interval_ns: u64) -> Self {
        Self::new(start, Period::of_ns(interval_ns))
    }

    /// A grid of `per_second` (at least 1) instants per second.
    pub fn per_second(start: Monotonic, per_second: u64) -> Self {
        Self::new(start, Period::per_second(per_second))
    }

    /// The due instant of cycle `k`, rounded down to a whole nanosecond.
    #[inline]
    pub fn due(&self, k: u64) -> Monotonic {
        let whole = (k / self.denominator) * self.numerator_ns;
        let rest = k % self.denominator;
        let part = match rest.checked_mul(self.numerator_ns) {
            Some(product) => product / self.denominator,
            None => self.wide_part(rest),
        };
        self.start + i64::try_from(whole + part).unwrap_or(i64::MAX / 2)
    }

    /// Computes `rest / denominator` of the numerator when the product exceeds 64 bits.
    #[cold]
    fn wide_part(&self, rest: u64) -> u64 {
        let product = u128::from(rest) * u128::from(self.numerator_ns);
        u64::try_from(product / u128::from(self.denominator)).unwrap_or(u64::MAX)
    }

    /// The first cycle whose due instant is after `now`.
    pub fn first_after(&self, now: Monotonic) -> u64 {
        let Ok(elapsed) = u64::try_from(now - self.start) else {
            return 0;
        };
        let elapsed = u128::from(elapsed);
        let near = elapsed * u128::from(self.denominator) / u128::from(self.numerator_ns);
        let mut k = u64::try_from(near).unwrap_or(u64::MAX);
        while self.due(k) <= now {
            k += 1;
        }
        k
    }
}

#[cfg(test)]
mod tests {
    use super::Grid;
    use crate::Monotonic;
    use proptest::prelude::proptest;

    #[test]
    fn sampled_value_rates_close_every_second() {
        for rate in [4000, 4800, 12_800, 14_400] {
            let grid = Grid::per_second(Monotonic::from_ns(7), rate);
            assert_eq!(grid.due(rate), Monotonic::from_ns(1_000_000_007));
            assert_eq!(grid.due(rate * 86_400), Monotonic::from_ns(86_400_000_000_007));
        }
    }

    #[test]
    fn a_period_with_many_digits_stays_exact() {
        let period = "100000.000000001ns".parse().expect("a period");
        let grid = Grid::new(Monotonic::from_ns(0), period);
        assert_eq!(grid.due(999_999_999), Monotonic::from_ns(99_999_999_900_000));
        assert_eq!(grid.due(1_000_000_000), Monotonic::from_ns(100_000_000_000_001));
    }

    #[test]
    fn before_the_start_the_first_cycle_is_next() {
        let grid = Grid::every_ns(Monotonic::from_ns(1_000), 100);
        assert_eq!(grid.first_after(Monotonic::from_ns(0)), 0);
        assert_eq!(grid.first_after(Monotonic::from_ns(1_000)), 1);
    }

    proptest! {
        #[test]
        fn the_first_cycle_after_now_is_the_first(rate in 1u64..20_000, now in 0i64..10_000_000_000) {
            let grid = Grid::per_second(Monotonic::from_ns(0), rate);
            let now = Monotonic::from_ns(now);
            let k = grid.first_after(now);
            assert!(grid.due(k) > now);
            assert!(k == 0 || grid.due(k - 1) <= now);
        }
    }
}
