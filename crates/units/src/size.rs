//! Sizes as people write them: `64MiB`, `500kB`, `4096`.

/// Error: the text is not a size.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SizeError(String);

impl std::fmt::Display for SizeError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "\"{}\" is not a size: write it as 4096, 512KiB, 64MiB or 2GiB",
            self.0
        )
    }
}

impl std::error::Error for SizeError {}

/// Converts a size such as `64MiB` (powers of 1024) or `500kB` (powers of 1000) to bytes.
pub fn parse_bytes(text: &str) -> Result<u64, SizeError> {
    let error = || SizeError(text.to_owned());
    let trimmed = text.trim();
    let split = trimmed.find(|c: char| !c.is_ascii_digit()).unwrap_or(trimmed.len());
    let (number, unit) = trimmed.split_at(split);
    let factor: u64 = match unit.trim() {
        "" | "B" => 1,
        "kB" => 1_000,
        "MB" => 1_000_000,
        "GB" => 1_000_000_000,
        "KiB" => 1 << 10,
        "MiB" => 1 << 20,
        "GiB" => 1 << 30,
        _ => return Err(error()),
    };
    number
        .parse::<u64>()
        .ok()
        .and_then(|n| n.checked_mul(factor))
        .ok_or_else(error)
}

/// Formats a number of bytes in powers of 1024 with three digits: `512 B`, `1.50 MiB`.
pub fn format_octets(octets: f64) -> String {
    let mut value = octets;
    let mut units = ["B", "KiB", "MiB", "GiB", "TiB"].into_iter();
    let mut unit = units.next().unwrap_or_default();
    for larger in units {
        // A value that would round to 1000 is shown in the next larger unit.
        if value.abs() < 999.5 {
            break;
        }
        value /= 1024.0;
        unit = larger;
    }
    let decimals = match value.abs() {
        _ if unit == "B" => 0,
        v if v >= 99.95 => 0,
        v if v >= 9.995 => 1,
        _ => 2,
    };
    format!("{value:.decimals$} {unit}")
}

#[cfg(test)]
mod tests {
    use super::{format_octets, parse_bytes};

    #[test]
    fn octets_for_a_person() {
        for (octets, text) in [
            (0.0, "0 B"),
            (999.4, "999 B"),
            (1000.0, "0.98 KiB"),
            (1_572_864.0, "1.50 MiB"),
            (12.0 * 1024.0 * 1024.0, "12.0 MiB"),
            (3.2e12, "2.91 TiB"),
        ] {
            assert_eq!(format_octets(octets), text);
        }
    }

    #[test]
    fn units_and_refusals() {
        assert_eq!(parse_bytes("4096"), Ok(4096));
        assert_eq!(parse_bytes("64MiB"), Ok(64 << 20));
        assert_eq!(parse_bytes("500kB"), Ok(500_000));
        for bad in ["", "MiB", "12XB", "-1", "99999999999GiB"] {
            assert!(parse_bytes(bad).is_err(), "{bad}");
        }
    }
}
