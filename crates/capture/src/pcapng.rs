//! The pcapng format.

use pcap_parser::{Block, InterfaceDescriptionBlock, OptionCode, parse_block_be, parse_block_le};

use crate::source::{MAX_BLOCK, Source};
use crate::stamps::Stamps;
use crate::{CaptureError, Frame, LinkType};

const SECTION_HEADER: u32 = 0x0a0d_0d0a;
const INTERFACE_DESCRIPTION: u32 = 1;
const PACKET: u32 = 2;
const SIMPLE_PACKET: u32 = 3;
const INTERFACE_STATISTICS: u32 = 5;
const ENHANCED_PACKET: u32 = 6;

/// Option of interface statistics: frames the interface dropped.
const IF_DROP: u16 = 5;
/// Option of interface statistics: frames the operating system dropped.
const OS_DROP: u16 = 7;
/// Number of bytes before the options of interface statistics.
const STATISTICS_HEADER: usize = 20;
/// Option of a section header: the program that wrote the section.
const APPLICATION: u16 = 4;
/// Number of bytes before the options of a section header.
const SECTION_OPTIONS: usize = 24;

/// Number of bytes before the frame in a packet block of either kind.
const PACKET_HEADER: usize = 28;
/// Number of bytes before the frame in a simple packet block.
const SIMPLE_PACKET_HEADER: usize = 12;

/// Length of the shortest block in bytes: its type, and its length twice.
const MIN_BLOCK: usize = 12;
/// Largest number of interfaces of one section. No machine has so many; a larger number is damage, and must not fill the memory.
const MAX_INTERFACES: usize = 1 << 16;

/// The section at the current place.
#[derive(Debug)]
pub(crate) struct Pcapng {
    /// The first block has been read.
    started: bool,
    big_endian: bool,
    interfaces: Vec<Interface>,
    /// Frames dropped in the sections before this one.
    dropped_before: u64,
    /// True once any interface has stated its drops.
    statistics: bool,
    /// The program that wrote the section, if its header names it.
    application: Option<String>,
    /// The stamps of all interfaces so far; `None` before the first.
    stamps: Option<Stamps>,
}

#[derive(Debug, Clone)]
struct Interface {
    /// Its name, if the file states it.
    name: Option<Box<str>>,
    link_type: LinkType,
    /// Octets kept of each frame; 0 means all.
    snap_len: u32,
    resolution: Resolution,
    /// Nanoseconds of one unit, if these are whole and no offset is to be added, as in nearly all files.
    ns_per_unit: Option<u64>,
    /// Seconds to add to each stamp.
    offset_s: i64,
    /// Frames dropped before they came into the file, by the last statistics.
    dropped: u64,
}

/// Unit of the stamps: 10^-n s or 2^-n s.
#[derive(Debug, Clone, Copy)]
enum Resolution {
    Decimal(u8),
    Binary(u8),
}

