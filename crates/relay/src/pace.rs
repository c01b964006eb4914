//! Number of the sample that is due between two frames.

/// The newest sample and its arrival; the rate gives the samples due after it.
#[derive(Debug, Clone, Copy)]
pub struct Pace {
    rate: f64,
    newest: Option<(u64, i64)>,
}

impl Pace {
    /// Makes a pace of `rate` samples a second.
    #[must_use]
    pub fn new(rate: f64) -> Self {
        Self { rate, newest: None }
    }

    /// Records that sample `newest` came at `at_ns`, on any clock that does not step.
    pub fn came(&mut self, newest: u64, at_ns: i64) {
        if self.newest.is_none_or(|(before, _)| newest > before) {
            self.newest = Some((newest, at_ns));
        }
    }

    /// The newest sample, and its arrival in ns; `None` before the first.
    #[must_use]
    pub fn newest(&self) -> Option<(u64, i64)> {
        self.newest
    }

    /// Number of the first sample that is not due at `at_ns`; 0 before the first.
    #[must_use]
    pub fn due(&self, at_ns: i64) -> u64 {
        self.newest.map_or(0, |(newest, came_ns)| {
            let since_s = at_ns.saturating_sub(came_ns).max(0) as f64 / 1e9;
            newest + 1 + (since_s * self.rate) as u64
        })
    }
}

#[cfg(test)]
mod tests {
    use super::Pace;

    #[test]
    fn silence_goes_on_at_the_rate() {
        let mut pace = Pace::new(4000.0);
        assert_eq!(pace.due(1_000_000), 0);
        pace.came(7, 1_000_000);
        assert_eq!((pace.due(0), pace.due(1_000_000), pace.due(2_000_000)), (8, 8, 12));
        pace.came(7, 3_000_000);
        assert_eq!(pace.due(3_000_000), 16, "a sample that came again is none");
    }
}
