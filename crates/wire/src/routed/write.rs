//! Datagrams of the session: the path of a sender, and the octets around each message.

use super::key::{Key, LONGEST};
use super::{APDU_HEADER, COMMON, GOOSE, GOOSE_APDU, PORT, SIGNATURE, SV, SV_APDU, TRANSPORT};
use crate::ether::{self, EthernetView, HEADER};
use crate::header::{self, Header};
use core::net::Ipv4Addr;
use core::sync::atomic::{AtomicU32, Ordering};
use std::sync::Arc;

const IPV4: u16 = 0x0800;
const UDP: u8 = 17;
/// Octets of the headers of IPv4 and UDP.
const IP: usize = 20 + 8;
/// Octets from the header of the transport to the length of the payload, without an initialisation vector.
const SESSION: usize = 2 + 4 + 10 + 6 + 5 + 4;
/// Octets of the session header that the SPDU length counts in addition to the payload, as libiec61850 counts them.
const COUNTED: usize = 20;
/// Largest IP packet that passes Ethernet without fragments.
const LONGEST_PACKET: usize = 1500;
/// Octets of a frame of layer 2 that are replaced: EtherType, and APPID to Reserved2.
const REPLACED: usize = header::OCTETS;

/// Path of the datagrams of a sender.
#[derive(Debug, Clone)]
pub struct Route {
    /// Address of the sender.
    pub source: Ipv4Addr,
    /// Multicast group of the receivers; it decides the MAC address of the frame.
    pub group: Ipv4Addr,
    /// Number of routers that may forward a datagram.
    pub ttl: u8,
    /// Class of service in the IP header (RFC 2474), 0 to 63.
    pub dscp: u8,
    /// The key that signs; `None` signs nothing.
    pub key: Option<Key>,
}

impl Route {
    /// Class of service of expedited forwarding (RFC 3246).
    pub const EXPEDITED: u8 = 46;

    /// MAC address of an IPv4 multicast group (RFC 1112).
    pub fn mac(group: Ipv4Addr) -> ether::Mac {
        let [_, b, c, d] = group.octets();
        ether::Mac([1, 0, 0x5e, b & 0x7f, c, d])
    }
}

/// Error: the datagram does not pass Ethernet without fragments.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("as a datagram it has {octets} octets; without fragments an IP packet has at most {most}")]
pub struct TooLong {
    /// Octets of the IP packet.
    pub octets: usize,
    /// Octets of the longest one that passes.
    pub most: usize,
}

/// Writes frames of GOOSE and sampled values as datagrams. Clones share the SPDU number. Only its creation allocates.
#[derive(Debug, Clone)]
pub struct Wrapper {
    route: Route,
    number: Arc<AtomicU32>,
    buffer: Vec<u8>,
    /// Octets of the longest IP packet.
    most: usize,
}

impl Wrapper {
    /// Octets that a datagram has in addition to its frame of layer 2, at most.
    pub const LONGER: usize = IP + SESSION + APDU_HEADER + 2 + LONGEST - REPLACED;

    /// Begins with SPDU number 0.
    pub fn new(route: Route) -> Self {
        Self {
            route,
            number: Arc::new(AtomicU32::new(0)),
            // Two VLAN tags and an HSR tag are the longest header.
            buffer: vec![0; HEADER + 2 * ether::TAG + 6 + LONGEST_PACKET],
            most: LONGEST_PACKET,
        }
    }

    /// Returns the same writer, whose datagrams leave room for this many octets in the payload of a frame.
    #[must_use]
    pub fn leaving(mut self, octets: usize) -> Self {
        self.most = LONGEST_PACKET.saturating_sub(octets);
        self
    }

    /// Path of the datagrams.
    pub fn route(&self) -> &Route {
        &self.route
    }

    /// The datagram for a frame; `None` if the frame is neither GOOSE nor sampled values, and is sent as it is.
    ///
    /// # Errors
    /// It would need fragments.
    #[inline]
    pub fn wrap(&mut self, frame: &[u8]) -> Result<Option<&[u8]>, TooLong> {
        let mut buffer = std::mem::take(&mut self.buffer);
        let wrapped = self.wrap_into(frame, &mut buffer);
        self.buffer = buffer;
        Ok(wrapped?.and_then(|octets| self.buffer.get(..octets)))
    }

    /// Same as [`Self::wrap`], to the begin of `out`; returns the number of octets.
    ///
    /// # Errors
    /// It would need fragments, or `out` is too short.
    pub fn wrap_into(&self, frame: &[u8], out: &mut [u8]) -> Result<Option<usize>, TooLong> {
        let Some(message) = Message::of(frame) else {
            return Ok(None);
        };
        let key = self.route.key.as_ref();
        let signature = key.map_or(0, |key| 2 + key.algorithm().octets());
        let octets = IP + message.session_octets() + signature;
        let whole = message.link.len() + octets;
        let Some(out) = out.get_mut(..whole).filter(|_| octets <= self.most) else {
            return Err(TooLong {
                octets,
                most: self.most,
            });
        };
        let number = self.number.fetch_add(1, Ordering::Relaxed);
        let mut writer = Writer { out, at: 0 };
        writer.headers(&message, &self.route, octets);
        let begin = writer.at;
        writer.session(&message, number, key.map_or(0, Key::id));
        if let Some(key) = key {
            let end = writer.at;
            writer.put(&[SIGNATURE, (signature - 2) as u8]);
            let (covered, rest) = writer.out.split_at_mut(end);
            key.sign(
                covered.get(begin..).unwrap_or_default(),
                rest.get_mut(2..).unwrap_or_default(),
            );
        }
        Ok(Some(whole))
    }
}

