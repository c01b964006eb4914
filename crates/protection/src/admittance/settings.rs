//! Settings of PSDE.

use serde::Deserialize;

use crate::direction::Mode;
use crate::error::{Check, SettingError};
use crate::function::Source;

/// The kind of earth fault to look for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OperationMode {
    /// Intermittent earth faults: a minimum number of transients is required.
    Intermittent,
    /// Any earth fault.
    #[default]
    General,
    /// Any earth fault, for an alarm: the timer keeps its value as long as the residual voltage persists, whatever the current does.
    Alarming,
}

/// The current that is compared with the least operate current.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OperateCurrent {
    /// The magnitude of the stabilised current: unearthed networks.
    Amplitude,
    /// Its resistive part: compensated networks.
    Resistive,
    /// The magnitude while the angle of the cumulative admittance is above +45 degrees (harmonics, or an unearthed network), otherwise the resistive
    /// part; our reading of ABB's adaptive mode.
    #[default]
    Adaptive,
}

/// Settings of PSDE (67YN).
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct PsdeSettings {
    /// Source of residual current and residual voltage: the channels IN and UN of the sets.
    pub source: Source,
    /// The direction in which it operates.
    pub mode: Mode,
    /// The kind of earth fault to look for.
    pub operation: OperationMode,
    /// Zero-sequence voltage U0 in x Uph that counts as an earth fault, 0.01 to 1.
    pub voltage_start: f64,
    /// Delay in ms, 60 to 1 200 000.
    pub operate_delay_ms: f64,
    /// Least operate current in x In, 0.005 to 5.
    pub least_current: f64,
    /// The operate current.
    pub current: OperateCurrent,
    /// Extension of the forward sector beyond the quadrants, in degrees, 2 to 20.
    pub tilt_deg: f64,
    /// Minimum number of transients of an intermittent fault, 2 to 20.
    pub peaks: u32,
    /// Time without voltage and current after which all state is cleared, in ms, 0 to 60 000.
    pub reset_delay_ms: f64,
    /// True if harmonics are used; both bays then must measure 2, 3, 5, 7 and 9.
    pub harmonics: bool,
}

impl Default for PsdeSettings {
    /// General, forward, U0 of 0.1 Uph, 500 ms, 0.01 In adaptive, tilt 5, two peaks, reset 500 ms, with harmonics.
    fn default() -> Self {
        Self {
            source: Source::default(),
            mode: Mode::Forward,
            operation: OperationMode::General,
            voltage_start: 0.1,
            operate_delay_ms: 500.0,
            least_current: 0.01,
            current: OperateCurrent::Adaptive,
            tilt_deg: 5.0,
            peaks: 2,
            reset_delay_ms: 500.0,
            harmonics: true,
        }
    }
}

impl PsdeSettings {
    /// Checks that the settings lie in their ranges.
    ///
    /// # Errors
    /// The first setting that is out of range.
    pub fn check(&self) -> Result<(), SettingError> {
        let check = Check("PSDE");
        check.range("voltage-start", self.voltage_start, "x Uph", 0.01..=1.0)?;
        check.range("operate-delay-ms", self.operate_delay_ms, "ms", 60.0..=1_200_000.0)?;
        check.range("least-current", self.least_current, "x In", 0.005..=5.0)?;
        check.range("tilt-deg", self.tilt_deg, "degrees", 2.0..=20.0)?;
        check.range("peaks", f64::from(self.peaks), "", 2.0..=20.0)?;
        check.range("reset-delay-ms", self.reset_delay_ms, "ms", 0.0..=60_000.0)
    }
}
