//! The pcapng format.

use std::io::Read;

use pcap_parser::{Block, InterfaceDescriptionBlock, OptionCode, parse_block_be, parse_block_le};

use crate::source::{MAX_BLOCK, Source};
use crate::{CaptureError, Frame, LinkType};

const SECTION_HEADER: u32 = 0x0a0d_0d0a;
const INTERFACE_DESCRIPTION: u32 = 1;
const PACKET: u32 = 2;
const SIMPLE_PACKET: u32 = 3;
const ENHANCED_PACKET: u32 = 6;

/// Octets before the frame in a packet block, of both kinds.
const PACKET_HEADER: usize = 28;
/// Octets before the frame in a simple packet block.
const SIMPLE_PACKET_HEADER: usize = 12;

/// Shortest block: type and length twice.
const MIN_BLOCK: usize = 12;
/// Most interfaces of one section. No machine has so many; more is damage, and must not fill the memory.
const MAX_INTERFACES: usize = 1 << 16;

/// The section at the current place.
#[derive(Debug)]
pub(crate) struct Pcapng {
    /// The first block has been read.
    started: bool,
    big_endian: bool,
    interfaces: Vec<Interface>,
}

#[derive(Debug, Clone, Copy)]
struct Interface {
    link_type: LinkType,
    /// Octets kept of each frame; 0 means all.
    snap_len: u32,
    resolution: Resolution,
    /// Seconds to add to each stamp.
    offset_s: i64,
}

/// Unit of the stamps: 10^-n s or 2^-n s.
#[derive(Debug, Clone, Copy)]
enum Resolution {
    Decimal(u8),
    Binary(u8),
}

/// What a packet block says, and where its octets are.
#[derive(Debug, Clone, Copy)]
struct Packet {
    interface: u32,
    /// In the interface's unit.
    stamp: Option<u64>,
    at: usize,
    captured: u32,
    original: u32,
}

impl Pcapng {
    pub(crate) fn new() -> Self {
        Self {
            started: false,
            big_endian: false,
            interfaces: Vec::new(),
        }
    }

