//! Tells others, as it is recorded, that something went wrong.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use units::Monotonic;

/// When a sample over its threshold was taken last, or a loss was noticed.
#[derive(Debug, Clone)]
pub struct SpikeSignal(Arc<AtomicI64>);

impl Default for SpikeSignal {
    fn default() -> Self {
        Self(Arc::new(AtomicI64::new(i64::MIN)))
    }
}

impl SpikeSignal {
    /// Notes one at `at`.
    pub(crate) fn set(&self, at: Monotonic) {
        self.0.fetch_max(at.as_ns(), Ordering::Relaxed);
    }

    /// The newest so far.
    pub fn newest(&self) -> Option<Monotonic> {
        let ns = self.0.load(Ordering::Relaxed);
        (ns != i64::MIN).then(|| Monotonic::from_ns(ns))
    }
}
