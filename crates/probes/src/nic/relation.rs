//! Relation of a NIC's clock and the system clock, from readings of both.
//!
//! Stamps are later than the newest reading, so the relation is extrapolated from it with the rate of the last two seconds. The
//! next reading shows the error by then: no stamp in between had a larger error than at the two ends, unless one of the clocks
//! was set.

use std::collections::VecDeque;

/// Number of readings from which the rate is taken: two seconds.
const REMEMBERED: usize = 20;

/// Fraction of the time between two readings that drift and steering of both clocks can explain: 500 ppm.
const SLEW_PART: i64 = 2_000;

/// A change in ns beyond the drift from which a clock was set.
const STEP_NS: i64 = 10_000;

/// Longest extrapolation from the newest reading, in ns.
pub(super) const FURTHEST_NS: i64 = 1_000_000_000;

/// Both clocks at one instant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Reading {
    /// The NIC's clock, in ns.
    pub(super) phc_ns: i64,
    /// `CLOCK_REALTIME` minus the NIC's clock.
    pub(super) offset_ns: i64,
    /// Uncertainty of the reading, in ns.
    pub(super) uncertainty_ns: u64,
    /// `CLOCK_MONOTONIC` at that instant.
    pub(super) at_ns: i64,
}

impl Reading {
    /// `CLOCK_REALTIME` minus `CLOCK_MONOTONIC` at that instant.
    fn wall_ahead_ns(&self) -> i64 {
        self.phc_ns + self.offset_ns - self.at_ns
    }
}

/// The relation, extrapolated from the newest reading.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct StraightLine {
    /// The NIC's clock at that reading.
    pub(super) phc_ns: i64,
    /// `CLOCK_REALTIME` minus the NIC's clock at that reading.
    pub(super) offset_ns: i64,
    /// Growth of that offset for each ns of the NIC's clock.
    pub(super) rate: f64,
}

impl StraightLine {
    /// `CLOCK_REALTIME` when the NIC's clock showed `phc_ns`; `None` if that is too far from the reading.
    #[inline]
    pub(super) fn realtime_ns(&self, phc_ns: i64) -> Option<i64> {
        let passed_ns = phc_ns.checked_sub(self.phc_ns)?;
        let is_near = passed_ns.unsigned_abs() <= FURTHEST_NS.unsigned_abs();
        is_near.then(|| phc_ns + self.offset_ns + (passed_ns as f64 * self.rate) as i64)
    }

    /// The NIC's clock when `CLOCK_REALTIME` showed `realtime_ns`.
    pub(super) fn phc_ns(&self, realtime_ns: i64) -> i64 {
        let passed_ns = realtime_ns - (self.phc_ns + self.offset_ns);
        self.phc_ns + (passed_ns as f64 / (1.0 + self.rate)) as i64
    }

    fn offset_at(&self, phc_ns: i64) -> i64 {
        self.offset_ns + ((phc_ns - self.phc_ns) as f64 * self.rate) as i64
    }
}

/// Result of a reading.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Found {
    /// Largest error of the stamps since the reading before, in ns.
    Follows(u64),
    /// One of the clocks was set since then.
    Step(ClockStep),
}

/// Report of a clock that was set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ClockStep {
    /// Change of the system clock minus the NIC's, in ns.
    pub(super) by_ns: i64,
    /// True if the system clock was set: its difference from the monotonic clock changed by the same amount.
    pub(super) of_system: bool,
}

/// The readings; the newest is last.
#[derive(Debug, Clone, Default)]
pub(super) struct Relation {
    readings: VecDeque<Reading>,
}

impl Relation {
    /// Relation from the newest reading on; `None` before the first reading.
    pub(super) fn line(&self) -> Option<StraightLine> {
        let (oldest, newest) = (self.readings.front()?, self.readings.back()?);
        let span_ns = newest.phc_ns - oldest.phc_ns;
        let rate = match span_ns {
            0 => 0.0,
            span => (newest.offset_ns - oldest.offset_ns) as f64 / span as f64,
        };
        Some(StraightLine {
            phc_ns: newest.phc_ns,
            offset_ns: newest.offset_ns,
            rate,
        })
    }

    /// Rate difference of the system clock and the NIC's clock, in parts per billion; positive if the system clock is faster.
    pub(super) fn drift_ppb(&self) -> f64 {
        self.line().map_or(0.0, |line| line.rate * 1e9)
    }

    /// Adds a reading. After a step the relation starts again from it.
    pub(super) fn add(&mut self, reading: Reading) -> Found {
        let (Some(line), Some(before)) = (self.line(), self.readings.back().copied()) else {
            self.readings.push_back(reading);
            return Found::Follows(reading.uncertainty_ns);
        };
        let off_ns = reading.offset_ns - line.offset_at(reading.phc_ns);
        let unsure_ns = reading.uncertainty_ns + before.uncertainty_ns;
        let slewed_ns = (reading.at_ns - before.at_ns).max(0) / SLEW_PART;
        let most_ns = unsure_ns.saturating_add_signed(slewed_ns + STEP_NS);
        if off_ns.unsigned_abs() > most_ns {
            self.readings.clear();
            self.readings.push_back(reading);
            let moved_ns = reading.wall_ahead_ns() - before.wall_ahead_ns();
            return Found::Step(ClockStep {
                by_ns: off_ns,
                of_system: (off_ns - moved_ns).unsigned_abs() <= most_ns,
            });
        }
        self.readings.push_back(reading);
        if self.readings.len() > REMEMBERED {
            self.readings.pop_front();
        }
        Found::Follows((off_ns.unsigned_abs() + reading.uncertainty_ns).max(before.uncertainty_ns))
    }
}

