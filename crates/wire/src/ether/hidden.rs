//! Recognises sampled values and GOOSE after headers that [`EthernetView`] does not read.

use super::ip::{IPV4, IPV6, IpPacket, UDP};
use super::{EthernetView, GOOSE, HEADER, HSR, Mac, SV, TPID_8021AD, TPID_8021Q};
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
/// Labels of MPLS, for one receiver and for groups.
const MPLS: [u16; 2] = [0x8847, 0x8848];
/// Provider backbone bridges (IEEE 802.1ah).
const PBB: u16 = 0x88e7;
/// TRILL (RFC 6325), a network service header (RFC 8300), and a session of PPP over Ethernet (RFC 2516).
const TRILL: u16 = 0x22f3;
const NSH: u16 = 0x894f;
const PPPOE_SESSION: u16 = 0x8864;
/// Management of GOOSE and GSSE (IEC 61850-8-1), which may go to the same addresses.
const GSE_MANAGEMENT: u16 = 0x88b9;
/// Groups of GOOSE, GSSE and sampled values (IEC 61850-8-1, IEC 61850-9-2): the first octets of their addresses.
const GROUPS: [[u8; 4]; 3] = [[1, 0x0c, 0xcd, 1], [1, 0x0c, 0xcd, 2], [1, 0x0c, 0xcd, 4]];

const IP_GRE: u8 = 47;
const IP_IPV4: u8 = 4;
const IP_IPV6: u8 = 41;
const IP_L2TP: u8 = 115;
/// UDP port of R-GOOSE and R-SV (IEC 61850-90-5).
const PORT_ROUTED: u16 = 102;
const PORT_VXLAN: u16 = 4789;
const PORT_GENEVE: u16 = 6081;
const PORT_TZSP: u16 = 37_008;
const PORT_L2TP: u16 = 1701;

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
    /// Labels of MPLS, with an Ethernet frame (pseudowire) or an IP packet.
    Mpls,
    /// A provider backbone bridge.
    Pbb,
    /// An IP packet in an IP packet.
    Tunnel,
    /// TZSP, by which access points and routers mirror frames.
    Tzsp,
    /// TRILL.
    Trill,
    /// A network service header.
    Nsh,
    /// A session of PPP over Ethernet.
    Pppoe,
    /// L2TPv3.
    L2tp,
    /// A frame to an address of sampled values or GOOSE whose EtherType is another one, such as an encrypted frame.
    Unread,
}

impl EthernetView<'_> {
    /// True for a frame of sampled values or GOOSE, also one after headers that are not read.
    pub fn is_of_protection(&self) -> bool {
        matches!(self.ether_type(), SV | GOOSE) || Hidden::of(self).is_some()
    }
}

impl Hidden {
    /// All headers, in the order of their numbers.
    pub const ALL: [Self; 15] = [
        Self::Vlan,
        Self::Hsr,
        Self::RTag,
        Self::Gre,
        Self::Overlay,
        Self::Routed,
        Self::Mpls,
        Self::Pbb,
        Self::Tunnel,
        Self::Tzsp,
        Self::Trill,
        Self::Nsh,
        Self::Pppoe,
        Self::L2tp,
        Self::Unread,
    ];

    /// The header that hides sampled values or GOOSE in this frame. `None` if nothing shows that the frame holds any, or if they can
    /// be read.
    pub fn of(ethernet: &EthernetView<'_>) -> Option<Self> {
        Self::known(ethernet).or_else(|| is_unread(ethernet).then_some(Self::Unread))
    }

    fn known(ethernet: &EthernetView<'_>) -> Option<Self> {
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
            Self::Mpls => "MPLS",
            Self::Pbb => "provider backbone bridges (IEEE 802.1ah)",
            Self::Tunnel => "IP in IP",
            Self::Tzsp => "TZSP",
            Self::Trill => "TRILL",
            Self::Nsh => "network service headers (RFC 8300)",
            Self::Pppoe => "PPP over Ethernet",
            Self::L2tp => "L2TPv3",
            Self::Unread => "another header, or encryption, in frames to their addresses",
        }
    }
}

/// True for a frame to an address of sampled values or GOOSE that holds nothing else that is known.
fn is_unread(ethernet: &EthernetView<'_>) -> bool {
    let Mac(octets) = ethernet.dst();
    let is_theirs = GROUPS.iter().any(|group| octets.starts_with(group));
    is_theirs && !matches!(ethernet.ether_type(), SV | GOOSE | GSE_MANAGEMENT)
}

/// A header, the EtherType after it, and the payload after that.
type Behind<'a> = (Hidden, u16, &'a [u8]);

/// The content after the header that `ether_type` names. `None` for another EtherType or a truncated header.
fn behind(ether_type: u16, payload: &[u8]) -> Option<Behind<'_>> {
    match ether_type {
        TPID_8021Q | TPID_8021AD | TPID_9100 | TPID_9200 => tagged(Hidden::Vlan, payload, 2),
        HSR => tagged(Hidden::Hsr, payload, 4),
        R_TAG => tagged(Hidden::RTag, payload, 4),
        // The tag with the service instance is before the customer's frame.
        PBB => in_frame(Hidden::Pbb, payload.get(4..)?),
        TRILL => trill(payload),
        NSH => service(payload),
        PPPOE_SESSION => point_to_point(payload),
        _ if MPLS.contains(&ether_type) => labelled(payload),
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
        IP_IPV4 => Some((Hidden::Tunnel, IPV4, rest)),
        IP_IPV6 => Some((Hidden::Tunnel, IPV6, rest)),
        IP_L2TP => first_frame(Hidden::L2tp, rest, [8, 4, 12, 16]),
        UDP => in_datagram(be16(rest, 2), rest.get(8..)?),
        _ => None,
    }
}

