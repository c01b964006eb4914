//! Pauses that prevent the kernel from throttling a spinning real-time thread.
//!
//! With the default `sched_rt_runtime_us` of 950 000, the kernel stops a real-time thread for about 49 ms after it has run for
//! 0.95 s without sleeping. This gap would be reported as the worst case of the network. Therefore the initiator announces a rest
//! before the limit is reached, both ends sleep during it, and no frame is due in it.

/// Schedule of the rests: their distance and length.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rest {
    /// Measuring time between two rests; 0 for no rests.
    pub every_ns: u64,
    /// Length of a rest.
    pub length_ns: u64,
}

impl Rest {
    /// No rests.
    pub const NONE: Self = Self {
        every_ns: 0,
        length_ns: 0,
    };

    /// Rests that keep both ends below the kernel's real-time budget of `runtime_us` in `period_us` (the sysctls
    /// `kernel.sched_rt_runtime_us` and `kernel.sched_rt_period_us`; a runtime of -1 switches throttling off).
    ///
    /// Nine tenths of the budget are used. A rest is one fifth longer than the kernel's own pause, so that ordinary threads get
    /// their share during it and the budget starts again.
    pub fn below_throttling(runtime_us: i64, period_us: i64) -> Self {
        if runtime_us < 0 || runtime_us >= period_us {
            return Self::NONE;
        }
        let taken_us = period_us - runtime_us;
        let ns = |us: i64| u64::try_from(us).unwrap_or(0) * 1_000;
        Self {
            every_ns: ns(runtime_us * 9 / 10),
            length_ns: ns(taken_us * 6 / 5),
        }
    }

    /// True if there are rests.
    pub fn is_on(self) -> bool {
        self.every_ns > 0
    }
}

#[cfg(test)]
mod tests {
    use super::Rest;

    #[test]
    fn stays_below_the_kernels_budget() {
        let rest = Rest::below_throttling(950_000, 1_000_000);
        assert_eq!(
            rest,
            Rest {
                every_ns: 855_000_000,
                length_ns: 60_000_000
            }
        );
        assert!(!Rest::below_throttling(-1, 1_000_000).is_on());
        assert!(!Rest::below_throttling(1_000_000, 1_000_000).is_on());
    }
}
