//! Comparators and timers used by functions.

/// Counts the samples from one run of the task to the next.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Pace {
    last: Option<u64>,
}

impl Pace {
    /// Samples since the previous run; 0 for the first, or if time does not advance.
    pub(crate) fn passed(&mut self, at: u64) -> u64 {
        let passed = self.last.map_or(0, |last| at.saturating_sub(last));
        self.last = Some(at);
        passed
    }
}

/// A comparator with hysteresis. NaN is neither above nor below.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Comparator {
    on: bool,
}

impl Comparator {
    /// On above `pickup`, until at or below `pickup * ratio`.
    pub(crate) fn above(&mut self, value: f64, pickup: f64, ratio: f64) -> bool {
        self.on = value > if self.on { pickup * ratio } else { pickup };
        self.on
    }

    /// On below `pickup`, until at or above `pickup * ratio`.
    pub(crate) fn below(&mut self, value: f64, pickup: f64, ratio: f64) -> bool {
        self.on = value < if self.on { pickup * ratio } else { pickup };
        self.on
    }
}

/// A definite-time delay. It runs while its condition is true, stops while the condition is false for less than the reset time, and then restarts
/// from zero.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Delay {
    on: bool,
    run: u64,
    off: u64,
}

impl Delay {
    /// Advances by `passed` samples. Returns true if the condition is true now, and has been for `operate` samples.
    pub(crate) fn step(&mut self, passed: u64, condition: bool, operate: u64, reset: u64) -> bool {
        if condition {
            if self.on {
                self.run = self.run.saturating_add(passed);
            }
            self.off = 0;
        } else {
            self.off = if self.on { 0 } else { self.off.saturating_add(passed) };
            if self.off >= reset {
                self.run = 0;
            }
        }
        self.on = condition;
        condition && self.run >= operate
    }

    /// True if it is at zero: then a step with a false condition changes nothing.
    pub(crate) fn is_idle(self) -> bool {
        !self.on && self.run == 0
    }

    /// Samples that it has counted.
    pub(crate) fn run(self) -> u64 {
        self.run
    }
}

#[cfg(test)]
mod tests {
    use super::{Comparator, Delay};

    #[test]
    fn hysteresis_holds_between_the_two() {
        let mut comparator = Comparator::default();
        let found = [0.99, 1.01, 0.97, 0.95, 0.97, f64::NAN].map(|value| comparator.above(value, 1.0, 0.96));
        assert_eq!(found, [false, true, true, false, false, false]);
        let found = [1.01, 0.99, 1.03, 1.05, f64::NAN].map(|value| comparator.below(value, 1.0, 1.04));
        assert_eq!(found, [false, true, true, false, false]);
    }

    #[test]
    fn a_delay_stands_still_through_short_breaks() {
        let mut delay = Delay::default();
        assert!(!delay.step(0, true, 3, 2));
        assert!(!delay.step(1, true, 3, 2));
        assert!(!delay.step(1, false, 3, 2));
        assert!(!delay.step(1, true, 3, 2));
        assert!(!delay.step(1, true, 3, 2));
        assert!(delay.step(1, true, 3, 2));
        assert!(!delay.step(1, false, 3, 2));
        assert!(!delay.step(1, false, 3, 2));
        assert!(!delay.step(1, false, 3, 2));
        assert_eq!(delay.run(), 0);
        assert!(Delay::default().step(0, true, 0, 0), "without delay at once");
    }
}
