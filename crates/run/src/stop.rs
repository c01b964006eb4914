//! The one way to end a run, or a step of it, early.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A flag that every measuring loop checks once a cycle. Set by a signal, a full disk or the end of a step.
#[derive(Debug, Clone, Default)]
pub struct Stop {
    own: Arc<AtomicBool>,
    of_run: Option<Arc<AtomicBool>>,
}

impl Stop {
    /// Makes a flag that is not set.
    pub fn new() -> Self {
        Self::default()
    }

    /// Makes the flag of one step: set by a request to it, or by one to the whole run.
    #[must_use]
    pub fn of_step(&self) -> Self {
        Self {
            own: Arc::default(),
            of_run: Some(Arc::clone(&self.own)),
        }
    }

    /// Requests that every holder end.
    pub fn request(&self) {
        self.own.store(true, Ordering::Relaxed);
    }

    /// True if an end was requested.
    #[inline]
    pub fn requested(&self) -> bool {
        self.own.load(Ordering::Relaxed) || self.of_run.as_ref().is_some_and(|run| run.load(Ordering::Relaxed))
    }

    /// The flag itself, for a signal handler.
    pub fn flag(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.own)
    }
}

#[cfg(test)]
mod tests {
    use super::Stop;

    #[test]
    fn a_step_ends_with_its_run_but_not_the_run_with_a_step() {
        let run = Stop::new();
        let (first, second) = (run.of_step(), run.of_step());
        first.request();
        assert!(first.requested() && !second.requested() && !run.requested());
        run.request();
        assert!(second.requested());
    }
}
