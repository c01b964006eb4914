//! Packet ports over veth pairs in separate namespaces.

mod common;

use common::{ETHERTYPE, NETWORK, Pair, can_run, frame, frame_with, inside, number, receive};
use sys::packet::{PacketPort, PortOptions, RxStamp, TxBatch, VlanTag};
use sys::{ErrorKind, SysError, clock, link};

fn options() -> PortOptions {
    PortOptions {
        ethertypes: vec![ETHERTYPE],
        ring_frames: 256,
        ..PortOptions::default()
    }
}

#[test]
fn a_frame_arrives_whole_and_the_sender_does_not_see_it() {
    if !can_run("a_frame_arrives_whole_and_the_sender_does_not_see_it", NETWORK) {
        return;
    }
    let pair = Pair::build(1500);
    let (mut a, mut b) = (pair.port_a(&options()), pair.port_b(&options()));
    let before = b.link_statistics().expect("the interface's counters");
    for octets in [18, 60, 64, 1514] {
        let sent = frame(7, octets);
        a.send(&sent).expect("sent");
        receive(&mut b, |got| {
            assert_eq!(got.data(), sent);
            assert_eq!((got.original_len(), got.truncated(), got.vlan()), (octets, false, None));
        });
    }
    assert!(b.next().is_none());
    assert!(a.next().is_none(), "the sender saw its own frame");
    assert_eq!(a.statistics().expect("counters").received, 0);
    assert_eq!(b.statistics().expect("counters").received, 4);
    assert_eq!(b.statistics().expect("counters").received, 0, "reading resets");
    let counted = b.link_statistics().expect("the interface's counters").since(before);
    // The host itself sends some frames, such as neighbour solicitations.
    assert!(counted.received >= 4, "{counted:?}");
    assert_eq!((counted.missed, counted.damaged), (0, 0));
    assert_eq!((a.interface(), a.mac(), a.mtu()), ("a0", link::local_mac("a0"), 1500));
}

#[test]
fn jumbo_frames_pass_and_longer_ones_are_refused_with_the_limit() {
    if !can_run("jumbo_frames_pass_and_longer_ones_are_refused_with_the_limit", NETWORK) {
        return;
    }
    let pair = Pair::build(9000);
    let jumbo = PortOptions {
        frame_bytes: 9014,
        ring_frames: 8,
        ..options()
    };
    let (a, mut b) = (pair.port_a(&options()), pair.port_b(&jumbo));
    let sent = frame(1, 9014);
    a.send(&sent).expect("sent");
    receive(&mut b, |got| assert!(got.data() == sent && !got.truncated()));
    let error = a.send(&frame(2, 9020)).expect_err("too long");
    assert_eq!(
        error.to_string(),
        "a0: a frame of 9020 bytes does not fit its MTU of 9000 (plus 14 bytes of header)"
    );
    assert!(!error.is_transient());
}

#[test]
fn a_frame_longer_than_a_slot_is_cut_and_says_so() {
    if !can_run("a_frame_longer_than_a_slot_is_cut_and_says_so", NETWORK) {
        return;
    }
    let pair = Pair::build(1500);
    let short = PortOptions {
        frame_bytes: 100,
        ..options()
    };
    let (a, mut b) = (pair.port_a(&options()), pair.port_b(&short));
    let sent = frame(1, 1514);
    a.send(&sent).expect("sent");
    receive(&mut b, |got| {
        assert!(got.truncated());
        assert_eq!(got.original_len(), 1514);
        assert!(got.data().len() >= 100);
        assert_eq!(got.data(), &sent[..got.data().len()]);
    });
    a.send(&frame(2, 100)).expect("sent");
    receive(&mut b, |got| assert!(!got.truncated() && number(got.data()) == 2));
}

#[test]
fn the_vlan_tag_survives_beside_the_untagged_frame() {
    if !can_run("the_vlan_tag_survives_beside_the_untagged_frame", NETWORK) {
        return;
    }
    let pair = Pair::build(1500);
    let (a, mut b) = (pair.port_a(&options()), pair.port_b(&options()));
    let untagged = frame(3, 60);
    for (tpid, tci) in [(0x8100, 0x8005), (0x8100, 0x8000), (0x88a8, 0x0fff)] {
        a.send(&frame_with(&[(tpid, tci)], ETHERTYPE, 3, 64)).expect("sent");
        receive(&mut b, |got| {
            assert_eq!(got.vlan(), Some(VlanTag { tpid, tci }));
            assert_eq!(got.data(), untagged);
            assert_eq!(got.original_len(), 60);
        });
    }
    a.send(&frame_with(&[(0x88a8, 0x0064), (0x8100, 0x8005)], ETHERTYPE, 3, 68))
        .expect("sent");
    receive(&mut b, |got| {
        assert_eq!(
            got.vlan(),
            Some(VlanTag {
                tpid: 0x88a8,
                tci: 0x0064
            })
        );
        assert_eq!(got.data(), frame_with(&[(0x8100, 0x8005)], ETHERTYPE, 3, 64));
    });
}

