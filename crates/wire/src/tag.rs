//! Tags of BER elements.

use std::fmt;

/// Identifier octets of an element, class and form included, packed big-endian: `0x82`, or `0x9F8102` for three octets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Tag(pub u32);

impl Tag {
    /// True when the class is context-specific (the first octet begins with the bits 10).
    pub const fn is_context(self) -> bool {
        self.first_octet() & 0xc0 == 0x80
    }

    /// True when the content consists of elements.
    pub const fn is_constructed(self) -> bool {
        self.first_octet() & 0x20 != 0
    }

    const fn first_octet(self) -> u32 {
        let mut first = self.0;
        while first > 0xff {
            first >>= 8;
        }
        first
    }
}

impl fmt::Display for Tag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:02x}", self.0)
    }
}
