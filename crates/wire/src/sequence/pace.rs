//! Measures how fast a counter of unknown rate runs, by the arrival times of its samples.

use super::line::{EARLY_NS, counts};
use super::rate::KNOWN_RATES;

/// Minimum duration of a usable measurement.
const SPAN_NS: i64 = 200_000_000;

/// The counter wraps once a second; a publisher's second may be a little shorter.
const TURN_NS: i64 = 900_000_000;

/// Minimum number of counts of a usable measurement.
const COUNTS: u32 = 16;

/// A measured rate within this many thousandths of a profile's rate matches it: profiles differ by 12 % and more.
const PER_THOUSAND: u64 = 15;

/// Counts since the last jump, and the time they took.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Pace {
    first: Option<(u32, i64)>,
    newest: (u32, i64),
    /// Number of arrival times after the first; samples in the same frame share one.
    frames: u32,
}

impl Pace {
    /// Records that the counter advanced to `count` without a wrap.
    #[inline]
    pub(super) fn came(&mut self, count: u32, at_ns: i64) {
        match self.first {
            None => self.first = Some((count, at_ns)),
            Some(_) if at_ns != self.newest.1 => self.frames += 1,
            Some(_) => {}
        }
        self.newest = (count, at_ns);
    }

    /// Counts per second; `None` while it is not known.
    pub(super) fn rate(&self) -> Option<f64> {
        let (count, at_ns) = self.first?;
        let span_ns = self.newest.1.checked_sub(at_ns).filter(|ns| *ns >= SPAN_NS)?;
        let counts = self.newest.0.checked_sub(count).filter(|counts| *counts >= COUNTS)?;
        Some(f64::from(counts) * 1e9 / span_ns as f64)
    }

    /// Number of counts in `ns` nanoseconds; `None` while the pace is not known.
    pub(super) fn counts_in(&self, ns: i64) -> Option<u64> {
        Some((self.rate()? * ns.max(0) as f64 / 1e9).round() as u64)
    }

    /// Maximum number of counts that a stream of this pace can advance in `ns` nanoseconds. If the pace is not known:
    /// the number for the fastest profile, without an allowance for delay.
    pub(super) fn most_ahead(&self, ns: i64) -> u64 {
        let [.., fastest] = KNOWN_RATES;
        let counts = self
            .counts_in(ns.saturating_add(EARLY_NS))
            .unwrap_or_else(|| counts(ns, fastest));
        counts + u64::from(super::WINDOW)
    }

    /// True if the counter passed `count` less than a turn before `at_ns`.
    pub(super) fn has_passed(&self, count: u32, at_ns: i64) -> bool {
        self.first.is_some_and(|(first, first_ns)| {
            (first..=self.newest.0).contains(&count) && at_ns.saturating_sub(first_ns) < TURN_NS
        })
    }

    /// True if a step forward is at most twice as long as its time allows at the pace so far, however short the
    /// measurement was.
    pub(super) fn allows(&self, ahead: u64, took_ns: i64) -> bool {
        let Some((count, at_ns)) = self.first else { return false };
        let (counts, ns) = (self.newest.0.saturating_sub(count), self.newest.1.saturating_sub(at_ns));
        let scaled = |of: u64, ns: i64| u128::from(of) * u128::from(ns.max(0).unsigned_abs());
        scaled(ahead, ns) <= 2 * scaled(u64::from(counts), took_ns)
    }

    /// True if the counter has advanced since the measurement began.
    pub(super) fn has_moved(&self) -> bool {
        self.first.is_some_and(|(first, _)| self.newest.0 > first)
    }

    /// Mean time between frames, in ns.
    pub(super) fn frame_ns(&self) -> Option<i64> {
        let (_, at_ns) = self.first?;
        self.newest.1.checked_sub(at_ns)?.checked_div(i64::from(self.frames))
    }

    /// The profile rate nearest to the measured one, if each count represents `asdus` samples.
    pub(super) fn profile(&self, asdus: u32) -> Option<u32> {
        let measured = self.rate()? * f64::from(asdus);
        let near = |rate: &u32| {
            let apart = (measured - f64::from(*rate)).abs() * 1e3;
            apart <= f64::from(*rate) * PER_THOUSAND as f64
        };
        let found = KNOWN_RATES.into_iter().find(near)?;
        (found % asdus == 0).then_some(found / asdus)
    }
}

#[cfg(test)]
mod tests {
    use super::Pace;

    #[test]
    fn a_profile_is_known_by_its_pace() {
        for (rate, asdus, profile) in [
            (4_000, 1, Some(4_000)),
            (4_800, 1, Some(4_800)),
            (2_400, 2, Some(2_400)),
            (20, 1, None),
        ] {
            let mut pace = Pace::default();
            for count in 0..rate {
                pace.came(
                    count,
                    i64::from(count) * 1_000_000_000 / i64::from(rate) + i64::from(count * 7 % 13) * 20_000,
                );
            }
            assert_eq!(pace.profile(asdus), profile, "{rate}");
        }
        let mut pace = Pace::default();
        pace.came(1, 0);
        pace.came(2, 250_000);
        assert_eq!((pace.rate(), pace.profile(1)), (None, None));
    }
}
