//! The quality of a value: the 32-bit word of sampled values, and the 13-bit string of GOOSE.

use std::str::FromStr;

/// The quality word after each INT32 of a 9-2LE or IEC 61869-9 dataset. Bits are numbered from the least significant of
/// the big-endian word, as 9-2LE, Wireshark and libiec61850 do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct SvQuality(pub u32);

impl SvQuality {
    /// Good, nothing set.
    pub const GOOD: Self = Self(0);
    /// Validity invalid, as publishers encode it (1).
    pub const INVALID: Self = Self(1);
    /// Validity questionable.
    pub const QUESTIONABLE: Self = Self(3);
    /// Value beyond what its type can hold.
    pub const OVERFLOW: u32 = 0x0004;
    /// Value beyond the sensor's range.
    pub const OUT_OF_RANGE: u32 = 0x0008;
    /// Sensor out of calibration.
    pub const BAD_REFERENCE: u32 = 0x0010;
    /// Value oscillates.
    pub const OSCILLATORY: u32 = 0x0020;
    /// Sensor failure.
    pub const FAILURE: u32 = 0x0040;
    /// Value not updated in time.
    pub const OLD_DATA: u32 = 0x0080;
    /// Contradicts other values.
    pub const INCONSISTENT: u32 = 0x0100;
    /// Does not meet its accuracy class.
    pub const INACCURATE: u32 = 0x0200;
    /// Substituted by an operator instead of measured.
    pub const SUBSTITUTED: u32 = 0x0400;
    /// Test value: usable only by a subscriber that is itself in test mode.
    pub const TEST: u32 = 0x0800;
    /// Blocked by an operator.
    pub const OPERATOR_BLOCKED: u32 = 0x1000;
    /// Calculated, not measured (9-2LE only).
    pub const DERIVED: u32 = 0x2000;
}

/// The bits of a quality word and their usual names.
const NAMES: [(&str, u32); 15] = [
    ("good", SvQuality::GOOD.0),
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
    ("derived", SvQuality::DERIVED),
];

/// Error: the text is not a quality word.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a quality: use a number such as 0x0801, or some of {have}, separated by commas",
    have = NAMES.map(|(name, _)| name).join(", "))]
pub struct QualityError(String);

impl FromStr for SvQuality {
    type Err = QualityError;

    /// Names (`invalid, test`), or a number (`0x0801`).
    fn from_str(text: &str) -> Result<Self, QualityError> {
        let text = text.trim();
        let number = match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
            Some(digits) => u32::from_str_radix(digits, 16).ok(),
            None => text.parse().ok(),
        };
        if let Some(word) = number {
            return Ok(Self(word));
        }
        text.split(',').map(str::trim).try_fold(Self::GOOD, |word, name| {
            let found = NAMES.iter().find(|(known, _)| *known == name);
            found
                .map(|(_, bits)| Self(word.0 | bits))
                .ok_or_else(|| QualityError(name.to_owned()))
        })
    }
}

/// The quality of GOOSE: a bit string of 13 bits, the first bit sent first. Stored as the two content octets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct GooseQuality(pub u16);

impl GooseQuality {
    /// Test value: bit 11 of the string (IEC 61850-7-3).
    pub const TEST: u16 = 0x8000 >> 11;
}

#[cfg(test)]
mod tests {
    use super::SvQuality;

    #[test]
    fn quality_words_as_people_write_them() {
        let word = |text: &str| text.parse::<SvQuality>().map(|quality| quality.0);
        assert_eq!(word("good"), Ok(0));
        assert_eq!(word("invalid, test"), Ok(0x0801));
        assert_eq!((word("0x2000"), word("3")), (Ok(0x2000), Ok(3)));
        let error = word("test,bad").expect_err("no such name").to_string();
        assert!(error.contains("`bad`") && error.contains("questionable"), "{error}");
    }
}
