use super::{EthernetView, HSR, Mac, SV, TPID_8021AD, TPID_8021Q, VlanTag, write_header};
use crate::frame_error::Rule;

const DST: Mac = Mac([1, 0x0c, 0xcd, 4, 0, 1]);
const SRC: Mac = Mac([2, 0, 0, 0, 0, 1]);

fn frame(tags: &[VlanTag]) -> Vec<u8> {
    let mut out = Vec::new();
    write_header(&mut out, DST, SRC, tags, SV);
    out.extend_from_slice(b"payload");
    out
}

#[test]
fn mac_text_round_trips() {
    assert_eq!(DST.to_string(), "01:0c:cd:04:00:01");
    assert_eq!("01-0C-CD-04-00-01".parse(), Ok(DST));
    for wrong in [
        "",
        "01:0c:cd:04:00",
        "01:0c:cd:04:00:01:02",
        "01:0c:cd:04:00:0g",
        "1:c:cd:4:0:1",
        "01:0c:cd:04:00:+1",
    ] {
        assert!(wrong.parse::<Mac>().is_err(), "{wrong}");
    }
    assert!(DST.is_multicast() && Mac::BROADCAST.is_multicast() && !SRC.is_multicast());
}

#[test]
fn tags_are_read_in_order() {
    let outer = VlanTag {
        tpid: TPID_8021AD,
        tci: 0x7005,
    };
    let inner = VlanTag::new(4, false, 100);
    for tags in [&[][..], &[inner], &[outer, inner]] {
        let bytes = frame(tags);
        let view = EthernetView::parse(&bytes).unwrap();
        assert_eq!((view.dst(), view.src(), view.ether_type()), (DST, SRC, SV));
        assert_eq!(view.vlan(), tags.first().copied());
        assert_eq!(view.inner_vlan(), tags.get(1).copied());
        assert_eq!(view.payload(), b"payload");
        assert_eq!(view.payload_offset(), 14 + 4 * tags.len());
    }
    assert_eq!((outer.pcp(), outer.dei(), outer.vid()), (3, true, 5));
    assert_eq!((inner.tpid, inner.tci), (TPID_8021Q, 0x8064));
}

#[test]
fn a_stripped_tag_is_the_outer_one() {
    let stripped = VlanTag::new(4, false, 7);
    let inner = VlanTag::new(1, false, 9);
    let bytes = frame(&[inner]);
    let view = EthernetView::with_tag(&bytes, Some(stripped)).unwrap();
    assert_eq!(
        (view.vlan(), view.inner_vlan(), view.ether_type()),
        (Some(stripped), Some(inner), SV)
    );
    let view = EthernetView::with_tag(&bytes, None).unwrap();
    assert_eq!((view.vlan(), view.inner_vlan()), (Some(inner), None));
}

#[test]
fn a_third_tag_stays_in_the_payload() {
    let tag = VlanTag::new(4, false, 7);
    let bytes = frame(&[tag, tag, tag]);
    assert_eq!(EthernetView::parse(&bytes).unwrap().ether_type(), TPID_8021Q);
}

#[test]
fn a_header_that_ends_early_is_refused() {
    let bytes = frame(&[VlanTag::new(4, false, 7)]);
    for len in 0..18 {
        let error = EthernetView::parse(&bytes[..len]).unwrap_err();
        assert_eq!((error.rule, error.offset as usize), (Rule::EthernetHeader, len));
    }
    assert!(EthernetView::parse(&bytes[..18]).is_ok());
}

#[test]
fn an_hsr_tag_is_read_wherever_it_stands() {
    let vlan = VlanTag::new(4, false, 100);
    let tagged = frame(&[vlan]);
    let hsr = [0x89, 0x2f, 0x10, 0x32, 0xab, 0xcd];
    for at in [12, 16] {
        let bytes = [&tagged[..at], &hsr, &tagged[at..]].concat();
        let view = EthernetView::parse(&bytes).unwrap();
        assert_eq!(
            (view.vlan(), view.inner_vlan(), view.ether_type()),
            (Some(vlan), None, SV)
        );
        assert_eq!((view.payload(), view.payload_offset()), (&b"payload"[..], 24));
        assert_eq!(bytes[view.hsr_fields()], hsr[2..]);
        for len in 14..24 {
            let error = EthernetView::parse(&bytes[..len]).unwrap_err();
            assert_eq!((error.rule, error.offset as usize), (Rule::EthernetHeader, len));
        }
        let twice = [&bytes[..at], &hsr, &bytes[at..]].concat();
        assert_eq!(EthernetView::parse(&twice).unwrap().ether_type(), HSR);
    }
    assert!(EthernetView::parse(&tagged).unwrap().hsr_fields().is_empty());
}
