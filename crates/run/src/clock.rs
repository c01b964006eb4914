//! Detects steps of the wall clock while a run records.

use sys::clock::ClockPair;
use units::Monotonic;

/// Jumps of the wall clock against the monotonic one that exceed this, in addition to what slewing explains, are steps. 10 us is
/// far below any limit for a one-way figure.
const STEP_NS: i64 = 10_000;

/// The kernel slews the wall clock by at most 500 ppm.
const SLEW_PPM: i64 = 500;

/// Compares the wall clock with the monotonic one.
pub struct ClockWatch {
    last: ClockPair,
}

impl ClockWatch {
    /// Starts with the present readings of both clocks.
    pub fn start() -> Self {
        Self {
            last: sys::clock::pair(),
        }
    }

    /// Instant of the last comparison.
    pub(crate) fn last(&self) -> Monotonic {
        self.last.monotonic
    }

    /// How far the wall clock has jumped since the last comparison, in ns, if slewing and the uncertainty of the reading do not
    /// explain it.
    pub fn step(&mut self) -> Option<i64> {
        let now = sys::clock::pair();
        let jump = step_between(&self.last, &now);
        self.last = now;
        jump
    }
}

/// How far the wall clock jumped between two readings, in ns, if slewing and the uncertainty of both do not explain it.
fn step_between(last: &ClockPair, now: &ClockPair) -> Option<i64> {
    let elapsed = now.monotonic - last.monotonic;
    let jump = (now.realtime - last.realtime) - elapsed;
    let unsure = i64::try_from(now.uncertainty_ns + last.uncertainty_ns).unwrap_or(i64::MAX / 2);
    let explained = elapsed / (1_000_000 / SLEW_PPM) + unsure + STEP_NS;
    (jump.abs() > explained).then_some(jump)
}

#[cfg(test)]
mod tests {
    use super::{STEP_NS, step_between};
    use sys::clock::ClockPair;
    use units::{Monotonic, Realtime};

    const SECOND_NS: i64 = 1_000_000_000;

    fn reading(monotonic_ns: i64, realtime_ns: i64, uncertainty_ns: u64) -> ClockPair {
        ClockPair {
            monotonic: Monotonic::from_ns(monotonic_ns),
            realtime: Realtime::from_ns(realtime_ns),
            uncertainty_ns,
        }
    }

    /// The detected step in ns, if the wall clock advanced `ahead_ns` more than the monotonic one in `elapsed_ns`.
    fn found(elapsed_ns: i64, ahead_ns: i64, uncertainty_ns: u64) -> Option<i64> {
        let epoch_ns = 1_790_000_000 * SECOND_NS;
        step_between(
            &reading(5, epoch_ns, uncertainty_ns),
            &reading(5 + elapsed_ns, epoch_ns + elapsed_ns + ahead_ns, uncertainty_ns),
        )
    }

    #[test]
    fn a_step_is_found_with_its_size_in_both_directions() {
        for step_ns in [20_000, 1_000_000, SECOND_NS, 37 * SECOND_NS, 86_400 * SECOND_NS] {
            assert_eq!(found(1_000_000, step_ns, 50), Some(step_ns));
            assert_eq!(found(1_000_000, -step_ns, 50), Some(-step_ns));
        }
    }

    #[test]
    fn slewing_and_what_the_reading_leaves_open_are_no_step() {
        assert_eq!(found(SECOND_NS, 0, 0), None);
        for sign in [1, -1] {
            assert_eq!(found(SECOND_NS, sign * 500_000, 0), None, "500 ppm for a second");
            assert_eq!(
                found(SECOND_NS, sign * (500_000 + STEP_NS + 1), 0),
                Some(sign * 510_001)
            );
            assert_eq!(found(0, sign * STEP_NS, 0), None);
            assert_eq!(
                found(0, sign * (STEP_NS + 2_000), 1_000),
                None,
                "both readings are unsure"
            );
            assert_eq!(found(0, sign * (STEP_NS + 2_001), 1_000), Some(sign * 12_001));
        }
    }
}
