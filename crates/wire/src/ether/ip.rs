//! The headers of IP and UDP, as far as messages behind them need it.

use super::EthernetView;
use crate::bytes::{array, be16};
use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// EtherType of IPv4.
pub(crate) const IPV4: u16 = 0x0800;
/// EtherType of IPv6.
pub(crate) const IPV6: u16 = 0x86dd;
/// Protocol number of UDP.
pub(crate) const UDP: u8 = 17;

/// Maximum number of extension headers of IPv6 that are skipped.
const MOST_EXTENSIONS: usize = 12;
/// Octets of a UDP header.
const UDP_HEADER: usize = 8;

/// Addresses of sender and receiver in the header of a packet, by its version.
pub(super) fn addresses(packet: &[u8]) -> [IpAddr; 2] {
    let v4 = |at| IpAddr::V4(Ipv4Addr::from(array::<4>(packet, at)));
    let v6 = |at| IpAddr::V6(Ipv6Addr::from(array::<16>(packet, at)));
    match packet.first().map(|first| first >> 4) {
        Some(6) => [v6(8), v6(24)],
        _ => [v4(12), v4(16)],
    }
}

/// A whole IP packet, or the first fragment of one.
pub(super) struct IpPacket<'a> {
    /// Protocol of the content.
    pub(super) protocol: u8,
    /// Everything after the headers, padding of the frame included.
    pub(super) octets: &'a [u8],
    /// True if further fragments follow.
    pub(super) is_fragment: bool,
}

impl<'a> IpPacket<'a> {
    /// The packet after this EtherType. `None` for another EtherType, a truncated header, or a later fragment.
    pub(super) fn of(ether_type: u16, packet: &'a [u8]) -> Option<Self> {
        match ether_type {
            IPV4 => Self::v4(packet),
            IPV6 => Self::v6(packet),
            _ => None,
        }
    }

    fn v4(packet: &'a [u8]) -> Option<Self> {
        const MORE: u16 = 0x2000;
        let fragment = be16(packet, 6);
        let octets = usize::from(packet.first()? & 0x0f) * 4;
        let is_read = octets >= 20 && fragment & 0x1fff == 0;
        Some(Self {
            protocol: *packet.get(9)?,
            octets: packet.get(octets..).filter(|_| is_read)?,
            is_fragment: fragment & MORE != 0,
        })
    }

    fn v6(packet: &'a [u8]) -> Option<Self> {
        let (mut next, mut rest) = (*packet.get(6)?, packet.get(40..)?);
        let mut is_fragment = false;
        for _ in 0..MOST_EXTENSIONS {
            let octets = match next {
                // Hop-by-hop options, routing header and destination options.
                0 | 43 | 60 => (usize::from(*rest.get(1)?) + 1) * 8,
                // Fragment header: only the first fragment holds the next header.
                44 if be16(rest, 2) & 0xfff8 == 0 => {
                    is_fragment = be16(rest, 2) & 1 != 0;
                    8
                }
                protocol => {
                    return Some(Self {
                        protocol,
                        octets: rest,
                        is_fragment,
                    });
                }
            };
            (next, rest) = (*rest.first()?, rest.get(octets..)?);
        }
        None
    }
}

/// The content of a UDP datagram that is whole.
#[derive(Debug, Clone, Copy)]
pub(crate) struct UdpPayload<'a> {
    pub(crate) source: IpAddr,
    pub(crate) destination: IpAddr,
    /// Port of the receiver.
    pub(crate) port: u16,
    pub(crate) octets: &'a [u8],
    /// Offset of the content in the frame.
    pub(crate) at: usize,
}

impl<'a> UdpPayload<'a> {
    /// The content of the datagram in this frame. `None` if it is no UDP, or a fragment. It may be cut.
    pub(crate) fn within(ethernet: &EthernetView<'a>) -> Option<Self> {
        let packet = IpPacket::of(ethernet.ether_type(), ethernet.payload())?;
        let is_whole = packet.protocol == UDP && !packet.is_fragment;
        let octets = packet.octets.get(UDP_HEADER..).filter(|_| is_whole)?;
        let length = usize::from(be16(packet.octets, 4)).checked_sub(UDP_HEADER)?;
        let [source, destination] = addresses(ethernet.payload());
        Some(Self {
            source,
            destination,
            port: be16(packet.octets, 2),
            // Padding of the frame is left out; a capture may lack the end.
            octets: octets.get(..length).unwrap_or(octets),
            at: ethernet.frame().len() - octets.len(),
        })
    }
}
