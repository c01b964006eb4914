//! Loops of whole cycles.

/// Longest loop of a steady state, in seconds.
const LONGEST_S: u64 = 10;

/// A number of samples with a whole number of cycles.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Loop {
    pub(crate) samples: u64,
    pub(crate) cycles: u64,
}

impl Loop {
    /// The shortest exact loop at `frequency_hz`; if there is none within ten seconds, the loop with the smallest error, which is then filled with
    /// whole cycles: at most half a sample in ten seconds, so below 2 parts in 10^5 from 4000 samples a second on.
    pub(crate) fn of(frequency_hz: f64, rate: u32) -> Self {
        let shortest = (f64::from(rate) / frequency_hz).floor().max(1.0) as u64;
        let mut best = Self { samples: 1, cycles: 0 };
        let mut best_error = f64::INFINITY;
        for samples in shortest..=LONGEST_S * u64::from(rate) {
            let cycles = samples as f64 * frequency_hz / f64::from(rate);
            let whole = cycles.round();
            let error = (cycles - whole).abs() / cycles;
            if whole >= 1.0 && error < best_error {
                best = Self {
                    samples,
                    cycles: whole as u64,
                };
                best_error = error;
            }
            if best_error < 1e-12 {
                break;
            }
        }
        best
    }

    /// The loop repeated until it has at least `samples` samples.
    pub(super) fn at_least(self, samples: u64) -> Self {
        let times = samples.div_ceil(self.samples).max(1);
        Self {
            samples: self.samples * times,
            cycles: self.cycles * times,
        }
    }

    pub(crate) fn frequency_hz(self, rate: u32) -> f64 {
        self.cycles as f64 * f64::from(rate) / self.samples as f64
    }
}

#[cfg(test)]
mod tests {
    use super::Loop;

    #[test]
    fn whole_cycles() {
        for (hz, rate, samples, cycles) in [
            (50.0, 4_800, 96, 1),
            (50.0, 4_000, 80, 1),
            (60.0, 4_000, 200, 3),
            (60.0, 14_400, 240, 1),
            (50.1, 4_800, 16_000, 167),
            (49.9, 4_000, 40_000, 499),
        ] {
            assert_eq!(Loop::of(hz, rate), Loop { samples, cycles }, "{hz} Hz at {rate}");
        }
    }

    #[test]
    fn odd_frequencies_close() {
        for hz in [50.123_456, 59.999_1, 16.7, 49.000_01, 1.0, 399.9] {
            let found = Loop::of(hz, 4_800);
            let off = (found.frequency_hz(4_800) - hz).abs() / hz;
            assert!(off < 0.5 / (10.0 * 4_800.0), "{hz} Hz: {found:?} is off by {off}");
        }
    }
}
