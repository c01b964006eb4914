use super::{AAF, AafStream, AafTemplate, Frame, HEADER};
use crate::ether::{EthernetView, Mac, VlanTag};

/// An AAF frame put together by hand from the standard's figures: version 0, stream_id valid, restart bit set, timestamp
/// valid, sequence number 0x9c, timestamp certain, INT_16, 48 kHz, 2 channels, 16 bits, one sample of each channel, sparse
/// bit and event 5 set; padded.
const BY_HAND: &str = concat!(
    "91e0f000fe01",
    "020000000001",
    "22f0",
    "02",
    "89",
    "9c",
    "00",
    "0200000000010007",
    "89abcdef",
    "04500210",
    "0004",
    "1500",
    "7fff8001",
    "000000000000"
);

fn unhex(text: &str) -> Vec<u8> {
    (0..text.len())
        .step_by(2)
        .map(|at| u8::from_str_radix(&text[at..at + 2], 16).unwrap())
        .collect()
}

fn parse(octets: &[u8]) -> Result<Frame<'_>, String> {
    let ethernet = EthernetView::parse(octets).map_err(|error| error.to_string())?;
    Frame::parse(&ethernet).map_err(|error| error.to_string())
}

fn stream() -> AafStream {
    AafStream {
        dst: Mac([0x91, 0xe0, 0xf0, 0, 0xfe, 0]),
        src: Mac([2, 0, 0, 0, 0, 1]),
        tags: vec![VlanTag::new(3, false, 2)],
        unique_id: 7,
    }
}

#[test]
fn every_field_of_a_frame_made_by_hand() {
    let octets = unhex(BY_HAND);
    let frame = parse(&octets).unwrap();
    assert_eq!(frame.subtype(), AAF);
    assert_eq!(frame.stream_id(), Some(0x0200_0000_0001_0007));
    assert_eq!(frame.sequence_num(), 0x9c);
    assert_eq!(frame.timestamp_ns(), Some(0x89ab_cdef));
    assert!(frame.restart() && !frame.timestamp_uncertain());
    assert_eq!(frame.format(), [4, 0x50, 2, 0x10]);
    assert_eq!(frame.data(), [0x7f, 0xff, 0x80, 0x01], "padding is not data");
}

#[test]
fn fields_that_are_not_valid_are_not_given() {
    let mut octets = unhex(BY_HAND);
    octets[15] = 0;
    octets[17] = 1;
    let frame = parse(&octets).unwrap();
    assert_eq!((frame.stream_id(), frame.timestamp_ns()), (None, None));
    assert!(!frame.restart() && frame.timestamp_uncertain());
}

#[test]
fn refusals_name_the_octet() {
    let whole = unhex(BY_HAND);
    let changed = |at: usize, octet: u8| {
        let mut octets = whole.clone();
        octets[at] = octet;
        parse(&octets).unwrap_err()
    };
    assert!(changed(13, 0xf1).starts_with("octet 12: EtherType 22f1"));
    // The headers of ADP, NTSCF and CRF differ.
    for subtype in [0xfa, 0x82, 0x04] {
        assert_eq!(
            changed(14, subtype),
            "octet 14: not an AVTP stream frame: its subtype has no stream header"
        );
    }
    assert!(changed(15, 0x99).contains("octet 15"));
    assert!(changed(35, 11).contains("octet 34"));
    assert!(
        parse(&{
            let mut octets = whole.clone();
            octets[35] = 10;
            octets
        })
        .is_ok()
    );
    for len in 14..14 + HEADER {
        assert!(parse(&whole[..len]).is_err(), "{len} octets");
    }
    assert!(parse(&whole[..14 + HEADER]).is_err(), "its data is missing");
    assert!(parse(&whole[..14 + HEADER + 4]).is_ok());
}

#[test]
fn a_template_is_what_was_asked_for_and_patches_only_its_field() {
    let mut template = AafTemplate::new(&stream());
    let before = template.bytes().to_vec();
    assert_eq!(before.len(), 14 + 4 + HEADER + 48);
    template.set_sequence_num(0xfe);
    template.set_timestamp_ns(0x0102_0304);
    template.data_mut()[..2].copy_from_slice(&[0xaa, 0xbb]);
    let octets = template.bytes();
    let differing: Vec<usize> = (0..before.len()).filter(|at| before[*at] != octets[*at]).collect();
    assert_eq!(differing, [20, 30, 31, 32, 33, 42, 43]);
    let ethernet = EthernetView::parse(octets).unwrap();
    assert_eq!(ethernet.vlan(), Some(VlanTag::new(3, false, 2)));
    let frame = Frame::parse(&ethernet).unwrap();
    assert_eq!(frame.stream_id(), Some(stream().id()));
    assert_eq!((frame.sequence_num(), frame.timestamp_ns()), (0xfe, Some(0x0102_0304)));
    assert!(frame.timestamp_uncertain() && !frame.restart());
    assert_eq!(frame.data().len(), AafTemplate::DATA);
    assert_eq!(frame.format(), [2, 0x50, 2, 32]);
}