/// The fields of a packet block, and the place of its bytes.
#[derive(Debug, Clone, Copy)]
struct Packet {
    interface: u32,
    /// Stamp in the interface's unit.
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
            dropped_before: 0,
            statistics: false,
            application: None,
            stamps: None,
        }
    }

    /// Names of the interfaces of the section.
    pub(crate) fn interfaces(&self) -> Vec<Option<&str>> {
        let names = self.interfaces.iter().map(|interface| interface.name.as_deref());
        names.collect()
    }

    /// The stamps of the interfaces so far.
    pub(crate) fn stamps(&self) -> Stamps {
        self.stamps.clone().unwrap_or_default()
    }

    /// Frames dropped by the interfaces and the operating system, if the file states them.
    pub(crate) fn dropped(&self) -> Option<u64> {
        let dropped = self.dropped_before.saturating_add(self.dropped_in_section());
        self.statistics.then_some(dropped)
    }

    fn dropped_in_section(&self) -> u64 {
        self.interfaces
            .iter()
            .fold(0, |sum, interface| sum.saturating_add(interface.dropped))
    }

    #[inline]
    pub(crate) fn next_frame<'a>(&'a mut self, source: &'a mut Source<'_>) -> Result<Option<Frame<'a>>, CaptureError> {
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
                "a frame names interface {named}, but the section describes only {known}"
            )));
        };
        let limit = if interface.snap_len == 0 {
            u32::MAX
        } else {
            interface.snap_len
        };
        // A simple packet does not state its kept length; the interface's limit gives it.
        let captured = if packet.stamp.is_none() {
            packet.captured.min(limit)
        } else {
            packet.captured
        };
        let range = packet.at..packet.at + captured as usize;
        // The second length ends the block.
        if source.block().len() - 4 < range.end {
            return Err(source.damaged("a frame longer than its block"));
        }
        source.frames += 1;
        Ok(Some(Frame {
            number: source.frames,
            time_ns: packet.stamp.map(|stamp| interface.time_ns(stamp)),
            data: source.block().get(range).unwrap_or_default(),
            original_len: packet.original,
            link_type: interface.link_type,
            interface: packet.interface,
            interface_name: interface.name.as_deref(),
        }))
    }

    /// Reads one whole block and returns its type.
    fn read_block(&mut self, source: &mut Source<'_>) -> Result<Option<u32>, CaptureError> {
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

    /// Notes a section or interface; returns the fields of a packet block; ignores all other blocks.
    #[inline]
    fn take_block(&mut self, kind: u32, source: &Source<'_>) -> Result<Option<Packet>, CaptureError> {
        match kind {
            ENHANCED_PACKET => self.packet(kind, source).map(Some),
            SECTION_HEADER => {
                self.dropped_before = self.dropped_before.saturating_add(self.dropped_in_section());
                self.interfaces.clear();
                self.application = self.application_of(source.block());
                Ok(None)
            }
            PACKET => self.packet(kind, source).map(Some),
            SIMPLE_PACKET => self.simple_packet(source).map(Some),
            INTERFACE_DESCRIPTION => self.interface(source).map(|()| None),
            INTERFACE_STATISTICS => {
                self.statistics(source.block());
                Ok(None)
            }
            _ => Ok(None),
        }
    }

    fn interface(&mut self, source: &Source<'_>) -> Result<(), CaptureError> {
        let parse = if self.big_endian {
            parse_block_be
        } else {
            parse_block_le
        };
        let Ok((_, Block::InterfaceDescription(block))) = parse(source.block()) else {
            return Err(unreadable(INTERFACE_DESCRIPTION, source));
        };
        if self.interfaces.len() == MAX_INTERFACES {
            return Err(source.damaged(format!("more than {MAX_INTERFACES} interfaces")));
        }
        let interface = Interface::new(&block, self.big_endian);
        let stamps = Stamps::of(interface.unit_ns(), self.application.as_deref());
        self.stamps = Some(match self.stamps.take() {
            None => stamps,
            Some(before) => before.and(&stamps),
        });
        self.interfaces.push(interface);
        Ok(())
    }

    /// An enhanced packet block, or the packet block of early pcapng files: it has interface and drop count of 16 bits each in place of the
    /// interface.
    #[inline]
    fn packet(&self, kind: u32, source: &Source<'_>) -> Result<Packet, CaptureError> {
        let block = source.block();
        if block.len() < PACKET_HEADER + 4 {
            return Err(unreadable(kind, source));
        }
        let first = self.u32(block, 8);
        let interface = match (kind, self.big_endian) {
            (ENHANCED_PACKET, _) => first,
            (_, true) => first >> 16,
            (_, false) => first & 0xffff,
        };
        Ok(Packet {
            interface,
            stamp: Some(u64::from(self.u32(block, 12)) << 32 | u64::from(self.u32(block, 16))),
            at: PACKET_HEADER,
            captured: self.u32(block, 20),
            original: self.u32(block, 24),
        })
    }

    fn simple_packet(&self, source: &Source<'_>) -> Result<Packet, CaptureError> {
        let block = source.block();
        if block.len() < SIMPLE_PACKET_HEADER + 4 {
            return Err(unreadable(SIMPLE_PACKET, source));
        }
        let (original, kept) = (self.u32(block, 8), block.len() - SIMPLE_PACKET_HEADER - 4);
        Ok(Packet {
            interface: 0,
            stamp: None,
            at: SIMPLE_PACKET_HEADER,
            captured: original.min(u32::try_from(kept).unwrap_or(u32::MAX)),
            original,
        })
    }

    /// The program that a section header names.
    fn application_of(&self, block: &[u8]) -> Option<String> {
        let mut at = SECTION_OPTIONS;
        loop {
            let &[a, b, c, d] = block.get(at..)?.first_chunk::<4>()?;
            let (code, length) = (self.u16([a, b]), usize::from(self.u16([c, d])));
            match code {
                0 => return None,
                APPLICATION => {
                    let name = block.get(at + 4..at + 4 + length)?;
                    return Some(String::from_utf8_lossy(name).into_owned());
                }
                _ => at += 4 + length.next_multiple_of(4),
            }
        }
    }

    /// Adds the drops of an interface. Unreadable statistics are skipped, because they contain no frame.
    fn statistics(&mut self, block: &[u8]) {
        let id = self.u32(block, 8) as usize;
        let mut at = STATISTICS_HEADER;
        let mut dropped = None;
        while let Some(&[a, b, c, d]) = block.get(at..).and_then(|rest| rest.first_chunk::<4>()) {
            let (code, length) = (self.u16([a, b]), usize::from(self.u16([c, d])));
            let value = block.get(at + 4..).and_then(|rest| rest.first_chunk::<8>());
            if let Some(value) = value.filter(|_| length == 8 && (code == IF_DROP || code == OS_DROP)) {
                let sum: u64 = dropped.unwrap_or(0);
                dropped = Some(sum.saturating_add(self.u64(*value)));
            }
            if code == 0 {
                break;
            }
            at += 4 + length.next_multiple_of(4);
        }
        if let Some((interface, dropped)) = self.interfaces.get_mut(id).zip(dropped) {
            interface.dropped = dropped;
            self.statistics = true;
        }
    }

    fn u16(&self, octets: [u8; 2]) -> u16 {
        if self.big_endian {
            u16::from_be_bytes(octets)
        } else {
            u16::from_le_bytes(octets)
        }
    }

    fn u64(&self, octets: [u8; 8]) -> u64 {
        if self.big_endian {
            u64::from_be_bytes(octets)
        } else {
            u64::from_le_bytes(octets)
        }
    }

    #[inline]
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

#[cold]
fn unreadable(kind: u32, source: &Source<'_>) -> CaptureError {
    source.damaged(format!("a block of type {kind} that cannot be read"))
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
        let offset_s = if big_endian {
            i64::from_be_bytes(offset)
        } else {
            i64::from_le_bytes(offset)
        };
        let unit = block.if_tsresol & 0x7f;
        let resolution = if block.if_tsresol & 0x80 == 0 {
            Resolution::Decimal(unit)
        } else {
            Resolution::Binary(unit)
        };
        let ns_per_unit = match resolution {
            Resolution::Decimal(n @ 0..=9) if offset_s == 0 => Some(10_u64.pow(9 - u32::from(n))),
            _ => None,
        };
        let name = block.options.iter().find(|option| option.code == OptionCode::IfName);
        let name = name.map(|option| {
            let octets = option.value.get(..usize::from(option.len)).unwrap_or(&option.value);
            String::from_utf8_lossy(octets).trim_end_matches('\0').into()
        });
        Self {
            name,
            link_type: LinkType(block.linktype.0 as u16),
            snap_len: block.snaplen,
            resolution,
            ns_per_unit,
            offset_s,
            dropped: 0,
        }
    }

    /// One unit of the stamps in ns, rounded up.
    fn unit_ns(&self) -> u64 {
        match self.resolution {
            Resolution::Decimal(n @ 0..=9) => 10_u64.pow(9 - u32::from(n)),
            Resolution::Binary(n @ 0..=29) => 1_000_000_000_u64.div_ceil(1 << n),
            _ => 1,
        }
    }

    /// Nanoseconds since 1970, rounded down; a stamp beyond 64 bits becomes the nearest value that fits.
    #[inline]
    fn time_ns(&self, stamp: u64) -> i64 {
        let whole = self.ns_per_unit.and_then(|ns| stamp.checked_mul(ns));
        match whole.and_then(|ns| i64::try_from(ns).ok()) {
            Some(ns) => ns,
            None => self.any_time_ns(stamp),
        }
    }

    fn any_time_ns(&self, stamp: u64) -> i64 {
        let ns = i128::from(stamp) * 1_000_000_000;
        let ns = match self.resolution {
            // 10^38 is the largest power of ten that fits; the quotient is zero long before.
            Resolution::Decimal(n) => ns / 10i128.pow(u32::from(n.min(38))),
            Resolution::Binary(n) => ns >> n.min(126),
        };
        let ns = ns + i128::from(self.offset_s) * 1_000_000_000;
        i64::try_from(ns).unwrap_or(if ns < 0 { i64::MIN } else { i64::MAX })
    }
}
