//! Quality words as people write them.

use wire::quality::SvQuality;

/// The bits by name, as 9-2LE names them.
const NAMES: [(&str, u32); 14] = [
    ("good", 0),
    ("invalid", SvQuality::INVALID.0),
    ("questionable", SvQuality::QUESTIONABLE.0),
    ("overflow", SvQuality::OVERFLOW),
    ("out-of-range", SvQuality::OUT_OF_RANGE),
    ("bad-reference", SvQuality::BAD_REFERENCE),
    ("oscillatory", SvQuality::OSCILLATORY),
    ("failure", SvQuality::FAILURE),
    ("old-data", SvQuality::OLD_DATA),
    ("inconsistent", SvQuality::INCONSISTENT),
    ("inaccurate", SvQuality::INACCURATE),
    ("substituted", SvQuality::SUBSTITUTED),
    ("test", SvQuality::TEST),
    ("operator-blocked", SvQuality::OPERATOR_BLOCKED),
];

/// A quality word from names (`invalid,test`) or a number (`0x0801`).
///
/// # Errors
/// A text that is neither, with the names there are.
pub fn parse_quality(text: &str) -> Result<SvQuality, String> {
    if let Some(number) = number(text.trim()) {
        return Ok(SvQuality(number));
    }
    text.split(',').map(str::trim).try_fold(SvQuality::GOOD, |word, name| {
        let bits = NAMES.iter().find(|(known, _)| *known == name).map(|(_, bits)| *bits);
        bits.map(|bits| SvQuality(word.0 | bits)).ok_or_else(|| {
            let names: Vec<&str> = NAMES.iter().map(|(name, _)| *name).collect();
            format!(
                "\"{name}\" is no quality: use a number such as 0x0800, or {}",
                names.join(", ")
            )
        })
    })
}

fn number(text: &str) -> Option<u32> {
    match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        Some(digits) => u32::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::parse_quality;
    use wire::quality::SvQuality;

    #[test]
    fn names_and_numbers() {
        assert_eq!(parse_quality("good"), Ok(SvQuality::GOOD));
        assert_eq!(parse_quality("invalid, test"), Ok(SvQuality(0x0801)));
        assert_eq!(parse_quality("0x2000"), Ok(SvQuality(0x2000)));
        assert_eq!(parse_quality("3"), Ok(SvQuality(3)));
        let refused = parse_quality("bad").expect_err("no such name");
        assert!(
            refused.contains("\"bad\"") && refused.contains("questionable"),
            "{refused}"
        );
    }
}
