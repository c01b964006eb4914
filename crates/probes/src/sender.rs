//! End of the streams because their sender has ended.

use std::sync::{Arc, OnceLock};
use units::Monotonic;

/// Reports to receivers that the sender has ended without their request, as in a step of a plan: no frame is due after that.
#[derive(Debug, Clone, Default)]
pub struct SenderEnd(Arc<OnceLock<Monotonic>>);

impl SenderEnd {
    /// Sets the end to `at`. Only the first call has an effect.
    pub fn tell(&self, at: Monotonic) {
        let _ = self.0.set(at);
    }

    /// Instant until which frames are due, seen at `now`.
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
