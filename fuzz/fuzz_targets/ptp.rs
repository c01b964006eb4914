//! Answers of ptp4l's management socket: no bytes make the reader panic, and names of interfaces are within the message.
#![no_main]

use libfuzzer_sys::fuzz_target;
use wire::ptp::{Content, GET_OCTETS, Id, Reply, get};

fuzz_target!(|octets: &[u8]| {
    let Ok(reply) = Reply::parse(octets) else {
        return;
    };
    if let Content::PortProperties(properties) = reply.content {
        assert!(properties.interface.len() <= octets.len());
        assert!(octets.as_ptr_range().contains(&properties.interface.as_ptr()) || properties.interface.is_empty());
    }
    // Only the length that the message states is read.
    let stated = usize::from(u16::from_be_bytes([octets[2], octets[3]]));
    assert_eq!(Reply::parse(&octets[..stated]), Ok(reply));
    // The sender of an answer can be asked again.
    let question = get(
        Id::TimeStatus,
        reply.domain,
        reply.transport_specific,
        reply.source,
        reply.sequence,
    );
    let again = Reply::parse(&question).expect("our own question");
    assert_eq!(question.len(), GET_OCTETS);
    assert_eq!(
        (again.domain, again.source, again.sequence),
        (reply.domain, reply.source, reply.sequence)
    );
});
