//! Durations as people write them: `250us`, `1.5ms`, `20s`, `7d`.

/// Why a text is not a duration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DurationError {
    /// The text is empty or only white space.
    Empty,
    /// The part before the unit is not a number, or is negative.
    NotANumber(String),
    /// A number without a unit, or with an unknown one.
    UnknownUnit(String),
    /// More than [`LONGEST_NS`], or less than a nanosecond but not zero.
    OutOfRange(String),
}

impl std::fmt::Display for DurationError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        const UNITS: &str = "write it as 500ns, 250us, 1ms, 20s, 5m, 2h or 7d";
        match self {
            Self::Empty => write!(f, "a duration is missing: {UNITS}"),
            Self::NotANumber(text) => write!(f, "\"{text}\" is not a duration: {UNITS}"),
            Self::UnknownUnit(text) => write!(f, "\"{text}\" has no known unit: {UNITS}"),
            Self::OutOfRange(text) => write!(f, "\"{text}\" is below 1ns or above 3650d"),
        }
    }
}

impl std::error::Error for DurationError {}

const UNITS: [(&str, u64); 8] = [
    ("ns", 1),
    ("us", 1_000),
    ("µs", 1_000),
    ("ms", 1_000_000),
    ("s", 1_000_000_000),
    ("m", 60_000_000_000),
    ("h", 3_600_000_000_000),
    ("d", 86_400_000_000_000),
];

/// The longest accepted duration, ten years: longer ones are not needed, and sums and multiples of it do not overflow.
pub const LONGEST_NS: u64 = 3_650 * 86_400_000_000_000;

/// Converts a duration such as `250us`, `208.3333us`, `1ms`, `20s`, `7d` to nanoseconds. A plain `0` needs no unit.
pub fn parse_ns(text: &str) -> Result<u64, DurationError> {
    let text = text.trim();
    if text.is_empty() {
        return Err(DurationError::Empty);
    }
    if text == "0" {
        return Ok(0);
    }
    let split = text
        .find(|c: char| !c.is_ascii_digit() && c != '.')
        .unwrap_or(text.len());
    let (number, unit) = text.split_at(split);
    if number.is_empty() {
        return Err(DurationError::NotANumber(text.to_owned()));
    }
    let factor = UNITS
        .iter()
        .find(|(name, _)| *name == unit.trim())
        .map(|(_, factor)| *factor)
        .ok_or_else(|| DurationError::UnknownUnit(text.to_owned()))?;
    scale(number, factor, text)
}

/// Computes `number` (decimal digits with at most one point) times `factor`, in integers so that `208.3333us` stays
/// exact to the ns.
fn scale(number: &str, factor: u64, whole_text: &str) -> Result<u64, DurationError> {
    let not_a_number = || DurationError::NotANumber(whole_text.to_owned());
    let out_of_range = || DurationError::OutOfRange(whole_text.to_owned());
    let (integer, fraction) = number.split_once('.').unwrap_or((number, ""));
    if fraction.contains('.') || (integer.is_empty() && fraction.is_empty()) {
        return Err(not_a_number());
    }
    let integer: u128 = if integer.is_empty() {
        0
    } else {
        integer.parse().map_err(|_| out_of_range())?
    };
    let digits = &fraction[..fraction.len().min(18)];
    let part: u128 = if digits.is_empty() {
        0
    } else {
        digits.parse().map_err(|_| not_a_number())?
    };
    let divisor = 10u128.pow(u32::try_from(digits.len()).unwrap_or(18));
    let factor = u128::from(factor);
    let ns = integer.checked_mul(factor).ok_or_else(out_of_range)? + (part * factor + divisor / 2) / divisor;
    let ns = u64::try_from(ns)
        .ok()
        .filter(|ns| i64::try_from(*ns).is_ok())
        .ok_or_else(out_of_range)?;
    if ns == 0 && (integer != 0 || part != 0) {
        Err(out_of_range())
    } else {
        Ok(ns)
    }
}

/// A duration for people: three or four significant digits, and the unit that keeps the number short (`34.2 µs`).
pub fn format_ns(ns: f64) -> String {
    let (value, unit) = match ns.abs() {
        a if a < 999.5 => (ns, "ns"),
        a if a < 999_500.0 => (ns / 1e3, "µs"),
        a if a < 999_500_000.0 => (ns / 1e6, "ms"),
        a if a < 60e9 => (ns / 1e9, "s"),
        a if a < 3_600e9 => (ns / 60e9, "min"),
        a if a < 86_400e9 => (ns / 3_600e9, "h"),
        _ => (ns / 86_400e9, "d"),
    };
    let decimals = match value.abs() {
        a if unit == "ns" && (a - a.round()).abs() < 0.05 => 0,
        a if a < 9.995 => 2,
        a if a < 99.95 => 1,
        _ => 0,
    };
    format!("{value:.decimals$} {unit}")
}

#[cfg(test)]
mod tests {
    use super::{DurationError, format_ns, parse_ns};
    use proptest::prelude::{any, proptest};

    #[test]
    fn every_unit_of_the_command_line() {
        for (text, ns) in [
            ("0", 0),
            ("500ns", 500),
            ("250us", 250_000),
            ("250 µs", 250_000),
            ("1ms", 1_000_000),
            ("20s", 20_000_000_000),
            ("5m", 300_000_000_000),
            ("2h", 7_200_000_000_000),
            ("7d", 604_800_000_000_000),
            ("208.333333us", 208_333),
            ("1.5ms", 1_500_000),
            (".5s", 500_000_000),
        ] {
            assert_eq!(parse_ns(text), Ok(ns), "{text}");
        }
    }

    #[test]
    fn refusals_name_the_text() {
        assert_eq!(parse_ns(" "), Err(DurationError::Empty));
        assert_eq!(parse_ns("fast"), Err(DurationError::NotANumber("fast".into())));
        assert_eq!(parse_ns("-1ms"), Err(DurationError::NotANumber("-1ms".into())));
        assert_eq!(parse_ns("10"), Err(DurationError::UnknownUnit("10".into())));
        assert_eq!(parse_ns("1.2.3s"), Err(DurationError::NotANumber("1.2.3s".into())));
        assert_eq!(parse_ns("0.1ns"), Err(DurationError::OutOfRange("0.1ns".into())));
        assert_eq!(parse_ns("400000d"), Err(DurationError::OutOfRange("400000d".into())));
    }

    #[test]
    fn shown_with_the_unit_that_keeps_it_short() {
        for (ns, text) in [
            (0.0, "0 ns"),
            (76.0, "76 ns"),
            (999.6, "1.00 µs"),
            (34_210.0, "34.2 µs"),
            (692_000.0, "692 µs"),
            (8_091_000.0, "8.09 ms"),
            (20e9, "20.0 s"),
            (604_800e9, "7.00 d"),
        ] {
            assert_eq!(format_ns(ns), text);
        }
    }

    proptest! {
        #[test]
        fn no_text_panics(text in any::<String>()) {
            let _ = parse_ns(&text);
        }

        #[test]
        fn whole_microseconds_survive(us in 0u64..1_000_000_000) {
            assert_eq!(parse_ns(&format!("{us}us")), Ok(us * 1_000));
        }
    }
}
