//! How late frames come, by the earliest ones of the last second.

/// Half of the time that is looked at, in ns.
const HALF_NS: i64 = 500_000_000;

/// The earliest frames, compared with an even schedule.
#[derive(Debug, Default)]
pub(crate) struct Lateness {
    /// Since when the younger half is looked at, in ns.
    since_ns: Option<i64>,
    /// Earliest instant of a sample minus its place in the schedule, in ns: of the older half, and of the younger one.
    earliest_ns: [Option<i64>; 2],
}

impl Lateness {
    /// Takes a frame that came at `at_ns`, whose newest sample has its place at `due_ns` of an even schedule with any begin.
    pub(crate) fn take(&mut self, at_ns: i64, due_ns: i64) {
        let since_ns = *self.since_ns.get_or_insert(at_ns);
        if at_ns - since_ns > HALF_NS || at_ns < since_ns {
            self.earliest_ns = [self.earliest_ns[1], None];
            self.since_ns = Some(at_ns);
        }
        let offset_ns = at_ns - due_ns;
        let earliest = &mut self.earliest_ns[1];
        *earliest = Some(earliest.map_or(offset_ns, |before| before.min(offset_ns)));
    }

    /// The schedule begins again.
    pub(crate) fn restart(&mut self) {
        *self = Self::default();
    }

    /// How much later than the earliest ones this frame came, in ns.
    pub(crate) fn of(&self, at_ns: i64, due_ns: i64) -> u64 {
        let earliest_ns = self.earliest_ns.iter().flatten().min();
        earliest_ns.map_or(0, |earliest_ns| {
            u64::try_from(at_ns - due_ns - earliest_ns).unwrap_or(0)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::Lateness;

    #[test]
    fn a_frame_is_as_late_as_it_comes_after_the_earliest_ones() {
        let mut lateness = Lateness::default();
        for frame in 0..10_000_i64 {
            let due_ns = frame * 250_000;
            // A network that takes 20 to 29 us, and 400 us once, two seconds ago.
            let takes_ns = if frame == 100 {
                400_000
            } else {
                20_000 + frame % 10 * 1_000
            };
            lateness.take(7_000_000 + due_ns + takes_ns, due_ns);
        }
        assert_eq!(lateness.of(7_000_000 + 20_000, 0), 0);
        assert_eq!(lateness.of(7_000_000 + 150_000, 0), 130_000);
        lateness.restart();
        assert_eq!(lateness.of(7_000_000 + 150_000, 0), 0, "nothing is known any more");
    }
}
