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
}

impl Default for BaySettings {
    /// Fundamental only; DC of 45 ms removed; residuals measured; zero-order hold.
    fn default() -> Self {
        Self {
            harmonics: Vec::new(),
            residual_harmonics: Vec::new(),
            dc_time_constant_ms: 45.0,
            residual_current: Residual::Measured,
            residual_voltage: Residual::Measured,
            substitute: Substitute::Hold,
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
        Ok(())
    }
}
