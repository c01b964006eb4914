//! GOOSE and sampled values over UDP (R-GOOSE, R-SV): the session layer of IEC 61850-90-5, since 2020 of IEC 61850-8-1 and -9-2.
//!
//! A datagram holds one or more messages, each with the APDU of a frame of layer 2. [`Datagram::messages`] returns them as views
//! that [`crate::goose::Frame`] and [`crate::sv::Frame`] read. The layout is that of Wireshark's `packet-goose.c` and of
//! libiec61850's `r_session.c`; the standards themselves are not public.

mod key;
mod numbers;
mod unwrap;
mod write;

use crate::ber::Reader;
use crate::bytes::{array, be16, be32, slice};
use crate::ether::{self, EthernetView, UdpPayload};
use crate::frame_error::{FrameError, Rule};
use crate::header::{self, Header};
use core::net::IpAddr;
pub use key::{Algorithm, AlgorithmError, Key, Proof};
pub use numbers::SpduNumbers;
pub use unwrap::{Publisher, Unwrapper, stand_in};
pub use write::{Route, SessionWriter, TooLong, Wrapper};

/// UDP port of the session.
pub const PORT: u16 = 102;
/// Header of the connectionless transport (ISO 8602): length, unit data. Some publishers leave it out.
const TRANSPORT: [u8; 2] = [1, 0x40];
/// Session identifiers of GOOSE and of sampled values.
const GOOSE: u8 = 0xa1;
const SV: u8 = 0xa2;
/// Identifier of the common session header.
const COMMON: u8 = 0x80;
/// Identifiers of payloads.
const GOOSE_APDU: u8 = 0x81;
const SV_APDU: u8 = 0x82;
/// Identifier of the signature after the payload.
const SIGNATURE: u8 = 0x85;
/// Identifier of padding before the signature.
const PADDING: u8 = 0xaf;
/// Octets before an APDU: identifier, simulation, APPID, length.
const APDU_HEADER: usize = 6;

/// Protection of a datagram.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Security {
    /// Neither a signature nor encryption.
    None,
    /// A signature follows the payload, which can be read.
    Signed,
    /// The payload cannot be read without the key.
    Encrypted,
}

/// A datagram whose session header is complete.
#[derive(Debug, Clone, Copy)]
pub struct Datagram<'a> {
    ethernet: EthernetView<'a>,
    source: IpAddr,
    destination: IpAddr,
    session: &'a [u8],
    /// Offset of the session in the frame.
    at: usize,
    number: u32,
    version: u16,
    key_id: u32,
    security: Security,
    /// Offsets in the session of the first message, and of the end of the last one.
    payload: [usize; 2],
    signature: &'a [u8],
}

impl<'a> Datagram<'a> {
    /// The datagram in this frame; `None` if the frame is none of UDP port 102 with the session of GOOSE or sampled values. Tunnelled
    /// packets and fragments are none.
    ///
    /// # Errors
    /// The session header is incomplete, of another version, or contradicts itself.
    pub fn within(ethernet: &EthernetView<'a>) -> Option<Result<Self, FrameError>> {
        let udp = UdpPayload::within(ethernet).filter(|udp| udp.port == PORT)?;
        let start = match udp.octets.starts_with(&TRANSPORT) {
            true => TRANSPORT.len(),
            false => 0,
        };
        let kind = *udp.octets.get(start)?;
        [GOOSE, SV].contains(&kind).then(|| Self::read(ethernet, &udp, start))
    }

    fn read(ethernet: &EthernetView<'a>, udp: &UdpPayload<'a>, start: usize) -> Result<Self, FrameError> {
        let session = udp.octets;
        let error = |at: usize, problem| FrameError::at(udp.at + at, Rule::Session(problem));
        // Identifier and length of the session header, identifier and length of the common one, lengths and number, version.
        let fields = start + 4;
        if session.len() < fields + 10 {
            return Err(error(session.len(), "it ends in its header"));
        }
        if session[start + 2] != COMMON {
            return Err(error(start + 2, "its common header is missing"));
        }
        let version = be16(session, fields + 8);
        // Both have the time of the current key (4 octets) and the time to the next one (2) first.
        let keys = fields + 10 + 6;
        let (key_id, is_encrypted, length_at) = match version {
            1 => (be32(session, keys + 2), slice(session, keys, 1) != [0], keys + 6),
            2 => {
                let vector = usize::from(array::<1>(session, keys + 4)[0]);
                (be32(session, keys), vector > 0, keys + 5 + vector)
            }
            _ => return Err(error(fields + 8, "its version is neither 1 nor 2")),
        };
        let begin = length_at + 4;
        if session.len() < begin {
            return Err(error(session.len(), "it ends in its header"));
        }
        let length = be32(session, length_at) as usize;
        let end = begin.saturating_add(length);
        if end > session.len() {
            return Err(error(length_at, "its payload is longer than the datagram"));
        }
        let signature = signature(session, end);
        Ok(Self {
            ethernet: *ethernet,
            source: udp.source,
            destination: udp.destination,
            session,
            at: udp.at,
            number: be32(session, fields + 4),
            version,
            key_id,
            security: match (is_encrypted, signature.is_empty()) {
                (true, _) => Security::Encrypted,
                (false, false) => Security::Signed,
                (false, true) => Security::None,
            },
            payload: [begin, end],
            signature,
        })
    }

