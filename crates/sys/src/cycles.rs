//! The CPU's own time counter, for loops that must see gaps shorter than the cost of a clock reading.

use crate::clock::monotonic;
use std::time::Duration;

/// How long the counter is compared with `CLOCK_MONOTONIC`. Both ends are read to within some 50 ns, so the rate is accurate to
/// better than one part in a million.
const CALIBRATION: Duration = Duration::from_millis(100);

/// Number of readings at each end; the narrowest is used.
const ATTEMPTS: usize = 64;

/// Reads the counter: on x86-64 the time stamp counter, elsewhere `CLOCK_MONOTONIC` in ns.
#[inline]
pub fn now() -> u64 {
    #[cfg(target_arch = "x86_64")]
    {
        // SAFETY: the instruction reads a counter and touches no memory; user space may run it unless the process has
        // forbidden itself that (PR_SET_TSC), which this one does not.
        unsafe { core::arch::x86_64::_rdtsc() }
    }
    #[cfg(not(target_arch = "x86_64"))]
    {
        u64::try_from(monotonic().as_ns()).unwrap_or(0)
    }
}

/// Rate of the counter.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rate {
    per_ns: f64,
}

impl Rate {
    /// Compares the counter with `CLOCK_MONOTONIC` for a tenth of a second.
    pub fn measure() -> Self {
        let (first_ns, first) = pair();
        std::thread::sleep(CALIBRATION);
        let (last_ns, last) = pair();
        let per_ns = last.wrapping_sub(first) as f64 / (last_ns - first_ns) as f64;
        Self { per_ns }
    }

    /// Number of counts in `ns`, rounded up.
    pub fn counts(self, ns: u64) -> u64 {
        (ns as f64 * self.per_ns).ceil() as u64
    }

    /// Nanoseconds of `counts`, rounded.
    pub fn ns(self, counts: u64) -> u64 {
        (counts as f64 / self.per_ns).round() as u64
    }

    /// Counts per microsecond: the counter's frequency in MHz.
    pub fn mhz(self) -> f64 {
        self.per_ns * 1e3
    }
}

/// `CLOCK_MONOTONIC` in ns and the counter at the same instant.
fn pair() -> (i64, u64) {
    let readings = (0..ATTEMPTS).map(|_| {
        let before = now();
        let clock = monotonic().as_ns();
        let span = now().wrapping_sub(before);
        (span, clock, before.wrapping_add(span / 2))
    });
    let narrowest = readings.min_by_key(|(span, ..)| *span);
    narrowest.map_or((0, 0), |(_, clock, counter)| (clock, counter))
}

#[cfg(test)]
mod tests {
    use super::{Rate, now};
    use crate::clock::monotonic;
    use std::time::Duration;

    #[test]
    fn the_counter_and_the_clock_agree_on_a_span() {
        let rate = Rate::measure();
        let (clock, counter) = (monotonic(), now());
        std::thread::sleep(Duration::from_millis(50));
        let (clock_ns, counts) = ((monotonic() - clock) as f64, now() - counter);
        let ratio = rate.ns(counts) as f64 / clock_ns;
        assert!((0.99..1.01).contains(&ratio), "{ratio}, counter at {} MHz", rate.mhz());
        assert!(rate.ns(rate.counts(1_000_000)).abs_diff(1_000_000) <= 1);
    }
}
