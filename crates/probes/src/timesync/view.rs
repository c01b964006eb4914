//! The state of the clock as other threads of this process read it.

use ::relay::ptp::PtpState;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use units::Monotonic;

/// Age of the last reading from which on the state is unknown: five readings, and at least this time.
const OLD_READINGS: u64 = 5;
const OLD_AT_LEAST_NS: u64 = 5_000_000_000;

/// Instant of no reading.
const NEVER: i64 = i64::MIN;

/// State of the host's PTP at the last reading. Reading it takes no lock and no system call.
#[derive(Debug, Clone)]
pub struct PtpView {
    /// Instant of the last reading in ns (CLOCK_MONOTONIC) times four, plus the number of the state. One word, so that no reader
    /// sees a state with the instant of another.
    word: Arc<AtomicI64>,
    old_ns: i64,
}

impl PtpView {
    /// Starts without a reading, for readings at this interval.
    pub(super) fn new(interval_ns: u64) -> Self {
        let old_ns = interval_ns.saturating_mul(OLD_READINGS).max(OLD_AT_LEAST_NS);
        Self {
            word: Arc::new(AtomicI64::new(NEVER)),
            old_ns: i64::try_from(old_ns).unwrap_or(i64::MAX),
        }
    }

    pub(super) fn set(&self, at: Monotonic, state: PtpState) {
        self.word.store(at.as_ns() << 2 | state as i64, Ordering::Relaxed);
    }

    /// State at `now`: unknown before the first reading, and once the last one is too old.
    #[must_use]
    pub fn state(&self, now: Monotonic) -> PtpState {
        let word = self.word.load(Ordering::Relaxed);
        let is_old = word == NEVER || now.as_ns().saturating_sub(word >> 2) > self.old_ns;
        match PtpState::ALL.get((word & 3) as usize) {
            Some(state) if !is_old => *state,
            _ => PtpState::Unknown,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::PtpView;
    use ::relay::ptp::PtpState;
    use units::Monotonic;

    #[test]
    fn an_old_reading_is_unknown() {
        let at = |s: i64| Monotonic::from_ns(s * 1_000_000_000);
        let view = PtpView::new(2_000_000_000);
        assert_eq!(view.state(at(1)), PtpState::Unknown);
        for state in PtpState::ALL {
            view.set(at(100), state);
            assert_eq!(view.state(at(110)), state);
        }
        view.set(at(100), PtpState::Synchronised);
        assert_eq!(view.state(at(111)), PtpState::Unknown);
    }
}
