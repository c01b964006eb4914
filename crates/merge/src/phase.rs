//! Detects restarts of a counter that its counts do not show.
//!
//! A counter repeats once a second. So the difference between a record's count and its time is constant, except for delays, until the publisher
//! restarts. Losses may hide a restart in the counts (the first count after it may happen to be the expected one), but not in this difference.

/// Difference in ns above which a record does not fit the counter's phase.
const OFF_NS: i64 = 15_000_000;

/// Longest delay in ns; a longer deviation is a restart. For this long before and after a restart, delays may hide on which side of it a record is.
pub(super) const LASTS_NS: i64 = 300_000_000;

/// Largest drift of the publisher's clock relative to ours, as a divisor of time: 200 ppm.
const DRIFT_PART: i64 = 5_000;

/// A counter that restarts more often within a few seconds does not repeat once a second at all.
const MOST: u32 = 16;

const TURN_NS: i64 = 1_000_000_000;

/// Phase of a run's counter of a stream relative to its clock.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Phase {
    base_ns: Option<i64>,
    since_ns: i64,
    last_ns: i64,
    suspect: Option<Suspect>,
    jumps: u32,
    last_jump_ns: i64,
}

/// Late records since then: a delay, or a restart.
#[derive(Debug, Clone, Copy)]
struct Suspect {
    entry: u64,
    at_ns: i64,
    least_ns: i64,
}

/// A restart: the first entry after it, and its time.
pub(super) type Jump = (u64, i64);

impl Phase {
    /// Evaluates a record; returns restarts that it reveals.
    pub(super) fn take(&mut self, count: u16, rate: u32, entry: u64, at_ns: i64) -> [Option<Jump>; 2] {
        if u32::from(count) >= rate || self.jumps >= MOST {
            return [None; 2];
        }
        let own_ns = i64::from(count) * TURN_NS / i64::from(rate);
        let phase_ns = at_ns.saturating_sub(own_ns).rem_euclid(TURN_NS);
        let Some(base_ns) = self.base_ns else {
            self.base_ns = Some(phase_ns);
            (self.since_ns, self.last_ns) = (at_ns, at_ns);
            return [None; 2];
        };
        let off_ns = (phase_ns - base_ns + TURN_NS / 2).rem_euclid(TURN_NS) - TURN_NS / 2;
        let elapsed_ns = at_ns.saturating_sub(std::mem::replace(&mut self.last_ns, at_ns)).max(0);
        if off_ns.abs() <= OFF_NS {
            self.suspect = None;
            // Delays only make frames late, so the earliest frames show the phase of the counter.
            self.base_ns = Some(base_ns + off_ns.min(elapsed_ns / DRIFT_PART));
            return [None; 2];
        }
        if off_ns < 0 && at_ns.saturating_sub(self.since_ns) < LASTS_NS {
            // The first frames were delayed.
            self.base_ns = Some(phase_ns);
            self.suspect = None;
            return [None; 2];
        }
        if off_ns < 0 {
            // A delay cannot make a frame early.
            let before = self.suspect.take().map(|suspect| (suspect.entry, suspect.at_ns));
            self.base_ns = Some(phase_ns);
            self.count_jump(at_ns);
            return [before, Some((entry, at_ns))];
        }
        let suspect = self.suspect.get_or_insert(Suspect {
            entry,
            at_ns,
            least_ns: off_ns,
        });
        suspect.least_ns = suspect.least_ns.min(off_ns);
        [self.lasts(at_ns), None]
    }

    /// Returns a restart if the deviation has lasted until `now_ns`.
    pub(super) fn lasts(&mut self, now_ns: i64) -> Option<Jump> {
        let suspect = self
            .suspect
            .filter(|suspect| now_ns.saturating_sub(suspect.at_ns) >= LASTS_NS)?;
        self.suspect = None;
        self.base_ns = self.base_ns.map(|base_ns| base_ns + suspect.least_ns);
        self.count_jump(suspect.at_ns);
        Some((suspect.entry, suspect.at_ns))
    }

    fn count_jump(&mut self, at_ns: i64) {
        let is_soon = at_ns.saturating_sub(self.last_jump_ns) < 2 * TURN_NS;
        self.jumps = if is_soon { self.jumps + 1 } else { 1 };
        self.last_jump_ns = at_ns;
    }
}

#[cfg(test)]
mod tests {
    use super::Phase;

    /// Makes records every 20 ms with these counts and delays in ms; returns the entries before which a restart is detected.
    fn jumps(records: impl IntoIterator<Item = (u64, u16, i64)>) -> Vec<u64> {
        let mut phase = Phase::default();
        let take = |(entry, count, late_ms): (u64, u16, i64)| {
            let at_ns = entry as i64 * 20_000_000 + late_ms * 1_000_000;
            phase
                .take(count, 50, entry, at_ns)
                .into_iter()
                .flatten()
                .map(|(entry, _)| entry)
        };
        records.into_iter().flat_map(take).collect::<Vec<u64>>()
    }

    #[test]
    fn turns_and_stalls_are_no_restarts() {
        let count = |entry: u64| (entry % 50) as u16;
        assert!(jumps((0..500).map(|entry| (entry, count(entry), 0))).is_empty());
        // Ten frames wait for a quarter of a second.
        let late = |entry: u64| {
            if (100..110).contains(&entry) {
                250 - 20 * (entry as i64 - 100)
            } else {
                0
            }
        };
        assert!(jumps((0..500).map(|entry| (entry, count(entry), late(entry)))).is_empty());
    }

    #[test]
    fn restarts_show_also_where_the_counts_follow_each_other() {
        // 20 frames are missing, but the count continues as if none were.
        let later = (0..100)
            .chain(120..300)
            .map(|entry| (entry, (if entry < 100 { entry } else { entry - 20 } % 50) as u16, 0));
        assert_eq!(jumps(later), [120]);
        let earlier = (0..300).map(|entry| (entry, (if entry < 100 { entry } else { entry + 10 } % 50) as u16, 0));
        assert_eq!(jumps(earlier), [100]);
    }
}
