//! Data values that own their octets, and their encoding.

use super::message::Width;
use super::{Data, MAX_NESTING, data_tag as tag};
use crate::ber::{Tag, integer_octets, nested, unsigned_octets, write_element};
use crate::frame_error::Field;
use crate::header::EncodeError;
use crate::quality::GooseQuality;
use crate::time::UtcTime;

/// One value of a dataset. The variants correspond to those of [`Data`].
#[derive(Debug, Clone, PartialEq)]
#[allow(missing_docs, reason = "the variants and fields are described at `Data`")]
pub enum Value {
    Array(Vec<Value>),
    Structure(Vec<Value>),
    Boolean(bool),
    BitString { unused: u8, bits: Vec<u8> },
    Integer(i64),
    Unsigned(u64),
    Float32(f32),
    Float64(f64),
    OctetString(Vec<u8>),
    VisibleString(Vec<u8>),
    BinaryTime(Vec<u8>),
    UtcTime(UtcTime),
    Other { tag: Tag, octets: Vec<u8> },
}

impl Value {
    /// A quality of 13 bits.
    pub fn quality(quality: GooseQuality) -> Self {
        Self::BitString {
            unused: 3,
            bits: quality.0.to_be_bytes().to_vec(),
        }
    }

    pub(super) fn check(&self, depth: usize) -> Result<(), EncodeError> {
        let size = |field, octets, wanted| Err(EncodeError::Value { field, octets, wanted });
        match self {
            Self::Array(entries) | Self::Structure(entries) if depth < MAX_NESTING => {
                entries.iter().try_for_each(|entry| entry.check(depth + 1))
            }
            Self::Array(_) | Self::Structure(_) => Err(EncodeError::Nesting),
            Self::BitString { unused, bits } if *unused > 7 || (*unused > 0 && bits.is_empty()) => size(
                Field::BitString,
                bits.len(),
                "at most 7 unused bits, and octets that hold them",
            ),
            Self::BinaryTime(octets) if !matches!(octets.len(), 4 | 6) => {
                size(Field::BinaryTime, octets.len(), "4 or 6")
            }
            Self::Other { tag: other, .. } if !tag::OTHER.contains(other) => Err(EncodeError::OtherTag(*other)),
            _ => Ok(()),
        }
    }

    /// Appends the value, which must have been checked before.
    pub(super) fn write(&self, out: &mut Vec<u8>, width: Width) {
        let entries = |out: &mut Vec<u8>, tag, entries: &[Self]| {
            nested(out, tag, |inner| {
                entries.iter().for_each(|entry| entry.write(inner, width));
            });
        };
        match self {
            Self::Array(values) => entries(out, tag::ARRAY, values),
            Self::Structure(values) => entries(out, tag::STRUCTURE, values),
            Self::Boolean(value) => write_element(out, tag::BOOLEAN, &[if *value { 0xff } else { 0 }]),
            Self::BitString { unused, bits } => nested(out, tag::BIT_STRING, |inner| {
                inner.push(*unused);
                inner.extend_from_slice(bits);
            }),
            Self::Integer(value) => nested(out, tag::INTEGER, |inner| match width {
                Width::Minimal => inner.extend(integer_octets(*value)),
                Width::Fixed => inner.extend(fixed(i128::from(*value))),
            }),
            Self::Unsigned(value) => nested(out, tag::UNSIGNED, |inner| match width {
                Width::Minimal => inner.extend(unsigned_octets(*value)),
                Width::Fixed => inner.extend(fixed(i128::from(*value))),
            }),
            Self::Float32(value) => nested(out, tag::FLOAT, |inner| {
                inner.push(8);
                inner.extend_from_slice(&value.to_bits().to_be_bytes());
            }),
            Self::Float64(value) => nested(out, tag::FLOAT, |inner| {
                inner.push(11);
                inner.extend_from_slice(&value.to_bits().to_be_bytes());
            }),
            Self::OctetString(octets) => write_element(out, tag::OCTET_STRING, octets),
            Self::VisibleString(octets) => write_element(out, tag::VISIBLE_STRING, octets),
            Self::BinaryTime(octets) => write_element(out, tag::BINARY_TIME, octets),
            Self::UtcTime(time) => write_element(out, tag::UTC_TIME, &time.to_bytes()),
            Self::Other { tag, octets } => write_element(out, *tag, octets),
        }
    }
}

/// A number in nine octets of two's complement: every 64-bit number fits, signed or unsigned.
pub(super) fn wide(number: i128) -> [u8; 9] {
    let octets = number.to_be_bytes();
    let mut wide = [0; 9];
    wide.copy_from_slice(&octets[octets.len() - 9..]);
    wide
}

/// Range of 32-bit numbers, signed or unsigned.
const OF_32_BITS: std::ops::Range<i128> = -(1 << 31)..1 << 32;

/// The fixed-length encoding of IEC 61850-8-1 Ed. 2: five octets for a number of 32 bits; otherwise eight, or nine with
/// a leading 00.
fn fixed(number: i128) -> impl Iterator<Item = u8> {
    let wide = wide(number);
    let octets = match () {
        () if OF_32_BITS.contains(&number) => 5,
        () if narrow(&wide, 8).is_some() => 8,
        () => 9,
    };
    wide.into_iter().skip(wide.len() - octets)
}

/// The last `octets` octets of a number, at most nine, if they encode the same number.
pub(super) fn narrow(wide: &[u8; 9], octets: usize) -> Option<&[u8]> {
    let (cut, kept) = wide.split_at_checked(wide.len().checked_sub(octets)?)?;
    let sign = if kept.first()? & 0x80 == 0 { 0 } else { 0xff };
    cut.iter().all(|octet| *octet == sign).then_some(kept)
}

impl From<Data<'_>> for Value {
    fn from(data: Data<'_>) -> Self {
        match data {
            Data::Array(entries) => Self::Array(entries.map(Self::from).collect()),
            Data::Structure(entries) => Self::Structure(entries.map(Self::from).collect()),
            Data::Boolean(value) => Self::Boolean(value),
            Data::BitString { unused, bits } => Self::BitString {
                unused,
                bits: bits.to_vec(),
            },
            Data::Integer(value) => Self::Integer(value),
            Data::Unsigned(value) => Self::Unsigned(value),
            Data::Float32(value) => Self::Float32(value),
            Data::Float64(value) => Self::Float64(value),
            Data::OctetString(octets) => Self::OctetString(octets.to_vec()),
            Data::VisibleString(octets) => Self::VisibleString(octets.to_vec()),
            Data::BinaryTime(octets) => Self::BinaryTime(octets.to_vec()),
            Data::UtcTime(time) => Self::UtcTime(time),
            Data::Other { tag, octets } => Self::Other {
                tag,
                octets: octets.to_vec(),
            },
        }
    }
}
