//! A capture sent again over a veth pair: every frame of every round, in order, at its due time, with continued counters.

mod common;

use capture::write::PcapWriter;
use common::{Pair, Recorded, Run, can_run};
use probes::Probe;
use probes::publish::{PublishConfig, captured_streams, port_options};
use probes::replay::{CapturedFrames, ReplayConfig};
use probes::{ProbeError, Running};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use sys::packet::{PacketPort, PortOptions, RxStamp};
use sys::thread::Policy;
use wire::ether::{EthernetView, Mac};
use wire::quality::SvQuality;
use wire::sv::{Frame, Message, OwnedAsdu};

const ROUNDS: u64 = 3;
/// 200 instants of two streams of 4000 samples a second, of which the second stream lost ten samples.
const INSTANTS: u16 = 200;
const FIRST: u16 = 3_900;
const LOST: std::ops::Range<u16> = 50..60;
const STEP_NS: i64 = 250_000;
/// Start of the capture, a quarter of a second after the top of a second.
const PHASE_NS: i64 = 250_000_000;

fn sv(sv_id: &str, smp_cnt: u16) -> Vec<u8> {
    let asdu = OwnedAsdu {
        smp_cnt,
        ..OwnedAsdu::new(sv_id, 1, 2, &[(i32::from(smp_cnt), SvQuality::GOOD); 8])
    };
    let message = Message {
        dst: Mac([1, 0x0c, 0xcd, 4, 0, 1]),
        src: Mac([2, 0, 0, 0, 0, 1]),
        tags: Vec::new(),
        appid: 0x4000,
        simulate: false,
        asdus: vec![asdu],
    };
    message.encode().expect("a frame")
}

fn write_capture(folder: &Path) -> PathBuf {
    let path = folder.join("two.pcap");
    let mut writer = PcapWriter::new(std::fs::File::create(&path).expect("a file")).expect("a header");
    for instant in 0..INSTANTS {
        let at_ns = 1_700_000_000_000_000_000 + PHASE_NS + i64::from(instant) * STEP_NS;
        let smp_cnt = (FIRST + instant) % 4_000;
        writer.write(at_ns, &sv("EVEN", smp_cnt)).expect("a frame");
        if !LOST.contains(&instant) {
            writer.write(at_ns + 10_000, &sv("HOLES", smp_cnt)).expect("a frame");
        }
    }
    writer.finish().expect("a capture");
    path
}

/// A received frame.
struct Came {
    sv_id: String,
    smp_cnt: u16,
    /// Its first member, which equals smpCnt in the capture.
    value: i32,
    stamp_ns: i64,
}

/// Collects every frame until `done`.
fn receive(mut port: PacketPort, done: &AtomicBool) -> Vec<Came> {
    let mut received = Vec::new();
    loop {
        let last = done.load(Ordering::Acquire);
        while let Some(frame) = port.next() {
            let (RxStamp::Software(stamp) | RxStamp::Socket(stamp)) = frame.stamp() else {
                panic!("veth has no clock");
            };
            let ethernet = EthernetView::parse(frame.data()).expect("Ethernet");
            let sv = Frame::parse(&ethernet).expect("sampled values");
            let asdu = sv.asdus().next().expect("an ASDU");
            let members = asdu.members().expect("8 octets a member");
            received.push(Came {
                sv_id: String::from_utf8_lossy(asdu.sv_id()).into_owned(),
                smp_cnt: asdu.smp_cnt(),
                value: members.iter().next().expect("a member").0,
                stamp_ns: stamp.as_ns(),
            });
        }
        if last {
            return received;
        }
        port.wait(20_000_000).expect("poll");
    }
}

/// Runs `begin`, which sends over a veth pair; returns the received frames and the record.
fn send(begin: impl FnOnce(PacketPort, &mut Run) -> Result<Running, ProbeError>) -> (Vec<Came>, Recorded) {
    let pair = Pair::build();
    let far = pair.port_b(&PortOptions {
        ethertypes: vec![wire::ether::SV],
        ring_frames: 8_192,
        ..PortOptions::default()
    });
    let done = AtomicBool::new(false);
    let mut run = Run::start();
    let received = std::thread::scope(|scope| {
        let receiver = scope.spawn(|| receive(far, &done));
        let running = begin(pair.port_a(&port_options()), &mut run).expect("it starts");
        running.join().expect("it ends well");
        done.store(true, Ordering::Release);
        receiver.join().expect("the receiver ends well")
    });
    (received, run.finish())
}