    pub(crate) fn next_frame<'a, R: Read>(
        &mut self,
        source: &'a mut Source<R>,
    ) -> Result<Option<Frame<'a>>, CaptureError> {
        let packet = loop {
            // The head of the first block was read to recognise the format.
            if self.started {
                source.next_block();
            }
            self.started = true;
            let Some(kind) = self.read_block(source)? else {
                return Ok(None);
            };
            if let Some(packet) = self.take_block(kind, source)? {
                break packet;
            }
        };
        let Some(interface) = self.interfaces.get(packet.interface as usize) else {
            let (named, known) = (packet.interface, self.interfaces.len());
            return Err(source.damaged(format!(
                "a frame of interface {named}, where the section describes {known}"
            )));
        };
        let limit = if interface.snap_len == 0 {
            u32::MAX
        } else {
            interface.snap_len
        };
        // A simple packet does not say how much was kept; the interface's limit does.
        let captured = if packet.stamp.is_none() {
            packet.captured.min(limit)
        } else {
            packet.captured
        };
        let range = packet.at..packet.at + captured as usize;
        if source.block().len() < range.end {
            return Err(source.damaged("a frame longer than its block"));
        }
        source.frames += 1;
        Ok(Some(Frame {
            number: source.frames,
            time_ns: packet.stamp.map(|stamp| interface.time_ns(stamp)),
            data: &source.block()[range],
            original_len: packet.original,
            link_type: interface.link_type,
        }))
    }

    /// Reads one whole block and returns its type.
    fn read_block<R: Read>(&mut self, source: &mut Source<R>) -> Result<Option<u32>, CaptureError> {
        if !source.extend_to(8)? {
            return Ok(None);
        }
        // The type of a section header reads the same in both byte orders.
        if self.u32(source.block(), 0) == SECTION_HEADER {
            source.extend_to(MIN_BLOCK)?;
            self.big_endian = match source.block()[8..12] {
                [0x1a, 0x2b, 0x3c, 0x4d] => true,
                [0x4d, 0x3c, 0x2b, 0x1a] => false,
                _ => return Err(source.damaged("a section without byte-order magic")),
            };
        }
        let kind = self.u32(source.block(), 0);
        let length = self.u32(source.block(), 4) as usize;
        if !(MIN_BLOCK..=MAX_BLOCK).contains(&length) || !length.is_multiple_of(4) {
            return Err(source.damaged(format!("a block of {length} octets")));
        }
        source.extend_to(length)?;
        if self.u32(source.block(), length - 4) as usize != length {
            return Err(source.damaged("a block whose two lengths differ"));
        }
        Ok(Some(kind))
    }

    /// Takes note of a section or interface; returns what a packet block says; passes over all others.
    fn take_block<R: Read>(&mut self, kind: u32, source: &Source<R>) -> Result<Option<Packet>, CaptureError> {
        match kind {
            SECTION_HEADER => {
                self.interfaces.clear();
                return Ok(None);
            }
            PACKET => return self.obsolete_packet(source).map(Some),
            INTERFACE_DESCRIPTION | SIMPLE_PACKET | ENHANCED_PACKET => {}
            _ => return Ok(None),
        }
        let parse = if self.big_endian {
            parse_block_be
        } else {
            parse_block_le
        };
        match parse(source.block()) {
            Ok((_, Block::InterfaceDescription(block))) => {
                if self.interfaces.len() == MAX_INTERFACES {
                    return Err(source.damaged(format!("more than {MAX_INTERFACES} interfaces")));
                }
                self.interfaces.push(Interface::new(&block, self.big_endian));
                Ok(None)
            }
            Ok((_, Block::EnhancedPacket(block))) => Ok(Some(Packet {
                interface: block.if_id,
                stamp: Some(u64::from(block.ts_high) << 32 | u64::from(block.ts_low)),
                at: PACKET_HEADER,
                captured: block.caplen,
                original: block.origlen,
            })),
            Ok((_, Block::SimplePacket(block))) => Ok(Some(Packet {
                interface: 0,
                stamp: None,
                at: SIMPLE_PACKET_HEADER,
                captured: block.origlen.min(block.data.len() as u32),
                original: block.origlen,
            })),
            _ => Err(source.damaged(format!("a block of type {kind} that cannot be read"))),
        }
    }

    /// The packet block of early pcapng files: interface and drop count of 16 bits each where the enhanced one has the
    /// interface.
    fn obsolete_packet<R: Read>(&self, source: &Source<R>) -> Result<Packet, CaptureError> {
        let block = source.block();
        if block.len() < PACKET_HEADER + 4 {
            return Err(source.damaged("a packet block without its header"));
        }
        let first = self.u32(block, 8);
        Ok(Packet {
            interface: if self.big_endian { first >> 16 } else { first & 0xffff },
            stamp: Some(u64::from(self.u32(block, 12)) << 32 | u64::from(self.u32(block, 16))),
            at: PACKET_HEADER,
            captured: self.u32(block, 20),
            original: self.u32(block, 24),
        })
    }

    fn u32(&self, block: &[u8], at: usize) -> u32 {
        let octets = block
            .get(at..at + 4)
            .and_then(|octets| octets.try_into().ok())
            .unwrap_or_default();
        if self.big_endian {
            u32::from_be_bytes(octets)
        } else {
            u32::from_le_bytes(octets)
        }
    }
}

impl Interface {
    fn new(block: &InterfaceDescriptionBlock<'_>, big_endian: bool) -> Self {
        // Read here, because the library reads this option as little-endian in every file.
        let offset = block
            .options
            .iter()
            .find(|option| option.code == OptionCode::IfTsoffset);
        let offset = offset
            .and_then(|option| option.value.get(..8)?.try_into().ok())
            .unwrap_or_default();
        let unit = block.if_tsresol & 0x7f;
        Self {
            link_type: LinkType(block.linktype.0 as u16),
            snap_len: block.snaplen,
            resolution: if block.if_tsresol & 0x80 == 0 {
                Resolution::Decimal(unit)
            } else {
                Resolution::Binary(unit)
            },
            offset_s: if big_endian {
                i64::from_be_bytes(offset)
            } else {
                i64::from_le_bytes(offset)
            },
        }
    }

    /// Nanoseconds since 1970, rounded down; the nearest that fits when the stamp is beyond 64 bits of them.
    fn time_ns(&self, stamp: u64) -> i64 {
        let ns = i128::from(stamp) * 1_000_000_000;
        let ns = match self.resolution {
            // 10^38 is the largest power of ten that fits; what it divides is zero long before.
            Resolution::Decimal(n) => ns / 10i128.pow(u32::from(n.min(38))),
            Resolution::Binary(n) => ns >> n.min(126),
        };
        let ns = ns + i128::from(self.offset_s) * 1_000_000_000;
        i64::try_from(ns).unwrap_or(if ns < 0 { i64::MIN } else { i64::MAX })
    }
}
