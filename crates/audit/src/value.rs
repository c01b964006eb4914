//! Value of a fact, or the reason that it is unknown.

use std::fmt;

use units::CpuList;

use host::error::HostError;

/// A value of a fact, of a parameter or of a part of a condition.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// One line of text, as in a file.
    Text(String),
    /// A number without a unit, which the fact's name or the rule defines.
    Number(f64),
    /// CPUs.
    Cpus(CpuList),
    /// Yes or no.
    Flag(bool),
    /// Names or other texts, in order.
    List(Vec<String>),
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => f.write_str(text),
            Self::Number(number) => write!(f, "{}", rounded(*number)),
            Self::Cpus(cpus) if cpus.is_empty() => f.write_str("no CPU"),
            Self::Cpus(cpus) => write!(f, "CPU {cpus}"),
            Self::Flag(true) => f.write_str("yes"),
            Self::Flag(false) => f.write_str("no"),
            Self::List(items) if items.is_empty() => f.write_str("none"),
            Self::List(items) => f.write_str(&items.join(", ")),
        }
    }
}

/// Rates have at most three meaningful decimals; smaller values are shown with three digits.
fn rounded(number: f64) -> f64 {
    let exponent = match number.abs().log10().floor() {
        small if small < -3.0 && small.is_finite() => small as i32 - 2,
        _ => -3,
    };
    // A power of ten with a positive exponent is exact; its inverse is not.
    let scale = 10_f64.powi(-exponent);
    (number * scale).round() / scale
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for Value {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<CpuList> for Value {
    fn from(cpus: CpuList) -> Self {
        Self::Cpus(cpus)
    }
}

impl From<bool> for Value {
    fn from(flag: bool) -> Self {
        Self::Flag(flag)
    }
}

impl From<f64> for Value {
    fn from(number: f64) -> Self {
        Self::Number(number)
    }
}

impl From<u32> for Value {
    fn from(number: u32) -> Self {
        Self::Number(f64::from(number))
    }
}

impl From<usize> for Value {
    /// Counts on one machine are far below 2^53.
    fn from(number: usize) -> Self {
        Self::Number(number as f64)
    }
}

impl From<Vec<String>> for Value {
    fn from(items: Vec<String>) -> Self {
        Self::List(items)
    }
}

/// Kind of reason for an unknown value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Why {
    /// The file or entry does not exist.
    Absent,
    /// The kernel refused access.
    Forbidden,
    /// It exists but cannot be understood, or nothing shows it.
    Unclear,
}

/// An unknown fact.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unknown {
    /// Kind of the reason.
    pub why: Why,
    /// Reason as text, with the place.
    pub text: String,
}

impl Unknown {
    /// Nothing with this name exists.
    pub fn absent(text: impl Into<String>) -> Self {
        Self {
            why: Why::Absent,
            text: text.into(),
        }
    }

    /// It exists but cannot be understood, or nothing shows it.
    pub fn unclear(text: impl Into<String>) -> Self {
        Self {
            why: Why::Unclear,
            text: text.into(),
        }
    }
}

impl Unknown {
    /// Reason for files whose absence is no evidence, so that `either` and `exists` do not treat it as an unset setting.
    pub(super) fn never_absent(self) -> Self {
        match self.why {
            Why::Absent => Self::unclear(self.text),
            _ => self,
        }
    }
}

impl From<HostError> for Unknown {
    fn from(error: HostError) -> Self {
        let why = match &error {
            error if error.is_absent() => Why::Absent,
            error if error.is_forbidden() => Why::Forbidden,
            _ => Why::Unclear,
        };
        Self {
            why,
            text: error.to_string(),
        }
    }
}

/// A value, or the reason that it is unknown.
pub type Known = Result<Value, Unknown>;

#[cfg(test)]
mod tests {
    use super::Value;

    #[test]
    fn numbers_have_the_digits_that_mean_something() {
        let shown = [
            0.0,
            1.0,
            0.123_45,
            1_234.567_89,
            0.000_01,
            -0.000_012_345,
            0.001,
            1e-12,
            4e9,
        ]
        .map(|number| Value::Number(number).to_string());
        let wanted = [
            "0",
            "1",
            "0.123",
            "1234.568",
            "0.00001",
            "-0.0000123",
            "0.001",
            "0.000000000001",
            "4000000000",
        ];
        assert_eq!(shown, wanted);
    }
}
