//! Waiting for an instant.

use crate::clock::{monotonic, timespec};
use rustix::thread::clock_nanosleep_absolute;
use rustix::time::ClockId;
use units::Monotonic;

/// Sleeps until `due`: one `clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME)`, at once over when `due` has passed.
///
/// Returns false when a signal ended the sleep early.
#[inline]
pub fn sleep_until(due: Monotonic) -> bool {
    clock_nanosleep_absolute(ClockId::Monotonic, &timespec(due.as_ns())).is_ok()
}

/// How a thread waits for its due instants.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Wait {
    /// Sleep until this many ns before the due instant and spin on the clock for the rest; 0 sleeps all the way.
    pub spin_ahead_ns: u64,
}

impl Wait {
    /// Waits until `due` and returns the instant the thread runs.
    ///
    /// Without spin-ahead: one sleep, one clock reading. With it: one sleep, then clock readings until `due`.
    ///
    /// A signal may end the sleep, and so the wait, early: the instant returned is then before `due`, and the caller
    /// decides whether to stop or to wait again.
    #[inline]
    pub fn until(&self, due: Monotonic) -> Monotonic {
        if self.spin_ahead_ns == 0 {
            sleep_until(due);
            return monotonic();
        }
        let ahead_ns = i64::try_from(self.spin_ahead_ns).unwrap_or(i64::MAX);
        let slept = sleep_until(Monotonic::from_ns(due.as_ns().saturating_sub(ahead_ns).max(0)));
        let mut now = monotonic();
        while slept && now < due {
            std::hint::spin_loop();
            now = monotonic();
        }
        now
    }
}

#[cfg(test)]
mod tests {
    use super::{Wait, sleep_until};
    use crate::clock::monotonic;

    #[test]
    fn never_returns_before_the_due_instant_without_a_signal() {
        for spin_ahead_ns in [0, 200_000, 10_000_000] {
            let due = monotonic() + 2_000_000;
            let ran = Wait { spin_ahead_ns }.until(due);
            assert!(ran >= due, "spin ahead {spin_ahead_ns}: {} ns early", due - ran);
            assert!(ran <= monotonic());
        }
    }

    /// A handler that does nothing: its delivery ends a sleep.
    extern "C" fn wake(_: libc::c_int) {}

    #[test]
    fn a_signal_ends_the_wait_early_and_the_caller_can_tell() {
        // SAFETY: the handler does nothing, and no other test uses this signal.
        unsafe { libc::signal(libc::SIGUSR2, wake as *const () as libc::sighandler_t) };
        for spin_ahead_ns in [0, 1_000] {
            let (tell, told) = std::sync::mpsc::channel();
            let sleeper = std::thread::spawn(move || {
                // SAFETY: names the calling thread; no pointers.
                tell.send(unsafe { libc::pthread_self() }).expect("the test listens");
                let due = monotonic() + 20_000_000_000;
                due - Wait { spin_ahead_ns }.until(due)
            });
            let thread = told.recv().expect("the thread lives");
            while !sleeper.is_finished() {
                // SAFETY: the thread is not joined yet, so its identifier is valid even when it has just ended.
                unsafe { libc::pthread_kill(thread, libc::SIGUSR2) };
                std::thread::sleep(std::time::Duration::from_millis(1));
            }
            let early_ns = sleeper.join().expect("no panic");
            assert!(early_ns > 10_000_000_000, "woke {early_ns} ns before the due instant");
        }
    }

    #[test]
    fn an_instant_in_the_past_does_not_wait() {
        let due = monotonic() - 1_000_000_000;
        let before = monotonic();
        assert!(sleep_until(due));
        assert!(
            Wait {
                spin_ahead_ns: u64::MAX
            }
            .until(due)
                - before
                < 1_000_000_000
        );
    }
}
