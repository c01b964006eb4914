//! Datagrams of R-GOOSE and R-SV.
#![no_main]

use libfuzzer_sys::fuzz_target;
use wire::ether::{self, EthernetView};
use wire::routed::{Datagram, SessionWriter};
use wire::{goose, sv};

fuzz_target!(|octets: &[u8]| {
    let Ok(ethernet) = EthernetView::parse(octets) else {
        return;
    };
    if let Some(Ok(datagram)) = Datagram::within(&ethernet) {
        for view in datagram.messages().flatten() {
            match view.ether_type() {
                ether::SV => drop(sv::Frame::parse(&view).map(|frame| frame.asdus().count())),
                _ => drop(goose::Frame::parse(&view).map(|frame| frame.all_data().count())),
            }
        }
    }
    let writer = SessionWriter {
        source: [10, 0, 0, 1].into(),
        destination: [239, 192, 0, 7].into(),
        number: 7,
        key_id: 0,
    };
    let Some(written) = writer.write(octets, |_| Vec::new()) else {
        return;
    };
    // A frame whose APDU is no element is written, too.
    let again = EthernetView::parse(&written).expect("own frame");
    let datagram = Datagram::within(&again).expect("a session").expect("readable");
    assert_eq!(datagram.number(), 7);
    if let Some(Ok(view)) = datagram.messages().next() {
        assert_eq!(view.ether_type(), ethernet.ether_type());
    }
});
