use super::{AddError, Lan, Node, Nodes, Patch, Protocol, Redundancy, SUPERVISION_DST, Supervision, add};
use crate::ether::{EthernetView, Mac, SV, VlanTag, write_header};
use crate::frame_error::Rule;

const SRC: Mac = Mac([2, 0, 0, 0, 0, 7]);

fn plain(tags: &[VlanTag], payload: usize) -> Vec<u8> {
    let mut frame = Vec::new();
    write_header(&mut frame, Mac([1, 0x0c, 0xcd, 4, 0, 1]), SRC, tags, SV);
    frame.resize(frame.len() + payload, 0x5a);
    frame
}

fn marked(tags: &[VlanTag], payload: usize, protocol: Protocol, lan: Lan, sequence: u16) -> (Vec<u8>, Patch) {
    let mut frame = plain(tags, payload);
    let patch = add(&mut frame, protocol, lan, sequence).unwrap();
    (frame, patch)
}

fn read(frame: &[u8]) -> Option<Redundancy> {
    Redundancy::of(&EthernetView::parse(frame).unwrap())
}

#[test]
fn marks_are_read_back_with_any_tags_and_lengths() {
    let tag = VlanTag::new(4, false, 5);
    for (tags, payload) in [(0, 0), (0, 45), (0, 46), (1, 20), (1, 46), (2, 100), (2, 1_480)] {
        let tags = &[tag, tag][..tags];
        for (protocol, lan) in [Protocol::Prp, Protocol::Hsr]
            .into_iter()
            .flat_map(|p| Lan::BOTH.map(|l| (p, l)))
        {
            let (mut frame, patch) = marked(tags, payload, protocol, lan, 0xabcd);
            let size = payload.max(46) + 6;
            assert_eq!(frame.len(), 14 + 4 * tags.len() + size);
            let found = read(&frame).unwrap();
            assert_eq!((found.protocol, found.lan(), found.sequence), (protocol, lan, 0xabcd));
            assert_eq!(usize::from(found.size), size);
            let ethernet = EthernetView::parse(&frame).unwrap();
            assert_eq!((ethernet.ether_type(), ethernet.src()), (SV, SRC));
            assert_eq!(found.contents(&ethernet).len(), payload.max(46));
            assert_eq!(ethernet.payload()[..payload], vec![0x5a; payload]);
            patch.set_sequence(&mut frame, 0xffff);
            patch.set_lan(&mut frame, lan.other());
            let changed = read(&frame).unwrap();
            assert_eq!(
                (changed.lan(), changed.sequence, changed.size),
                (lan.other(), 0xffff, found.size)
            );
            patch.set_sequence(&mut frame, 0xabcd);
            patch.set_lan(&mut frame, lan);
            assert_eq!(frame, marked(tags, payload, protocol, lan, 0xabcd).0);
        }
    }
}

/// The octets of an RCT and of a tag, written down from IEC 62439-3.
#[test]
fn the_octets_are_those_of_the_standard() {
    let (frame, _) = marked(&[VlanTag::new(4, false, 5)], 100, Protocol::Prp, Lan::B, 0x1234);
    assert_eq!(frame[frame.len() - 6..], [0x12, 0x34, 0xb0, 106, 0x88, 0xfb]);
    let (frame, _) = marked(&[VlanTag::new(4, false, 5)], 100, Protocol::Hsr, Lan::B, 0x1234);
    assert_eq!(frame[16..24], [0x89, 0x2f, 0x10, 106, 0x12, 0x34, 0x88, 0xba]);
}

#[test]
fn a_trailer_of_another_size_is_none() {
    let (frame, _) = marked(&[], 100, Protocol::Prp, Lan::A, 7);
    let with = |at: usize, octet: u8| {
        let mut frame = frame.clone();
        frame[at] = octet;
        read(&frame)
    };
    let end = frame.len();
    assert!(with(end - 3, 106).is_some());
    assert_eq!(with(end - 3, 105), None);
    assert_eq!(with(end - 4, 0xc0), None, "no LAN has this number");
    assert_eq!(with(end - 1, 0xfc), None);
    assert_eq!(read(&frame[..end - 1]), None, "cut");
    assert_eq!(read(&plain(&[], 100)), None);
    assert_eq!(read(&plain(&[], 0)), None);
    let (tagged, _) = marked(&[], 100, Protocol::Hsr, Lan::A, 7);
    assert!(read(&tagged).is_some());
    assert_eq!(read(&tagged[..tagged.len() - 1]), None);
}

/// Bridges remove VLAN tags, and captures keep the frame check sequence.
#[test]
fn tags_come_and_go_without_the_size() {
    let (tagged, _) = marked(&[VlanTag::new(4, false, 5)], 30, Protocol::Prp, Lan::A, 7);
    let untagged = [&tagged[..12], &tagged[16..]].concat();
    assert_eq!(read(&untagged), read(&tagged));
    assert_eq!(read(&[&untagged[..], &[1, 2, 3, 4]].concat()), read(&tagged), "FCS");
    // A sender that pads to 60 octets with RCT and tag; without the tag, the bridge pads after the RCT.
    let mut short = plain(&[], 36);
    short.extend_from_slice(&[0, 9, 0xa0, 42, 0x88, 0xfb]);
    assert_eq!(read(&short).unwrap().sequence, 9);
    short.resize(60, 0);
    assert_eq!(read(&short).unwrap().sequence, 9);
}

