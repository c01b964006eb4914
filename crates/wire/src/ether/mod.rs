//! Ethernet II frames with up to two VLAN tags (IEEE 802.1Q, 802.1ad) and an HSR tag (IEC 62439-3).

mod hidden;
mod ip;

use core::net::IpAddr;
use std::fmt;
use std::ops::Range;
use std::str::FromStr;

use crate::bytes::{array, be16};
use crate::frame_error::{FrameError, Rule};
use crate::header::Header;
pub use hidden::Hidden;
pub(crate) use ip::UdpPayload;

/// EtherType of GOOSE (IEC 61850-8-1).
pub const GOOSE: u16 = 0x88b8;
/// EtherType of sampled values (IEC 61850-9-2).
pub const SV: u16 = 0x88ba;
/// Tag protocol identifier of IEEE 802.1Q.
pub const TPID_8021Q: u16 = 0x8100;
/// Tag protocol identifier of IEEE 802.1ad (the outer of two tags).
pub const TPID_8021AD: u16 = 0x88a8;
/// EtherType of the HSR tag: path and size in two octets, a sequence number in two more (IEC 62439-3).
pub const HSR: u16 = 0x892f;
/// Octets of an Ethernet II header without tags.
pub const HEADER: usize = 14;
/// Octets of one VLAN tag.
pub const TAG: usize = 4;
/// Octets of an HSR tag.
const HSR_TAG: usize = 6;

/// A MAC address. Shown as `01:0c:cd:04:00:01`; read with `:` or `-` between the octets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Mac(pub [u8; 6]);

impl Mac {
    /// Every station on the segment.
    pub const BROADCAST: Self = Self([0xff; 6]);

    /// True for group addresses, broadcast included.
    pub const fn is_multicast(self) -> bool {
        self.0[0] & 1 == 1
    }
}

impl fmt::Display for Mac {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [a, b, c, d, e, g] = self.0;
        write!(f, "{a:02x}:{b:02x}:{c:02x}:{d:02x}:{e:02x}:{g:02x}")
    }
}

/// Error: the text is not a MAC address.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a MAC address: write six octets in hexadecimal, such as 01:0c:cd:04:00:01")]
pub struct MacError(String);

impl FromStr for Mac {
    type Err = MacError;

    fn from_str(text: &str) -> Result<Self, MacError> {
        let error = || MacError(text.to_owned());
        let mut octets = [0; 6];
        let mut parts = text.split([':', '-']);
        for octet in &mut octets {
            let part = parts
                .next()
                .filter(|p| p.len() == 2 && p.bytes().all(|b| b.is_ascii_hexdigit()));
            *octet = part.and_then(|p| u8::from_str_radix(p, 16).ok()).ok_or_else(error)?;
        }
        if parts.next().is_some() {
            Err(error())
        } else {
            Ok(Self(octets))
        }
    }
}

/// One VLAN tag.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct VlanTag {
    /// Tag protocol identifier: 0x8100 or 0x88A8.
    pub tpid: u16,
    /// Tag control information: PCP (3 bits), DEI (1 bit), VID (12 bits).
    pub tci: u16,
}

impl VlanTag {
    /// An 802.1Q tag. `pcp` is cut to 3 bits and `vid` to 12.
    pub const fn new(pcp: u8, dei: bool, vid: u16) -> Self {
        let tci = ((pcp as u16 & 7) << 13) | ((dei as u16) << 12) | (vid & 0x0fff);
        Self { tpid: TPID_8021Q, tci }
    }

    /// Priority code point, 0..=7.
    pub const fn pcp(self) -> u8 {
        (self.tci >> 13) as u8
    }

    /// Drop eligible indicator.
    pub const fn dei(self) -> bool {
        self.tci & 0x1000 != 0
    }

    /// VLAN identifier, 0..=4095; 0 means priority only.
    pub const fn vid(self) -> u16 {
        self.tci & 0x0fff
    }
}

/// A frame whose Ethernet header is complete. The frame has no frame check sequence.
#[derive(Debug, Clone, Copy)]
pub struct EthernetView<'a> {
    frame: &'a [u8],
    tags: [Option<VlanTag>; 2],
    /// Offset of the HSR tag; 0 without one.
    hsr_at: usize,
    ether_type: u16,
    payload_at: usize,
    /// Of a message that came over UDP.
    routed: Option<RoutedView>,
}

/// Header of a message that came over UDP, where it has another form, and the place of its IP header in the frame.
#[derive(Debug, Clone, Copy)]
struct RoutedView {
    header: Header,
    ip_at: usize,
}

impl<'a> EthernetView<'a> {
    /// Reads the header of `frame`. VLAN tags beyond the second and HSR tags beyond the first are left in the payload.
    ///
    /// # Errors
    /// The frame ends inside its header.
    #[inline]
    pub fn parse(frame: &'a [u8]) -> Result<Self, FrameError> {
        Self::read(frame, [None, None], 0)
    }

