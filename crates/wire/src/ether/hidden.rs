//! Recognises sampled values and GOOSE after headers that [`EthernetView`] does not read.

use super::ip::{IPV4, IPV6, IpPacket, UDP};
use super::{EthernetView, GOOSE, HEADER, HSR, SV, TPID_8021AD, TPID_8021Q};
use crate::bytes::be16;

/// EtherType of the redundancy tag (IEEE 802.1CB).
const R_TAG: u16 = 0xf1c1;
/// Tag protocol identifiers from before IEEE 802.1ad.
const TPID_9100: u16 = 0x9100;
const TPID_9200: u16 = 0x9200;
/// A whole Ethernet frame (GRE, Geneve).
const ETHERNET: u16 = 0x6558;
const ERSPAN_II: u16 = 0x88be;
const ERSPAN_III: u16 = 0x22eb;

const IP_GRE: u8 = 47;
/// UDP port of R-GOOSE and R-SV (IEC 61850-90-5).
const PORT_ROUTED: u16 = 102;
const PORT_VXLAN: u16 = 4789;
const PORT_GENEVE: u16 = 6081;

/// Maximum number of nested headers that are skipped.
const MOST_HEADERS: usize = 12;

/// The first unsupported header in front of sampled values or GOOSE.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Hidden {
    /// A third VLAN tag, or one of an unusual kind.
    Vlan,
    /// A second HSR tag (IEC 62439-3).
    Hsr,
    /// A redundancy tag (IEEE 802.1CB).
    RTag,
    /// GRE, with ERSPAN or without.
    Gre,
    /// VXLAN or Geneve.
    Overlay,
    /// The session of IEC 61850-90-5 over UDP: R-GOOSE, R-SV.
    Routed,
}

impl Hidden {
    /// All headers, in the order of their numbers.
    pub const ALL: [Self; 6] = [
        Self::Vlan,
        Self::Hsr,
        Self::RTag,
        Self::Gre,
        Self::Overlay,
        Self::Routed,
    ];

    /// The header that hides sampled values or GOOSE in this frame. `None` if the frame holds neither, or if they can
    /// be read.
    pub fn of(ethernet: &EthernetView<'_>) -> Option<Self> {
        let (first, mut ether_type, mut payload) = behind(ethernet.ether_type(), ethernet.payload())?;
        for _ in 0..MOST_HEADERS {
            if ether_type == SV || ether_type == GOOSE {
                return Some(first);
            }
            (_, ether_type, payload) = behind(ether_type, payload)?;
        }
        None
    }

    /// Name of the header, as reports print it.
    pub const fn words(self) -> &'static str {
        match self {
            Self::Vlan => "more than two VLAN tags, or obsolete ones",
            Self::Hsr => "more than one HSR tag",
            Self::RTag => "redundancy tags (IEEE 802.1CB)",
            Self::Gre => "GRE or ERSPAN",
            Self::Overlay => "VXLAN or Geneve",
            Self::Routed => "UDP (R-GOOSE, R-SV)",
        }
    }
}

/// A header, the EtherType after it, and the payload after that.
type Behind<'a> = (Hidden, u16, &'a [u8]);

/// The content after the header that `ether_type` names. `None` for another EtherType or a truncated header.
fn behind(ether_type: u16, payload: &[u8]) -> Option<Behind<'_>> {
    match ether_type {
        TPID_8021Q | TPID_8021AD | TPID_9100 | TPID_9200 => tagged(Hidden::Vlan, payload, 2),
        HSR => tagged(Hidden::Hsr, payload, 4),
        R_TAG => tagged(Hidden::RTag, payload, 4),
        IPV4 | IPV6 => {
            let packet = IpPacket::of(ether_type, payload)?;
            carried(packet.protocol, packet.octets)
        }
        _ => None,
    }
}

/// Skips a header of `octets` octets that the EtherType follows.
fn tagged(header: Hidden, payload: &[u8], octets: usize) -> Option<Behind<'_>> {
    let rest = payload.get(octets + 2..)?;
    Some((header, be16(payload, octets), rest))
}

/// The content of an IP packet.
fn carried(protocol: u8, rest: &[u8]) -> Option<Behind<'_>> {
    match protocol {
        IP_GRE => gre(rest),
        UDP => match (be16(rest, 2), rest.get(8..)?) {
            (PORT_ROUTED, session) => routed(session),
            (PORT_VXLAN, packet) => in_frame(Hidden::Overlay, packet.get(8..)?),
            (PORT_GENEVE, packet) => geneve(packet),
            _ => None,
        },
        _ => None,
    }
}

/// A GRE packet (RFC 2784, RFC 2890); checksum, key and sequence number are optional.
fn gre(packet: &[u8]) -> Option<Behind<'_>> {
    const SEQUENCE: u16 = 0x1000;
    let flags = be16(packet, 0);
    let fields = [0xc000, 0x2000, SEQUENCE].map(|field| usize::from(flags & field != 0));
    let rest = packet.get(4 + 4 * fields.iter().sum::<usize>()..)?;
    match be16(packet, 2) {
        ETHERNET => in_frame(Hidden::Gre, rest),
        // ERSPAN type I has no header of its own and no GRE sequence number.
        ERSPAN_II if flags & SEQUENCE == 0 => in_frame(Hidden::Gre, rest),
        ERSPAN_II => in_frame(Hidden::Gre, rest.get(8..)?),
        // The last bit announces a further header.
        ERSPAN_III => in_frame(Hidden::Gre, rest.get(12 + 8 * usize::from(rest.get(11)? & 1)..)?),
        ether_type => Some((Hidden::Gre, ether_type, rest)),
    }
}

fn geneve(packet: &[u8]) -> Option<Behind<'_>> {
    let rest = packet.get(8 + 4 * usize::from(packet.first()? & 0x3f)..)?;
    match be16(packet, 2) {
        ETHERNET => in_frame(Hidden::Overlay, rest),
        ether_type => Some((Hidden::Overlay, ether_type, rest)),
    }
}

fn in_frame(header: Hidden, frame: &[u8]) -> Option<Behind<'_>> {
    tagged(header, frame, HEADER - 2)
}

/// A session of IEC 61850-90-5, after the header of the connectionless transport (ISO 8602) or without it.
fn routed(packet: &[u8]) -> Option<Behind<'_>> {
    const UNIT_DATA: u8 = 0x40;
    let session = match packet {
        [length, UNIT_DATA, ..] => packet.get(usize::from(*length) + 1..)?,
        _ => packet,
    };
    match session.first()? {
        // Session types for tunnelled packets and for GOOSE.
        0xa0 | 0xa1 => Some((Hidden::Routed, GOOSE, session)),
        0xa2 => Some((Hidden::Routed, SV, session)),
        _ => None,
    }
}

#[cfg(test)]
#[path = "hidden_tests.rs"]
mod tests;
