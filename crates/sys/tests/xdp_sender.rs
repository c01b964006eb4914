//! AF_XDP senders over veth pairs and taps in separate namespaces.

mod common;

use common::{ETHERTYPE, NETWORK, Pair, can_run, frame, frame_with, inside, number, receive};
use sys::netns::NetNs;
use sys::packet::{PortOptions, TxBatch};
use sys::tap::Tap;
use sys::xdp::XdpSender;
use sys::{SysError, link};

#[test]
fn frames_without_a_carrier_are_neither_sent_nor_kept() {
    if !can_run("frames_without_a_carrier_are_neither_sent_nor_kept", NETWORK) {
        return;
    }
    let pair = Pair::build(1500);
    let mut sender = inside(&pair.a, || XdpSender::open("a0", 0, 1_522, 256));
    let mut batch = TxBatch::new(300, 60);
    for index in 0..300_u32 {
        batch.frame_mut(index as usize).copy_from_slice(&frame(index, 60));
    }
    inside(&pair.b, || link::set_down("b0"));
    // More frames than there is room for, and fewer: the kernel drops each of them.
    for count in [300, 256, 200, 1] {
        batch.set_count(count);
        let partial = sender.send_all(&batch).expect_err("no carrier");
        assert!(partial.sent == 0 && partial.cause.is_transient(), "{count}: {partial}");
    }
    assert!(sender.send(&frame(1_000, 60)).expect_err("no carrier").is_transient());
    inside(&pair.b, || link::set_up("b0"));
    let mut b = pair.port_b(&PortOptions::default());
    batch.set_count(200);
    sender.send_all(&batch).expect("sent");
    (0..200).for_each(|sequence| receive(&mut b, |got| assert_eq!(number(got.data()), sequence)));
}

/// With one chunk as with many: frames refused while the link was down block nothing, and do not leave later.
#[test]
fn a_link_that_comes_up_again_carries_new_frames_only() {
    if !can_run("a_link_that_comes_up_again_carries_new_frames_only", NETWORK) {
        return;
    }
    let pair = Pair::build(1500);
    for frames in [1, 2, 64] {
        let mut sender = inside(&pair.a, move || XdpSender::open("a0", 0, 1_522, frames));
        let mut batch = TxBatch::new(frames, 60);
        (0..frames).for_each(|index| batch.frame_mut(index).copy_from_slice(&frame(9_000, 60)));
        for round in 0..3_u32 {
            inside(&pair.a, || link::set_down("a0"));
            for _ in 0..5 {
                let error = sender.send(&frame(8_000, 60)).expect_err("down");
                assert!(matches!(error, SysError::InterfaceDown { .. }), "{error}");
                let partial = sender.send_all(&batch).expect_err("down");
                assert!(
                    partial.sent == 0 && matches!(partial.cause, SysError::InterfaceDown { .. }),
                    "{partial}"
                );
            }
            inside(&pair.a, || link::set_up("a0"));
            let mut b = pair.port_b(&PortOptions::default());
            for sequence in 0..200 {
                sender.send(&frame(round * 1_000 + sequence, 60)).expect("sent");
                receive(&mut b, |got| assert_eq!(number(got.data()), round * 1_000 + sequence));
            }
        }
    }
}

/// A tap that nobody reads has room for as many frames as the length of its queue.
#[test]
fn a_full_device_takes_what_it_has_room_for() {
    if !can_run("a_full_device_takes_what_it_has_room_for", NETWORK) {
        return;
    }
    let namespace = NetNs::create().expect("a namespace");
    let tap = inside(&namespace, || Tap::create("t0"));
    inside(&namespace, || link::set_up("t0"));
    let mut sender = inside(&namespace, || XdpSender::open("t0", 0, 1_522, 2_048));
    let mut batch = TxBatch::new(1_500, 60);
    for round in 0..3_u32 {
        batch.set_count(1_500);
        for index in 0..1_500 {
            batch
                .frame_mut(index as usize)
                .copy_from_slice(&frame(round * 1_000 + index, 60));
        }
        let partial = sender.send_all(&batch).expect_err("more than there is room for");
        assert!(partial.cause.is_transient(), "{partial}");
        assert!(sender.send(&frame(9_999, 60)).expect_err("full").is_transient());
        let taken = numbers(&tap);
        assert_eq!(taken.len(), partial.sent, "{:?}", (taken.first(), taken.last()));
        assert!((400..1_500).contains(&taken.len()), "{}", taken.len());
        assert!(
            taken
                .iter()
                .copied()
                .eq(round * 1_000..round * 1_000 + taken.len() as u32)
        );
        batch.set_count(300);
        sender.send_all(&batch).expect("sent");
        assert_eq!(numbers(&tap), (round * 1_000..round * 1_000 + 300).collect::<Vec<_>>());
    }
}

