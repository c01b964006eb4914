//! Waiting for an instant.

use crate::clock::{monotonic, timespec};
use rustix::thread::clock_nanosleep_absolute;
use rustix::time::ClockId;
use units::Monotonic;

/// Sleeps until `due` with one `clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME)`; returns at once if `due` has passed.
///
/// Returns false if a signal ended the sleep early.
#[inline]
pub fn sleep_until(due: Monotonic) -> bool {
    clock_nanosleep_absolute(ClockId::Monotonic, &timespec(due.as_ns())).is_ok()
}

/// The clock whose timers wake a thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum WakeClock {
    /// `CLOCK_MONOTONIC`.
    #[default]
    Monotonic,
    /// `CLOCK_REALTIME`: a step of the wall clock moves the timers with it.
    Realtime,
    /// `CLOCK_TAI`: like the wall clock, but without leap seconds; the scale of PTP.
    Tai,
}

/// How a thread waits for its due instants, which are on `CLOCK_MONOTONIC` whichever clock wakes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Wait {
    /// The wait sleeps until this many ns before the due instant and spins on the clock for the rest; 0 sleeps all the way.
    pub spin_ahead_ns: u64,
    clock: WakeClock,
    /// Reading of `clock` minus `CLOCK_MONOTONIC`, taken once: a later step of `clock` shows in the measurement.
    ahead_ns: i64,
}

impl Wait {
    /// Waits on `CLOCK_MONOTONIC`.
    pub fn spinning_ahead(spin_ahead_ns: u64) -> Self {
        Self {
            spin_ahead_ns,
            ..Self::default()
        }
    }

    /// Waits on `clock`, with its present offset from `CLOCK_MONOTONIC`.
    pub fn on(clock: WakeClock, spin_ahead_ns: u64) -> Self {
        let ahead_ns = match clock {
            WakeClock::Monotonic => 0,
            WakeClock::Realtime => ahead_of_monotonic(|| crate::clock::realtime().as_ns()),
            WakeClock::Tai => ahead_of_monotonic(|| crate::clock::tai().as_ns()),
        };
        Self {
            spin_ahead_ns,
            clock,
            ahead_ns,
        }
    }

    /// The clock's reading at the instant `at`.
    pub fn reading_at(&self, at: Monotonic) -> i64 {
        at.as_ns() + self.ahead_ns
    }

    /// Waits until `due` and returns the instant at which the thread runs again.
    ///
    /// Without spin-ahead: one sleep, one clock reading. With it: one sleep, then clock readings until `due`.
    ///
    /// A signal may end the sleep, and so the wait, early: the returned instant is then before `due`, and the caller decides
    /// whether to stop or to wait again.
    #[inline]
    pub fn until(&self, due: Monotonic) -> Monotonic {
        if self.spin_ahead_ns == 0 {
            self.sleep(due.as_ns());
            return self.now();
        }
        let ahead_ns = i64::try_from(self.spin_ahead_ns).unwrap_or(i64::MAX);
        let slept = self.sleep(due.as_ns().saturating_sub(ahead_ns).max(0));
        let mut now = self.now();
        while slept && now < due {
            std::hint::spin_loop();
            now = self.now();
        }
        now
    }

    #[inline]
    fn sleep(&self, monotonic_ns: i64) -> bool {
        match self.clock {
            WakeClock::Monotonic => sleep_until(Monotonic::from_ns(monotonic_ns)),
            WakeClock::Realtime => {
                clock_nanosleep_absolute(ClockId::Realtime, &timespec(monotonic_ns + self.ahead_ns)).is_ok()
            }
            WakeClock::Tai => sleep_until_tai(monotonic_ns + self.ahead_ns),
        }
    }

    #[inline]
    fn now(&self) -> Monotonic {
        match self.clock {
            WakeClock::Monotonic => monotonic(),
            WakeClock::Realtime => Monotonic::from_ns(crate::clock::realtime().as_ns() - self.ahead_ns),
            WakeClock::Tai => Monotonic::from_ns(crate::clock::tai().as_ns() - self.ahead_ns),
        }
    }
}

/// Sleeps until `CLOCK_TAI` reads `ns`; rustix has no name for that clock in its sleeps. Returns false if a signal ended it early.
fn sleep_until_tai(ns: i64) -> bool {
    let due = timespec(ns);
    let due = libc::timespec {
        tv_sec: due.tv_sec,
        tv_nsec: due.tv_nsec,
    };
    // SAFETY: the pointer is to a whole timespec that outlives the call; no remaining time is requested.
    unsafe {
        libc::clock_nanosleep(
            libc::CLOCK_TAI,
            libc::TIMER_ABSTIME,
            &raw const due,
            std::ptr::null_mut(),
        ) == 0
    }
}

/// The clock's offset from `CLOCK_MONOTONIC`: the narrowest of several readings.
fn ahead_of_monotonic(read: impl Fn() -> i64) -> i64 {
    let readings = (0..16).map(|_| {
        let before = monotonic();
        let reading = read();
        let span = monotonic() - before;
        (span, reading - before.as_ns() - span / 2)
    });
    readings.min().map_or(0, |(_, ahead_ns)| ahead_ns)
}

#[cfg(test)]
mod tests {
    use super::{Wait, WakeClock, sleep_until};
    use crate::clock::monotonic;

    #[test]
    fn never_returns_before_the_due_instant_without_a_signal() {
        for spin_ahead_ns in [0, 200_000, 10_000_000] {
            let due = monotonic() + 2_000_000;
            let ran = Wait::spinning_ahead(spin_ahead_ns).until(due);
            assert!(ran >= due, "spin ahead {spin_ahead_ns}: {} ns early", due - ran);
            assert!(ran <= monotonic());
        }
    }

    #[test]
    fn other_clocks_wake_at_the_same_instants() {
        for clock in [WakeClock::Realtime, WakeClock::Tai] {
            let wait = Wait::on(clock, 0);
            let due = monotonic() + 2_000_000;
            let ran = wait.until(due);
            let late = ran - due;
            assert!((0..1_000_000_000).contains(&late), "{clock:?}: {late} ns late");
            assert!((monotonic() - ran).abs() < 1_000_000_000, "{clock:?}");
        }
        let reading = Wait::on(WakeClock::Realtime, 0).reading_at(monotonic());
        assert!((crate::clock::realtime().as_ns() - reading).abs() < 100_000_000);
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
                due - Wait::spinning_ahead(spin_ahead_ns).until(due)
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
        assert!(Wait::spinning_ahead(u64::MAX).until(due) - before < 1_000_000_000);
    }
}
