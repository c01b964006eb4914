//! Reading the clocks, each as its own type.
//!
//! All go through the vDSO: no system call, some 16 ns (measured on the reference machine).

use rustix::time::{ClockId, DynamicClockId, Timespec, clock_gettime, clock_gettime_dynamic};
use units::{Monotonic, Realtime, Tai};

/// Nanoseconds in a second.
const SECOND_NS: i64 = 1_000_000_000;

/// How often [`pair`] tries for a narrow reading: often enough that one of the readings is free of interrupts and preemption.
const PAIR_ATTEMPTS: usize = 8;

/// Reads `CLOCK_MONOTONIC`.
#[inline]
pub fn monotonic() -> Monotonic {
    Monotonic::from_ns(nanoseconds(clock_gettime(ClockId::Monotonic)))
}

/// Reads `CLOCK_REALTIME`.
#[inline]
pub fn realtime() -> Realtime {
    Realtime::from_ns(nanoseconds(clock_gettime(ClockId::Realtime)))
}

/// Reads `CLOCK_TAI`. It differs from UTC only if a time service has given the kernel the offset.
#[inline]
pub fn tai() -> Tai {
    Tai::from_ns(nanoseconds(
        clock_gettime_dynamic(DynamicClockId::Tai).expect("every Linux since 3.10 has CLOCK_TAI"),
    ))
}

/// One instant on two clocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClockPair {
    /// The instant on `CLOCK_MONOTONIC`.
    pub monotonic: Monotonic,
    /// The same instant on `CLOCK_REALTIME`.
    pub realtime: Realtime,
    /// Bound of the error in ns: the two readings are the same instant to within half the span between the monotonic readings
    /// around it, rounded up.
    pub uncertainty_ns: u64,
}

/// Reads the same instant on `CLOCK_MONOTONIC` and `CLOCK_REALTIME`: the narrowest of several readings.
pub fn pair() -> ClockPair {
    let mut best = read_pair();
    for _ in 1..PAIR_ATTEMPTS {
        let next = read_pair();
        if next.uncertainty_ns < best.uncertainty_ns {
            best = next;
        }
    }
    best
}

fn read_pair() -> ClockPair {
    let before = monotonic();
    let realtime = realtime();
    let span_ns = monotonic() - before;
    ClockPair {
        monotonic: before + span_ns / 2,
        realtime,
        uncertainty_ns: span_ns.unsigned_abs().div_ceil(2),
    }
}

#[inline]
fn nanoseconds(time: Timespec) -> i64 {
    time.tv_sec * SECOND_NS + time.tv_nsec
}

#[inline]
pub(crate) fn timespec(ns: i64) -> Timespec {
    Timespec {
        tv_sec: ns.div_euclid(SECOND_NS),
        tv_nsec: ns.rem_euclid(SECOND_NS),
    }
}

#[cfg(test)]
mod tests {
    use super::{monotonic, nanoseconds, pair, realtime, tai, timespec};
    use std::time::{SystemTime, UNIX_EPOCH};

    #[test]
    fn a_pair_is_narrow_and_lies_between_readings_of_both_clocks() {
        let (mono_before, real_before) = (monotonic(), realtime());
        let pair = pair();
        let (mono_after, real_after) = (monotonic(), realtime());
        assert!((mono_before..=mono_after).contains(&pair.monotonic));
        assert!((real_before..=real_after).contains(&pair.realtime));
        assert!(pair.uncertainty_ns < 1_000_000, "{} ns", pair.uncertainty_ns);
    }

    #[test]
    fn realtime_is_the_wall_clock_and_tai_is_ahead_by_whole_seconds() {
        let wall = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .expect("after 1970")
            .as_nanos();
        let ours = u128::try_from(realtime().as_ns()).expect("after 1970");
        assert!(ours.abs_diff(wall) < 1_000_000_000);
        let before = realtime().as_ns();
        let ahead = tai().as_ns() - before;
        assert!((0..60_000_000_000).contains(&ahead), "{ahead}");
    }

    #[test]
    fn nanoseconds_survive_the_kernel_form_also_before_zero() {
        for ns in [0, 1, -1, 999_999_999, 1_000_000_000, -1_000_000_001, i64::MAX] {
            assert_eq!(nanoseconds(timespec(ns)), ns);
        }
    }
}
