//! Parts that the lines of both protocols share.

use std::fmt;

use capture::Frame;
use serde::Serialize;
use serde::ser::{SerializeMap, SerializeSeq, Serializer};
use wire::FrameError;
use wire::ether::{EthernetView, Mac, VlanTag};
use wire::header::Header;

/// Bytes as lower-case hexadecimal text.
pub(crate) struct Hex<'a>(pub(super) &'a [u8]);

/// Number of bytes that are converted at a time.
const HEX_CHUNK: usize = 32;

impl fmt::Display for Hex<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = [0; 2 * HEX_CHUNK];
        for octets in self.0.chunks(HEX_CHUNK) {
            let digits = write_hex(octets, &mut text);
            f.write_str(digits)?;
        }
        Ok(())
    }
}

impl Serialize for Hex<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// Writes the digits of up to 32 bytes.
fn write_hex<'a>(octets: &[u8], text: &'a mut [u8; 2 * HEX_CHUNK]) -> &'a str {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    for (pair, octet) in text.as_chunks_mut::<2>().0.iter_mut().zip(octets) {
        *pair = [DIGITS[usize::from(octet >> 4)], DIGITS[usize::from(octet & 15)]];
    }
    std::str::from_utf8(&text[..2 * octets.len().min(HEX_CHUNK)]).unwrap_or_default()
}

/// A MAC address, written without the general formatting machinery, which would be the most expensive part of a line.
struct MacText(Mac);

impl Serialize for MacText {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut digits = [0; 2 * HEX_CHUNK];
        write_hex(&self.0.0, &mut digits);
        let mut text = [b':'; 17];
        for (place, pair) in text.chunks_mut(3).zip(digits.as_chunks::<2>().0) {
            place[..2].copy_from_slice(pair);
        }
        serializer.serialize_str(std::str::from_utf8(&text).unwrap_or_default())
    }
}

/// Text of a VisibleString; bytes that are not UTF-8 become U+FFFD.
pub(crate) struct Text<'a>(pub(super) &'a [u8]);

impl Serialize for Text<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&String::from_utf8_lossy(self.0))
    }
}

struct Vlan(VlanTag);

impl Serialize for Vlan {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(3))?;
        map.serialize_entry("pcp", &self.0.pcp())?;
        map.serialize_entry("dei", &u8::from(self.0.dei()))?;
        map.serialize_entry("vid", &self.0.vid())?;
        map.end()
    }
}

/// A sequence written from an iterator.
pub(crate) struct Sequence<I>(pub(super) I);

impl<I: Iterator<Item: Serialize> + Clone> Serialize for Sequence<I> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut sequence = serializer.serialize_seq(None)?;
        for item in self.0.clone() {
            sequence.serialize_element(&item)?;
        }
        sequence.end()
    }
}

/// Writes an entry if there is a value.
pub(crate) fn optional<M: SerializeMap>(
    map: &mut M,
    key: &'static str,
    value: Option<impl Serialize>,
) -> Result<(), M::Error> {
    value.map_or(Ok(()), |value| map.serialize_entry(key, &value))
}

/// The beginning of a line: number of the frame, source and destination, and the header after the EtherType.
pub(crate) struct Head<'a> {
    pub(crate) kind: &'static str,
    pub(crate) frame: &'a Frame<'a>,
    pub(crate) ethernet: &'a EthernetView<'a>,
    pub(crate) header: Option<Header>,
}

impl Head<'_> {
    pub(crate) fn write<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error> {
        map.serialize_entry("kind", self.kind)?;
        map.serialize_entry("frame", &self.frame.number)?;
        map.serialize_entry("time_ns", &self.frame.time_ns)?;
        map.serialize_entry("dst", &MacText(self.ethernet.dst()))?;
        map.serialize_entry("src", &MacText(self.ethernet.src_on_wire()))?;
        map.serialize_entry("vlan", &self.ethernet.vlan().map(Vlan))?;
        optional(map, "vlan2", self.ethernet.inner_vlan().map(Vlan))?;
        let Some(header) = self.header else { return Ok(()) };
        map.serialize_entry("appid", &header.appid)?;
        map.serialize_entry("length", &header.length)?;
        map.serialize_entry("reserved1", &header.reserved1)?;
        map.serialize_entry("reserved2", &header.reserved2)?;
        map.serialize_entry("simulate", &header.simulate())
    }
}

/// The end of a line: flags to count, and the error.
pub(crate) struct Judgement<'a> {
    pub(crate) flags: &'a [&'static str],
    pub(crate) error: Option<FrameError>,
}

impl Judgement<'_> {
    pub(crate) fn write<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error> {
        if !self.flags.is_empty() {
            map.serialize_entry("flags", self.flags)?;
        }
        if let Some(error) = self.error {
            map.serialize_entry("error", &error.rule.to_string())?;
            map.serialize_entry("offset", &error.offset)?;
        }
        Ok(())
    }
}

/// Appends one line.
pub(crate) fn write_line(lines: &mut Vec<u8>, line: &impl Serialize) -> std::io::Result<()> {
    serde_json::to_writer(&mut *lines, line)?;
    lines.push(b'\n');
    Ok(())
}
