//! Receiving at the tcx hook over veth pairs in namespaces of their own.

mod common;

use common::{ETHERTYPE, NETWORK, Pair, can_run, frame, frame_with, inside, number};
use std::time::{Duration, Instant};
use sys::SysError;
use sys::packet::{PacketPort, PortOptions};
use sys::tcx::{TcxFrame, TcxOptions, TcxPort};

fn options(ring_frames: usize) -> TcxOptions {
    TcxOptions {
        ethertypes: vec![ETHERTYPE],
        ring_frames,
        frame_bytes: 1_518,
    }
}

/// A pair, a sender on one side and a receiver on the other.
fn ends(ring_frames: usize) -> Option<(Pair, PacketPort, TcxPort)> {
    let pair = Pair::build(9_000);
    let sender = pair.port_a(&PortOptions::default());
    let opened = pair
        .b
        .run(|| TcxPort::open("b0", &options(ring_frames)))
        .expect("a thread");
    match opened {
        Ok(port) => Some((pair, sender, port)),
        Err(error @ SysError::MissingFeature { .. }) => {
            testing::not_in_this_kernel("tcx", &error.to_string());
            None
        }
        Err(error) => panic!("{error}"),
    }
}

fn take<T>(port: &mut TcxPort, look: impl FnOnce(&TcxFrame<'_>) -> T) -> T {
    assert!(port.wait(2_000_000_000), "no frame came");
    look(&port.next().expect("there is one"))
}

#[test]
fn every_frame_comes_once_and_in_order() {
    if !can_run("every_frame_comes_once_and_in_order", NETWORK) {
        return;
    }
    let Some((_pair, sender, mut port)) = ends(64) else {
        return;
    };
    assert!(port.ring_frames() >= 64);
    let mut sent = 0;
    for batch in (1..=60).cycle().take(200) {
        for _ in 0..batch {
            sender.send(&frame(sent, 60 + sent as usize % 1_400)).expect("sent");
            sent += 1;
        }
        for expected in sent - batch..sent {
            take(&mut port, |got| {
                assert_eq!(got.data(), frame(expected, 60 + expected as usize % 1_400));
                assert_eq!((got.original_len(), got.vlan()), (got.data().len(), None));
            });
        }
        assert!(port.next().is_none());
    }
    assert_eq!(port.dropped(), 0);
}

#[test]
fn tags_are_told_and_long_frames_are_cut() {
    if !can_run("tags_are_told_and_long_frames_are_cut", NETWORK) {
        return;
    }
    let Some((_pair, sender, mut port)) = ends(64) else {
        return;
    };
    sender
        .send(&frame_with(&[(0x8100, 0xa005)], ETHERTYPE, 7, 64))
        .expect("sent");
    take(&mut port, |got| {
        let tag = got.vlan().expect("a tag");
        assert_eq!((tag.tpid, tag.tci, number(got.data())), (0x8100, 0xa005, 7));
        assert_eq!(got.data().len(), 60);
    });
    sender
        .send(&frame_with(&[(0x88a8, 0x0003)], ETHERTYPE, 8, 64))
        .expect("sent");
    take(&mut port, |got| {
        assert_eq!(got.vlan().map(|tag| tag.tpid), Some(0x88a8));
    });
    for octets in [1_518, 1_519, 9_000] {
        sender.send(&frame(9, octets)).expect("sent");
        take(&mut port, |got| {
            assert_eq!((got.original_len(), got.data().len()), (octets, octets.min(1_518)));
            assert_eq!(got.data(), &frame(9, octets)[..octets.min(1_518)]);
        });
    }
}

#[test]
fn other_ethertypes_go_on_and_wanted_ones_end_here() {
    if !can_run("other_ethertypes_go_on_and_wanted_ones_end_here", NETWORK) {
        return;
    }
    let Some((pair, sender, mut port)) = ends(64) else {
        return;
    };
    let mut stack = pair.port_b(&PortOptions {
        ethertypes: vec![0x88ba],
        ..PortOptions::default()
    });
    for sequence in 0..100 {
        sender.send(&frame(sequence, 60)).expect("sent");
        sender.send(&frame_with(&[], 0x88ba, sequence, 60)).expect("sent");
        take(&mut port, |got| assert_eq!(number(got.data()), sequence));
        common::receive(&mut stack, |got| assert_eq!(number(got.data()), sequence));
    }
    assert!(port.next().is_none() && stack.next().is_none());
    // A socket bound to the same type gets what passes once the receiver is gone.
    let mut same = pair.port_b(&PortOptions {
        ethertypes: vec![ETHERTYPE],
        ..PortOptions::default()
    });
    drop(port);
    let until = Instant::now() + Duration::from_secs(5);
    while same.next().is_none() {
        assert!(Instant::now() < until, "the program stays");
        sender.send(&frame(1, 60)).expect("sent");
        std::thread::sleep(Duration::from_millis(1));
    }
}

#[test]
fn every_frame_without_room_is_counted() {
    if !can_run("every_frame_without_room_is_counted", NETWORK) {
        return;
    }
    let Some((_pair, sender, mut port)) = ends(100) else {
        return;
    };
    for round in 0..3 {
        for sequence in 0..1_000 {
            sender.send(&frame(round * 1_000 + sequence, 60)).expect("sent");
        }
        let mut taken = 0;
        while let Some(got) = port.next() {
            assert_eq!(number(got.data()), round * 1_000 + taken);
            taken += 1;
        }
        assert!(taken >= 100, "{taken}");
        assert_eq!(u64::from(taken) + port.dropped(), 1_000);
    }
}

/// Each CPU that sends runs the program itself, at the same time as the other.
#[test]
fn two_cpus_write_at_once() {
    if !can_run("two_cpus_write_at_once", NETWORK) {
        return;
    }
    const EACH: u32 = 20_000;
    let Some((pair, first, mut port)) = ends(1_024) else {
        return;
    };
    let second = pair.port_a(&PortOptions::default());
    let mut taken = Vec::new();
    std::thread::scope(|scope| {
        let senders: Vec<_> = [(0, first), (EACH, second)]
            .into_iter()
            .map(|(begin, sender)| {
                scope.spawn(move || {
                    for number in begin..begin + EACH {
                        sender.send(&frame(number, 60)).expect("sent");
                    }
                })
            })
            .collect();
        while !senders.iter().all(std::thread::ScopedJoinHandle::is_finished) || port.wait(0) {
            while let Some(got) = port.next() {
                assert_eq!(got.data(), frame(number(got.data()), 60));
                taken.push(number(got.data()));
            }
        }
    });
    assert_eq!(taken.len() as u64 + port.dropped(), u64::from(2 * EACH));
    for of_one in [0..EACH, EACH..2 * EACH] {
        let numbers: Vec<u32> = taken.iter().copied().filter(|number| of_one.contains(number)).collect();
        assert!(numbers.is_sorted_by(|before, after| before < after));
        assert!(!numbers.is_empty());
    }
}

#[test]
fn what_cannot_be_is_refused_plainly() {
    if !can_run("what_cannot_be_is_refused_plainly", NETWORK) {
        return;
    }
    let pair = Pair::build(1_500);
    let refused = |name: &'static str, options: TcxOptions| {
        let opened = pair
            .b
            .run(move || TcxPort::open(name, &options).map(drop))
            .expect("a thread");
        opened.expect_err("refused").to_string()
    };
    assert!(refused("b9", options(64)).starts_with("b9: no such interface (have: "));
    let none = TcxOptions {
        ethertypes: Vec::new(),
        ..options(64)
    };
    assert_eq!(refused("b0", none), "0 EtherTypes to take: 1 to 64");
    assert!(refused("b0", options(0)).contains("a ring of 0 frames"));
    inside(&pair.b, || sys::link::set_down("b0"));
    assert!(refused("b0", options(64)).contains("b0 is down"));
}
