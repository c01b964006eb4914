//! The pcap format.

use std::io::Read;

use pcap_parser::{parse_pcap_frame, parse_pcap_frame_be, parse_pcap_header};

use crate::source::{MAX_BLOCK, Source};
use crate::{CaptureError, Frame, LinkType};

const FILE_HEADER: usize = 24;
const RECORD_HEADER: usize = 16;

/// What the file header says.
#[derive(Debug)]
pub(crate) struct Pcap {
    big_endian: bool,
    ns_per_unit: i64,
    link_type: LinkType,
}

impl Pcap {
    /// Reads the file header.
    pub(crate) fn read_header<R: Read>(source: &mut Source<R>) -> Result<Self, CaptureError> {
        source.extend_to(FILE_HEADER)?;
        let Ok((_, header)) = parse_pcap_header(source.block()) else {
            return Err(source.damaged("the file header cannot be read"));
        };
        // The upper 16 bits tell about frame check sequences, which are behind everything that is decoded here.
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

    pub(crate) fn next_frame<'a, R: Read>(&self, source: &'a mut Source<R>) -> Result<Option<Frame<'a>>, CaptureError> {
        source.next_block();
        if !source.extend_to(RECORD_HEADER)? {
            return Ok(None);
        }
        let captured = self.captured(source.block());
        if captured > MAX_BLOCK {
            return Err(source.damaged(format!("a frame of {captured} octets")));
        }
        source.extend_to(RECORD_HEADER + captured)?;
        source.frames += 1;
        let number = source.frames;
        let parse = if self.big_endian {
            parse_pcap_frame_be
        } else {
            parse_pcap_frame
        };
        let Ok((_, record)) = parse(source.block()) else {
            return Err(source.damaged("the record cannot be read"));
        };
        let time_ns = i64::from(record.ts_sec) * 1_000_000_000 + i64::from(record.ts_usec) * self.ns_per_unit;
        Ok(Some(Frame {
            number,
            time_ns: Some(time_ns),
            data: record.data,
            original_len: record.origlen,
            link_type: self.link_type,
        }))
    }

    /// Octets kept of the frame, from the record header.
    fn captured(&self, header: &[u8]) -> usize {
        let octets = header
            .get(8..12)
            .and_then(|octets| octets.try_into().ok())
            .unwrap_or_default();
        let captured = if self.big_endian {
            u32::from_be_bytes(octets)
        } else {
            u32::from_le_bytes(octets)
        };
        captured as usize
    }
}
