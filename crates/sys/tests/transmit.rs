//! Reports of the kernel about sent frames, and launch times.

mod common;

use common::{ETHERTYPE, NETWORK, Pair, can_run, frame, inside};
use std::process::Command;
use std::time::{Duration, Instant};
use sys::packet::{PacketPort, PortOptions, TxBatch, TxEvent, TxStage};
use sys::{ErrorKind, SysError, clock};

fn stamping() -> PortOptions {
    PortOptions {
        ethertypes: vec![ETHERTYPE],
        tx_stamps: true,
        ..PortOptions::default()
    }
}

/// Takes `count` stamps: number, true for the queueing discipline, and the instant.
fn take(port: &PacketPort, count: usize) -> Vec<(u32, bool, units::Realtime)> {
    let (mut taken, until) = (Vec::new(), Instant::now() + Duration::from_secs(5));
    while taken.len() < count {
        match port.next_tx_event().expect("readable") {
            Some(TxEvent::Stamp(stamp)) => taken.push(match stamp.stage {
                TxStage::Qdisc(at) => (stamp.id, true, at),
                TxStage::Driver(at) => (stamp.id, false, at),
                TxStage::Wire(at) => panic!("veth has no clock, yet stamped {at:?}"),
            }),
            Some(other) => panic!("{other:?}"),
            None => assert!(Instant::now() < until, "only {} of {count} stamps", taken.len()),
        }
    }
    assert_eq!(port.next_tx_event().expect("readable"), None);
    taken
}

#[test]
fn every_sent_frame_is_stamped_at_each_stage_in_order() {
    if !can_run("every_sent_frame_is_stamped_at_each_stage_in_order", NETWORK) {
        return;
    }
    let pair = Pair::build(1500);
    let (a, mut b) = (pair.port_a(&stamping()), pair.port_b(&PortOptions::default()));
    assert!(!a.hardware_tx_stamps(), "veth has no clock");
    assert_eq!(a.next_tx_event().expect("readable"), None);
    for round in 0..300 {
        let before = clock::realtime();
        a.send(&frame(round, 60)).expect("sent");
        let after = clock::realtime();
        // A refused frame has no number.
        a.send(&frame(round, 1_600)).expect_err("longer than the MTU");
        let stamps = take(&a, 2);
        let (qdisc, driver) = (stamps[0], stamps[1]);
        assert_eq!((qdisc.0, qdisc.1, driver.0, driver.1), (round, true, round, false));
        assert!(
            before <= qdisc.2 && qdisc.2 <= driver.2 && driver.2 <= after,
            "{stamps:?}"
        );
        assert!(b.next().is_some());
    }
}

#[test]
fn a_batch_counts_each_of_its_frames() {
    if !can_run("a_batch_counts_each_of_its_frames", NETWORK) {
        return;
    }
    let pair = Pair::build(1500);
    let (a, _b) = (pair.port_a(&stamping()), pair.port_b(&PortOptions::default()));
    let mut batch = TxBatch::new(100, 60);
    (0..100).for_each(|index| batch.frame_mut(index).copy_from_slice(&frame(index as u32, 60)));
    a.send(&frame(0, 60)).expect("sent");
    a.send_all(&mut batch).expect("sent");
    a.send(&frame(0, 60)).expect("sent");
    let stamps = take(&a, 204);
    let expected: Vec<(u32, bool)> = (0..102).flat_map(|id| [(id, true), (id, false)]).collect();
    let got: Vec<(u32, bool)> = stamps.iter().map(|(id, qdisc, _)| (*id, *qdisc)).collect();
    assert_eq!(got, expected);
    assert!(stamps.is_sorted_by_key(|(_, _, at)| *at));
}

#[test]
fn bypassing_the_queueing_discipline_leaves_out_its_stamp() {
    if !can_run("bypassing_the_queueing_discipline_leaves_out_its_stamp", NETWORK) {
        return;
    }
    let pair = Pair::build(1500);
    let bypassing = PortOptions {
        qdisc_bypass: true,
        ..stamping()
    };
    let a = pair.port_a(&bypassing);
    for _ in 0..3 {
        a.send(&frame(0, 60)).expect("sent");
    }
    let got: Vec<(u32, bool)> = take(&a, 3).iter().map(|(id, qdisc, _)| (*id, *qdisc)).collect();
    assert_eq!(got, [(0, false), (1, false), (2, false)]);
}

