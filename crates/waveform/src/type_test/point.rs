//! Where on the wave a fault begins.

use crate::network::FaultType;

/// From the crest of a cosine to where it rises through zero, in degrees.
const RISING_DEG: f64 = 90.0;

/// Where on the wave of a voltage a fault begins: 0 degrees is where it rises through zero, 90 is its crest.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PointOnWave {
    /// Where it is to begin; `None`: anywhere.
    pub wanted_deg: Option<f64>,
    /// Angle of the voltage where the phase of the frequency is 0.
    voltage_deg: f64,
}

impl PointOnWave {
    /// Anywhere on the wave of phase a, the angle of whose voltage is this where the phase of the frequency is 0.
    pub fn anywhere(voltage_deg: f64) -> Self {
        Self {
            wanted_deg: None,
            voltage_deg,
        }
    }

    /// At this point of the voltage of the loop that the fault closes: of the phase, or between the two phases. Of three phases it is
    /// phase a.
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

    /// The point of an instant at which the phase of the frequency is this, in degrees from 0 to 360.
    pub fn deg(&self, phase_deg: f64) -> f64 {
        (phase_deg + self.voltage_deg + RISING_DEG).rem_euclid(360.0)
    }

    /// The phase of the frequency at the wanted point, in degrees from 0 to 360; of one that is anywhere, 0.
    pub(super) fn phase_deg(&self) -> f64 {
        let wanted_deg = self.wanted_deg.unwrap_or(0.0);
        (wanted_deg - self.voltage_deg - RISING_DEG).rem_euclid(360.0)
    }

    /// How many samples after one of this phase the wanted point is, `step_deg` apart: the nearest, less than a cycle away.
    pub fn samples_until(&self, phase_deg: f64, step_deg: f64) -> u64 {
        let Some(wanted_deg) = self.wanted_deg else { return 0 };
        let off = (wanted_deg - self.deg(phase_deg)).rem_euclid(360.0);
        (off / step_deg).round() as u64
    }
}