#[cfg(test)]
mod tests {
    use super::{ClockStep, FURTHEST_NS, Found, Reading, Relation};

    const WALL_NS: i64 = 1_790_000_000_000_000_000;
    const TAI_NS: i64 = 37_000_000_000;
    const EACH_NS: i64 = 100_000_000;

    /// Reading of a NIC's clock on TAI that runs `ppb` faster than the system clock and was set ahead by `set_ns`, taken `at_ns`
    /// after the start with an error of `noise_ns`; the system clock was set ahead by `wall_set_ns`.
    fn reading(at_ns: i64, ppb: i64, noise_ns: i64, [set_ns, wall_set_ns]: [i64; 2]) -> Reading {
        let phc_ns = WALL_NS + TAI_NS + set_ns + at_ns + at_ns * ppb / 1_000_000_000;
        Reading {
            phc_ns,
            offset_ns: WALL_NS + wall_set_ns + at_ns - phc_ns + noise_ns,
            uncertainty_ns: 400,
            at_ns,
        }
    }

    fn follow(relation: &mut Relation, count: i64, ppb: i64, noise: impl Fn(i64) -> i64) -> u64 {
        let mut worst = 0;
        for n in 0..count {
            match relation.add(reading(n * EACH_NS, ppb, noise(n), [0, 0])) {
                Found::Follows(off) => worst = worst.max(off),
                Found::Step(step) => panic!("reading {n}: {step:?}"),
            }
        }
        worst
    }

    #[test]
    fn a_clock_that_drifts_is_carried_on_between_readings() {
        for ppb in [0, 7_000, -62_500, 400_000] {
            let mut relation = Relation::default();
            follow(&mut relation, 3, ppb, |_| 0);
            let line = relation.line().expect("a line");
            assert!((relation.drift_ppb() + ppb as f64).abs() < 0.001 * ppb.abs() as f64 + 1.0);
            for later in [0, 1_000_000, 60_000_000, EACH_NS, 9 * EACH_NS] {
                let truth = reading(2 * EACH_NS + later, ppb, 0, [0, 0]);
                let found = line.realtime_ns(truth.phc_ns).expect("near");
                let off = found - (truth.phc_ns + truth.offset_ns);
                assert!(off.abs() <= 2, "{ppb} ppb, {later} ns later: {off}");
                assert!((line.phc_ns(found) - truth.phc_ns).abs() <= 2, "there and back");
            }
        }
    }

    #[test]
    fn the_next_reading_tells_how_far_off_the_stamps_were() {
        let mut relation = Relation::default();
        follow(&mut relation, 10, 5_000, |_| 0);
        // The servo changes the rate by 20 ppm, which is 2 µs by the next reading and no step.
        let line = relation.line().expect("a line");
        let mut changed = reading(10 * EACH_NS, 5_000, 0, [0, 0]);
        (changed.phc_ns, changed.offset_ns) = (changed.phc_ns + 2_000, changed.offset_ns - 2_000);
        let half_way = line.realtime_ns(changed.phc_ns - EACH_NS / 2).expect("near");
        let truth = changed.phc_ns + changed.offset_ns - EACH_NS / 2;
        let Found::Follows(off) = relation.add(changed) else {
            panic!("a step")
        };
        assert!((2_390..=2_410).contains(&off), "{off}");
        assert!((half_way - truth).unsigned_abs() <= off, "{}", half_way - truth);
    }

    #[test]
    fn noise_of_the_readings_is_in_the_uncertainty() {
        let mut relation = Relation::default();
        let worst = follow(&mut relation, 200, 3_000, |n| (n * 7_919 % 601) - 300);
        assert!((400..2_000).contains(&worst), "{worst}");
    }

    #[test]
    fn a_clock_that_is_set_is_a_step_of_that_clock() {
        for (set, of_system) in [([1_000_000, 0], false), ([-TAI_NS, 0], false), ([0, 500_000_000], true)] {
            let mut relation = Relation::default();
            follow(&mut relation, 5, 4_000, |_| 0);
            let by_ns = set[1] - set[0];
            let Found::Step(ClockStep {
                by_ns: found,
                of_system: is_system,
            }) = relation.add(reading(5 * EACH_NS, 4_000, 0, set))
            else {
                panic!("no step")
            };
            assert!((found - by_ns).abs() < 1_000_000, "{found}, {by_ns}");
            assert_eq!(is_system, of_system, "{set:?}");
            // Later readings use the clocks as set now.
            let next = reading(6 * EACH_NS, 4_000, 0, set);
            assert!(matches!(relation.add(next), Found::Follows(_)));
            let line = relation.line().expect("a line");
            assert_eq!(line.realtime_ns(next.phc_ns), Some(next.phc_ns + next.offset_ns));
        }
    }

    #[test]
    fn a_clock_that_stands_still_is_no_clock() {
        let mut relation = Relation::default();
        let stuck = |n: i64| Reading {
            phc_ns: 0,
            offset_ns: WALL_NS + n * EACH_NS,
            uncertainty_ns: 400,
            at_ns: n * EACH_NS,
        };
        relation.add(stuck(0));
        assert!(matches!(relation.add(stuck(1)), Found::Step(_)));
    }

    #[test]
    fn a_stamp_far_from_every_reading_is_not_placed() {
        let mut relation = Relation::default();
        assert_eq!(relation.line(), None);
        follow(&mut relation, 2, 0, |_| 0);
        let line = relation.line().expect("a line");
        assert!(line.realtime_ns(line.phc_ns + FURTHEST_NS).is_some());
        assert_eq!(line.realtime_ns(line.phc_ns + FURTHEST_NS + 1), None);
        assert_eq!(line.realtime_ns(0), None);
        assert_eq!(line.realtime_ns(i64::MIN), None);
    }
}
