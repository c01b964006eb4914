//! Signals trouble to the thread that captures, as soon as it is noticed.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use units::Monotonic;

/// Value while nothing was noticed.
const NONE_YET: (i64, i64) = (i64::MAX, i64::MIN);

/// When samples over their threshold were measured and losses became likely, for one receiver. The recorder and measuring threads
/// set it, without a lock.
#[derive(Debug, Clone)]
pub struct SpikeSignal(Arc<Noticed>);

#[derive(Debug)]
struct Noticed {
    first: AtomicI64,
    last: AtomicI64,
}

impl Default for SpikeSignal {
    fn default() -> Self {
        Self(Arc::new(Noticed {
            first: AtomicI64::new(NONE_YET.0),
            last: AtomicI64::new(NONE_YET.1),
        }))
    }
}

impl SpikeSignal {
    /// Notes trouble at the instant `at`.
    pub fn set(&self, at: Monotonic) {
        self.0.first.fetch_min(at.as_ns(), Ordering::Relaxed);
        self.0.last.fetch_max(at.as_ns(), Ordering::Release);
    }

    /// The first and the last instant noted since the last call.
    pub fn take(&self) -> Option<(Monotonic, Monotonic)> {
        // In the order opposite to that of `set`: an instant that is noted between the two reads is returned twice, but never lost.
        let last = self.0.last.swap(NONE_YET.1, Ordering::Acquire);
        let first = self.0.first.swap(NONE_YET.0, Ordering::Relaxed);
        let (first, last) = match (first != NONE_YET.0, last != NONE_YET.1) {
            (false, false) => return None,
            (true, false) => (first, first),
            (false, true) => (last, last),
            (true, true) => (first.min(last), first.max(last)),
        };
        Some((Monotonic::from_ns(first), Monotonic::from_ns(last)))
    }
}

#[cfg(test)]
mod tests {
    use super::SpikeSignal;
    use units::Monotonic;

    #[test]
    fn all_that_was_noted_lies_in_what_is_taken_once() {
        let signal = SpikeSignal::default();
        assert_eq!(signal.take(), None);
        for ns in [7, 3, 5] {
            signal.set(Monotonic::from_ns(ns));
        }
        assert_eq!(signal.take(), Some((Monotonic::from_ns(3), Monotonic::from_ns(7))));
        assert_eq!(signal.take(), None);
        signal.set(Monotonic::from_ns(4));
        assert_eq!(signal.take(), Some((Monotonic::from_ns(4), Monotonic::from_ns(4))));
    }
}
