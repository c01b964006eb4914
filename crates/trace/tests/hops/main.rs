//! Hops of sampled values on this machine: every frame is paired with itself or not at all.

mod bed;
mod doubts;
mod pairing;
mod planted;
mod steady;

use bed::{Bed, place};
use trace::hops::{HopCounts, HopOptions, HopTracer, Point, PointKind, Reading};
use wire::ether::Mac;
use wire::quality::SvQuality;
use wire::sv::{Message, OwnedAsdu};

/// A frame of this stream with these samples.
pub(crate) fn frame(sv_id: &str, smp_cnts: &[u16]) -> Message {
    let asdus = smp_cnts.iter().map(|smp_cnt| OwnedAsdu {
        smp_cnt: *smp_cnt,
        ..OwnedAsdu::new(sv_id, 1, 2, &[(0, SvQuality(0)); 8])
    });
    Message {
        dst: Mac([1, 0x0c, 0xcd, 4, 0, 1]),
        src: Mac([2, 0, 0, 0, 0, 7]),
        tags: Vec::new(),
        appid: 0x4000,
        simulate: false,
        asdus: asdus.collect(),
    }
}

pub(crate) fn point(name: &str, parent: usize, place: trace::hops::Hook) -> Point {
    Point {
        name: name.to_owned(),
        hooks: vec![place],
        parent,
    }
}

/// From one port of the bridge to the other, and to the device.
pub(crate) fn three_points(bed: &Bed) -> HopOptions {
    HopOptions {
        points: vec![
            point("in", 0, place(&bed.switch, "p-ts", PointKind::Receive)),
            point("out", 0, place(&bed.switch, "p-dut", PointKind::Transmit)),
            point("edge", 1, place(&bed.device, "dut0", PointKind::Receive)),
        ],
        max_streams: 8,
        threshold_ns: None,
        tell_all: true,
        first_by_nic: false,
    }
}

/// Starts the tracer; `None` if the test is skipped.
pub(crate) fn tracer(test: &str, options: HopOptions) -> Option<HopTracer> {
    match HopTracer::start(options) {
        Ok(tracer) => {
            // At the start, frames that had already passed the first point are not counted.
            std::thread::sleep(std::time::Duration::from_millis(30));
            Some(tracer)
        }
        Err(error @ (trace::TraceError::NoBtf(_) | trace::TraceError::MissingCapability { .. })) => {
            testing::skip(test, &error.to_string());
            None
        }
        Err(error) => panic!("{error}"),
    }
}

/// Reads the counts so far, after the frames on their way have arrived.
pub(crate) fn read(tracer: &mut HopTracer) -> Vec<Reading> {
    std::thread::sleep(std::time::Duration::from_millis(20));
    tracer.next_span().expect("the kernel");
    std::thread::sleep(std::time::Duration::from_millis(5));
    tracer.read().expect("the kernel")
}

pub(crate) fn counts(readings: &[Reading], stream: u32, point: usize) -> HopCounts {
    let found = readings
        .iter()
        .find(|reading| reading.stream == stream && reading.point == point);
    found.map_or_else(HopCounts::default, |reading| reading.counts)
}
