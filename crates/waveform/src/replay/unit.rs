//! Units as recorders write them.

use crate::sample::Quantity;

/// The quantity of a channel's unit, and its size in amperes or volts: `kV` is a voltage of 1000. `None` for other units.
pub(super) fn parse(unit: &str) -> Option<(Quantity, f64)> {
    let unit = unit.trim();
    const NAMES: [(&str, Quantity); 10] = [
        ("amperes", Quantity::Current),
        ("ampere", Quantity::Current),
        ("amps", Quantity::Current),
        ("amp", Quantity::Current),
        ("volts", Quantity::Voltage),
        ("volt", Quantity::Voltage),
        ("arms", Quantity::Current),
        ("vrms", Quantity::Voltage),
        ("a", Quantity::Current),
        ("v", Quantity::Voltage),
    ];
    let lower = unit.to_lowercase();
    let (prefix_octets, quantity) = NAMES
        .iter()
        .find_map(|(name, quantity)| lower.strip_suffix(name).map(|prefix| (prefix.len(), *quantity)))?;
    // The lower-case form of every known prefix has the same number of bytes.
    let factor = match unit.get(..prefix_octets)?.trim() {
        "" => 1.0,
        "k" | "K" => 1e3,
        "M" => 1e6,
        "m" => 1e-3,
        "u" | "\u{b5}" | "\u{3bc}" => 1e-6,
        _ => return None,
    };
    Some((quantity, factor))
}

#[cfg(test)]
mod tests {
    use super::parse;
    use crate::sample::Quantity::{Current, Voltage};

    #[test]
    fn prefixes() {
        for (unit, expected) in [
            ("A", Some((Current, 1.0))),
            ("a", Some((Current, 1.0))),
            ("kA", Some((Current, 1e3))),
            ("KA", Some((Current, 1e3))),
            ("mA", Some((Current, 1e-3))),
            ("MA", Some((Current, 1e6))),
            ("Amps", Some((Current, 1.0))),
            (" kV ", Some((Voltage, 1e3))),
            ("Volts", Some((Voltage, 1.0))),
            ("uV", Some((Voltage, 1e-6))),
            ("\u{b5}A", Some((Current, 1e-6))),
            ("", None),
            ("Hz", None),
            ("none", None),
            ("MVA", None),
            ("kVA", None),
        ] {
            assert_eq!(parse(unit), expected, "{unit}");
        }
    }
}
