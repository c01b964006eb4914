//! The cost and the step of reading a clock: its share in the error of every instant taken from it.

use crate::{clock, cycles};

/// Readings taken one after the other.
const READINGS: usize = 4_096;

/// A coarse clock is read until it has moved, but at most this often: some milliseconds.
const MOST_READINGS: usize = 400_000;

/// Share of readings that are at most as long as the long one.
const LONG: f64 = 0.99;

/// Batches of which the fastest counts.
const BATCHES: usize = 16;

/// Comparisons of two clocks; the widest counts.
const PAIRS: usize = 32;

/// A measured clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Readout {
    /// Mean time of one reading in ns without the longest hundredth, rounded up.
    pub mean_ns: u64,
    /// Time in ns that 99 of 100 readings do not exceed; at least the mean.
    pub long_ns: u64,
    /// Step of the clock in ns: every reading is a multiple of it away from every other one. `None` if the clock did not move.
    pub step_ns: Option<u64>,
}

impl Readout {
    /// Measures `CLOCK_MONOTONIC` on the CPU of the calling thread, in well under a millisecond if the clock is fine.
    pub fn of_monotonic() -> Self {
        Self::of(|| clock::monotonic().as_ns())
    }

    /// Measures `CLOCK_REALTIME` on the CPU of the calling thread.
    pub fn of_realtime() -> Self {
        Self::of(|| clock::realtime().as_ns())
    }

    /// Measures a clock by reading it again and again.
    fn of(read: impl Fn() -> i64) -> Self {
        let mut readings = Vec::with_capacity(READINGS);
        let first = read();
        let mut last = first;
        let mut taken = 0;
        let mut step = 0;
        while taken < READINGS || (step == 0 && taken < MOST_READINGS) {
            let next = read();
            let span = (next - last).unsigned_abs();
            if readings.len() < READINGS {
                readings.push(span);
            }
            step = common(step, span);
            (last, taken) = (next, taken + 1);
        }
        readings.sort_unstable();
        let usual = (READINGS as f64 * LONG) as usize;
        let long = readings[usual];
        // The few longest contain interrupts and other threads. A coarse clock moves only in these, and then all count.
        let mean_ns = match readings[..usual].iter().sum::<u64>() {
            0 => ((last - first).unsigned_abs()).div_ceil(taken as u64),
            sum => sum.div_ceil(usual as u64),
        };
        Self {
            mean_ns,
            long_ns: long.max(mean_ns),
            step_ns: (step > 0).then_some(step),
        }
    }
}

/// Greatest common divisor; 0 divides nothing.
fn common(mut a: u64, mut b: u64) -> u64 {
    while b > 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// Largest error in ns with which the same instant is known on `CLOCK_MONOTONIC` and `CLOCK_REALTIME`, over some comparisons.
pub fn conversion_ns() -> u64 {
    let errors = (0..PAIRS).map(|_| clock::pair().uncertainty_ns);
    errors.max().unwrap_or(0)
}

/// Mean time of one reading of the CPU's own counter in ns, rounded up.
pub fn counter_ns() -> u64 {
    undisturbed(|| {
        std::hint::black_box(cycles::now());
    })
}

/// Mean time in ns, rounded up, of one reading of `CLOCK_MONOTONIC` through a system call. Readings of [`Readout`] that take as long
/// show that the vDSO has no fast path for this clock source.
pub fn system_call_ns() -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    undisturbed(|| {
        // SAFETY: the call writes one timespec, which lives through the call.
        unsafe { libc::syscall(libc::SYS_clock_gettime, libc::CLOCK_MONOTONIC, &raw mut time) };
    })
}

/// Mean time of some work in ns, rounded up, in the fastest of several batches: the one without interrupts and other threads.
fn undisturbed(mut work: impl FnMut()) -> u64 {
    let batch = |_| {
        let before = clock::monotonic();
        for _ in 0..READINGS / BATCHES {
            work();
        }
        (clock::monotonic() - before)
            .unsigned_abs()
            .div_ceil((READINGS / BATCHES) as u64)
    };
    (0..BATCHES).map(batch).min().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::{Readout, common, conversion_ns, counter_ns, system_call_ns};
    use std::cell::Cell;

    /// A clock that takes `cost` ns to read and shows multiples of `step`.
    fn simulated(cost: i64, step: i64) -> Readout {
        let now = Cell::new(17);
        Readout::of(|| {
            now.set(now.get() + cost);
            now.get() / step * step
        })
    }

    #[test]
    fn cost_and_step_of_a_known_clock_are_found() {
        assert_eq!(
            simulated(23, 1),
            Readout {
                mean_ns: 23,
                long_ns: 23,
                // Steps finer than every span between readings show only as their common part.
                step_ns: Some(23)
            }
        );
        let coarse = simulated(23, 100);
        assert_eq!((coarse.step_ns, coarse.long_ns), (Some(100), 100), "{coarse:?}");
        // The longest hundredth, steps of 100 ns among them, is left out.
        assert!((22..=24).contains(&coarse.mean_ns), "{coarse:?}");
        let jiffies = simulated(23, 4_000_000);
        assert_eq!(jiffies.step_ns, Some(4_000_000));
    }

    #[test]
    fn a_clock_that_stands_has_no_known_step() {
        assert_eq!(Readout::of(|| 5).step_ns, None);
    }

    #[test]
    fn the_clocks_of_this_machine_can_be_read() {
        for clock in [Readout::of_monotonic(), Readout::of_realtime()] {
            assert!(clock.mean_ns > 0 && clock.long_ns >= clock.mean_ns, "{clock:?}");
            assert!(clock.step_ns.is_some_and(|step| step > 0), "{clock:?}");
        }
        assert!(conversion_ns() < 1_000_000 && counter_ns() > 0 && system_call_ns() > 0);
        assert_eq!((common(12, 18), common(0, 7), common(7, 0)), (6, 7, 7));
    }
}
