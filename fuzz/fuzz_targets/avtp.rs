//! AVTP streams, and the fields of test frames in their data.
#![no_main]

use libfuzzer_sys::fuzz_target;
use wire::avtp::{AafStream, AafTemplate, Frame, HEADER};
use wire::ether::EthernetView;
use wire::test_frame::TestFrame;

fuzz_target!(|octets: &[u8]| {
    let Ok(ethernet) = EthernetView::parse(octets) else {
        return;
    };
    let frame = match Frame::parse(&ethernet) {
        Ok(frame) => frame,
        Err(error) => {
            assert!(error.offset as usize <= octets.len());
            return;
        }
    };
    assert!(HEADER + frame.data().len() <= ethernet.payload().len());
    if let Ok(fields) = TestFrame::read(frame.data()) {
        assert_eq!(TestFrame::read(&fields.fields()), Ok(fields));
    }
    // Frames that were read can be published, and read back the same.
    let mut template = AafTemplate::new(&AafStream {
        dst: ethernet.dst(),
        src: ethernet.src(),
        tags: ethernet.vlan().into_iter().chain(ethernet.inner_vlan()).collect(),
        unique_id: 1,
    });
    template.set_sequence_num(frame.sequence_num());
    template.set_timestamp_ns(frame.timestamp_ns().unwrap_or(0));
    let again = EthernetView::parse(template.bytes()).expect("own frame");
    let again = Frame::parse(&again).expect("own frame");
    assert_eq!(again.sequence_num(), frame.sequence_num());
    assert_eq!(again.timestamp_ns(), Some(frame.timestamp_ns().unwrap_or(0)));
});
