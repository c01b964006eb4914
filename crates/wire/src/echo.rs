//! ICMP echo over IPv4 in an Ethernet frame (RFC 791, RFC 792): any kernel with an IPv4 address answers it.

use crate::bytes::{array, be16};
use crate::ether::HEADER;

/// EtherType of IPv4.
pub const IPV4: u16 = 0x0800;
/// Octets of an IPv4 header without options.
const IP_HEADER: usize = 20;
/// Octets of the header of an echo message.
const ECHO_HEADER: usize = 8;
/// Octets of the shortest frame with an echo message.
pub const LEAST: usize = HEADER + IP_HEADER + ECHO_HEADER;

/// Protocol number of ICMP.
const ICMP: u8 = 1;
/// Types of an echo message: request and reply.
const REQUEST: u8 = 8;
const REPLY: u8 = 0;
/// The "do not fragment" flag of the IPv4 header.
const WHOLE: u16 = 0x4000;
/// Time to live. Any value would do: no router is between the two ends.
const TIME_TO_LIVE: u8 = 64;

/// Both ends of an echo: the sender of requests and the replying host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Echo {
    /// MAC address of the replying interface.
    pub to_mac: [u8; 6],
    /// MAC address of the requesting interface.
    pub from_mac: [u8; 6],
    /// IPv4 address of the replying host.
    pub to: [u8; 4],
    /// IPv4 address of the requesting host.
    pub from: [u8; 4],
    /// Identifier that distinguishes our replies from replies to other programs.
    pub identifier: u16,
}

impl Echo {
    /// Writes the request over the whole of `frame`, which has no FCS. A frame shorter than [`LEAST`] is left
    /// unchanged.
    pub fn write(&self, frame: &mut [u8]) {
        let length = u16::try_from(frame.len().saturating_sub(HEADER)).unwrap_or(u16::MAX);
        let Some((ethernet, packet)) = frame.split_at_mut_checked(HEADER) else {
            return;
        };
        let Some((ip, echo)) = packet.split_at_mut_checked(IP_HEADER) else {
            return;
        };
        if echo.len() < ECHO_HEADER {
            return;
        }
        ethernet[..6].copy_from_slice(&self.to_mac);
        ethernet[6..12].copy_from_slice(&self.from_mac);
        ethernet[12..].copy_from_slice(&IPV4.to_be_bytes());
        ip.fill(0);
        // Version 4, five words of header.
        ip[0] = 0x45;
        ip[2..4].copy_from_slice(&length.to_be_bytes());
        ip[6..8].copy_from_slice(&WHOLE.to_be_bytes());
        (ip[8], ip[9]) = (TIME_TO_LIVE, ICMP);
        ip[12..16].copy_from_slice(&self.from);
        ip[16..20].copy_from_slice(&self.to);
        let sum = checksum(ip);
        ip[10..12].copy_from_slice(&sum.to_be_bytes());
        echo.fill(0);
        echo[0] = REQUEST;
        echo[4..6].copy_from_slice(&self.identifier.to_be_bytes());
        let sum = checksum(echo);
        echo[2..4].copy_from_slice(&sum.to_be_bytes());
    }

    /// True if a frame is a reply to such a request.
    pub fn is_answered_by(&self, frame: &[u8]) -> bool {
        let (ip, echo) = (HEADER, HEADER + IP_HEADER);
        frame.len() >= LEAST
            && be16(frame, 12) == IPV4
            && frame[ip] == 0x45
            && frame[ip + 9] == ICMP
            && array(frame, ip + 12) == self.to
            && frame[echo] == REPLY
            && be16(frame, echo + 4) == self.identifier
    }
}

/// The one's complement of the one's complement sum of all pairs of octets (RFC 1071).
fn checksum(octets: &[u8]) -> u16 {
    let pairs = octets.chunks(2).map(|pair| {
        let low = pair.get(1).copied().unwrap_or(0);
        u64::from(u16::from_be_bytes([pair[0], low]))
    });
    let mut sum: u64 = pairs.sum();
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    !(sum as u16)
}

#[cfg(test)]
mod tests {
    use super::{Echo, IPV4, LEAST, checksum};

    const ECHO: Echo = Echo {
        to_mac: [2, 0, 0, 0, 0, 2],
        from_mac: [2, 0, 0, 0, 0, 1],
        to: [198, 18, 0, 2],
        from: [198, 18, 0, 1],
        identifier: 0x7454,
    };

    /// A UDP header from 192.168.0.1 to 192.168.0.199 with a known checksum.
    #[test]
    fn the_checksum_is_that_of_a_known_header() {
        let header = [
            0x45, 0, 0, 0x73, 0, 0, 0x40, 0, 0x40, 0x11, 0, 0, 0xc0, 0xa8, 0, 1, 0xc0, 0xa8, 0, 0xc7,
        ];
        assert_eq!(checksum(&header), 0xb861);
        assert_eq!(checksum(&[0xff]), 0x00ff, "an odd octet is the first of a pair");
    }

    #[test]
    fn a_request_is_whole_and_only_its_reply_answers_it() {
        for octets in [LEAST, 60, 1514] {
            let mut frame = vec![0xee; octets];
            ECHO.write(&mut frame);
            assert_eq!(frame[12..14], IPV4.to_be_bytes());
            assert_eq!(usize::from(u16::from_be_bytes([frame[16], frame[17]])), octets - 14);
            assert_eq!((checksum(&frame[14..34]), checksum(&frame[34..])), (0, 0), "{octets}");
            assert!(!ECHO.is_answered_by(&frame), "the request itself is not a reply");
            let mut reply = frame.clone();
            reply[26..30].copy_from_slice(&ECHO.to);
            reply[30..34].copy_from_slice(&ECHO.from);
            reply[34] = 0;
            assert!(ECHO.is_answered_by(&reply));
            let mut others = reply.clone();
            others[38] ^= 1;
            assert!(!ECHO.is_answered_by(&others), "a reply to another program");
            assert!(!ECHO.is_answered_by(&reply[..LEAST - 1]));
        }
        let mut short = [0; LEAST - 1];
        ECHO.write(&mut short);
        assert_eq!(short, [0; LEAST - 1]);
    }
}
