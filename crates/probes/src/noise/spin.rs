//! The spinning loop.

use crate::rest::Rest;
use model::Counter;
use run::{Feed, Stop};
use sys::clock::monotonic;
use sys::cycles::{self, Rate};
use sys::wait::sleep_until;
use units::{Monotonic, Ns};

/// Turns between two looks at the clock and the stop flag: some microseconds.
const TURNS: u32 = 256;

/// How often the time watched is handed over where there are no pauses: more often than windows end.
const WATCH_NS: i64 = 100_000_000;

/// How late the thread may run again after a pause: to wake up takes time, and that is no gap. Later than this is one.
pub(super) const WAKE_UP_NS: u64 = 1_000_000;

/// How long it spins before the first gap counts: caches are warm then.
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
    /// Spins until the duration is over or a stop is asked for.
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

    /// Pauses from `from` on. Returns the instant it ended. A thread that is kept from running when the pause is over would not have run
    /// without the pause either: that is a gap.
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

    /// Spins until the clock says `until`, recording every gap. Returns the instant it ended.
    ///
    /// The time a gap takes to record is part of the next turn, so nothing goes unwatched.
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

/// The gap that is made by a thread that runs so late after a pause; `None`: it only woke up.
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
