//! RCTs, HSR tags and supervision frames, and the discard of copies.
#![no_main]

use libfuzzer_sys::fuzz_target;
use wire::ether::EthernetView;
use wire::redundancy::{Lan, Protocol, Redundancy, Supervision, add};

fuzz_target!(|octets: &[u8]| {
    let Ok(ethernet) = EthernetView::parse(octets) else {
        return;
    };
    if let Some(found) = Redundancy::of(&ethernet) {
        assert!(usize::from(found.size) <= octets.len());
    }
    if let Ok(found) = Supervision::parse(&ethernet)
        && found.red_box.is_none()
    {
        let again = found.encode(ethernet.src());
        let again = EthernetView::parse(&again).expect("own frame");
        assert_eq!(Supervision::parse(&again), Ok(found));
    }
    for (protocol, lan) in [(Protocol::Prp, Lan::A), (Protocol::Hsr, Lan::B)] {
        let mut frame = octets.to_vec();
        let Ok(patch) = add(&mut frame, protocol, lan, 1) else {
            assert_eq!(frame, octets);
            continue;
        };
        patch.set_sequence(&mut frame, 0xfeed);
        let ethernet = EthernetView::parse(&frame).expect("same header");
        let found = Redundancy::of(&ethernet).expect("a mark");
        assert_eq!((found.protocol, found.lan(), found.sequence), (protocol, lan, 0xfeed));
    }
});
