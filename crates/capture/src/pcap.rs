//! The pcap format.

use pcap_parser::parse_pcap_header;

use crate::source::{MAX_BLOCK, Source};
use crate::{CaptureError, Frame, LinkType};

const FILE_HEADER: usize = 24;
const RECORD_HEADER: usize = 16;

/// The file header.
#[derive(Debug)]
pub(crate) struct Pcap {
    big_endian: bool,
    ns_per_unit: i64,
    link_type: LinkType,
}

impl Pcap {
    /// Reads the file header.
    pub(crate) fn read_header(source: &mut Source<'_>) -> Result<Self, CaptureError> {
        source.extend_to(FILE_HEADER)?;
        let Ok((_, header)) = parse_pcap_header(source.block()) else {
            return Err(source.damaged("the file header cannot be read"));
        };
        // The upper 16 bits describe frame check sequences, which come after everything that is decoded here.
        let link_type = LinkType(header.network.0 as u16);
        let ns_per_unit = if header.is_nanosecond_precision() { 1 } else { 1000 };
        let big_endian = header.is_bigendian();
        source.next_block();
        Ok(Self {
            big_endian,
            ns_per_unit,
            link_type,
        })
    }

    /// One unit of the stamps in ns.
    pub(crate) fn unit_ns(&self) -> u64 {
        self.ns_per_unit.unsigned_abs()
    }

    #[inline]
    pub(crate) fn next_frame<'a>(&self, source: &'a mut Source<'_>) -> Result<Option<Frame<'a>>, CaptureError> {
        source.next_block();
        if !source.extend_to(RECORD_HEADER)? {
            return Ok(None);
        }
        let [seconds, part, captured, original_len] = self.record(source.block());
        let captured = captured as usize;
        if captured > MAX_BLOCK {
            return Err(source.damaged(format!("a frame of {captured} octets")));
        }
        source.extend_to(RECORD_HEADER + captured)?;
        source.frames += 1;
        let time_ns = i64::from(seconds) * 1_000_000_000 + i64::from(part) * self.ns_per_unit;
        Ok(Some(Frame {
            number: source.frames,
            time_ns: Some(time_ns),
            data: source.block().get(RECORD_HEADER..).unwrap_or_default(),
            original_len,
            link_type: self.link_type,
            interface: 0,
            interface_name: None,
        }))
    }

    /// The fields of a record header: seconds, parts of a second, octets kept, octets on the wire.
    #[inline]
    fn record(&self, header: &[u8]) -> [u32; 4] {
        let Some(header) = header.first_chunk::<RECORD_HEADER>() else {
            return [0; 4];
        };
        let number = |octets: &[u8; 4]| match self.big_endian {
            true => u32::from_be_bytes(*octets),
            false => u32::from_le_bytes(*octets),
        };
        match header.as_chunks().0 {
            [seconds, part, captured, original] => [number(seconds), number(part), number(captured), number(original)],
            _ => [0; 4],
        }
    }
}
