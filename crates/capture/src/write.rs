//! Writing captures: pcap with nanosecond stamps, little-endian, Ethernet.

use std::io::{self, Write};

/// Magic number of pcap with nanosecond stamps.
const MAGIC_NS: u32 = 0xa1b2_3c4d;
/// Largest number of bytes kept of a frame; readers accept this limit in every capture.
const SNAP_LEN: u32 = 262_144;

/// Writes one capture. Give an output that buffers.
#[derive(Debug)]
pub struct PcapWriter<W> {
    output: W,
}

impl<W: Write> PcapWriter<W> {
    /// Writes the file header.
    ///
    /// # Errors
    /// The output refuses it.
    pub fn new(mut output: W) -> io::Result<Self> {
        output.write_all(&MAGIC_NS.to_le_bytes())?;
        for version in [2u16, 4] {
            output.write_all(&version.to_le_bytes())?;
        }
        for field in [0, 0, SNAP_LEN, u32::from(crate::LinkType::ETHERNET.0)] {
            output.write_all(&field.to_le_bytes())?;
        }
        Ok(Self { output })
    }

    /// Writes one frame, without frame check sequence, stamped `time_ns` after 1970 UTC.
    ///
    /// # Errors
    /// The output refuses it; the instant is not in 1970 to 2106, or the frame is longer than 262144 octets.
    pub fn write(&mut self, time_ns: i64, frame: &[u8]) -> io::Result<()> {
        let invalid = |what| io::Error::new(io::ErrorKind::InvalidInput, what);
        let seconds = u32::try_from(time_ns.div_euclid(1_000_000_000))
            .map_err(|_| invalid("pcap holds instants from 1970 to 2106 only"))?;
        let octets = u32::try_from(frame.len())
            .ok()
            .filter(|&octets| octets <= SNAP_LEN)
            .ok_or_else(|| invalid("a frame in a capture has at most 262144 octets"))?;
        // The remainder is below 10^9, so it fits.
        let ns = time_ns.rem_euclid(1_000_000_000) as u32;
        for field in [seconds, ns, octets, octets] {
            self.output.write_all(&field.to_le_bytes())?;
        }
        self.output.write_all(frame)
    }

    /// Flushes and returns the output.
    ///
    /// # Errors
    /// The output refuses what was still to be written.
    pub fn finish(mut self) -> io::Result<W> {
        self.output.flush()?;
        Ok(self.output)
    }
}
