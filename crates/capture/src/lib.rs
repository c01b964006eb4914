//! Frames from packet captures: pcap (micro- and nanosecond stamps, both byte orders) and pcapng (any time resolution, several interfaces, several
//! sections), compressed with gzip or not. The reader accepts any [`std::io::Read`] and keeps the order of the file. It needs memory for a buffer or
//! one block, whichever is larger, and returns frames that borrow from it.
//!
//! The length of a block is checked before it is read, so that a capture that was cut yields every whole frame and then the place of its end.
//! `pcap-parser` parses file headers and descriptions of interfaces.
#![forbid(unsafe_code)]

mod error;
mod input;
mod pcap;
mod pcapng;
mod pcapng_write;
mod reader;
mod source;
mod stamps;
pub mod write;

pub use error::CaptureError;
pub use pcapng_write::{Captured, Direction, PcapngWriter};
pub use reader::Reader;
pub use stamps::Stamps;

/// Link type of a capture, as numbered by tcpdump.org.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct LinkType(pub u16);

impl LinkType {
    /// Ethernet frames without frame check sequence.
    pub const ETHERNET: Self = Self(1);

    /// The name of the more common types.
    pub const fn name(self) -> Option<&'static str> {
        Some(match self.0 {
            0 => "BSD loopback",
            1 => "Ethernet",
            101 => "raw IP",
            105 => "IEEE 802.11",
            113 => "Linux cooked (taken on the interface `any`)",
            127 => "IEEE 802.11 with radiotap",
            276 => "Linux cooked v2 (taken on the interface `any`)",
            _ => return None,
        })
    }
}

impl std::fmt::Display for LinkType {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.name() {
            Some(name) => write!(f, "{} ({name})", self.0),
            None => write!(f, "{}", self.0),
        }
    }
}

/// One frame of a capture.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Frame<'a> {
    /// Its number in the file, from 1, as in other tools.
    pub number: u64,
    /// Instant of capture in ns since 1970 UTC, by the clock of the capturing machine. `None` in the rare pcapng blocks that
    /// have no stamp.
    pub time_ns: Option<i64>,
    /// The bytes that were kept.
    pub data: &'a [u8],
    /// Number of bytes on the wire; more than `data` if the capture was taken with a limit.
    pub original_len: u32,
    /// The layer at which the bytes begin.
    pub link_type: LinkType,
    /// Number of its interface in the section, from 0. A pcap file has one.
    pub interface: u32,
    /// Name of its interface, if the capture states it.
    pub interface_name: Option<&'a str>,
}

impl Frame<'_> {
    /// True if the capture kept only the beginning of the frame.
    pub fn is_cut(&self) -> bool {
        (self.data.len() as u64) < u64::from(self.original_len)
    }
}

#[cfg(test)]
mod tests;
