//! A wake-up from one thread to another, without a lock.

use crate::clock::{monotonic, timespec};
use rustix::thread::futex::{Flags, wait_bitset, wake};
use std::num::NonZeroU32;
use std::sync::atomic::{AtomicU32, Ordering};
use units::Monotonic;

const QUIET: u32 = 0;
const RUNG: u32 = 1;
/// The listener sleeps, or is about to.
const ASLEEP: u32 = 2;

/// A bell that any thread may ring and that one thread listens to. A ring is kept until it is heard; several unheard rings count as
/// one.
#[derive(Debug, Default)]
pub struct Bell(AtomicU32);

impl Bell {
    /// Wakes the listener: one futex(2) if it sleeps, else no system call. The listener sees everything written before the ring.
    #[inline]
    pub fn ring(&self) {
        if self.0.swap(RUNG, Ordering::AcqRel) == ASLEEP {
            let _ = wake(&self.0, Flags::PRIVATE, 1);
        }
    }

    /// Sleeps until the bell rings, or until `due`; a ring since the last call counts. Makes at most one futex(2), and one more for
    /// each signal. Returns true if the bell was rung.
    pub fn wait_until(&self, due: Monotonic) -> bool {
        let slept = self
            .0
            .compare_exchange(QUIET, ASLEEP, Ordering::AcqRel, Ordering::Acquire);
        if slept.is_ok() {
            while self.0.load(Ordering::Acquire) == ASLEEP && monotonic() < due {
                let _ = wait_bitset(
                    &self.0,
                    Flags::PRIVATE,
                    ASLEEP,
                    Some(&timespec(due.as_ns())),
                    NonZeroU32::MAX,
                );
            }
        }
        self.0.swap(QUIET, Ordering::AcqRel) == RUNG
    }
}

#[cfg(test)]
mod tests {
    use super::Bell;
    use crate::clock::monotonic;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU32, Ordering};
    use std::time::Duration;

    const SECOND_NS: i64 = 1_000_000_000;

    #[test]
    fn a_ring_is_kept_once_and_silence_ends() {
        let bell = Bell::default();
        bell.ring();
        bell.ring();
        assert!(bell.wait_until(monotonic() + 60 * SECOND_NS));
        let due = monotonic() + 20_000_000;
        assert!(!bell.wait_until(due), "heard once");
        assert!(monotonic() >= due);
    }

    #[test]
    fn who_sleeps_is_woken_and_sees_what_was_written() {
        let shared = Arc::new((Bell::default(), AtomicU32::new(0)));
        let listener = {
            let shared = Arc::clone(&shared);
            std::thread::spawn(move || {
                let began = monotonic();
                let rung = shared.0.wait_until(began + 60 * SECOND_NS);
                (rung, shared.1.load(Ordering::Relaxed), monotonic() - began)
            })
        };
        std::thread::sleep(Duration::from_millis(20));
        shared.1.store(7, Ordering::Relaxed);
        shared.0.ring();
        let (rung, seen, waited_ns) = listener.join().expect("it ends");
        assert!(
            rung && seen == 7 && waited_ns < 30 * SECOND_NS,
            "{rung} {seen} {waited_ns}"
        );
    }
}
