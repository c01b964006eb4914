//! Units as recorders write them.

use crate::sample::Quantity;

/// Additions to a unit that do not change it: the side of the values stands in a field of its own.
const SIDES: [&str; 6] = ["primary", "secondary", "prim", "pri", "sec", "peak"];

/// The quantity of a channel's unit, and its size in amperes or volts: `kV` is a voltage of 1000. `None` for other units.
pub(super) fn parse(unit: &str) -> Option<(Quantity, f64)> {
    let unit = latin(unit);
    let unit = without_side(unit.trim());
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
        "u" | "mk" | "\u{b5}" | "\u{3bc}" => 1e-6,
        _ => return None,
    };
    Some((quantity, factor))
}

/// A unit in Latin letters: Cyrillic ones of UTF-8, and those of Windows-1251 and of code page 866, which were read as ISO-8859-1.
fn latin(unit: &str) -> String {
    let letter = |letter: char| match letter {
        '\u{410}' | '\u{430}' | '\u{c0}' | '\u{e0}' | '\u{80}' => 'A',
        '\u{412}' | '\u{432}' | '\u{c2}' | '\u{e2}' | '\u{82}' | '\u{a2}' => 'V',
        '\u{41a}' | '\u{43a}' | '\u{ca}' | '\u{ea}' | '\u{8a}' | '\u{aa}' => 'k',
        '\u{41c}' | '\u{cc}' | '\u{8c}' => 'M',
        '\u{43c}' | '\u{ec}' | '\u{ac}' => 'm',
        other => other,
    };
    unit.chars().map(letter).collect()
}

/// `A` from `A pri`, `kV` from `kV (sec.)`.
fn without_side(unit: &str) -> &str {
    let is_mark = |letter: char| matches!(letter, '.' | '(' | ')' | '[' | ']' | '_' | '-' | ' ');
    let bare = unit.trim_end_matches(is_mark);
    let side = SIDES.iter().find(|side| {
        let head = bare.len().saturating_sub(side.len());
        bare.get(head..).is_some_and(|tail| tail.eq_ignore_ascii_case(side))
            && bare.get(..head).is_some_and(|head| head.ends_with(is_mark))
    });
    match side {
        Some(side) => bare[..bare.len() - side.len()].trim_end_matches(is_mark),
        None => unit,
    }
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
            ("А", Some((Current, 1.0))),
            ("кА", Some((Current, 1e3))),
            ("кВ", Some((Voltage, 1e3))),
            ("В", Some((Voltage, 1.0))),
            ("мВ", Some((Voltage, 1e-3))),
            ("мкА", Some((Current, 1e-6))),
            ("\u{ea}\u{c2}", Some((Voltage, 1e3))),
            ("\u{c0}", Some((Current, 1.0))),
            ("\u{aa}\u{82}", Some((Voltage, 1e3))),
            ("A pri", Some((Current, 1.0))),
            ("kV sec.", Some((Voltage, 1e3))),
            ("kA (prim)", Some((Current, 1e3))),
            ("V-secondary", Some((Voltage, 1.0))),
            ("pri", None),
            ("Hz pri", None),
            ("МВт", None),
            ("кВт", None),
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
