//! Point on wave at which a fault starts.

use crate::network::FaultType;

/// Angle from the crest of a cosine to its rising zero crossing, in degrees.
const RISING_DEG: f64 = 90.0;

/// Point on wave of a voltage at which a fault starts: 0 degrees is its rising zero crossing, 90 is its crest.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PointOnWave {
    /// The required point; `None`: any.
    pub wanted_deg: Option<f64>,
    /// Angle of the voltage when the phase of the frequency is 0.
    voltage_deg: f64,
}

impl PointOnWave {
    /// Any point on the wave of phase a, whose voltage has this angle when the phase of the frequency is 0.
    pub fn anywhere(voltage_deg: f64) -> Self {
        Self {
            wanted_deg: None,
            voltage_deg,
        }
    }

    /// This point of the voltage of the fault's loop: of the phase, or between the two phases. For three phases it is phase a.
    pub(super) fn of_loop(wanted_deg: f64, fault: FaultType) -> Self {
        let voltage_deg = match fault {
            FaultType::Ag | FaultType::Abc => 0.0,
            FaultType::Bg => -120.0,
            FaultType::Cg => 120.0,
            FaultType::Ab | FaultType::Abg => 30.0,
            FaultType::Bc | FaultType::Bcg => -90.0,
            FaultType::Ca | FaultType::Cag => 150.0,
        };
        Self {
            wanted_deg: Some(wanted_deg),
            voltage_deg,
        }
    }

    /// The point on wave at this phase of the frequency, in degrees from 0 to 360.
    pub fn deg(&self, phase_deg: f64) -> f64 {
        (phase_deg + self.voltage_deg + RISING_DEG).rem_euclid(360.0)
    }

    /// The phase of the frequency at the required point, in degrees from 0 to 360; 0 if any point is accepted.
    pub(super) fn phase_deg(&self) -> f64 {
        let wanted_deg = self.wanted_deg.unwrap_or(0.0);
        (wanted_deg - self.voltage_deg - RISING_DEG).rem_euclid(360.0)
    }

    /// Number of samples, `step_deg` apart, from one with this phase to the required point: the nearest, less than a cycle away.
    pub fn samples_until(&self, phase_deg: f64, step_deg: f64) -> u64 {
        let Some(wanted_deg) = self.wanted_deg else { return 0 };
        let off = (wanted_deg - self.deg(phase_deg)).rem_euclid(360.0);
        (off / step_deg).round() as u64
    }
}
