//! When the streams end because their sender ends.

use std::sync::{Arc, OnceLock};
use units::Monotonic;

/// Tells those that receive that the sender has ended by itself, as in a step of a plan: nothing is due from then on.
#[derive(Debug, Clone, Default)]
pub struct SenderEnd(Arc<OnceLock<Monotonic>>);

impl SenderEnd {
    /// It ended at `at`. Only the first word counts.
    pub fn tell(&self, at: Monotonic) {
        let _ = self.0.set(at);
    }

    /// Until when frames are due, at `now`.
    pub(crate) fn until(&self, now: Monotonic) -> Monotonic {
        self.0.get().map_or(now, |end| now.min(*end))
    }
}

#[cfg(test)]
mod tests {
    use super::SenderEnd;

    #[test]
    fn nothing_is_due_after_the_end() {
        let end = SenderEnd::default();
        let before = sys::clock::monotonic();
        assert_eq!(end.until(before + 5), before + 5);
        end.clone().tell(sys::clock::monotonic());
        let told = end.until(before + 60_000_000_000);
        assert!(told >= before && told < before + 60_000_000_000);
        end.tell(told + 9);
        assert_eq!(end.until(told + 1), told, "the first word counts");
        assert_eq!(end.until(before), before);
    }
}
