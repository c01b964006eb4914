//! Ethernet headers, test frames and the frames of l2reflect.
#![no_main]

use libfuzzer_sys::fuzz_target;
use wire::ether::{EthernetView, Mac, VlanTag};
use wire::l2reflect::{L2reflectFrame, L2reflectMut};
use wire::test_frame::{TestFrame, TestFrameMut, reflect};

fuzz_target!(|octets: &[u8]| {
    let stripped = octets.first_chunk::<2>().map(|tci| VlanTag {
        tpid: 0x8100,
        tci: u16::from_be_bytes(*tci),
    });
    if let Ok(ethernet) = EthernetView::with_tag(octets, stripped) {
        assert_eq!(ethernet.vlan(), stripped);
    }
    let Ok(ethernet) = EthernetView::parse(octets) else {
        return;
    };
    assert_eq!(ethernet.payload().len() + ethernet.payload_offset(), octets.len());
    let parsed = TestFrame::parse(&ethernet);
    let (src, tagged) = (ethernet.src(), ethernet.vlan().is_some());
    let mut frame = octets.to_vec();
    if let Ok(mut patch) = TestFrameMut::new(&mut frame) {
        patch.set_sequence(7);
        let again = TestFrame::parse(&EthernetView::parse(&frame).expect("same header")).expect("same frame");
        assert_eq!(
            again,
            TestFrame {
                sequence: 7,
                ..parsed.expect("both accept it")
            }
        );
    } else {
        assert!(parsed.is_err() || tagged);
    }
    if let Ok(ball) = L2reflectFrame::parse(&ethernet) {
        let again = ball.encode(ethernet.dst(), ethernet.src(), octets.len());
        assert_eq!(L2reflectFrame::parse(&EthernetView::parse(&again).expect("a header")), Ok(ball));
        assert!(parsed.is_err() && L2reflectMut::new(&mut octets.to_vec()).is_ok());
    }
    let own = Mac([2, 0, 0, 0, 0, 9]);
    let before = frame.clone();
    reflect(&mut frame, own);
    let ethernet = EthernetView::parse(&frame).expect("same header");
    assert_eq!((ethernet.dst(), ethernet.src()), (src, own));
    assert_eq!(frame[12..], before[12..]);
});
