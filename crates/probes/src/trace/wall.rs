//! The wall clock during a run whose times are on the monotonic clock.

use sys::clock::ClockPair;

/// Change in ns beyond the possible slew from which the wall clock has stepped; less is an uncertainty of its stamps.
const STEP_NS: i64 = 10_000;

/// The kernel slews the wall clock by at most 500 ppm, which is this fraction of the time between two readings.
const SLEW_PART: i64 = 2_000;

/// Difference of `CLOCK_REALTIME` from `CLOCK_MONOTONIC`.
pub(super) struct Wall {
    used: ClockPair,
    last: ClockPair,
    worst_ns: u64,
}

impl Wall {
    pub(super) fn new() -> Self {
        let pair = sys::clock::pair();
        Self {
            used: pair,
            last: pair,
            worst_ns: pair.uncertainty_ns,
        }
    }

    /// Difference to add to a time of the monotonic clock, in ns.
    pub(super) fn offset_ns(&self) -> i64 {
        offset_ns(&self.used)
    }

    /// Largest error of stamps converted this way, apart from steps of the wall clock.
    pub(super) fn uncertainty_ns(&self) -> u64 {
        self.worst_ns
    }

    /// Reads both clocks. The offset is kept while the uncertainty of the readings allows that it has not changed, so that
    /// consecutive stamps keep their distance.
    pub(super) fn look(&mut self, now: &ClockPair) {
        let off_ns = offset_ns(now) - self.offset_ns();
        let elapsed_ns = now.monotonic - self.last.monotonic;
        self.last = *now;
        let is_step = off_ns.abs() > elapsed_ns / SLEW_PART + STEP_NS;
        if !is_step {
            self.worst_ns = self.worst_ns.max(off_ns.unsigned_abs() + now.uncertainty_ns);
        }
        let unsure_ns = now.uncertainty_ns + self.used.uncertainty_ns;
        if off_ns.unsigned_abs() > unsure_ns {
            self.used = *now;
        }
    }
}

fn offset_ns(pair: &ClockPair) -> i64 {
    pair.realtime.as_ns() - pair.monotonic.as_ns()
}

#[cfg(test)]
mod tests {
    use super::Wall;
    use sys::clock::ClockPair;
    use units::{Monotonic, Realtime};

    fn at(monotonic_ns: i64, offset_ns: i64) -> ClockPair {
        ClockPair {
            monotonic: Monotonic::from_ns(monotonic_ns),
            realtime: Realtime::from_ns(monotonic_ns + offset_ns),
            uncertainty_ns: 30,
        }
    }

    fn wall() -> Wall {
        let (used, last) = (at(0, 1_000_000), at(0, 1_000_000));
        Wall {
            used,
            last,
            worst_ns: 30,
        }
    }

    #[test]
    fn noise_of_the_readings_moves_nothing_and_slewing_does() {
        let mut wall = wall();
        wall.look(&at(20_000_000, 1_000_050));
        assert_eq!((wall.offset_ns(), wall.uncertainty_ns()), (1_000_000, 80));
        wall.look(&at(40_000_000, 1_000_500));
        assert_eq!((wall.offset_ns(), wall.uncertainty_ns()), (1_000_500, 530));
    }

    #[test]
    fn a_step_is_followed_and_is_no_uncertainty() {
        let mut wall = wall();
        wall.look(&at(20_000_000, 38_001_000_000));
        assert_eq!((wall.offset_ns(), wall.uncertainty_ns()), (38_001_000_000, 30));
    }
}