/// Writes single messages of layer 2 as datagrams, with a signature from elsewhere: for tests.
#[derive(Debug, Clone, Copy)]
pub struct SessionWriter {
    /// Address of the sender.
    pub source: Ipv4Addr,
    /// Address of the receivers; a multicast group decides the MAC address of the frame.
    pub destination: Ipv4Addr,
    /// SPDU number.
    pub number: u32,
    /// Number of the key; 0 without one.
    pub key_id: u32,
}

impl SessionWriter {
    /// The datagram for a frame of GOOSE or sampled values; `None` if the frame is neither.
    ///
    /// `sign` returns the signature of the covered octets, or nothing.
    pub fn write(&self, frame: &[u8], sign: impl Fn(&[u8]) -> Vec<u8>) -> Option<Vec<u8>> {
        let message = Message::of(frame)?;
        let mut session = vec![0; message.session_octets()];
        let mut writer = Writer {
            out: &mut session,
            at: 0,
        };
        writer.session(&message, self.number, self.key_id);
        let signature = sign(&session);
        if !signature.is_empty() {
            session.extend([SIGNATURE, signature.len() as u8]);
            session.extend(signature);
        }
        let route = Route {
            source: self.source,
            group: self.destination,
            ttl: 64,
            dscp: 0,
            key: None,
        };
        let mut out = vec![0; message.link.len() + IP];
        let mut writer = Writer { out: &mut out, at: 0 };
        writer.headers(&message, &route, IP + session.len());
        out.extend(session);
        Some(out)
    }
}

/// The parts of a frame of layer 2 that a datagram has, too.
struct Message<'a> {
    /// Addresses, tags and EtherType.
    link: &'a [u8],
    is_goose: bool,
    header: Header,
    apdu: &'a [u8],
}

impl<'a> Message<'a> {
    fn of(frame: &'a [u8]) -> Option<Self> {
        let ethernet = EthernetView::parse(frame).ok()?;
        let is_goose = match ethernet.ether_type() {
            ether::GOOSE => true,
            ether::SV => false,
            _ => return None,
        };
        let header = Header::read(&ethernet, ethernet.ether_type()).ok()?;
        Some(Self {
            link: frame.get(..ethernet.payload_offset())?,
            is_goose,
            header,
            apdu: header.pdu(&ethernet).ok()?.get(header::OCTETS..)?,
        })
    }

    fn session_octets(&self) -> usize {
        SESSION + APDU_HEADER + self.apdu.len()
    }
}

/// Writes one octet after the other. Callers have measured the room.
struct Writer<'a> {
    out: &'a mut [u8],
    at: usize,
}

impl Writer<'_> {
    #[inline]
    fn put(&mut self, octets: &[u8]) {
        if let Some(place) = self.out.get_mut(self.at..self.at + octets.len()) {
            place.copy_from_slice(octets);
        }
        self.at += octets.len();
    }

    /// Writes the headers of Ethernet, IPv4 and UDP, of a packet with this many octets.
    fn headers(&mut self, message: &Message<'_>, route: &Route, octets: usize) {
        let link = message.link;
        self.put(&Route::mac(route.group).0);
        self.put(link.get(6..link.len() - 2).unwrap_or_default());
        self.put(&IPV4.to_be_bytes());
        let begin = self.at;
        // Version and length, class of service, length, identification 0, not to be fragmented.
        self.put(&[0x45, route.dscp << 2]);
        self.put(&(octets as u16).to_be_bytes());
        self.put(&[0, 0, 0x40, 0, route.ttl, UDP, 0, 0]);
        self.put(&route.source.octets());
        self.put(&route.group.octets());
        let sum = checksum(self.out.get(begin..self.at).unwrap_or_default());
        if let Some(place) = self.out.get_mut(begin + 10..begin + 12) {
            place.copy_from_slice(&sum.to_be_bytes());
        }
        // Without a checksum of UDP, which IPv4 allows (RFC 768): Ethernet has one, and each message changes.
        for field in [PORT, PORT, (octets - 20) as u16, 0] {
            self.put(&field.to_be_bytes());
        }
    }

    /// Writes the session, from the header of the transport to the end of the payload.
    fn session(&mut self, message: &Message<'_>, number: u32, key_id: u32) {
        let (kind, tag) = match message.is_goose {
            true => (GOOSE, GOOSE_APDU),
            false => (SV, SV_APDU),
        };
        self.put(&TRANSPORT);
        self.put(&[kind, 24, COMMON, 18]);
        let payload = APDU_HEADER + message.apdu.len();
        self.put(&((COUNTED + payload) as u32).to_be_bytes());
        self.put(&number.to_be_bytes());
        // Version 2; the times of this key and of the next one are not known.
        self.put(&[0, 2, 0, 0, 0, 0, 0, 0]);
        self.put(&key_id.to_be_bytes());
        // No initialisation vector.
        self.put(&[0]);
        self.put(&(payload as u32).to_be_bytes());
        self.put(&[tag, u8::from(message.header.simulate())]);
        self.put(&message.header.appid.to_be_bytes());
        self.put(&(message.apdu.len() as u16).to_be_bytes());
        self.put(message.apdu);
    }
}

/// The checksum of an IPv4 header (RFC 791).
fn checksum(header: &[u8]) -> u16 {
    let words = header
        .as_chunks::<2>()
        .0
        .iter()
        .map(|word| u32::from(u16::from_be_bytes(*word)));
    let mut sum: u32 = words.sum();
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    !(sum as u16)
}
