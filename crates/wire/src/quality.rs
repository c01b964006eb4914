//! The quality of a value: the 32-bit word of sampled values, and the 13-bit string of GOOSE.

/// How far a value can be trusted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Validity {
    /// Usable.
    Good,
    /// Not usable.
    Invalid,
    /// Usable only where the function's setting allows it.
    Questionable,
}

/// The quality word behind each INT32 of a 9-2LE or IEC 61869-9 dataset. Bits are numbered from the least significant of
/// the big-endian word, as 9-2LE, Wireshark and libiec61850 do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct SvQuality(pub u32);

impl SvQuality {
    /// Good, nothing set.
    pub const GOOD: Self = Self(0);
    /// Validity invalid, as it is published (1).
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

    /// Validity: 0 is good, 3 questionable, and both 1 and 2 invalid. The standards' readers disagree on which of 1 and 2
    /// means invalid (Wireshark says 1, libiec61850 publishes 2); neither may pass as good.
    pub const fn validity(self) -> Validity {
        match self.0 & 3 {
            0 => Validity::Good,
            3 => Validity::Questionable,
            _ => Validity::Invalid,
        }
    }

    /// True when every bit of `mask` is set.
    pub const fn has(self, mask: u32) -> bool {
        self.0 & mask == mask
    }
}

/// The quality of GOOSE: a bit string of 13 bits, the first bit sent first. Kept as the two content octets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct GooseQuality(pub u16);

impl GooseQuality {
    /// Bits in use.
    pub const BITS: u32 = 13;
    /// Test value.
    pub const TEST: u16 = 1 << (15 - 11);

    /// Reads the bits of a bit string (without its unused-bits octet); `None` unless it has exactly 13.
    pub fn from_bits(bits: &[u8], unused: u8) -> Option<Self> {
        match (bits, unused) {
            (&[high, low], 3) => Some(Self(u16::from_be_bytes([high, low]) & 0xfff8)),
            _ => None,
        }
    }

    /// Validity: the first two bits; 00 good, 01 invalid, 11 questionable. The reserved 10 is read as invalid.
    pub const fn validity(self) -> Validity {
        match self.0 >> 14 {
            0 => Validity::Good,
            3 => Validity::Questionable,
            _ => Validity::Invalid,
        }
    }

    /// True when the value is a test value.
    pub const fn is_test(self) -> bool {
        self.0 & Self::TEST != 0
    }
}

#[cfg(test)]
mod tests {
    use super::{GooseQuality, SvQuality, Validity};

    #[test]
    fn one_and_two_are_both_invalid() {
        let validity = |word| SvQuality(word).validity();
        assert_eq!(validity(0x2000), Validity::Good);
        assert_eq!(validity(1), Validity::Invalid);
        assert_eq!(validity(2), Validity::Invalid);
        assert_eq!(validity(0x0803), Validity::Questionable);
        assert!(SvQuality(0x0211).has(SvQuality::INACCURATE | SvQuality::BAD_REFERENCE));
        assert!(!SvQuality(0x0211).has(SvQuality::TEST));
    }

    #[test]
    fn goose_quality_reads_from_the_first_bit() {
        let quality = GooseQuality::from_bits(&[0x40, 0x10], 3).unwrap();
        assert_eq!(quality.validity(), Validity::Invalid);
        assert!(quality.is_test());
        assert_eq!(
            GooseQuality::from_bits(&[0xc0, 0], 3).unwrap().validity(),
            Validity::Questionable
        );
        assert_eq!(GooseQuality::from_bits(&[0, 0], 3).unwrap().validity(), Validity::Good);
        assert_eq!(GooseQuality::from_bits(&[0x80], 6), None);
    }
}
