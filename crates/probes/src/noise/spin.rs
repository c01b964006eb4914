//! The spinning loop.

use crate::rest::Rest;
use model::Counter;
use run::{Feed, Stop};
use sys::clock::monotonic;
use sys::cycles::{self, Rate};
use sys::wait::sleep_until;
use units::{Monotonic, Ns};

/// Number of turns between two checks of the clock and the stop flag: some microseconds.
const TURNS: u32 = 256;

/// Interval in which the watched time is passed on if there are no pauses: shorter than a window.
const WATCH_NS: i64 = 100_000_000;

/// Longest wake-up after a pause that is no gap, in ns; a later one is a gap.
pub(super) const WAKE_UP_NS: u64 = 1_000_000;

/// Time of spinning before the first gap counts, so that caches are warm.
const WARM_UP_NS: i64 = 20_000_000;

/// Settings of one thread.
pub(super) struct Spin {
    pub(super) threshold_ns: u64,
    pub(super) duration_ns: Option<u64>,
    pub(super) rest: Rest,
    pub(super) rate: Rate,
    pub(super) stop: Stop,
}

impl Spin {
    /// Spins until the duration is over or a stop is requested.
    pub(super) fn run(&self, start: Monotonic, feed: &mut Feed) {
        sleep_until(start);
        self.warm_up();
        let begin = monotonic();
        let end = self.duration_ns.map(|ns| begin + Ns(ns));
        let mut gaps = 0;
        let mut now = begin;
        while end.is_none_or(|end| now < end) && !self.stop.requested() {
            let until = match self.rest.is_on() {
                true => now + Ns(self.rest.every_ns),
                false => now + WATCH_NS,
            };
            let until = end.map_or(until, |end| until.min(end));
            let spun = self.spin(now, until, &mut gaps, feed);
            feed.count(0, Counter::WatchedNs, spun, u64::try_from(spun - now).unwrap_or(0));
            now = spun;
            if self.rest.is_on() && end.is_none_or(|end| now < end) {
                now = self.pause(now, &mut gaps, feed);
            }
        }
    }

    /// Pauses from `from` on; returns the instant of the end. If the thread cannot run when the pause is over, it could not have
    /// run without the pause either: that is a gap.
    fn pause(&self, from: Monotonic, gaps: &mut u64, feed: &mut Feed) -> Monotonic {
        let over = from + Ns(self.rest.length_ns);
        sleep_until(over);
        let now = monotonic();
        if let Some(gap) = overslept_ns(now - over) {
            feed.sample(0, now, gap, *gaps);
            feed.count(0, Counter::WatchedNs, now, gap.unsigned_abs());
            *gaps += 1;
        }
        now
    }

    /// Spins until the clock shows `until`, and records every gap; returns the instant of the end.
    ///
    /// The time for recording a gap is part of the next turn, so no time goes unwatched.
    fn spin(&self, from: Monotonic, until: Monotonic, gaps: &mut u64, feed: &mut Feed) -> Monotonic {
        let threshold = self.rate.counts(self.threshold_ns);
        let mut clock = from;
        let mut last = cycles::now();
        while clock < until && !self.stop.requested() {
            for _ in 0..TURNS {
                let now = cycles::now();
                let gap = now.wrapping_sub(last);
                last = now;
                if gap > threshold {
                    let at = monotonic();
                    feed.sample(0, at, i64::try_from(self.rate.ns(gap)).unwrap_or(i64::MAX), *gaps);
                    *gaps += 1;
                }
            }
            clock = monotonic();
        }
        clock
    }

    fn warm_up(&self) {
        let until = monotonic() + WARM_UP_NS;
        let mut last = cycles::now();
        let mut longest = 0;
        while monotonic() < until && !self.stop.requested() {
            let now = cycles::now();
            longest = longest.max(now.wrapping_sub(last));
            last = now;
        }
        std::hint::black_box(longest);
    }
}

/// Gap of a thread that runs this late after a pause; `None` for a normal wake-up.
fn overslept_ns(late_ns: i64) -> Option<i64> {
    u64::try_from(late_ns)
        .is_ok_and(|ns| ns > WAKE_UP_NS)
        .then_some(late_ns)
}

#[cfg(test)]
mod tests {
    use super::overslept_ns;

    #[test]
    fn a_thread_that_only_woke_up_made_no_gap() {
        assert_eq!(overslept_ns(-1), None);
        assert_eq!(overslept_ns(1_000_000), None);
        assert_eq!(overslept_ns(1_000_001), Some(1_000_001));
    }
}
