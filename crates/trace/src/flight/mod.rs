//! Encodes the events around a late sample as bytes for the run file. `docs/formats/flight.md` describes the format.

mod choose;
mod code;

use crate::event::Event;
use flate2::read::DeflateDecoder;
use flate2::{Compress, Compression, FlushCompress, Status};
use std::io::Read;

pub use choose::choose;

/// First bytes of a flight.
const MAGIC: [u8; 4] = *b"TTFL";
/// Version of the format.
const VERSION: u8 = 1;
/// Maximum number of events of a flight.
pub const MOST_EVENTS: usize = 4_096;
/// Maximum size of a flight in bytes, before it is deflated: an event takes at most 46 (instant and CPU 10 and 5, kind 1, thread 5 + 5 + 17,
/// previous thread 3), so [`MOST_EVENTS`] of them fit.
const MOST_OCTETS: u64 = 256 * 1024;

/// Why bytes are not a valid flight.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FlightError {
    /// They do not begin like a flight.
    #[error("these bytes are not a flight: they do not begin with TTFL")]
    NotAFlight,
    /// A newer format.
    #[error("the flight has format {0}, and this triptime reads format {VERSION}: use a newer triptime")]
    Version(u8),
    /// The bytes are cut off, or changed.
    #[error("the flight is damaged: {0}")]
    Damaged(&'static str),
}

/// Packs flights. It needs some hundred KiB, which it allocates only once, because flights are packed during the measurement.
#[derive(Debug)]
pub struct Packer(Compress);

impl Default for Packer {
    fn default() -> Self {
        Self(Compress::new(Compression::default(), false))
    }
}

impl Packer {
    /// Encodes the events; events beyond [`MOST_EVENTS`] are left out.
    pub fn pack(&mut self, events: &[Event]) -> Vec<u8> {
        let body = code::write(&events[..events.len().min(MOST_EVENTS)]);
        let mut octets = Vec::with_capacity(MAGIC.len() + 64 + body.len());
        octets.extend(MAGIC);
        octets.push(VERSION);
        self.0.reset();
        let mut read = 0;
        loop {
            // Writing to memory does not fail.
            let done = self.0.compress_vec(&body[read..], &mut octets, FlushCompress::Finish);
            read = usize::try_from(self.0.total_in()).expect("no more than the body");
            if done.expect("memory takes every octet") == Status::StreamEnd {
                // A run holds thousands of flights until their windows are written, so unused memory is freed.
                octets.shrink_to_fit();
                return octets;
            }
            octets.reserve(body.len().max(64));
        }
    }
}

/// Decodes a flight.
///
/// # Errors
/// The bytes are not a flight, or are damaged.
pub fn decode(octets: &[u8]) -> Result<Vec<Event>, FlightError> {
    let rest = octets.strip_prefix(&MAGIC).ok_or(FlightError::NotAFlight)?;
    let (version, deflated) = rest.split_first().ok_or(FlightError::Damaged("it is cut off"))?;
    if *version != VERSION {
        return Err(FlightError::Version(*version));
    }
    let mut body = Vec::new();
    DeflateDecoder::new(deflated)
        .take(MOST_OCTETS + 1)
        .read_to_end(&mut body)
        .map_err(|_| FlightError::Damaged("it does not inflate"))?;
    if body.len() as u64 > MOST_OCTETS {
        return Err(FlightError::Damaged("it inflates to more than a flight holds"));
    }
    code::read(&body)
}

#[cfg(test)]
pub(crate) mod tests;