/// The content of a datagram to this UDP port.
fn in_datagram(port: u16, packet: &[u8]) -> Option<Behind<'_>> {
    match port {
        PORT_ROUTED => routed(packet),
        PORT_VXLAN => in_frame(Hidden::Overlay, packet.get(8..)?),
        PORT_GENEVE => geneve(packet),
        PORT_TZSP => tzsp(packet),
        // A data message of version 3.
        PORT_L2TP if be16(packet, 0) == 3 => first_frame(Hidden::L2tp, packet, [12, 8, 16, 20]),
        // The port is a setting: Linux takes 8472 by default. Elsewhere, the header must have no other flag and no reserved bit.
        _ => match packet {
            [8, 0, 0, 0, _, _, _, 0, frame @ ..] => in_frame(Hidden::Overlay, frame),
            _ => None,
        },
    }
}

/// The frame at the first of these offsets at which one may be: cookies and sublayers of L2TPv3 (RFC 3931) are agreed elsewhere.
fn first_frame(header: Hidden, packet: &[u8], offsets: [usize; 4]) -> Option<Behind<'_>> {
    let mut frames = offsets
        .into_iter()
        .filter_map(|offset| in_frame(header, packet.get(offset..)?));
    frames.find(|(_, ether_type, _)| is_looked_behind(*ether_type))
}

/// A packet of TZSP that carries Ethernet: tags up to that which ends them.
fn tzsp(packet: &[u8]) -> Option<Behind<'_>> {
    const PADDING: u8 = 0;
    const END: u8 = 1;
    if be16(packet, 2) != 1 {
        return None;
    }
    let mut tags = packet.get(4..)?;
    loop {
        tags = match *tags.first()? {
            PADDING => &tags[1..],
            END => return in_frame(Hidden::Tzsp, &tags[1..]),
            _ => tags.get(2 + usize::from(*tags.get(1)?)..)?,
        };
    }
}

/// The frame after a header of TRILL and its options.
fn trill(packet: &[u8]) -> Option<Behind<'_>> {
    let options = 4 * usize::from(be16(packet, 0) >> 6 & 0x1f);
    in_frame(Hidden::Trill, packet.get(6 + options..)?)
}

/// The content after a network service header.
fn service(packet: &[u8]) -> Option<Behind<'_>> {
    let rest = packet.get(4 * usize::from(packet.get(1)? & 0x3f)..)?;
    match packet.get(3)? {
        1 => Some((Hidden::Nsh, IPV4, rest)),
        2 => Some((Hidden::Nsh, IPV6, rest)),
        3 => in_frame(Hidden::Nsh, rest),
        5 => Some((Hidden::Nsh, MPLS[0], rest)),
        _ => None,
    }
}

/// The content of a session of PPP: an IP packet, labels, or a bridged frame (RFC 3518), whose flags may be missing.
fn point_to_point(packet: &[u8]) -> Option<Behind<'_>> {
    let rest = packet.get(8..)?;
    match (be16(packet, 0), be16(packet, 6)) {
        (0x1100, 0x0021) => Some((Hidden::Pppoe, IPV4, rest)),
        (0x1100, 0x0057) => Some((Hidden::Pppoe, IPV6, rest)),
        (0x1100, 0x0281) => Some((Hidden::Pppoe, MPLS[0], rest)),
        (0x1100, 0x0031) => first_frame(Hidden::Pppoe, rest, [2, 6, 0, 0]),
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

/// The content after the labels of MPLS (RFC 3032): an IP packet, or a frame with or without a control word (RFC 4448), whose first bits are 0. An
/// address may begin with these bits, too: then the EtherType shows which of both it is.
fn labelled(mut rest: &[u8]) -> Option<Behind<'_>> {
    for _ in 0..MOST_HEADERS {
        let is_last = rest.get(2)? & 1 == 1;
        rest = rest.get(4..)?;
        if is_last {
            return match rest.first()? >> 4 {
                4 => Some((Hidden::Mpls, IPV4, rest)),
                6 => Some((Hidden::Mpls, IPV6, rest)),
                0 => in_frame(Hidden::Mpls, rest.get(4..)?)
                    .filter(|(_, ether_type, _)| is_looked_behind(*ether_type))
                    .or_else(|| in_frame(Hidden::Mpls, rest)),
                _ => in_frame(Hidden::Mpls, rest),
            };
        }
    }
    None
}

/// True for an EtherType of sampled values, of GOOSE, or of a header that may be before them.
fn is_looked_behind(ether_type: u16) -> bool {
    const ALL: [u16; 14] = [
        SV,
        GOOSE,
        HSR,
        R_TAG,
        PBB,
        TRILL,
        NSH,
        PPPOE_SESSION,
        IPV4,
        IPV6,
        TPID_8021Q,
        TPID_8021AD,
        TPID_9100,
        TPID_9200,
    ];
    ALL.contains(&ether_type) || MPLS.contains(&ether_type)
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
