//! Frames with lengths in each of the forms that BER permits.

use super::{alone, passages, set_up};
use crate::bed::send_port;
use wire::ether::EthernetView;
use wire::sv::Frame;

/// Forms of a length: one octet, or one or two octets after the octet that announces them (ITU-T X.690, clause 8.1.3).
const FORMS: u32 = 3;
/// Elements of a frame up to its smpCnt.
const ELEMENTS: u32 = 8;
const FRAMES: u16 = 400;

fn element(tag: u8, form: u32, content: &[u8]) -> Vec<u8> {
    let length = u8::try_from(content.len()).expect("short");
    let mut octets = match form {
        0 => vec![tag, length],
        1 => vec![tag, 0x81, length],
        _ => vec![tag, 0x82, 0, length],
    };
    octets.extend(content);
    octets
}

/// A frame with this svID and smpCnt; the forms of its elements are the digits of `number`.
fn frame(sv_id: &str, smp_cnt: u16, number: u32, has_options: bool, has_tag: bool) -> Vec<u8> {
    let form = |which: u32| number / FORMS.pow(which) % FORMS;
    let optional = |octets: Vec<u8>| if has_options { octets } else { Vec::new() };
    let asdu = [
        element(0x80, form(0), sv_id.as_bytes()),
        optional(element(0x81, form(1), b"DS")),
        element(0x82, form(2), &smp_cnt.to_be_bytes()),
        element(0x83, 0, &[0, 0, 0, 1]),
        element(0x85, 0, &[2]),
        element(0x87, 0, &[0; 8]),
    ];
    let sequence = element(0x30, form(3), &asdu.concat());
    let pdu = [
        element(0x80, form(4), &[1]),
        optional(element(0xa1, form(5), b"security")),
        element(0xa2, form(6), &sequence),
    ];
    let pdu = element(0x60, form(7), &pdu.concat());
    let length = u16::try_from(8 + pdu.len()).expect("short");
    let tag: &[u8] = if has_tag { &[0x81, 0, 0x80, 5] } else { &[] };
    [
        &[1, 0x0c, 0xcd, 4, 0, 1, 2, 0, 0, 0, 0, 7],
        tag,
        &[0x88, 0xba, 0x40, 0],
        &length.to_be_bytes(),
        &[0; 4],
        &pdu,
    ]
    .concat()
}

#[test]
fn lengths_of_every_form_are_read() {
    let _alone = alone();
    let test = "passages of frames with long lengths";
    let Some((bed, mut follower)) = set_up(test, |options| options.per_stream = FRAMES.into()) else {
        return;
    };
    let port = send_port(&bed.publisher, "ts0");
    let all = FORMS.pow(ELEMENTS);
    for smp_cnt in 0..FRAMES {
        // A step without a common factor: every form of each element occurs together with many of the others.
        let number = u32::from(smp_cnt) * 1_567 % all;
        let octets = frame("PAforms", smp_cnt, number, smp_cnt % 2 == 0, smp_cnt % 3 == 0);
        let view = EthernetView::parse(&octets).expect("a header");
        Frame::parse(&view).unwrap_or_else(|error| panic!("{error}: {octets:02x?}"));
        port.send(&octets).expect("to send");
        follower.poll();
    }
    let found = passages(&mut follower, FRAMES.into());
    let counts = follower.counts().expect("the kernel");
    assert_eq!((counts.malformed, counts.streams), (0, 1), "{counts:?}");
    let seen: Vec<u16> = found.iter().map(|passage| passage.smp_cnt).collect();
    assert_eq!(seen, (0..FRAMES).collect::<Vec<_>>());
    assert!(found.iter().all(|passage| passage.stream.sv_id == b"PAforms"));
}
