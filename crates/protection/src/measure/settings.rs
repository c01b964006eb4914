//! The settings of a bay's measurement.

use serde::Deserialize;

use super::reference::ORDERS;
use crate::error::{Check, SettingError};

/// Source of a residual.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Residual {
    /// Its own channel in the stream.
    #[default]
    Measured,
    /// The sum of the three phases, sample by sample.
    Sum,
}

/// The substitute for a lost sample.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Substitute {
    /// The previous sample (zero-order hold).
    #[default]
    Hold,
    /// A straight line through the two previous samples; after a second loss in a row, the previous sample.
    Linear,
}

/// Replacement of single samples that leave the course of the wave and return.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Spikes {
    /// Least spike of a current in x In (peak of the rated sine), 0.2 to 100; 0: currents are not checked.
    pub current: f64,
    /// Least spike of a voltage in x Uph (peak of the rated sine), 0.2 to 100; 0: voltages are not checked.
    pub voltage: f64,
}

impl Default for Spikes {
    /// 1 In, and half of Uph: smaller spikes change a phasor of 80 samples a cycle by less than 0.03 In and 0.01 Uph.
    fn default() -> Self {
        Self {
            current: 1.0,
            voltage: 0.5,
        }
    }
}

/// The quantities that a bay measures, and the methods.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct BaySettings {
    /// Harmonics to measure, from 2, 3, 5, 7 and 9. Each costs as much as the fundamental.
    pub harmonics: Vec<u32>,
    /// Harmonics to measure for the two residuals only: a quarter of the work.
    #[serde(skip)]
    pub residual_harmonics: Vec<u32>,
    /// Time constant in ms of the decaying DC component that is removed from currents, 5 to 500; 0 removes none.
    pub dc_time_constant_ms: f64,
    /// Source of the residual current.
    pub residual_current: Residual,
    /// Source of the residual voltage.
    pub residual_voltage: Residual,
    /// The substitute for a lost sample.
    pub substitute: Substitute,
    /// Replacement of single implausible samples.
    pub spikes: Spikes,
}

impl Default for BaySettings {
    /// Fundamental only; DC of 45 ms removed; residuals measured; zero-order hold; single implausible samples replaced.
    fn default() -> Self {
        Self {
            harmonics: Vec::new(),
            residual_harmonics: Vec::new(),
            dc_time_constant_ms: 45.0,
            residual_current: Residual::Measured,
            residual_voltage: Residual::Measured,
            substitute: Substitute::Hold,
            spikes: Spikes::default(),
        }
    }
}

impl BaySettings {
    /// Checks that the settings lie in their ranges.
    ///
    /// # Errors
    /// The first setting that is out of range.
    pub fn check(&self) -> Result<(), SettingError> {
        let check = Check("measurement");
        for order in self.harmonics.iter().chain(&self.residual_harmonics) {
            check.together(ORDERS[1..].contains(order), || {
                format!("harmonics has {order}; it may have 2, 3, 5, 7 and 9")
            })?;
        }
        if self.dc_time_constant_ms != 0.0 {
            check.range("dc-time-constant-ms", self.dc_time_constant_ms, "ms", 5.0..=500.0)?;
        }
        if self.spikes.current != 0.0 {
            check.range("spikes.current", self.spikes.current, "x In", 0.2..=100.0)?;
        }
        if self.spikes.voltage != 0.0 {
            check.range("spikes.voltage", self.spikes.voltage, "x Uph", 0.2..=100.0)?;
        }
        Ok(())
    }
}
