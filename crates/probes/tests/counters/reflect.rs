//! Every counter of `reflect`, against a reflector that loses, doubles and delays on purpose.

use crate::bench::{Bench, Recording};
use probes::ProbeError;
use probes::reflect::{Receive, ReflectConfig, Rest, Role, SHORTEST_FRAME, port_options, start};
use std::time::Duration;
use sys::packet::PacketPort;
use sys::thread::Policy;
use wire::ether::{EthernetView, Mac};
use wire::test_frame::{Kind, TestFrame, reflect};

const FRAMES: u64 = 600;

fn config(role: Role) -> ReflectConfig {
    ReflectConfig {
        role,
        peer: None,
        interval_ns: 2_000_000,
        frame_bytes: SHORTEST_FRAME,
        duration_ns: Some(FRAMES * 2_000_000),
        late_after_ns: 1_900_000_000,
        receive: Receive::Block,
        policy: Policy::Other,
        cpu: None,
        rest: Rest::NONE,
        threshold_ns: None,
    }
}

#[test]
fn two_ends_lose_nothing_between_them() {
    let bench = Bench::build();
    let mut recording = Recording::start();
    let far = bench.far(&port_options(SHORTEST_FRAME));
    let near = bench.near(&port_options(SHORTEST_FRAME));
    let endless = ReflectConfig {
        duration_ns: None,
        ..config(Role::Reflector)
    };
    let reflector = start(&endless, far, &mut recording.recorder, &recording.stop).expect("started");
    let initiator = start(&config(Role::Initiator), near, &mut recording.recorder, &recording.stop).expect("started");
    initiator.join().expect("measured");
    recording.stop.request();
    reflector.join().expect("reflected");
    let recorded = recording.finish().expect("written");
    let rtt = recorded.counters("rtt/reflect");
    assert_eq!(rtt.received + rtt.missed, rtt.expected);
    assert_eq!(
        (rtt.expected, rtt.lost, rtt.duplicate, rtt.reordered, rtt.overrun),
        (FRAMES, 0, 0, 0, 0)
    );
    assert!(recorded.counters("turnaround/reflect").received >= rtt.received);
}

#[test]
fn nobody_there_is_said_within_seconds() {
    let bench = Bench::build();
    let mut recording = Recording::start();
    let near = bench.near(&port_options(SHORTEST_FRAME));
    let initiator = start(&config(Role::Initiator), near, &mut recording.recorder, &recording.stop).expect("started");
    assert!(
        matches!(initiator.join(), Err(ProbeError::NoTraffic(text)) if text.contains("no reflector answered on near0"))
    );
}

/// What the bad reflector did to probe frames, by what it saw.
#[derive(Debug, Default, Clone, Copy)]
struct Injected {
    seen: u64,
    lost: u64,
    doubled: u64,
    swapped: u64,
}

/// Answers greetings and the warm-up well; then loses each 10th probe, doubles each 7th, and holds each 13th back until the
/// next one was answered.
fn bad_reflector(mut port: PacketPort, warm_up: u64, stop: &probes::Stop) -> Injected {
    let mut injected = Injected::default();
    let mut held: Option<Vec<u8>> = None;
    let mut probes = 0;
    while !stop.requested() {
        let Some(frame) = port.next() else {
            port.wait(20_000_000).expect("poll");
            continue;
        };
        let mut answer = frame.data().to_vec();
        drop(frame);
        let request = TestFrame::parse(&EthernetView::parse(&answer).expect("a frame")).expect("a test frame");
        reflect(&mut answer, Mac(port.mac()));
        let measured = request.kind == Kind::Probe && {
            probes += 1;
            probes > warm_up
        };
        if !measured {
            port.send(&answer).expect("sent");
            continue;
        }
        injected.seen += 1;
        match injected.seen {
            n if n % 10 == 0 => injected.lost += 1,
            n if n % 7 == 0 => {
                port.send(&answer).expect("sent");
                port.send(&answer).expect("sent");
                injected.doubled += 1;
            }
            n if n % 13 == 0 && held.is_none() => held = Some(answer),
            _ => {
                port.send(&answer).expect("sent");
                if let Some(late) = held.take() {
                    port.send(&late).expect("sent");
                    injected.swapped += 1;
                }
            }
        }
    }
    injected.lost += u64::from(held.is_some());
    injected
}

/// Probes before the first recorded one, as the initiator has them.
const WARM_UP: u64 = 64;

#[test]
fn what_a_bad_reflector_does_is_counted_exactly() {
    let bench = Bench::build();
    let mut recording = Recording::start();
    let far = bench.far(&port_options(SHORTEST_FRAME));
    let near = bench.near(&port_options(SHORTEST_FRAME));
    let stop = recording.stop.clone();
    let reflector = std::thread::spawn(move || bad_reflector(far, WARM_UP, &stop));
    let initiator = start(&config(Role::Initiator), near, &mut recording.recorder, &recording.stop).expect("started");
    initiator.join().expect("measured");
    std::thread::sleep(Duration::from_millis(50));
    recording.stop.request();
    let injected = reflector.join().expect("no panic");
    let recorded = recording.finish().expect("written");
    let rtt = recorded.counters("rtt/reflect");
    assert_eq!(rtt.received + rtt.lost, injected.seen, "{injected:?}");
    assert_eq!(
        (rtt.lost, rtt.duplicate, rtt.reordered),
        (injected.lost, injected.doubled, injected.swapped),
        "{injected:?}"
    );
    assert_eq!(rtt.expected, rtt.received + rtt.lost + rtt.missed);
    assert!(
        injected.lost > 30 && injected.doubled > 40 && injected.swapped > 20,
        "{injected:?}"
    );
}
