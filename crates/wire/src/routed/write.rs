//! Datagrams of the session, for tests and publishers.

use super::{APDU_HEADER, COMMON, GOOSE, GOOSE_APDU, PORT, SV, SV_APDU, TRANSPORT};
use crate::ether::{self, EthernetView, Mac, write_header};
use crate::header::Header;
use core::net::Ipv4Addr;

const IPV4: u16 = 0x0800;
const UDP: u8 = 17;

/// Writes messages of layer 2 as datagrams over IPv4.
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
    /// The datagram for a frame of GOOSE or sampled values, without a signature; `None` if the frame is neither.
    ///
    /// `sign` returns the signature of the covered octets: a hash of 16 or 32 octets, or nothing.
    pub fn write(&self, frame: &[u8], sign: impl Fn(&[u8]) -> Vec<u8>) -> Option<Vec<u8>> {
        let ethernet = EthernetView::parse(frame).ok()?;
        let (kind, tag) = match ethernet.ether_type() {
            ether::GOOSE => (GOOSE, GOOSE_APDU),
            ether::SV => (SV, SV_APDU),
            _ => return None,
        };
        let header = Header::read(&ethernet, ethernet.ether_type()).ok()?;
        let apdu = header.pdu(&ethernet).ok()?.get(crate::header::OCTETS..)?;
        let mut session = TRANSPORT.to_vec();
        session.extend([kind, 24, COMMON, 18]);
        let payload = (APDU_HEADER + apdu.len()) as u32;
        for field in [20 + payload, self.number] {
            session.extend(field.to_be_bytes());
        }
        // Version 2, times of the keys, key, no initialisation vector.
        session.extend([0, 2, 0, 0, 0, 0, 0, 0]);
        session.extend(self.key_id.to_be_bytes());
        session.push(0);
        session.extend(payload.to_be_bytes());
        session.extend([tag, u8::from(header.simulate())]);
        session.extend(header.appid.to_be_bytes());
        session.extend((apdu.len() as u16).to_be_bytes());
        session.extend(apdu);
        let signature = sign(&session);
        if !signature.is_empty() {
            session.extend([super::SIGNATURE, signature.len() as u8]);
            session.extend(signature);
        }
        Some(self.datagram(ethernet.src(), &session))
    }

    fn datagram(&self, src: Mac, session: &[u8]) -> Vec<u8> {
        let [_, b, c, d] = self.destination.octets();
        let mut frame = Vec::with_capacity(session.len() + 42);
        write_header(&mut frame, Mac([1, 0, 0x5e, b & 0x7f, c, d]), src, &[], IPV4);
        let length = (20 + 8 + session.len()) as u16;
        let mut ip = vec![0x45, 0];
        ip.extend(length.to_be_bytes());
        ip.extend([0, 0, 0x40, 0, 64, UDP, 0, 0]);
        ip.extend(self.source.octets());
        ip.extend(self.destination.octets());
        let sum = checksum(&ip);
        ip[10..12].copy_from_slice(&sum.to_be_bytes());
        frame.extend(ip);
        for field in [PORT, PORT, length - 20, 0] {
            frame.extend(field.to_be_bytes());
        }
        frame.extend(session);
        frame
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