#[test]
fn the_filter_keeps_other_ethertypes_out_and_an_empty_one_takes_all() {
    if !can_run(
        "the_filter_keeps_other_ethertypes_out_and_an_empty_one_takes_all",
        NETWORK,
    ) {
        return;
    }
    let pair = Pair::build(1500);
    let wanted = PortOptions {
        ethertypes: vec![0x88ba, 0x88b8],
        ..options()
    };
    let all = PortOptions {
        ethertypes: Vec::new(),
        ..options()
    };
    let (a, mut some, mut every) = (pair.port_a(&options()), pair.port_b(&wanted), pair.port_b(&all));
    let sent = [
        frame_with(&[], 0x0800, 1, 60),
        frame_with(&[(0x8100, 5)], 0x0800, 2, 64),
        frame_with(&[], 0x88ba, 3, 60),
        frame_with(&[(0x8100, 0x8005)], 0x88b8, 4, 64),
        frame_with(&[(0x88a8, 5), (0x8100, 6)], 0x88ba, 5, 68),
        frame_with(&[], ETHERTYPE, 6, 60),
    ];
    for frame in &sent {
        a.send(frame).expect("sent");
    }
    receive(&mut some, |got| assert_eq!(number(got.data()), 3));
    receive(&mut some, |got| assert_eq!(number(got.data()), 4));
    receive(&mut some, |got| assert_eq!(number(&got.data()[4..]), 5));
    assert!(some.next().is_none());
    assert_eq!(every.statistics().expect("counters").received, sent.len() as u64);
    assert_eq!(std::iter::from_fn(|| every.next().map(drop)).count(), sent.len());
}

#[test]
fn the_kernel_stamps_frames_between_sending_and_receiving() {
    if !can_run("the_kernel_stamps_frames_between_sending_and_receiving", NETWORK) {
        return;
    }
    let pair = Pair::build(1500);
    let (a, mut b) = (pair.port_a(&options()), pair.port_b(&options()));
    assert!(!b.hardware_stamps(), "veth has no clock");
    let mut by_kernel = 0;
    for round in 0..50 {
        let before = clock::realtime();
        a.send(&frame(round, 60)).expect("sent");
        let (stamp, after) = receive(&mut b, |got| (got.stamp(), clock::realtime()));
        let at = match stamp {
            RxStamp::Software(at) => {
                by_kernel += 1;
                at
            }
            // The kernel turns stamping on a moment after the request.
            RxStamp::Socket(at) => at,
            RxStamp::Hardware(at) => panic!("veth has no clock, yet stamped {at:?}"),
        };
        assert!(before <= at && at <= after, "{before:?} {at:?} {after:?}");
        std::thread::sleep(std::time::Duration::from_millis(2));
    }
    assert!(by_kernel >= 25, "only {by_kernel} of 50 frames carry a software stamp");
}

#[test]
fn a_port_without_tags_and_stamps_receives_its_one_ethertype() {
    if !can_run("a_port_without_tags_and_stamps_receives_its_one_ethertype", NETWORK) {
        return;
    }
    let pair = Pair::build(1500);
    let lean = PortOptions {
        rx_stamps: false,
        vlan_tags: false,
        ..options()
    };
    let (a, mut b) = (pair.port_a(&options()), pair.port_b(&lean));
    let before = clock::realtime();
    for (number, tags, ethertype) in [
        (1, &[][..], ETHERTYPE),
        (2, &[(0x8100, 0x8005)], ETHERTYPE),
        (3, &[], 0x0800),
        (4, &[(0x8100, 5)], 0x0800),
    ] {
        a.send(&frame_with(tags, ethertype, number, 64)).expect("sent");
    }
    for expected in [1, 2] {
        receive(&mut b, |got| {
            assert_eq!((number(got.data()), got.vlan()), (expected, None));
            // Any other socket of the machine that has frames stamped causes stamps here, too.
            let (RxStamp::Socket(at) | RxStamp::Software(at)) = got.stamp() else {
                panic!("veth has no clock, yet stamped {:?}", got.stamp());
            };
            assert!(before <= at && at <= clock::realtime());
        });
    }
    assert!(b.next().is_none());
    b.send(&frame(5, 60)).expect("sent");
    assert!(b.next().is_none(), "the sender saw its own frame");
    let two = PortOptions {
        ethertypes: vec![ETHERTYPE, 0x88ba],
        ..lean
    };
    let error = pair.b.run(|| PacketPort::open("b0", &two).map(drop)).expect("a thread");
    assert_eq!(
        error.expect_err("two").to_string(),
        "a port without VLAN tags receives exactly one EtherType, not 2"
    );
}