#[test]
fn without_asking_nothing_is_told_and_a_port_that_only_sends_is_told_too() {
    let test = "without_asking_nothing_is_told_and_a_port_that_only_sends_is_told_too";
    if !can_run(test, NETWORK) {
        return;
    }
    let pair = Pair::build(1500);
    let silent = pair.port_a(&PortOptions::default());
    silent.send(&frame(0, 60)).expect("sent");
    assert_eq!(silent.next_tx_event().expect("readable"), None);
    let sender = pair.port_a(&PortOptions {
        ring_frames: 0,
        ..stamping()
    });
    sender.send(&frame(0, 60)).expect("sent");
    assert_eq!(take(&sender, 2).len(), 2);
}

/// Stamps that nobody reads must neither end a run nor stop frames.
#[test]
fn stamps_that_are_not_taken_are_forgotten_and_thousands_wait() {
    if !can_run("stamps_that_are_not_taken_are_forgotten_and_thousands_wait", NETWORK) {
        return;
    }
    let pair = Pair::build(1500);
    let a = pair.port_a(&stamping());
    for round in 0..50_000 {
        a.send(&frame(round, 60)).expect("sent");
    }
    assert!(!a.wait(1_000_000_000).expect("no error of the socket"), "no frame came");
    let (mut taken, mut last) = (0, 0);
    while let Some(TxEvent::Stamp(stamp)) = a.next_tx_event().expect("readable") {
        assert!(stamp.id >= last);
        (taken, last) = (taken + 1, stamp.id);
    }
    assert!((4_000..100_000).contains(&taken), "{taken} stamps waited");
    a.send(&frame(0, 60)).expect("sent");
    assert!(take(&a, 2).iter().all(|(id, _, _)| *id == 50_000));
}

#[test]
fn launch_times_are_refused_where_nothing_keeps_them() {
    if !can_run("launch_times_are_refused_where_nothing_keeps_them", NETWORK) {
        return;
    }
    let pair = Pair::build(1500);
    let wants = PortOptions {
        launch_times: true,
        ..PortOptions::default()
    };
    let open = |options: &PortOptions| {
        pair.a
            .run(|| PacketPort::open("a0", options).map(drop))
            .expect("a thread")
    };
    let error = open(&wants).expect_err("no etf");
    assert!(matches!(error, SysError::NoLaunchTime { .. }));
    assert_eq!(error.kind(), ErrorKind::CouldNotMeasure);
    assert_eq!(
        error.to_string(),
        "a0: launch time needs the etf queueing discipline; the interface has noqueue: \
         tc qdisc add dev a0 root etf clockid CLOCK_TAI delta 300000"
    );
    let bypassing = PortOptions {
        qdisc_bypass: true,
        ..wants
    };
    let error = open(&bypassing).expect_err("cannot be");
    assert_eq!(error.kind(), ErrorKind::Usage);
}

/// If the kernel has ETF: a frame leaves at its launch time, and one with a past launch time is dropped and reported.
#[test]
fn an_etf_keeps_launch_times_and_tells_of_missed_ones() {
    let test = "an_etf_keeps_launch_times_and_tells_of_missed_ones";
    if !can_run(test, NETWORK) {
        return;
    }
    let pair = Pair::build(1500);
    let words = "qdisc add dev a0 root etf clockid CLOCK_TAI delta 200000";
    let added = inside(&pair.a, || Ok(Command::new("tc").args(words.split(' ')).output()));
    match &added {
        Ok(output) if output.status.success() => {}
        Ok(output) if String::from_utf8_lossy(&output.stderr).contains("qdisc kind is unknown") => {
            return testing::not_in_this_kernel(test, "it is built without sch_etf");
        }
        other => return testing::skip(test, &format!("tc adds no etf: {other:?}")),
    }
    let a = pair.port_a(&PortOptions {
        launch_times: true,
        ..PortOptions::default()
    });
    let mut b = pair.port_b(&PortOptions::default());
    let past = units::Tai::from_ns(clock::tai().as_ns() - 1_000_000);
    a.send_at(&frame(1, 60), past).expect("taken");
    let until = Instant::now() + Duration::from_secs(2);
    let dropped = loop {
        match a.next_tx_event().expect("readable") {
            Some(TxEvent::Dropped(dropped)) => break dropped,
            other => assert!(other.is_none() && Instant::now() < until, "{other:?}"),
        }
    };
    assert_eq!(dropped.at, past);
    let due = units::Tai::from_ns(clock::tai().as_ns() + 50_000_000);
    a.send_at(&frame(2, 60), due).expect("taken");
    assert!(b.next().is_none());
    common::receive(&mut b, |got| assert_eq!(common::number(got.data()), 2));
    assert!(clock::tai().as_ns() >= due.as_ns() - 200_000);
}
