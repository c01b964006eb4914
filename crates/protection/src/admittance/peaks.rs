//! Counts the transients of an intermittent earth fault.

/// Counts rises of the residual current to more than twice its last minimum; a transient ends when the current has fallen to half of its peak. Both
/// factors are our choice.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Peaks {
    high: bool,
    extreme: Option<f64>,
    count: u32,
}

impl Peaks {
    /// Evaluates the current in A; ignores transients below `floor`. Returns the number of transients so far.
    pub(super) fn step(&mut self, current: f64, floor: f64) -> u32 {
        let extreme = self.extreme.unwrap_or(0.0);
        if self.high {
            self.extreme = Some(extreme.max(current));
            if current < 0.5 * extreme {
                self.high = false;
                self.extreme = Some(current);
            }
        } else {
            self.extreme = Some(extreme.min(current));
            if current > (2.0 * extreme).max(floor) {
                self.high = true;
                self.extreme = Some(current);
                self.count = self.count.saturating_add(1);
            }
        }
        self.count
    }
}

#[cfg(test)]
mod tests {
    use super::Peaks;

    #[test]
    fn transients_are_counted_once() {
        let mut peaks = Peaks::default();
        let found =
            [0.5, 10.0, 8.0, 12.0, 7.0, 5.0, 9.0, 12.0, 13.0, 2.0, 0.0, 0.9, 1.1].map(|each| peaks.step(each, 1.0));
        assert_eq!(found, [0, 1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 3]);
    }
}
