//! Time between due instants; also exact if it is not a whole number of nanoseconds.

use crate::duration::{DurationError, parse_ns};
use std::fmt;
use std::str::FromStr;

/// Maximum number of decimal places of a period in nanoseconds.
const MOST_DIGITS: usize = 9;

/// A period of `numerator / denominator` nanoseconds, at least 1 ns.
///
/// Written as a duration (`250us`, `208333.3ns`, kept exactly as written) or as a rate (`4800/s`, `4800Hz`: 208 333 1/3 ns).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Period {
    numerator_ns: u64,
    denominator: u64,
}

impl Period {
    /// A period of whole nanoseconds (at least 1).
    pub fn of_ns(ns: u64) -> Self {
        Self {
            numerator_ns: ns.max(1),
            denominator: 1,
        }
    }

    /// A period with `per_second` (at least 1) repetitions per second.
    pub fn per_second(per_second: u64) -> Self {
        Self::reduced(1_000_000_000, per_second.max(1))
    }

    fn reduced(numerator_ns: u64, denominator: u64) -> Self {
        let common = greatest_common_divisor(numerator_ns, denominator).max(1);
        Self {
            numerator_ns: numerator_ns / common,
            denominator: denominator / common,
        }
    }

    /// The fraction in lowest terms: nanoseconds, and their divisor.
    pub fn fraction(self) -> (u64, u64) {
        (self.numerator_ns, self.denominator)
    }

    /// The period in nanoseconds, rounded down, at least 1.
    pub fn whole_ns(self) -> u64 {
        (self.numerator_ns / self.denominator).max(1)
    }

    /// The period in nanoseconds.
    pub fn as_f64(self) -> f64 {
        self.numerator_ns as f64 / self.denominator as f64
    }

    /// Number of whole periods in `ns` nanoseconds.
    pub fn count_in(self, ns: u64) -> u64 {
        let count = u128::from(ns) * u128::from(self.denominator) / u128::from(self.numerator_ns);
        u64::try_from(count).unwrap_or(u64::MAX)
    }
}

impl FromStr for Period {
    type Err = DurationError;

    fn from_str(text: &str) -> Result<Self, DurationError> {
        let text = text.trim();
        if let Some(rate) = text.strip_suffix("/s").or_else(|| text.strip_suffix("Hz")) {
            return match rate.trim().parse() {
                Ok(rate @ 1..=1_000_000_000) => Ok(Self::per_second(rate)),
                Ok(_) => Err(DurationError::OutOfRange(text.to_owned())),
                Err(_) => Err(DurationError::NotANumber(text.to_owned())),
            };
        }
        if let Some(number) = text.strip_suffix("ns")
            && let Some((whole, digits)) = number.trim().split_once('.')
        {
            return decimal(whole, digits).ok_or_else(|| DurationError::NotANumber(text.to_owned()));
        }
        match parse_ns(text)? {
            0 => Err(DurationError::OutOfRange(text.to_owned())),
            ns => Ok(Self::of_ns(ns)),
        }
    }
}

/// A period of nanoseconds with decimal places.
fn decimal(whole: &str, digits: &str) -> Option<Period> {
    let all_digits = |text: &str| !text.is_empty() && text.bytes().all(|octet| octet.is_ascii_digit());
    if !all_digits(whole) || !all_digits(digits) || digits.len() > MOST_DIGITS {
        return None;
    }
    let denominator = 10u64.pow(u32::try_from(digits.len()).ok()?);
    let numerator = whole.parse::<u64>().ok()?.checked_mul(denominator)?;
    let numerator = numerator.checked_add(digits.parse().ok()?)?;
    (numerator >= denominator).then(|| Period::reduced(numerator, denominator))
}

impl fmt::Display for Period {
    /// Formats it as a duration: `250us`, `208333.333ns`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.denominator > 1 {
            return write!(f, "{:.3} ns", self.as_f64());
        }
        f.write_str(&crate::format_ns(self.as_f64()))
    }
}

fn greatest_common_divisor(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { greatest_common_divisor(b, a % b) }
}

#[cfg(test)]
mod tests {
    use super::Period;

    fn period(text: &str) -> Period {
        text.parse().expect(text)
    }

    #[test]
    fn written_as_durations_or_as_rates() {
        assert_eq!(period("250us"), Period::of_ns(250_000));
        assert_eq!(period("8000/s"), Period::of_ns(125_000));
        assert_eq!(period("4800Hz").fraction(), (625_000, 3));
        assert_eq!(period("208333.3ns").fraction(), (2_083_333, 10));
        assert_eq!(period("208333.50ns").fraction(), (416_667, 2));
    }

    #[test]
    fn one_sampled_value_fits_a_second_exactly() {
        assert_eq!(period("4800/s").count_in(1_000_000_000), 4_800);
        assert_eq!(period("208333.3ns").count_in(1_000_000_000), 4_800);
        assert_eq!(period("14400/s").whole_ns(), 69_444);
    }

    #[test]
    fn refusals() {
        for text in [
            "",
            "0",
            "0.5ns",
            "1.2.3ns",
            "x/s",
            "0/s",
            "2000000000/s",
            "12",
            "-1us",
            "1.1234567890ns",
        ] {
            assert!(text.parse::<Period>().is_err(), "{text}");
        }
    }
}
