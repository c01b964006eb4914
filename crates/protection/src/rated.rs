//! Base values of per-unit settings, and the duration of a sample.

use serde::Deserialize;

use crate::error::{Check, SettingError};

/// Rated values of a feeder and its samples: the base of all per-unit settings.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Rated {
    /// Rated primary current In in A RMS, 1 to 50 000. `x In` refers to it.
    pub current_a: f64,
    /// Rated primary voltage Un in V RMS, phase to phase, 100 to 1 000 000. `x Un` refers to it for phase-to-phase voltages
    /// and to its part 1/sqrt(3), called Uph, for all others.
    pub voltage_v: f64,
    /// Rated frequency in Hz, 16 to 65.
    pub frequency_hz: f64,
    /// Samples per second, 600 to 20 000 and at least 12 per rated cycle.
    pub samples_per_second: f64,
}

impl Default for Rated {
    /// 1000 A, 20 kV, 50 Hz, 4000 samples per second.
    fn default() -> Self {
        Self {
            current_a: 1000.0,
            voltage_v: 20_000.0,
            frequency_hz: 50.0,
            samples_per_second: 4000.0,
        }
    }
}

impl Rated {
    /// Checks that the values lie in their ranges.
    ///
    /// # Errors
    /// The first that does not.
    pub fn check(&self) -> Result<(), SettingError> {
        let check = Check("rated values");
        check.range("current-a", self.current_a, "A", 1.0..=50_000.0)?;
        check.range("voltage-v", self.voltage_v, "V", 100.0..=1e6)?;
        check.range("frequency-hz", self.frequency_hz, "Hz", 16.0..=65.0)?;
        check.range("samples-per-second", self.samples_per_second, "/s", 600.0..=20_000.0)?;
        check.together(self.samples_per_second >= 12.0 * self.frequency_hz, || {
            format!(
                "{} samples a second are fewer than 12 a cycle of {} Hz: use a faster stream",
                self.samples_per_second, self.frequency_hz
            )
        })
    }

    /// Rated phase-to-earth voltage Uph = Un / sqrt(3) in V.
    #[must_use]
    pub fn phase_voltage_v(&self) -> f64 {
        self.voltage_v * 0.577_350_269_189_625_8
    }

    /// Samples in a time, rounded up: a delay is never shorter than its setting.
    #[must_use]
    pub fn samples_in_ms(&self, ms: f64) -> u64 {
        (ms * self.samples_per_second / 1000.0 - 1e-6).ceil().max(0.0) as u64
    }

    /// Seconds between two samples so far apart.
    #[must_use]
    pub fn seconds(&self, samples: u64) -> f64 {
        samples as f64 / self.samples_per_second
    }

    /// Samples of one rated cycle, rounded up.
    #[must_use]
    pub fn samples_per_cycle(&self) -> u64 {
        (self.samples_per_second / self.frequency_hz - 1e-6).ceil() as u64
    }
}

#[cfg(test)]
mod tests {
    use super::Rated;

    #[test]
    fn a_delay_is_never_shortened() {
        let rated = Rated::default();
        assert_eq!(rated.samples_in_ms(100.0), 400);
        assert_eq!(rated.samples_in_ms(100.1), 401);
        assert_eq!(rated.samples_in_ms(0.0), 0);
        assert_eq!(rated.samples_per_cycle(), 80);
        let odd = Rated {
            frequency_hz: 60.0,
            ..rated
        };
        assert_eq!(odd.samples_per_cycle(), 67);
    }

    #[test]
    fn too_few_samples_are_refused() {
        let few = Rated {
            samples_per_second: 500.0,
            ..Rated::default()
        };
        assert!(few.check().unwrap_err().to_string().contains("600 to 20000 /s"));
        let few = Rated {
            frequency_hz: 60.0,
            samples_per_second: 700.0,
            ..Rated::default()
        };
        assert!(few.check().unwrap_err().to_string().contains("use a faster stream"));
        assert!(
            Rated {
                current_a: f64::NAN,
                ..Rated::default()
            }
            .check()
            .is_err()
        );
    }
}
