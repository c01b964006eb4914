//! The streams of a capture in memory, frame by frame: `cargo bench -p triptime-bench --bench pcap`. The cost of `triptime pcap` without reading the
//! file.
#![allow(missing_docs, reason = "criterion's macros generate public functions")]

use analysis::{Analysis, Config};
use capture::Reader;
use capture::write::PcapWriter;
use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use std::hint::black_box;
use wire::ether::{Mac, VlanTag};
use wire::quality::SvQuality;
use wire::sv::{Message, OwnedAsdu, Template};

const FRAMES: u64 = 100_000;
const STRIDES: [u64; 8] = [3, 7, 11, 13, 17, 19, 23, 29];

/// F4800S1I4U4 streams; `shuffled` puts the frames of each sample instant into another order.
fn capture_of(streams: u64, shuffled: bool) -> Vec<u8> {
    let mut writer = PcapWriter::new(Vec::new()).expect("memory");
    let mut templates: Vec<Template> = (0..streams).map(template).collect();
    for frame in 0..FRAMES {
        let sample = frame / streams;
        // Coprime to every number of streams here, and different for each sample.
        let stride = if shuffled {
            STRIDES[sample as usize % STRIDES.len()]
        } else {
            1
        };
        let stream = frame * stride % streams;
        let template = &mut templates[stream as usize];
        template.asdu_mut(0).expect("one").set_smp_cnt((sample % 4_800) as u16);
        writer
            .write((sample * 208_333 + stream) as i64, template.bytes())
            .expect("memory");
    }
    writer.finish().expect("memory")
}

fn template(stream: u64) -> Template {
    Template::new(&Message {
        dst: Mac([1, 0x0c, 0xcd, 4, 0, stream as u8]),
        src: Mac([2, 0, 0, 0, 0, stream as u8]),
        tags: vec![VlanTag::new(4, false, 1)],
        appid: 0x4000 + stream as u16,
        simulate: false,
        asdus: vec![OwnedAsdu::new(&format!("MU{stream:03}"), 1, 2, &[(0, SvQuality(0)); 8])],
    })
    .expect("encodes")
}

fn streams(octets: &[u8]) -> usize {
    let config = Config {
        max_streams: 256,
        rate: None,
        window_ns: None,
        port_mbit: None,
    };
    let mut nothing = ();
    let mut analysis = Analysis::new(config, &mut nothing);
    let mut reader = Reader::new(octets).expect("a capture");
    while let Some(frame) = reader.next_frame().expect("whole") {
        analysis.frame(&frame);
    }
    analysis.finish().streams.len()
}

fn pcap(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("pcap");
    group.throughput(Throughput::Elements(FRAMES));
    for (name, count, shuffled) in [
        ("in order", 20, false),
        ("in order", 200, false),
        ("shuffled", 200, true),
    ] {
        let octets = capture_of(count, shuffled);
        group.bench_with_input(BenchmarkId::new(name, count), &octets, |bencher, octets| {
            bencher.iter(|| black_box(streams(octets)));
        });
    }
    group.finish();
}

criterion_group!(benches, pcap);
criterion_main!(benches);
