//! Datagrams that are written and read back, and damaged ones.

use super::{Datagram, Security, SessionWriter};
use crate::ether::{EthernetView, Mac};
use crate::frame_error::FrameError;
use crate::goose::{self, Value};
use crate::quality::SvQuality;
use crate::sv;
use core::net::Ipv4Addr;

const WRITER: SessionWriter = SessionWriter {
    source: Ipv4Addr::new(10, 0, 0, 1),
    destination: Ipv4Addr::new(239, 192, 0, 7),
    number: 4711,
    key_id: 0,
};

fn message() -> goose::Message {
    goose::Message {
        src: Mac([2, 0, 0, 0, 0, 1]),
        appid: 0x3001,
        gocb_ref: b"IED1LD0/LLN0$GO$gcb1".to_vec(),
        dat_set: b"IED1LD0/LLN0$ds1".to_vec(),
        st_num: 7,
        sq_num: 3,
        all_data: vec![Value::Boolean(true)],
        ..goose::Message::default()
    }
}

fn routed(sign: impl Fn(&[u8]) -> Vec<u8>) -> Vec<u8> {
    let frame = message().encode().expect("a message");
    WRITER.write(&frame, sign).expect("GOOSE")
}

fn datagram(octets: &[u8]) -> Option<Result<Datagram<'_>, FrameError>> {
    Datagram::within(&EthernetView::parse(octets).expect("a header"))
}

#[test]
fn a_message_comes_back_with_its_appid_and_its_addresses() {
    let octets = routed(|_| Vec::new());
    let datagram = datagram(&octets).expect("a session").expect("readable");
    assert_eq!(datagram.source(), Ipv4Addr::new(10, 0, 0, 1));
    assert_eq!(datagram.destination(), Ipv4Addr::new(239, 192, 0, 7));
    assert_eq!((datagram.number(), datagram.version(), datagram.key_id()), (4711, 2, 0));
    assert_eq!(datagram.security(), Security::None);
    let views: Vec<_> = datagram.messages().collect::<Result<_, _>>().expect("messages");
    assert_eq!(views.len(), 1);
    assert_eq!(views[0].dst(), Mac([1, 0, 0x5e, 64, 0, 7]));
    let frame = goose::Frame::parse(&views[0]).expect("GOOSE");
    assert_eq!((frame.header().appid, frame.st_num(), frame.sq_num()), (0x3001, 7, 3));
    assert_eq!(frame.gocb_ref(), b"IED1LD0/LLN0$GO$gcb1");
    assert!(!frame.simulate());
}

#[test]
fn samples_come_back_with_the_simulate_bit() {
    let message = sv::Message {
        dst: Mac([1, 0x0c, 0xcd, 4, 0, 1]),
        src: Mac([2, 0, 0, 0, 0, 1]),
        tags: Vec::new(),
        appid: 0x4000,
        simulate: true,
        asdus: vec![sv::OwnedAsdu::new("MU01", 1, 2, &[(5, SvQuality(0))])],
    };
    let frame = WRITER
        .write(&message.encode().expect("a frame"), |_| Vec::new())
        .expect("SV");
    let datagram = datagram(&frame).expect("a session").expect("readable");
    let view = datagram.messages().next().expect("one").expect("readable");
    let read = sv::Frame::parse(&view).expect("SV");
    assert!(read.simulate());
    assert_eq!((read.appid(), read.asdu_count()), (0x4000, message.asdus.len()));
}

#[test]
fn a_signature_covers_everything_before_it() {
    for octets in [16, 32] {
        let frame = routed(|covered| vec![covered.len() as u8; octets]);
        let datagram = datagram(&frame).expect("a session").expect("readable");
        assert_eq!(datagram.security(), Security::Signed);
        assert_eq!(datagram.signature(), vec![datagram.covered().len() as u8; octets]);
        assert_eq!(datagram.messages().count(), 1);
    }
}

#[test]
fn libiec61850_counts_the_length_itself() {
    let mut octets = routed(|_| Vec::new());
    let length_at = 42 + 2 + 4 + 10 + 6 + 5 + 4 + 4;
    let said = u16::from_be_bytes([octets[length_at], octets[length_at + 1]]);
    for (more, is_read) in [(0, true), (2, true), (1, false), (3, false)] {
        octets[length_at..length_at + 2].copy_from_slice(&(said + more).to_be_bytes());
        let datagram = datagram(&octets).expect("a session").expect("readable");
        let messages: Vec<_> = datagram.messages().collect();
        assert_eq!(messages.len(), 1, "an error ends the messages");
        assert_eq!(messages[0].is_ok(), is_read, "{more}");
    }
}

#[test]
fn an_encrypted_payload_has_no_messages() {
    let mut octets = routed(|_| Vec::new());
    // The length of the initialisation vector takes octets of the payload, whose length shrinks by as many.
    let vector_at = 42 + 2 + 4 + 10 + 6 + 4;
    let payload = u32::from_be_bytes(octets[vector_at + 1..vector_at + 5].try_into().expect("four"));
    octets[vector_at] = 12;
    octets[vector_at + 13..vector_at + 17].copy_from_slice(&(payload - 12).to_be_bytes());
    let datagram = datagram(&octets).expect("a session").expect("readable");
    assert_eq!(datagram.security(), Security::Encrypted);
    assert_eq!(datagram.messages().count(), 0);
}

#[test]
fn other_packets_are_none_and_cut_ones_are_errors() {
    let whole = routed(|_| Vec::new());
    let changed = |at: usize, octet: u8| {
        let mut octets = whole.clone();
        octets[at] = octet;
        octets
    };
    assert!(datagram(&changed(37, 103)).is_none(), "another port");
    assert!(datagram(&changed(23, 6)).is_none(), "TCP");
    assert!(datagram(&changed(20, 0x20)).is_none(), "a first fragment");
    assert!(datagram(&changed(44, 0xa0)).is_none(), "tunnelled");
    for (at, octet) in [(46, 0x81), (57, 3)] {
        let octets = changed(at, octet);
        assert!(datagram(&octets).expect("a session").is_err(), "octet {at}");
    }
    for length in 0..whole.len() {
        let Ok(ethernet) = EthernetView::parse(&whole[..length]) else {
            continue;
        };
        if let Some(Ok(datagram)) = Datagram::within(&ethernet) {
            panic!("{length} of {} octets: {datagram:?}", whole.len());
        }
    }
}