    /// Like [`Self::parse`], for a frame whose outer tag is passed separately: `AF_PACKET` strips the tag and delivers
    /// it in the ring header or in `PACKET_AUXDATA`. A tag still in the frame becomes the inner one.
    ///
    /// # Errors
    /// The frame ends inside its header.
    #[inline]
    pub fn with_tag(frame: &'a [u8], outer: Option<VlanTag>) -> Result<Self, FrameError> {
        Self::read(frame, [outer, None], usize::from(outer.is_some()))
    }

    #[inline]
    fn read(frame: &'a [u8], mut tags: [Option<VlanTag>; 2], mut found: usize) -> Result<Self, FrameError> {
        let (mut type_at, mut hsr_at) = (12, 0);
        loop {
            if frame.len() < type_at + 2 {
                return Err(FrameError::at(frame.len(), Rule::EthernetHeader));
            }
            let ether_type = be16(frame, type_at);
            if ether_type == HSR && hsr_at == 0 {
                hsr_at = type_at;
                type_at += HSR_TAG;
                continue;
            }
            let is_tag = ether_type == TPID_8021Q || ether_type == TPID_8021AD;
            let Some(tag) = tags.get_mut(found).filter(|_| is_tag) else {
                return Ok(Self {
                    frame,
                    tags,
                    hsr_at,
                    ether_type,
                    payload_at: type_at + 2,
                    routed: None,
                });
            };
            *tag = Some(VlanTag {
                tpid: ether_type,
                tci: be16(frame, type_at + 2),
            });
            found += 1;
            type_at += TAG;
        }
    }

    /// Destination address.
    pub fn dst(&self) -> Mac {
        Mac(array(self.frame, 0))
    }

    /// Source address. For a message that came over UDP, the address that stands for its sender ([`crate::routed::stand_in`]): that in the
    /// frame is the last router's.
    pub fn src(&self) -> Mac {
        match self.ip_addresses() {
            Some([source, _]) => crate::routed::stand_in(source),
            None => self.src_on_wire(),
        }
    }

    /// Source address in the frame: of the sender, or of the last router.
    pub fn src_on_wire(&self) -> Mac {
        Mac(array(self.frame, 6))
    }

    /// The outer tag, whether it was in the frame or passed separately.
    pub fn vlan(&self) -> Option<VlanTag> {
        self.tags[0]
    }

    /// The inner one of two tags.
    pub fn inner_vlan(&self) -> Option<VlanTag> {
        self.tags[1]
    }

    /// Offsets of path, size and sequence number in the HSR tag, which differ from frame to frame; empty without an HSR
    /// tag.
    pub(crate) fn hsr_fields(&self) -> Range<usize> {
        match self.hsr_at {
            0 => 0..0,
            at => at + 2..at + HSR_TAG,
        }
    }

    /// The same frame, whose payload is an IP packet, as a view of a message in it. The APDU is eight octets after `payload_at`.
    pub(crate) fn of_message(&self, ether_type: u16, payload_at: usize, header: Header) -> Self {
        Self {
            ether_type,
            payload_at,
            routed: Some(RoutedView {
                header,
                ip_at: self.payload_at,
            }),
            ..*self
        }
    }

    /// The header of a message that came over UDP; `None` in a frame of layer 2.
    pub(crate) fn header_of_message(&self) -> Option<Header> {
        self.routed.map(|routed| routed.header)
    }

    /// Addresses of sender and receivers of a message that came over UDP; `None` in a frame of layer 2, whose addresses are `src` and `dst`.
    pub fn ip_addresses(&self) -> Option<[IpAddr; 2]> {
        let packet = self.frame.get(self.routed?.ip_at..).unwrap_or_default();
        Some(ip::addresses(packet))
    }

    /// Offset of the IP header of a message that came over UDP; 0 in a frame of layer 2.
    pub(crate) fn ip_at(&self) -> usize {
        self.routed.map_or(0, |routed| routed.ip_at)
    }

    /// True for a message that came over UDP.
    pub fn is_routed(&self) -> bool {
        self.routed.is_some()
    }

    /// EtherType after the tags; for a message that came over UDP, that of its protocol.
    pub fn ether_type(&self) -> u16 {
        self.ether_type
    }

    /// Everything after the EtherType, padding included.
    pub fn payload(&self) -> &'a [u8] {
        self.frame.get(self.payload_at..).unwrap_or_default()
    }

    /// Offset of the payload in the frame.
    pub fn payload_offset(&self) -> usize {
        self.payload_at
    }

    /// The whole frame as given.
    pub fn frame(&self) -> &'a [u8] {
        self.frame
    }
}

/// Appends an Ethernet header to `out`. The first tag is the outer one.
pub fn write_header(out: &mut Vec<u8>, dst: Mac, src: Mac, tags: &[VlanTag], ether_type: u16) {
    out.extend_from_slice(&dst.0);
    out.extend_from_slice(&src.0);
    for tag in tags {
        out.extend_from_slice(&tag.tpid.to_be_bytes());
        out.extend_from_slice(&tag.tci.to_be_bytes());
    }
    out.extend_from_slice(&ether_type.to_be_bytes());
}

#[cfg(test)]
mod tests;
