//! Arrival times of a stream's samples, by one clock that is never stepped. They distinguish a loss from a jump of the
//! counter.

/// A sample that arrives this much before it could have been sent does not belong to the same schedule. A receiver that
/// is delayed stamps samples late, never early.
pub(super) const EARLY_NS: i64 = 50_000_000;

const SECOND_NS: i64 = 1_000_000_000;

/// The earliest arrivals, relative to the schedule, over the last one to two seconds.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Earliest {
    /// Sample number at which the schedule starts.
    base: u64,
    base_ns: i64,
    /// Smallest difference between arrival and schedule since the last turn (`lead_ns`), and in the second before it
    /// (`lead_before_ns`).
    lead_ns: Option<i64>,
    lead_before_ns: Option<i64>,
}

impl Earliest {
    /// Records that sample number `index` arrived at `at_ns`.
    #[inline]
    pub(super) fn came(&mut self, index: u64, rate: u32, at_ns: i64) {
        if self.lead_ns.is_none() && self.lead_before_ns.is_none() {
            *self = Self::from(index, at_ns);
        }
        if index >= self.base.saturating_add(u64::from(rate)) {
            self.turn(index, rate);
        }
        let place_ns = places_ns(index.saturating_sub(self.base), rate);
        let lead = at_ns.saturating_sub(self.base_ns.saturating_add(place_ns));
        self.lead_ns = Some(self.lead_ns.map_or(lead, |least| least.min(lead)));
    }

    /// Starts a new schedule with this sample.
    pub(super) fn from(index: u64, at_ns: i64) -> Self {
        Self {
            base: index,
            base_ns: at_ns,
            lead_ns: Some(0),
            lead_before_ns: None,
        }
    }

    #[cold]
    fn turn(&mut self, index: u64, rate: u32) {
        let seconds = (index - self.base) / u64::from(rate).max(1);
        self.base += seconds * u64::from(rate);
        let seconds = i64::try_from(seconds).unwrap_or(0);
        self.base_ns = self.base_ns.saturating_add(seconds.saturating_mul(SECOND_NS));
        self.lead_before_ns = self.lead_ns.take();
    }

    /// Maximum number of counts that the stream can be ahead of sample `newest` at `at_ns`: the counts due by then,
    /// including those that may be early. `None` before the first sample.
    pub(super) fn most_ahead(&self, newest: u64, rate: u32, at_ns: i64) -> Option<u64> {
        let elapsed_ns = self.elapsed_ns(newest, rate, at_ns)?.saturating_add(EARLY_NS);
        Some(counts(elapsed_ns, rate))
    }

    /// Time from the due instant of sample `index` to `at_ns`.
    pub(super) fn elapsed_ns(&self, index: u64, rate: u32, at_ns: i64) -> Option<i64> {
        let leads = self.lead_ns.into_iter().chain(self.lead_before_ns);
        let lead = leads.min()?;
        let place_ns = match index.checked_sub(self.base) {
            Some(places) => places_ns(places, rate),
            None => -places_ns(self.base - index, rate),
        };
        Some(at_ns.saturating_sub(self.base_ns.saturating_add(place_ns).saturating_add(lead)))
    }
}

#[inline]
fn places_ns(places: u64, rate: u32) -> i64 {
    let rate = rate.max(1);
    let ns = match places.checked_mul(SECOND_NS as u64) {
        Some(scaled) => u128::from(scaled / u64::from(rate)),
        None => u128::from(places) * SECOND_NS as u128 / u128::from(rate),
    };
    i64::try_from(ns).unwrap_or(i64::MAX / 4)
}

/// Number of whole counts in `ns` at `rate` per second; 0 if `ns` is negative.
pub(super) fn counts(ns: i64, rate: u32) -> u64 {
    let ns = u128::try_from(ns).unwrap_or(0);
    u64::try_from(ns * u128::from(rate) / SECOND_NS as u128).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::{Earliest, SECOND_NS};

    #[test]
    fn a_frame_held_up_does_not_move_the_schedule() {
        let mut line = Earliest::default();
        for index in 0..12_000_u64 {
            let held_up = if index == 5_000 { 300_000_000 } else { 0 };
            line.came(index, 4_000, index as i64 * 250_000 + held_up);
        }
        let at_ns = 13_500 * 250_000;
        assert_eq!(line.most_ahead(11_999, 4_000, at_ns), Some(1_501 + 200));
    }

    #[test]
    fn a_schedule_that_drifts_is_followed() {
        let mut line = Earliest::default();
        // 100 ppm slow, for ten minutes.
        for index in 0..2_400_000_u64 {
            line.came(index, 4_000, index as i64 * 250_025);
        }
        let next = line.most_ahead(2_399_999, 4_000, 2_400_000 * 250_025).unwrap();
        assert!((201..=202).contains(&next), "{next}");
        assert_eq!(Earliest::default().most_ahead(0, 4_000, SECOND_NS), None);
    }
}