/// On the grid, every smpCnt of a second has a sample of the capture: the one with the same smpCnt, if the capture has it.
#[test]
fn on_the_grid_the_samples_come_again_with_new_counters() {
    if !can_run("on_the_grid_the_samples_come_again_with_new_counters") {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let streams = captured_streams(&write_capture(folder.path()), None).expect("two streams");
    assert_eq!(
        streams.iter().map(|stream| stream.spec.rate).collect::<Vec<_>>(),
        [4_000, 4_000]
    );
    let config = PublishConfig {
        streams,
        duration_ns: Some(1_100_000_000),
        ..PublishConfig::default()
    };
    let (received, recorded) = send(|port, run| config.start(port, &mut run.recorder, &run.stop));
    assert_eq!(received.len() as u64, recorded.counters("publish/lateness").received);
    for came in &received {
        let place = (came.smp_cnt + 4_000 - FIRST) % INSTANTS;
        let is_hole = came.sv_id == "HOLES" && LOST.contains(&place);
        let from = if is_hole { LOST.start - 1 } else { place };
        assert_eq!(
            came.value,
            i32::from((FIRST + from) % 4_000),
            "{} {}",
            came.sv_id,
            came.smp_cnt
        );
    }
}

#[test]
fn rounds_follow_each_other_without_a_seam() {
    if !can_run("rounds_follow_each_other_without_a_seam") {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let captured = Arc::new(CapturedFrames::load(&write_capture(folder.path()), None).expect("a capture"));
    let frames = u64::from(INSTANTS) * 2 - LOST.len() as u64;
    assert_eq!(captured.count() as u64, frames);
    let period_ns = i64::from(INSTANTS - 1) * STEP_NS + 10_000 + STEP_NS;
    assert_eq!(captured.period_ns() as i64, period_ns);
    let config = ReplayConfig {
        frames: captured,
        name: "two.pcap".into(),
        rounds: Some(ROUNDS),
        spin_ahead_ns: 0,
        late_after_ns: 250_000,
        duration_ns: None,
        policy: Policy::Other,
        cpu: None,
        threshold_ns: None,
    };
    let (received, recorded) = send(|port, run| config.start(port, &mut run.recorder, &run.stop));
    assert_eq!(received.len() as u64, ROUNDS * frames);
    let of = |name: &str| -> Vec<u16> {
        let of_stream = received.iter().filter(|came| came.sv_id == name);
        of_stream.map(|came| came.smp_cnt).collect()
    };
    let all = 0..ROUNDS as u16 * INSTANTS;
    let expected = |sample: &u16| (FIRST + sample) % 4_000;
    assert_eq!(
        of("EVEN"),
        all.clone().map(|sample| expected(&sample)).collect::<Vec<_>>()
    );
    let kept = all.filter(|sample| !LOST.contains(&(sample % INSTANTS)));
    assert_eq!(of("HOLES"), kept.map(|sample| expected(&sample)).collect::<Vec<_>>());
    check_instants(&received, period_ns);
    let counters = recorded.counters("publish/lateness");
    assert_eq!(
        (counters.received, counters.lost, counters.missed),
        (ROUNDS * frames, 0, 0)
    );
}

/// Checks that no frame comes before it is due, and that the closest comes soon after.
fn check_instants(received: &[Came], period_ns: i64) {
    let even = received.iter().filter(|came| came.sv_id == "EVEN");
    let after = even.enumerate().map(|(number, came)| {
        let (round, instant) = (number as i64 / i64::from(INSTANTS), number as i64 % i64::from(INSTANTS));
        let due_ns = PHASE_NS + round * period_ns + instant * STEP_NS;
        (came.stamp_ns - due_ns + 500_000_000).rem_euclid(1_000_000_000) - 500_000_000
    });
    let closest = after.min().expect("frames");
    assert!(
        (-100_000..100_000_000).contains(&closest),
        "{closest} ns after it was due"
    );
}
