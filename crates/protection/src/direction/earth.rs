//! Direction of the residual current.

use serde::Deserialize;

use super::Mode;
use crate::complex::Complex;
use crate::error::{Check, SettingError};
use crate::function::Direction;
use crate::measure::{Channels, Measured, Residual};
use crate::rated::Rated;
use crate::timing::Comparator;

/// Method for the direction of an earth fault; it depends on the earthing of the network.
///
/// `phi = arg(I0) - arg(-U0)`: -90 degrees on the healthy feeders of an isolated network. ABB's operating angle has the
/// opposite sign (our reference, 3.10).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum EarthMode {
    /// Isolated network: `|3 I0| sin(phi)` is compared with the setting.
    Isolated,
    /// Compensated network: `|3 I0| cos(phi)` is compared with the setting.
    Compensated,
    /// Effectively earthed network: `|3 I0|`, while phi is within a sector around the characteristic angle.
    #[default]
    Earthed,
}

/// Settings of RDIR for the residual current (67N).
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct EarthDirectionSettings {
    /// The direction in which it operates.
    pub mode: Mode,
    /// How the network is earthed.
    pub earthing: EarthMode,
    /// Source of the residual voltage.
    pub residual_voltage: Residual,
    /// Least zero-sequence voltage U0 in x Uph, 0.005 to 1.
    pub least_voltage: f64,
    /// Characteristic angle of the earthed mode in degrees, -180 to 180.
    pub characteristic_deg: f64,
    /// Half of the operating sector of the earthed mode in degrees, 30 to 90.
    pub sector_deg: f64,
}

impl Default for EarthDirectionSettings {
    /// Forward, effectively earthed at -60 degrees and 80 to both sides, from 0.1 Uph on.
    fn default() -> Self {
        Self {
            mode: Mode::Forward,
            earthing: EarthMode::Earthed,
            residual_voltage: Residual::Measured,
            least_voltage: 0.1,
            characteristic_deg: -60.0,
            sector_deg: 80.0,
        }
    }
}

/// The result for a residual current and voltage.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct EarthFound {
    /// Direction of the fault.
    pub direction: Direction,
    /// The current that is compared with the setting, in A of 3 I0: negative in the opposite direction, zero while the residual voltage is too low.
    pub operating_a: f64,
}

/// The directional element of the residual current.
#[derive(Debug, Clone)]
pub struct EarthDirection {
    settings: EarthDirectionSettings,
    least_v: f64,
    characteristic: Complex,
    /// Cosine of half the sector.
    cosine: f64,
    voltage: Comparator,
}

impl EarthDirection {
    /// The element with these settings.
    ///
    /// # Errors
    /// A setting outside its range.
    pub fn new(settings: EarthDirectionSettings, rated: &Rated) -> Result<Self, SettingError> {
        let check = Check("RDIR");
        check.range("least-voltage", settings.least_voltage, "x Uph", 0.005..=1.0)?;
        check.range(
            "characteristic-deg",
            settings.characteristic_deg,
            "degrees",
            -180.0..=180.0,
        )?;
        check.range("sector-deg", settings.sector_deg, "degrees", 30.0..=90.0)?;
        Ok(Self {
            least_v: settings.least_voltage * rated.phase_voltage_v(),
            characteristic: Complex::degrees(1.0, settings.characteristic_deg),
            cosine: settings.sector_deg.to_radians().cos(),
            voltage: Comparator::default(),
            settings,
        })
    }

    /// The voltage channels that it needs.
    #[must_use]
    pub fn voltages(&self) -> Channels {
        match self.settings.residual_voltage {
            Residual::Measured => Channels::RESIDUAL_VOLTAGE,
            Residual::Sum => Channels::PHASE_VOLTAGES,
        }
    }

    /// Evaluates a residual current 3 I0 and the residual voltage of a set.
    pub fn step(&mut self, residual: Complex, voltage: &Measured) -> EarthFound {
        let zero = match self.settings.residual_voltage {
            Residual::Measured => voltage.residual_voltage,
            Residual::Sum => voltage.voltage_sum(),
        } / 3.0;
        let enough = self.voltage.above(zero.norm(), self.least_v, 0.96);
        // `|3 I0|` at the angle phi.
        let turned = if enough {
            residual * (-zero).conj() / zero.norm()
        } else {
            Complex::ZERO
        };
        let sign = match self.settings.mode {
            Mode::Forward => 1.0,
            Mode::Reverse => -1.0,
        };
        let forward_a = match self.settings.earthing {
            EarthMode::Isolated => turned.im,
            EarthMode::Compensated => turned.re,
            EarthMode::Earthed => {
                let (along, size) = (turned.dot(self.characteristic), turned.norm());
                if along >= size * self.cosine {
                    size
                } else if along <= -size * self.cosine {
                    -size
                } else {
                    0.0
                }
            }
        };
        let direction = if !enough || forward_a == 0.0 {
            Direction::Unknown
        } else if forward_a > 0.0 {
            Direction::Forward
        } else {
            Direction::Reverse
        };
        EarthFound {
            direction,
            operating_a: sign * forward_a,
        }
    }

    /// Clears the state of the voltage comparison.
    pub fn reset(&mut self) {
        self.voltage = Comparator::default();
    }
}
