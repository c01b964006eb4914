//! Errors of settings.

use std::ops::RangeInclusive;

/// An impossible setting: the function, the setting, and its permitted values.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum SettingError {
    /// A number outside its range.
    #[error(
        "{function}: {setting} is {value}{}; it must be {low} to {high}{}",
        spaced(unit),
        spaced(unit)
    )]
    Range {
        /// The function, by its logical node or its part of the measurement.
        function: &'static str,
        /// The setting, as spelled in a file.
        setting: &'static str,
        /// The value that was set.
        value: f64,
        /// Unit of the value and of the range.
        unit: &'static str,
        /// Least that it may be.
        low: f64,
        /// Most that it may be.
        high: f64,
    },
    /// Settings that contradict each other.
    #[error("{function}: {problem}")]
    Together {
        /// The function.
        function: &'static str,
        /// The conflict, and what to do.
        problem: String,
    },
}

/// A unit after a number: empty for a plain number.
fn spaced(unit: &str) -> String {
    if unit.is_empty() {
        String::new()
    } else {
        format!(" {unit}")
    }
}

/// Checks settings of one function.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Check(pub(crate) &'static str);

impl Check {
    /// Checks that `value` is in `range`; NaN is in no range.
    pub(crate) fn range(
        self,
        setting: &'static str,
        value: f64,
        unit: &'static str,
        range: RangeInclusive<f64>,
    ) -> Result<(), SettingError> {
        if range.contains(&value) {
            return Ok(());
        }
        Err(SettingError::Range {
            function: self.0,
            setting,
            value,
            unit,
            low: *range.start(),
            high: *range.end(),
        })
    }

    /// Checks that settings are compatible; otherwise `problem` gives the advice.
    pub(crate) fn together(self, fine: bool, problem: impl FnOnce() -> String) -> Result<(), SettingError> {
        if fine {
            return Ok(());
        }
        Err(SettingError::Together {
            function: self.0,
            problem: problem(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::Check;

    #[test]
    fn an_error_names_what_and_what_to_do() {
        let error = Check("PTOC")
            .range("time-multiplier", 20.0, "", 0.05..=15.0)
            .unwrap_err();
        assert_eq!(error.to_string(), "PTOC: time-multiplier is 20; it must be 0.05 to 15");
        let error = Check("PTOC").range("pickup", f64::NAN, "x In", 0.05..=5.0).unwrap_err();
        assert_eq!(error.to_string(), "PTOC: pickup is NaN x In; it must be 0.05 to 5 x In");
    }
}
