//! Messages of datagrams as frames of layer 2, for receivers that know only those.

use crate::ether::{EthernetView, Mac};
use crate::header::{Header, OCTETS};
use core::net::{IpAddr, Ipv4Addr};
use std::fmt;

/// Octets of a frame for which memory is kept.
const USUAL: usize = 1_600;

/// Begin of the addresses that stand for an IPv4 and for an IPv6 address: of the locally administered kind.
const OF_IPV4: [u8; 2] = [0x0e, 0x52];
const OF_IPV6: [u8; 2] = [0x0e, 0x56];

/// Address that stands for a sender behind a router, where a frame has a MAC address: that of the last router, which can change at any time
/// and says nothing about the sender. It has the four octets of an IPv4 address, or the last four of an IPv6 address.
pub fn stand_in(source: IpAddr) -> Mac {
    let (begin, octets) = match source {
        IpAddr::V4(address) => (OF_IPV4, address.octets()),
        IpAddr::V6(address) => {
            let [.., a, b, c, d] = address.octets();
            (OF_IPV6, [a, b, c, d])
        }
    };
    let ([a, b], [c, d, e, f]) = (begin, octets);
    Mac([a, b, c, d, e, f])
}

/// A publisher's address in words: its MAC address, or the IP address for which that stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Publisher(pub Mac);

impl fmt::Display for Publisher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Mac([a, b, octets @ ..]) = self.0;
        match [a, b] {
            OF_IPV4 => write!(f, "{}", Ipv4Addr::from(octets)),
            OF_IPV6 => {
                let [c, d, e, g] = octets;
                write!(f, "…:{c:02x}{d:02x}:{e:02x}{g:02x}")
            }
            _ => write!(f, "{}", self.0),
        }
    }
}

/// Writes the messages of datagrams as frames of layer 2: the destination and the tags of the frame, the sender's address as
/// [`stand_in`], the EtherType of the protocol and its header. Only its creation allocates, and a frame of jumbo size.
#[derive(Debug)]
pub struct Unwrapper {
    frame: Vec<u8>,
}

impl Default for Unwrapper {
    fn default() -> Self {
        Self {
            frame: Vec::with_capacity(USUAL),
        }
    }
}

impl Unwrapper {
    /// The frame for a message, a view that [`super::Datagram::messages`] returned.
    pub fn frame(&mut self, message: &EthernetView<'_>) -> &[u8] {
        self.frame.clear();
        let ether_type = message.ether_type();
        let (Ok(header), whole) = (Header::read(message, ether_type), message.frame()) else {
            return &self.frame;
        };
        let apdu = header.pdu(message).ok().and_then(|pdu| pdu.get(OCTETS..));
        self.frame.extend_from_slice(&message.dst().0);
        self.frame.extend_from_slice(&message.src().0);
        self.frame
            .extend_from_slice(whole.get(12..message.ip_at().saturating_sub(2)).unwrap_or_default());
        self.frame.extend_from_slice(&ether_type.to_be_bytes());
        for field in [header.appid, header.length, header.reserved1, header.reserved2] {
            self.frame.extend_from_slice(&field.to_be_bytes());
        }
        self.frame.extend_from_slice(apdu.unwrap_or_default());
        &self.frame
    }
}