/// The numbers of the frames that wait in a tap, without the kernel's own frames.
fn numbers(tap: &Tap) -> Vec<u32> {
    let mut buffer = [0; 2_048];
    let mut found = Vec::new();
    while let Some(octets) = tap.read(&mut buffer).expect("the tap") {
        if buffer[12..14] == ETHERTYPE.to_be_bytes() {
            found.push(number(&buffer[..octets]));
        }
    }
    found
}

/// More frames than chunks, so that each chunk is reused.
#[test]
fn a_sender_sends_without_a_program_and_beside_a_packet_port() {
    if !can_run("a_sender_sends_without_a_program_and_beside_a_packet_port", NETWORK) {
        return;
    }
    let pair = Pair::build(1500);
    let mut sender = inside(&pair.a, || XdpSender::open("a0", 0, 1_522, 256));
    let (mut a, mut b) = (
        pair.port_a(&PortOptions::default()),
        pair.port_b(&PortOptions::default()),
    );
    assert_eq!(inside(&pair.a, || link::find("a0")).xdp_program, None);
    assert_eq!(sender.mac(), link::local_mac("a0"));
    for round in 0..1_000 {
        sender.send(&frame(round, 60)).expect("sent");
        receive(&mut b, |got| assert_eq!(number(got.data()), round));
        b.send(&frame(round, 60)).expect("sent");
        receive(&mut a, |got| assert_eq!(number(got.data()), round));
    }
    sender
        .send(&frame_with(&[(0x8100, 0x8005)], ETHERTYPE, 7, 1_518))
        .expect("a tag on top of the MTU");
    receive(&mut b, |got| assert_eq!(got.vlan().map(|tag| tag.tci), Some(0x8005)));
    let error = sender.send(&frame(1, 1_515)).expect_err("too long");
    assert!(matches!(error, SysError::FrameTooLong { bytes: 1_515, .. }), "{error}");
    let mut batch = TxBatch::new(300, 60);
    for index in 0..300_u32 {
        batch.frame_mut(index as usize).copy_from_slice(&frame(index, 60));
    }
    let partial = sender.send_all(&batch).expect_err("more than there is room for");
    assert!(partial.sent == 256 && partial.cause.is_transient(), "{partial}");
    (0..256).for_each(|sequence| receive(&mut b, |got| assert_eq!(number(got.data()), sequence)));
    batch.set_count(200);
    for _ in 0..3 {
        sender.send_all(&batch).expect("sent");
        (0..200).for_each(|sequence| receive(&mut b, |got| assert_eq!(number(got.data()), sequence)));
    }
    let second = pair
        .a
        .run(|| XdpSender::open("a0", 0, 1_522, 256).map(drop))
        .expect("a thread");
    let text = second.expect_err("taken").to_string();
    assert!(text.contains("queue 0 has an AF_XDP socket already"), "{text}");
    inside(&pair.a, || link::set_down("a0"));
    let error = sender.send(&frame(1, 60)).expect_err("down");
    assert!(matches!(error, SysError::InterfaceDown { .. }), "{error}");
    let partial = sender.send_all(&batch).expect_err("down");
    assert!(
        partial.sent == 0 && matches!(partial.cause, SysError::InterfaceDown { .. }),
        "{partial}"
    );
}
