//! The voltage before the fault.

use crate::complex::Complex;
use crate::rated::Rated;

/// Quarters of a cycle that are remembered: three cycles.
const SLOTS: usize = 12;

/// Share of the rated voltage above which a voltage is healthy. A close single-phase fault leaves two thirds.
const HEALTHY: f64 = 0.85;

/// Stores the positive-sequence voltage of three cycles ago while the voltage is healthy, and keeps it for a time afterwards. The phasor is relative
/// to the common reference, so it keeps rotating with the tracked frequency.
#[derive(Debug, Clone)]
pub struct VoltageMemory {
    slots: [Complex; SLOTS],
    oldest: usize,
    filled: usize,
    last: Option<u64>,
    healthy_at: u64,
    quarter: u64,
    keep: u64,
    healthy: f64,
}

impl VoltageMemory {
    /// A memory that keeps a voltage for `keep_ms`; with 0 it keeps none.
    #[must_use]
    pub fn new(keep_ms: f64, rated: &Rated) -> Self {
        Self {
            slots: [Complex::ZERO; SLOTS],
            oldest: 0,
            filled: 0,
            last: None,
            healthy_at: 0,
            quarter: rated.samples_per_cycle().div_ceil(4),
            keep: rated.samples_in_ms(keep_ms),
            healthy: HEALTHY * rated.phase_voltage_v(),
        }
    }

    /// Evaluates the positive-sequence voltage at sample `at`.
    pub fn step(&mut self, at: u64, positive: Complex) {
        if !positive.is_at_least(self.healthy) || !positive.is_finite() {
            return;
        }
        self.healthy_at = at;
        if self.last.is_some_and(|last| at.saturating_sub(last) < self.quarter) {
            return;
        }
        self.last = Some(at);
        self.slots[self.oldest] = positive;
        self.oldest = (self.oldest + 1) % SLOTS;
        self.filled = (self.filled + 1).min(SLOTS);
    }

    /// The earlier positive-sequence voltage, in V; `None` if there was none, or if it is too old.
    #[must_use]
    pub fn remembered(&self, at: u64) -> Option<Complex> {
        let fresh = at.saturating_sub(self.healthy_at) <= self.keep;
        (self.filled == SLOTS && fresh && self.keep > 0).then(|| self.slots[self.oldest])
    }

    /// Clears the memory.
    pub fn reset(&mut self) {
        self.filled = 0;
        self.oldest = 0;
        self.last = None;
    }
}

#[cfg(test)]
mod tests {
    use super::VoltageMemory;
    use crate::complex::Complex;
    use crate::rated::Rated;

    #[test]
    fn it_holds_what_was_before_the_fault_for_its_time() {
        let rated = Rated::default();
        let mut memory = VoltageMemory::new(2000.0, &rated);
        let healthy = Complex::degrees(rated.phase_voltage_v(), 40.0);
        for at in 0..400 {
            assert_eq!(memory.remembered(at).is_some(), at > 220, "{at}");
            memory.step(at, healthy);
        }
        for at in 400..9000 {
            memory.step(at, healthy * 0.1);
            assert_eq!(memory.remembered(at), (at <= 399 + 8000).then_some(healthy), "{at}");
        }
        memory.reset();
        assert_eq!(memory.remembered(401), None);
    }
}