#[test]
fn every_frame_that_finds_the_ring_full_is_counted() {
    if !can_run("every_frame_that_finds_the_ring_full_is_counted", NETWORK) {
        return;
    }
    let pair = Pair::build(1500);
    let (a, mut b) = (
        pair.port_a(&options()),
        pair.port_b(&PortOptions {
            ring_frames: 1,
            ..options()
        }),
    );
    let room = u32::try_from(b.ring_frames()).expect("a small ring");
    for round in 0..room + 100 {
        a.send(&frame(round, 60)).expect("sent");
    }
    let counted = b.statistics().expect("counters");
    assert_eq!((counted.received, counted.dropped), (room.into(), 100));
    for expected in 0..room {
        assert_eq!(
            b.next().map(|got| number(got.data())),
            Some(expected),
            "the oldest are kept"
        );
    }
    assert!(b.next().is_none());
    a.send(&frame(9_999, 60)).expect("sent");
    receive(&mut b, |got| assert_eq!(number(got.data()), 9_999));
    assert_eq!(b.statistics().expect("counters").dropped, 0);
}

#[test]
fn the_ring_goes_round_many_times_without_loss_or_disorder() {
    if !can_run("the_ring_goes_round_many_times_without_loss_or_disorder", NETWORK) {
        return;
    }
    let pair = Pair::build(1500);
    let (a, mut b) = (
        pair.port_a(&options()),
        pair.port_b(&PortOptions {
            ring_frames: 1,
            ..options()
        }),
    );
    let rounds = u32::try_from(b.ring_frames()).expect("a small ring") * 50 + 3;
    for round in 0..rounds {
        a.send(&frame(round, 60 + (round % 400) as usize)).expect("sent");
        receive(&mut b, |got| {
            assert_eq!(
                (number(got.data()), got.data().len()),
                (round, 60 + (round % 400) as usize)
            );
        });
    }
}

#[test]
fn a_batch_is_delivered_whole_and_in_order() {
    if !can_run("a_batch_is_delivered_whole_and_in_order", NETWORK) {
        return;
    }
    let pair = Pair::build(1500);
    let (a, mut b) = (
        pair.port_a(&options()),
        pair.port_b(&PortOptions {
            ring_frames: 2_000,
            ..options()
        }),
    );
    // More than sendmmsg(2) takes in one call (1024).
    let mut batch = TxBatch::new(1_500, 128);
    for index in 0..batch.capacity() {
        let one = frame(index as u32, 60 + index % 60);
        batch.frame_mut(index)[..one.len()].copy_from_slice(&one);
        batch.set_len(index, one.len());
    }
    a.send_all(&mut batch).expect("all sent");
    batch.set_count(3);
    assert_eq!(a.send_batch(&mut batch).expect("sent"), 3);
    batch.set_count(0);
    assert_eq!(a.send_batch(&mut batch).expect("nothing to send"), 0);
    for index in (0..1_500).chain(0..3) {
        let got = b.next().map(|got| (number(got.data()) as usize, got.data().len()));
        assert_eq!(got, Some((index, 60 + index % 60)));
    }
    assert!(b.next().is_none());
    assert_eq!(b.statistics().expect("counters").dropped, 0);
}

#[test]
fn a_batch_with_a_frame_too_long_says_how_many_went() {
    if !can_run("a_batch_with_a_frame_too_long_says_how_many_went", NETWORK) {
        return;
    }
    let pair = Pair::build(1500);
    let a = pair.port_a(&options());
    let mut batch = TxBatch::new(4, 2_000);
    for index in 0..4 {
        batch.frame_mut(index)[12..14].copy_from_slice(&ETHERTYPE.to_be_bytes());
        batch.set_len(index, if index == 2 { 1_600 } else { 60 });
    }
    let partial = a.send_all(&mut batch).expect_err("the third is too long");
    assert_eq!(partial.sent, 2);
    assert!(
        matches!(partial.cause, SysError::FrameTooLong { bytes: 1_600, .. }),
        "{partial}"
    );
}

