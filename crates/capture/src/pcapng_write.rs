//! Writing captures: pcapng with nanosecond stamps, directions and comments (IETF draft-ietf-opsawg-pcapng), little-endian,
//! one Ethernet interface.

use std::io::{self, Write};

const SECTION_HEADER: u32 = 0x0a0d_0d0a;
const BYTE_ORDER: u32 = 0x1a2b_3c4d;
const INTERFACE: u32 = 1;
const STATISTICS: u32 = 5;
const ENHANCED_PACKET: u32 = 6;

/// Option numbers; those from 2 on have another meaning in each kind of block.
mod option {
    pub(super) const END: u16 = 0;
    pub(super) const COMMENT: u16 = 1;
    pub(super) const FRAME_FLAGS: u16 = 2;
    pub(super) const INTERFACE_NAME: u16 = 2;
    pub(super) const APPLICATION: u16 = 4;
    pub(super) const INTERFACE_DROPPED: u16 = 5;
    pub(super) const TIME_RESOLUTION: u16 = 9;
}

/// The direction of a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// Received.
    Inbound = 1,
    /// Sent.
    Outbound = 2,
}

/// One frame to be written.
#[derive(Debug, Clone, Copy)]
pub struct Captured<'a> {
    /// Instant in ns since 1970 UTC.
    pub time_ns: i64,
    /// The direction of the frame.
    pub direction: Direction,
    /// Its bytes, without frame check sequence, in one or more pieces.
    pub pieces: &'a [&'a [u8]],
    /// Its length on the wire in bytes, without frame check sequence.
    pub original_len: u32,
    /// A comment that is stored with the frame.
    pub comment: Option<&'a str>,
}

/// Writes one capture of one interface. Give an output that buffers.
#[derive(Debug)]
pub struct PcapngWriter<W> {
    output: W,
    block: Vec<u8>,
}

impl<W: Write> PcapngWriter<W> {
    /// Writes the section header and the interface.
    ///
    /// # Errors
    /// The output refuses it.
    pub fn new(output: W, application: &str, interface: &str) -> io::Result<Self> {
        let mut writer = Self {
            output,
            block: Vec::with_capacity(4_096),
        };
        writer.begin(SECTION_HEADER);
        writer.word(BYTE_ORDER);
        writer.word(1);
        // The length of the section is not known.
        writer.block.extend_from_slice(&u64::MAX.to_le_bytes());
        writer.option(option::APPLICATION, application.as_bytes());
        writer.end()?;
        writer.begin(INTERFACE);
        writer.word(u32::from(crate::LinkType::ETHERNET.0));
        writer.word(0);
        writer.option(option::INTERFACE_NAME, interface.as_bytes());
        writer.option(option::TIME_RESOLUTION, &[9]);
        writer.end()?;
        Ok(writer)
    }

    /// Writes one frame.
    ///
    /// # Errors
    /// The output refuses it; the instant is before 1970.
    pub fn write(&mut self, frame: &Captured<'_>) -> io::Result<()> {
        let invalid = |what| io::Error::new(io::ErrorKind::InvalidInput, what);
        let time = u64::try_from(frame.time_ns).map_err(|_| invalid("a capture holds instants after 1970 only"))?;
        let length: usize = frame.pieces.iter().map(|piece| piece.len()).sum();
        let kept = u32::try_from(length).map_err(|_| invalid("a frame of 4 GiB"))?;
        self.begin(ENHANCED_PACKET);
        // The high half comes first; both halves fit.
        for word in [0, (time >> 32) as u32, time as u32, kept, frame.original_len.max(kept)] {
            self.word(word);
        }
        for piece in frame.pieces {
            self.block.extend_from_slice(piece);
        }
        self.pad();
        self.option(option::FRAME_FLAGS, &(frame.direction as u32).to_le_bytes());
        if let Some(comment) = frame.comment {
            self.option(option::COMMENT, comment.as_bytes());
        }
        self.end()
    }

    /// Writes the number of missing frames, flushes, and returns the output.
    ///
    /// # Errors
    /// The output refuses what was still to be written.
    pub fn finish(mut self, time_ns: i64, dropped: u64) -> io::Result<W> {
        let time = u64::try_from(time_ns).unwrap_or(0);
        self.begin(STATISTICS);
        for word in [0, (time >> 32) as u32, time as u32] {
            self.word(word);
        }
        self.option(option::INTERFACE_DROPPED, &dropped.to_le_bytes());
        self.end()?;
        self.output.flush()?;
        Ok(self.output)
    }

    fn begin(&mut self, kind: u32) {
        self.block.clear();
        self.word(kind);
        // The length is filled in when it is known.
        self.word(0);
    }

    fn word(&mut self, word: u32) {
        self.block.extend_from_slice(&word.to_le_bytes());
    }

    fn pad(&mut self) {
        self.block.resize(self.block.len().next_multiple_of(4), 0);
    }

    /// Values that are too long for an option are cut.
    fn option(&mut self, number: u16, value: &[u8]) {
        let value = &value[..value.len().min(usize::from(u16::MAX))];
        self.block.extend_from_slice(&number.to_le_bytes());
        self.block.extend_from_slice(&(value.len() as u16).to_le_bytes());
        self.block.extend_from_slice(value);
        self.pad();
    }

    fn end(&mut self) -> io::Result<()> {
        self.option(option::END, &[]);
        let length = u32::try_from(self.block.len() + 4).unwrap_or(u32::MAX);
        self.word(length);
        self.block[4..8].copy_from_slice(&length.to_le_bytes());
        self.output.write_all(&self.block)
    }
}

#[cfg(test)]
mod tests {
    use super::{Captured, Direction, PcapngWriter};
    use crate::Reader;

    #[test]
    fn our_own_reader_reads_it_back() {
        let mut writer = PcapngWriter::new(Vec::new(), "triptime", "eth0").unwrap();
        let frames: Vec<Vec<u8>> = (60..70).map(|length| vec![length as u8; length]).collect();
        for (number, frame) in frames.iter().enumerate() {
            let captured = Captured {
                time_ns: 1_700_000_000_123_456_789 + number as i64,
                direction: if number % 2 == 0 {
                    Direction::Outbound
                } else {
                    Direction::Inbound
                },
                pieces: &[&frame[..12], &frame[12..]],
                original_len: 1_000,
                comment: (number == 3).then_some("here"),
            };
            writer.write(&captured).unwrap();
        }
        let file = writer.finish(1_700_000_000_123_456_799, 7).unwrap();
        let mut reader = Reader::new(&file[..]).unwrap();
        for (number, octets) in frames.iter().enumerate() {
            let frame = reader.next_frame().unwrap().unwrap();
            assert_eq!(frame.data, octets);
            assert_eq!(frame.time_ns, Some(1_700_000_000_123_456_789 + number as i64));
            assert_eq!(frame.original_len, 1_000);
        }
        assert_eq!(reader.next_frame().unwrap(), None);
    }

    #[test]
    fn an_instant_before_1970_is_refused() {
        let mut writer = PcapngWriter::new(Vec::new(), "triptime", "eth0").unwrap();
        let frame = Captured {
            time_ns: -1,
            direction: Direction::Inbound,
            pieces: &[],
            original_len: 0,
            comment: None,
        };
        assert!(writer.write(&frame).is_err());
    }
}