#[test]
fn a_second_mark_and_frames_without_room_are_refused() {
    for protocol in [Protocol::Prp, Protocol::Hsr] {
        let (mut frame, _) = marked(&[], 100, protocol, Lan::A, 7);
        let before = frame.clone();
        assert_eq!(
            add(&mut frame, Protocol::Hsr, Lan::A, 8),
            Err(AddError::Present(protocol.word()))
        );
        assert_eq!(frame, before);
    }
    assert!(add(&mut plain(&[], 4_089), Protocol::Prp, Lan::A, 0).is_ok());
    assert_eq!(
        add(&mut plain(&[], 4_090), Protocol::Prp, Lan::A, 0),
        Err(AddError::TooLong(4_096))
    );
    let cut = add(&mut vec![0; 13], Protocol::Prp, Lan::A, 0);
    assert!(matches!(cut, Err(AddError::Header(_))), "{cut:?}");
}

#[test]
fn supervision_frames_are_read_back() {
    let node = Supervision {
        path: 0,
        version: 1,
        sequence: 0x0102,
        node: Node::PrpDiscard,
        mac: SRC,
        red_box: None,
    };
    for (kind, red_box) in [Node::PrpDiscard, Node::PrpAccept, Node::Hsr]
        .into_iter()
        .flat_map(|node| [(node, None), (node, Some(Mac([2, 0, 0, 0, 0, 9])))])
    {
        let sent = Supervision {
            node: kind,
            red_box,
            ..node
        };
        let frame = sent.encode(SRC);
        assert_eq!((&frame[..6], frame.len()), (&SUPERVISION_DST.0[..], 60));
        assert_eq!(Supervision::parse(&EthernetView::parse(&frame).unwrap()), Ok(sent));
        for protocol in [Protocol::Prp, Protocol::Hsr] {
            let mut frame = frame.clone();
            add(&mut frame, protocol, Lan::B, 3).unwrap();
            assert_eq!(read(&frame).unwrap().lan(), Lan::B);
            assert_eq!(Supervision::parse(&EthernetView::parse(&frame).unwrap()), Ok(sent));
        }
    }
}

#[test]
fn nodes_are_listed_with_their_frames_and_silences() {
    let of = |last: u8| Supervision {
        path: 0,
        version: 1,
        sequence: 0,
        node: Node::PrpDiscard,
        mac: Mac([2, 0, 0, 0, 0, last]),
        red_box: None,
    };
    let mut nodes = Nodes::new(2);
    for second in [0, 2, 9] {
        for lan in Lan::BOTH {
            nodes.take(SRC, of(1), Some(lan), second * 1_000_000_000);
        }
        nodes.take(SRC, of(2), None, second * 1_000_000_000);
        nodes.take(SRC, of(3), None, second * 1_000_000_000);
    }
    let [first, second] = nodes.known() else { panic!() };
    assert_eq!(
        (first.frames, first.without_lan, first.longest_silence_ns),
        ([3, 3], 0, 7_000_000_000)
    );
    assert_eq!((second.frames, second.without_lan, nodes.unplaced), ([0, 0], 3, 3));
}

#[test]
fn broken_supervision_frames_name_their_place() {
    let frame = plain(&[], 46);
    let other = Supervision::parse(&EthernetView::parse(&frame).unwrap()).unwrap_err();
    assert!(matches!(other.rule, Rule::EtherType { .. }));
    let parse = |payload: &[u8]| {
        let mut frame = Vec::new();
        write_header(&mut frame, SUPERVISION_DST, SRC, &[], super::SUPERVISION);
        frame.extend_from_slice(payload);
        Supervision::parse(&EthernetView::parse(&frame).unwrap())
    };
    let refused = |payload: &[u8]| parse(payload).unwrap_err().to_string();
    assert!(refused(&[0, 1, 0, 1]).starts_with("octet 18: "));
    assert!(refused(&[0, 1, 0, 1, 99, 6, 1, 2, 3, 4, 5, 6]).contains("not that of a node"));
    assert!(refused(&[0, 1, 0, 1, 20, 6, 1, 2, 3]).contains("no address"));
    assert!(refused(&[0, 1, 0, 1, 20, 5, 1, 2, 3, 4, 5, 6]).contains("no address"));
    // An unknown TLV is skipped; one that goes past the end ends the list.
    let after = |rest: &[u8]| parse(&[&[0x10, 1, 0, 1, 20, 6, 1, 2, 3, 4, 5, 6], rest].concat()).unwrap();
    assert_eq!(
        after(&[31, 1, 0, 30, 6, 6, 5, 4, 3, 2, 1]).red_box,
        Some(Mac([6, 5, 4, 3, 2, 1]))
    );
    assert_eq!(after(&[31, 200, 0, 30, 6, 6, 5, 4, 3, 2, 1]).red_box, None);
    assert_eq!(after(&[0, 0, 30, 6, 6, 5, 4, 3, 2, 1]).red_box, None);
    assert_eq!((after(&[]).path, after(&[]).red_box), (1, None));
}
