//! Signs of life of a run: when its recorder last looked at the rings, and when it last wrote a window.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use units::Monotonic;

/// Value before the first event.
const NEVER: i64 = i64::MIN;

/// Written by the recording thread, read by the threads that watch it.
#[derive(Debug, Clone)]
pub struct Pulse(Arc<Instants>);

#[derive(Debug)]
struct Instants {
    turned_ns: AtomicI64,
    closed_ns: AtomicI64,
}

impl Default for Pulse {
    fn default() -> Self {
        Self(Arc::new(Instants {
            turned_ns: AtomicI64::new(NEVER),
            closed_ns: AtomicI64::new(NEVER),
        }))
    }
}

impl Pulse {
    /// Notes that the recorder has looked at all rings.
    pub(crate) fn turn(&self) {
        store(&self.0.turned_ns);
    }

    /// Notes that windows were written to the run file.
    pub(crate) fn close(&self) {
        store(&self.0.closed_ns);
    }

    /// When the recorder last finished a look at all rings; `None`: not yet.
    pub fn turned(&self) -> Option<Monotonic> {
        load(&self.0.turned_ns)
    }

    /// When a window was last written into the run file; `None`: not yet.
    pub fn closed(&self) -> Option<Monotonic> {
        load(&self.0.closed_ns)
    }
}

fn store(instant: &AtomicI64) {
    instant.store(sys::clock::monotonic().as_ns(), Ordering::Relaxed);
}

fn load(instant: &AtomicI64) -> Option<Monotonic> {
    let ns = instant.load(Ordering::Relaxed);
    (ns != NEVER).then(|| Monotonic::from_ns(ns))
}

#[cfg(test)]
mod tests {
    use super::Pulse;

    #[test]
    fn what_has_not_happened_yet_has_no_instant() {
        let pulse = Pulse::default();
        let seen = pulse.clone();
        assert_eq!((seen.turned(), seen.closed()), (None, None));
        let before = sys::clock::monotonic();
        pulse.turn();
        assert!(seen.turned().is_some_and(|at| at - before >= 0) && seen.closed().is_none());
        pulse.close();
        assert!(seen.closed().is_some());
    }
}
