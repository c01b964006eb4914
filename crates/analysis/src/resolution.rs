//! Resolution of the stamps of a stream. The unit of the file does not show it: a tool that cuts stamps to milliseconds may still write microseconds.

/// Possible steps, from coarse to fine, in ns.
const STEPS: [i64; 10] = [
    1_000_000_000,
    100_000_000,
    10_000_000,
    1_000_000,
    100_000,
    10_000,
    1_000,
    100,
    10,
    1,
];

/// The coarsest step of which all stamps so far are whole multiples.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Resolution {
    /// Index in [`STEPS`].
    at: usize,
}

impl Resolution {
    /// Takes a stamp.
    #[inline]
    pub(crate) fn take(&mut self, time_ns: i64) {
        // The usual cases are handled with constants: a division by a variable costs more than the rest of the frame.
        match self.at {
            9 => {}
            6 if time_ns % 1_000 == 0 => {}
            _ => self.refine(time_ns),
        }
    }

    fn refine(&mut self, time_ns: i64) {
        while time_ns % STEPS[self.at] != 0 {
            self.at += 1;
        }
    }

    /// The step in ns.
    pub(crate) fn step_ns(self) -> u64 {
        STEPS[self.at].unsigned_abs()
    }
}

#[cfg(test)]
mod tests {
    use super::Resolution;

    fn of(stamps: impl IntoIterator<Item = i64>) -> u64 {
        let mut resolution = Resolution::default();
        for stamp in stamps {
            resolution.take(stamp);
        }
        resolution.step_ns()
    }

    #[test]
    fn the_step_is_the_coarsest_that_fits_all() {
        let uneven = |n: i64| 1_790_000_000_000_000_000 + n * 125_000 + (n * n * 7_919) % 999;
        for step in [1, 10, 100, 1_000, 10_000, 1_000_000, 1_000_000_000] {
            assert_eq!(of((0..10_000).map(|n| uneven(n * 97) / step * step)), step as u64);
        }
        assert_eq!(of([-5_000, 5_000]), 1_000);
        assert_eq!(of([0]), 1_000_000_000);
    }
}
