//! Tests that both ways to read a frame give the same result.

use super::{Hook, HopCounts, HopOptions, HopTracer, Point, PointKind};
use std::time::Duration;
use sys::link::{add_veth, find, set_up};
use sys::netns::NetNs;
use sys::packet::{PacketPort, PortOptions};
use wire::ether::Mac;
use wire::quality::SvQuality;
use wire::sv::{Message, OwnedAsdu};

/// Number of frames of each stream.
const FRAMES: u16 = 300;

fn frame(sv_id: &str, smp_cnt: u16) -> Vec<u8> {
    let asdu = OwnedAsdu {
        smp_cnt,
        ..OwnedAsdu::new(sv_id, 1, 2, &[(0, SvQuality(0)); 8])
    };
    let message = Message {
        dst: Mac([1, 0x0c, 0xcd, 4, 0, 1]),
        src: Mac([2, 0, 0, 0, 0, 7]),
        tags: Vec::new(),
        appid: 0x4000,
        simulate: false,
        asdus: vec![asdu],
    };
    message.encode().expect("a frame")
}

fn pair(namespace: &NetNs) -> PacketPort {
    let open = || {
        add_veth("v0", "v1", &NetNs::current()?)?;
        set_up("v0")?;
        set_up("v1")?;
        while !find("v0")?.carrier {
            std::thread::sleep(Duration::from_millis(5));
        }
        let options = PortOptions {
            ethertypes: vec![0x88ba],
            hidden: false,
            ring_frames: 0,
            frame_bytes: 512,
            promiscuous: false,
            multicast: Vec::new(),
            qdisc_bypass: false,
            hardware_stamps: false,
            rx_stamps: false,
            vlan_tags: false,
            tx_stamps: false,
            launch_times: false,
            udp_port: None,
        };
        PacketPort::open("v0", &options)
    };
    namespace.run(open).expect("to enter").expect("a port")
}

#[test]
fn frames_are_recognised_in_place_and_copied() {
    let test = "frames read in place and copied";
    let namespace = match NetNs::create() {
        Ok(namespace) => namespace,
        Err(error) => return testing::skip(test, &error.to_string()),
    };
    let port = pair(&namespace);
    let point = |name: &str, interface: &str, kind| Point {
        name: name.to_owned(),
        hooks: vec![Hook {
            ifindex: namespace
                .run(|| find(interface))
                .expect("to enter")
                .expect("there")
                .index,
            netns: namespace.inode().expect("a number"),
            kind,
        }],
        parent: 0,
    };
    let options = HopOptions {
        points: vec![
            point("sent", "v0", PointKind::Transmit),
            point("come", "v1", PointKind::Receive),
        ],
        max_streams: 16,
        threshold_ns: None,
        tell_all: true,
        first_by_nic: false,
    };
    // Lengths near the one at which the comparison changes its method, and two names of equal length that differ at the end.
    let lengths = (17..25).chain([78, 79, 80, 81, 129]);
    let mut names: Vec<String> = lengths.map(|length| "n".repeat(length)).collect();
    names.extend(["MU01", "MU02"].map(str::to_owned));
    let from = |release| super::engine::READS_IN_PLACE <= release;
    let ways = [true, false];
    let can = crate::bpf::kernel_release().is_some_and(from);
    for in_place in ways.into_iter().filter(|in_place| can || !in_place) {
        let mut tracer = match HopTracer::start_reading(options.clone(), in_place) {
            Ok(tracer) => tracer,
            Err(error @ crate::TraceError::NoBtf(_)) => return testing::skip(test, &error.to_string()),
            Err(error) => panic!("{error}"),
        };
        for smp_cnt in 0..FRAMES {
            for name in &names {
                port.send(&frame(name, smp_cnt)).expect("to send");
            }
        }
        // Begins like the names before it, but is shorter.
        for name in &names {
            let octets = frame(name, FRAMES);
            port.send(&octets[..octets.len() - 1]).expect("to send");
        }
        std::thread::sleep(Duration::from_millis(20));
        let mut told = Vec::new();
        tracer.durations(|duration| told.push((duration.series.stream, duration.smp_cnt)));
        told.sort_unstable();
        let streams = 0..names.len() as u32;
        let wanted: Vec<(u32, u16)> = streams
            .flat_map(|stream| (0..FRAMES).map(move |n| (stream, n)))
            .collect();
        assert!(told == wanted, "{} told, in place: {in_place}", told.len());
        for reading in tracer.read().expect("the kernel") {
            let frames = u64::from(FRAMES);
            let counts = HopCounts {
                seen: frames,
                paired: if reading.point == 0 { 0 } else { frames },
                sum_ns: reading.counts.sum_ns,
                cut: 1,
                ..HopCounts::default()
            };
            assert_eq!(reading.counts, counts);
        }
    }
}