    /// Address of the sender.
    pub fn source(&self) -> IpAddr {
        self.source
    }

    /// Address of the receivers.
    pub fn destination(&self) -> IpAddr {
        self.destination
    }

    /// SPDU number, which each sender increments with each datagram.
    pub fn number(&self) -> u32 {
        self.number
    }

    /// Version of the session protocol: 1 or 2.
    pub fn version(&self) -> u16 {
        self.version
    }

    /// Number of the key; 0 without one.
    pub fn key_id(&self) -> u32 {
        self.key_id
    }

    /// Protection of the payload.
    pub fn security(&self) -> Security {
        self.security
    }

    /// The octets that the signature covers: from the header of the transport to the end of the payload.
    pub fn covered(&self) -> &'a [u8] {
        self.session.get(..self.payload[1]).unwrap_or_default()
    }

    /// The signature; empty without one. It may be a shortened hash.
    pub fn signature(&self) -> &'a [u8] {
        self.signature
    }

    /// The messages, as views of frames with the EtherType of their protocol. None if the payload is encrypted.
    pub fn messages(&self) -> Messages<'a> {
        let [begin, end] = self.payload;
        Messages {
            ethernet: self.ethernet,
            session: self.session.get(..end).unwrap_or_default(),
            at: self.at,
            next: match self.security {
                Security::Encrypted => end,
                _ => begin,
            },
        }
    }
}

/// The value of the signature after the payload, behind padding if there is any.
fn signature(session: &[u8], end: usize) -> &[u8] {
    let rest = match slice(session, end, 2) {
        [PADDING, length] => end + 2 + usize::from(*length),
        _ => end,
    };
    match slice(session, rest, 2) {
        // The value reaches to the end: libiec61850 writes 16 in front of 32 octets.
        [SIGNATURE, _] => session.get(rest + 2..).unwrap_or_default(),
        _ => &[],
    }
}

/// Iterator over the messages of a datagram.
#[derive(Debug, Clone)]
pub struct Messages<'a> {
    ethernet: EthernetView<'a>,
    session: &'a [u8],
    at: usize,
    next: usize,
}

impl<'a> Iterator for Messages<'a> {
    type Item = Result<EthernetView<'a>, FrameError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.next >= self.session.len() {
            return None;
        }
        let message = self.read();
        if message.is_err() {
            self.next = self.session.len();
        }
        Some(message)
    }
}

impl<'a> Messages<'a> {
    fn read(&mut self) -> Result<EthernetView<'a>, FrameError> {
        let (session, start) = (self.session, self.next);
        let error = |at: usize, problem| FrameError::at(self.at + at, Rule::Session(problem));
        let ether_type = match slice(session, start, 1) {
            [GOOSE_APDU] => ether::GOOSE,
            [SV_APDU] => ether::SV,
            _ => return Err(error(start, "a payload is neither GOOSE nor sampled values")),
        };
        let apdu = start + APDU_HEADER;
        if apdu >= session.len() {
            return Err(error(session.len(), "it ends in the header of an APDU"));
        }
        let element = Reader::new(session, apdu, self.at).next_element()?;
        let end = element.map_or(apdu, |element| element.end);
        // Wireshark takes the length for that of the APDU, libiec61850 for that of the APDU and of itself.
        let said = usize::from(be16(session, start + 4));
        if said != end - apdu && said != end - apdu + 2 {
            return Err(error(start + 4, "the length of an APDU is not that of its element"));
        }
        self.next = end;
        // Where APPID stands in a frame of layer 2: eight octets before the APDU.
        let length = u16::try_from(end - apdu + header::OCTETS);
        let header = Header {
            appid: be16(session, start + 2),
            length: length.map_err(|_| error(start + 4, "an APDU is too long"))?,
            reserved1: match session[start + 1] {
                0 => 0,
                _ => Header::SIMULATE,
            },
            reserved2: 0,
        };
        Ok(self
            .ethernet
            .of_message(ether_type, self.at + apdu - header::OCTETS, header))
    }
}

#[cfg(test)]
mod tests;
#[cfg(test)]
mod wrap_tests;