#[test]
fn a_port_without_ring_sends_and_receives_nothing() {
    if !can_run("a_port_without_ring_sends_and_receives_nothing", NETWORK) {
        return;
    }
    let pair = Pair::build(1500);
    let (mut a, mut b) = (
        pair.port_a(&PortOptions {
            ring_frames: 0,
            ..options()
        }),
        pair.port_b(&options()),
    );
    a.send(&frame(1, 60)).expect("sent");
    receive(&mut b, |got| assert_eq!(number(got.data()), 1));
    b.send(&frame(2, 60)).expect("sent");
    assert!(a.next().is_none());
    assert!(!a.wait(1_000_000).expect("poll"));
    assert_eq!((a.ring_frames(), a.statistics().expect("counters").received), (0, 0));
}

#[test]
fn bypassing_the_queueing_discipline_still_delivers() {
    if !can_run("bypassing_the_queueing_discipline_still_delivers", NETWORK) {
        return;
    }
    let pair = Pair::build(1500);
    let (a, mut b) = (
        pair.port_a(&PortOptions {
            qdisc_bypass: true,
            ..options()
        }),
        pair.port_b(&options()),
    );
    a.send(&frame_with(&[(0x8100, 0x8005)], ETHERTYPE, 5, 64))
        .expect("sent");
    receive(&mut b, |got| {
        assert_eq!((number(got.data()), got.vlan().map(|tag| tag.tci)), (5, Some(0x8005)));
    });
}

/// Promiscuous mode and multicast addresses show in /proc/net of the namespace, and are gone with the port.
#[test]
fn memberships_last_as_long_as_the_port() {
    if !can_run("memberships_last_as_long_as_the_port", NETWORK) {
        return;
    }
    let pair = Pair::build(1500);
    let wants = PortOptions {
        promiscuous: true,
        multicast: vec![[0x01, 0x0c, 0xcd, 0x04, 0x00, 0x01]],
        ..options()
    };
    let joined = || {
        let read = |path: &str| std::fs::read_to_string(path).expect("proc");
        inside(&pair.b, || Ok(read("/proc/thread-self/net/dev_mcast"))).contains("010ccd040001")
    };
    assert!(!joined());
    let port = pair.port_b(&wants);
    assert!(joined());
    drop(port);
    assert!(!joined());
}

#[test]
fn nothing_from_before_and_nothing_from_other_interfaces() {
    if !can_run("nothing_from_before_and_nothing_from_other_interfaces", NETWORK) {
        return;
    }
    let pair = Pair::build(1500);
    inside(&pair.a, || {
        link::add_veth("a1", "b1", &pair.b).and_then(|()| link::set_up("a1"))
    });
    inside(&pair.b, || link::set_up("b1"));
    common::wait_for_carrier(&pair.a, "a1");
    common::wait_for_carrier(&pair.b, "b1");
    let sender = pair.port_a(&options());
    let other = inside(&pair.a, || PacketPort::open("a1", &options()));
    let stop = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        // Both interfaces are busy while ports are opened on one of them.
        scope.spawn(|| {
            while !stop.load(std::sync::atomic::Ordering::Relaxed) {
                sender.send(&frame_with(&[], 0x0800, 1, 60)).expect("sent");
                other.send(&frame(2, 60)).expect("sent");
            }
        });
        for _ in 0..20 {
            let mut port = pair.port_b(&options());
            assert!(!port.wait(5_000_000).expect("poll"));
            assert!(port.next().is_none());
        }
        stop.store(true, std::sync::atomic::Ordering::Relaxed);
    });
}

#[test]
fn a_missing_or_dead_interface_is_said_plainly() {
    if !can_run("a_missing_or_dead_interface_is_said_plainly", NETWORK) {
        return;
    }
    let pair = Pair::build(1500);
    let open = |name: &'static str| {
        pair.a
            .run(|| PacketPort::open(name, &options()).map(drop))
            .expect("a thread")
    };
    let missing = open("eth9").expect_err("no such interface");
    assert_eq!(missing.to_string(), "eth9: no such interface (have: lo, a0)");
    assert_eq!(missing.kind(), ErrorKind::Usage);
    let port = pair.port_a(&options());
    inside(&pair.a, || link::set_down("a0"));
    let down = open("a0").expect_err("down");
    assert_eq!(down.to_string(), "a0 is down: bring it up with `ip link set a0 up`");
    assert_eq!(down.kind(), ErrorKind::CouldNotMeasure);
    let error = port.wait(1_000_000_000).expect_err("went down under the port");
    assert!(matches!(error, SysError::InterfaceDown { .. }), "{error}");
    let error = port.send(&frame(1, 60)).expect_err("down");
    assert!(matches!(error, SysError::InterfaceDown { .. }), "{error}");
}
