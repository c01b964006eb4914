//! Data values of a GOOSE message, read in place.

use super::{MAX_NESTING, data_tag as tag};
use crate::ber::{Element, Reader, Tag};
use crate::bytes::{array, be32, be64};
use crate::frame_error::{Field, FrameError, Rule};
use crate::time::UtcTime;

/// One value of a dataset.
#[derive(Debug, Clone, Copy)]
pub enum Data<'a> {
    /// Values of one type.
    Array(Entries<'a>),
    /// Values of several types.
    Structure(Entries<'a>),
    /// Any octet except 0 is true.
    Boolean(bool),
    /// Bits; the first one is the top bit of the first octet. The last `unused` bits do not count.
    BitString {
        /// Bits of the last octet that do not count, 0..=7.
        unused: u8,
        /// The octets.
        bits: &'a [u8],
    },
    /// Signed, up to 64 bits.
    Integer(i64),
    /// Unsigned, up to 64 bits.
    Unsigned(u64),
    /// 32-bit floating point.
    Float32(f32),
    /// 64-bit floating point.
    Float64(f64),
    /// Octets.
    OctetString(&'a [u8]),
    /// Text, which should be visible ASCII.
    VisibleString(&'a [u8]),
    /// Milliseconds of the day; with 6 octets, followed by the days since 1984.
    BinaryTime(&'a [u8]),
    /// A UTC instant.
    UtcTime(UtcTime),
    /// An MMS type without a variant of its own here.
    Other {
        /// Its tag.
        tag: Tag,
        /// Its octets.
        octets: &'a [u8],
    },
}

/// Iterator over values. In a checked frame it yields all of them; in an inspected one, those before the first
/// violation.
#[derive(Debug, Clone, Copy)]
pub struct Entries<'a> {
    reader: Reader<'a>,
}

impl<'a> Entries<'a> {
    pub(super) fn new(reader: Reader<'a>) -> Self {
        Self { reader }
    }

    /// The octets of the entries not read yet.
    pub(super) fn octets(&self) -> &'a [u8] {
        self.reader.rest()
    }

    /// The next entry with its element, to patch it in place.
    pub(super) fn next_with_element(&mut self) -> Option<(Element, Data<'a>)> {
        let element = self.reader.next_element().ok()??;
        value(&self.reader, &element).ok().map(|data| (element, data))
    }
}

impl<'a> Iterator for Entries<'a> {
    type Item = Data<'a>;

    #[inline]
    fn next(&mut self) -> Option<Data<'a>> {
        self.next_with_element().map(|(_, data)| data)
    }
}

/// Checks every value at any depth, and counts those of the first level.
pub(super) fn check(mut reader: Reader<'_>, depth: usize) -> Result<u32, FrameError> {
    let mut entries = 0;
    while let Some(element) = reader.next_element()? {
        entries += 1;
        if element.tag == tag::ARRAY || element.tag == tag::STRUCTURE {
            if depth == MAX_NESTING {
                return Err(reader.error(element.start, Rule::Nesting));
            }
            check(reader.within(&element), depth + 1)?;
        } else {
            value(&reader, &element)?;
        }
    }
    Ok(entries)
}

/// Reads one value. Of arrays and structures, only the outer element is checked.
fn value<'a>(reader: &Reader<'a>, element: &Element) -> Result<Data<'a>, FrameError> {
    let octets = reader.content(element);
    let size = |field, wanted| Err(reader.size_error(element, field, wanted));
    match element.tag {
        tag::ARRAY => Ok(Data::Array(Entries::new(reader.within(element)))),
        tag::STRUCTURE => Ok(Data::Structure(Entries::new(reader.within(element)))),
        tag::BOOLEAN => match octets {
            [octet] => Ok(Data::Boolean(*octet != 0)),
            _ => size(Field::Boolean, "1"),
        },
        tag::BIT_STRING => bit_string(reader, element, octets),
        tag::INTEGER => match octets.len() {
            1..=8 => Ok(Data::Integer(signed(octets))),
            _ => size(Field::Integer, "1 to 8"),
        },
        tag::UNSIGNED => match (octets.len(), octets.first()) {
            (1..=8, _) | (9, Some(0)) => Ok(Data::Unsigned(unsigned(octets))),
            _ => size(Field::Unsigned, "1 to 8, or 9 with a leading 00"),
        },
        tag::FLOAT => float(reader, element, octets),
        tag::OCTET_STRING => Ok(Data::OctetString(octets)),
        tag::VISIBLE_STRING => Ok(Data::VisibleString(octets)),
        tag::BINARY_TIME => match octets.len() {
            4 | 6 => Ok(Data::BinaryTime(octets)),
            _ => size(Field::BinaryTime, "4 or 6"),
        },
        tag::UTC_TIME => match octets.len() {
            8 => Ok(Data::UtcTime(UtcTime::from_bytes(array(octets, 0)))),
            _ => size(Field::UtcTime, "8"),
        },
        other if tag::OTHER.contains(&other) => Ok(Data::Other { tag: other, octets }),
        found => Err(reader.error(
            element.start,
            Rule::Unexpected {
                within: Field::AllData,
                found,
            },
        )),
    }
}

fn bit_string<'a>(reader: &Reader<'a>, element: &Element, octets: &'a [u8]) -> Result<Data<'a>, FrameError> {
    match octets {
        [] => Err(reader.size_error(element, Field::BitString, "1 or more")),
        &[unused, ref bits @ ..] if unused <= 7 && (unused == 0 || !bits.is_empty()) => {
            Ok(Data::BitString { unused, bits })
        }
        &[unused, ref bits @ ..] => Err(reader.error(
            element.start,
            Rule::UnusedBits {
                unused,
                octets: bits.len() as u32,
            },
        )),
    }
}

fn float<'a>(reader: &Reader<'a>, element: &Element, octets: &'a [u8]) -> Result<Data<'a>, FrameError> {
    match (octets.len(), octets.first()) {
        (5, Some(8)) => Ok(Data::Float32(f32::from_bits(be32(octets, 1)))),
        (9, Some(11)) => Ok(Data::Float64(f64::from_bits(be64(octets, 1)))),
        (0, _) | (_, None) => Err(reader.size_error(element, Field::Float, "5 or 9")),
        (len, Some(&exponent)) => Err(reader.error(
            element.start,
            Rule::FloatFormat {
                exponent,
                octets: len as u32,
            },
        )),
    }
}

fn signed(octets: &[u8]) -> i64 {
    let sign = if octets.first().is_some_and(|octet| octet & 0x80 != 0) {
        -1
    } else {
        0
    };
    octets
        .iter()
        .fold(sign, |number, &octet| number << 8 | i64::from(octet))
}

/// Up to 8 octets, or 9 of which the first is 0.
pub(super) fn unsigned(octets: &[u8]) -> u64 {
    octets.iter().fold(0, |number, &octet| number << 8 | u64::from(octet))
}
