//! The restrained characteristic.

use serde::Deserialize;

use crate::error::{Check, SettingError};

/// End of the first section, in x rated current of the object; fixed, as in ABB's relays.
const END1: f64 = 0.5;

/// The smallest differential current that operates, as a function of the restraining current; both in x rated current of the object. Two slopes,
/// structure and ranges after ABB's TR2PTDF (our reference, 3.9).
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Characteristic {
    /// Differential current of the first section, which ends at 0.5; 0.05 to 0.5.
    pub low: f64,
    /// Slope of the second section, 0.1 to 0.5.
    pub slope2: f64,
    /// End of the second section, 1 to 5.
    pub end2: f64,
    /// Slope of the third section, 0.1 to 1, not below `slope2`.
    pub slope3: f64,
}

impl Default for Characteristic {
    /// 20 %; 30 % up to 1.5; then 100 %.
    fn default() -> Self {
        Self {
            low: 0.2,
            slope2: 0.3,
            end2: 1.5,
            slope3: 1.0,
        }
    }
}

impl Characteristic {
    /// Checks that the settings lie in their ranges.
    ///
    /// # Errors
    /// The first setting that is out of range.
    pub fn check(&self) -> Result<(), SettingError> {
        let check = Check("PDIF");
        check.range("characteristic.low", self.low, "x In", 0.05..=0.5)?;
        check.range("characteristic.slope2", self.slope2, "", 0.1..=0.5)?;
        check.range("characteristic.end2", self.end2, "x In", 1.0..=5.0)?;
        check.range("characteristic.slope3", self.slope3, "", 0.1..=1.0)?;
        check.together(self.slope3 >= self.slope2, || {
            format!(
                "characteristic.slope3 at {} is below slope2 at {}: raise it",
                self.slope3, self.slope2
            )
        })
    }

    /// The differential current that operates at a restraining current.
    #[must_use]
    pub fn threshold(&self, restraint: f64) -> f64 {
        let second = (restraint.min(self.end2) - END1).max(0.0);
        let third = (restraint - self.end2).max(0.0);
        self.low + self.slope2 * second + self.slope3 * third
    }
}
