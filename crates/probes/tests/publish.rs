//! Frames that the publisher sends, captured at the far end: the counters, the instants, and the fields that tshark decodes.

mod common;

use capture::write::PcapWriter;
use common::{Pair, Recorded, Run, can_run};
use model::EventKind;
use probes::Probe;
use probes::publish::{PublishConfig, StreamConfig, Waveform, port_options};
use recording::SegmentReader;
use std::collections::BTreeMap;
use std::f64::consts::{SQRT_2, TAU};
use std::fs::File;
use std::io::BufWriter;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use streamset::StreamSpec;
use sys::packet::{PacketPort, PortOptions, RxStamp};
use waveform::sample::Sampling;
use waveform::{Signal, Tables};
use wire::ether::{EthernetView, VlanTag};
use wire::sv::Frame;

const STREAMS: u16 = 8;
const SECOND_NS: i64 = 1_000_000_000;
const DURATION_NS: u64 = 1_100_000_000;

/// Largest time between reading the wall clock and the monotonic clock, which gives the top of the second.
const PAIRING_NS: i64 = 100_000;

/// A captured frame with its tag restored, as it was on the network.
struct Captured {
    stamp_ns: i64,
    octets: Vec<u8>,
}

/// The fields of an ASDU that matter here.
#[derive(Debug, PartialEq, Eq)]
struct Seen {
    sv_id: String,
    smp_cnt: u16,
    values: Vec<i32>,
}

fn capture_into(mut port: PacketPort, done: &AtomicBool) -> Vec<Captured> {
    let mut captured = Vec::new();
    loop {
        // Checked before the ring, so that every frame from before the end is taken.
        let last = done.load(Ordering::Acquire);
        while let Some(frame) = port.next() {
            let stamp_ns = match frame.stamp() {
                RxStamp::Software(stamp) | RxStamp::Socket(stamp) => stamp.as_ns(),
                RxStamp::Hardware(_) => panic!("veth has no clock"),
            };
            assert!(!frame.truncated());
            let mut octets = frame.data().to_vec();
            if let Some(tag) = frame.vlan() {
                octets.splice(12..12, [tag.tpid.to_be_bytes(), tag.tci.to_be_bytes()].concat());
            }
            captured.push(Captured { stamp_ns, octets });
        }
        if last {
            break;
        }
        port.wait(20_000_000).expect("poll");
    }
    assert_eq!(
        port.statistics().expect("statistics").dropped,
        0,
        "the test's own ring overflowed"
    );
    captured
}

fn publish(config: &PublishConfig) -> (Vec<Captured>, Recorded) {
    let pair = Pair::build();
    let far = pair.port_b(&PortOptions {
        ethertypes: vec![wire::ether::SV],
        ring_frames: 16_384,
        frame_bytes: 512,
        ..PortOptions::default()
    });
    let done = AtomicBool::new(false);
    let mut run = Run::start();
    let captured = std::thread::scope(|scope| {
        let capture = scope.spawn(|| capture_into(far, &done));
        let running = config
            .start(pair.port_a(&port_options()), &mut run.recorder, &run.stop)
            .expect("the publisher starts");
        running.join().expect("the publisher ends well");
        done.store(true, Ordering::Release);
        capture.join().expect("the capture ends well")
    });
    (captured, run.finish())
}

fn asdus(frame: &Captured) -> Vec<Seen> {
    let ethernet = EthernetView::parse(&frame.octets).expect("Ethernet");
    let sv = Frame::parse(&ethernet).expect("sampled values");
    sv.asdus()
        .map(|asdu| Seen {
            sv_id: String::from_utf8(asdu.sv_id().to_vec()).expect("ASCII"),
            smp_cnt: asdu.smp_cnt(),
            values: asdu
                .members()
                .expect("8 octets a member")
                .iter()
                .map(|(value, _)| value)
                .collect(),
        })
        .collect()
}

fn check_header(config: &StreamConfig, frame: &Captured, stream: u16) {
    let ethernet = EthernetView::parse(&frame.octets).expect("Ethernet");
    let sv = Frame::parse(&ethernet).expect("sampled values");
    let mut destination = config.spec.destination;
    destination.0[5] += stream as u8;
    assert_eq!(ethernet.dst(), destination);
    assert_eq!(ethernet.vlan(), config.spec.vlan);
    assert_eq!((sv.appid(), sv.simulate()), (config.spec.appid, config.spec.simulate));
    for asdu in sv.asdus() {
        assert_eq!(
            (asdu.conf_rev(), asdu.smp_synch()),
            (config.spec.conf_rev, Some(config.spec.smp_synch))
        );
    }
}

/// Ia and Ua of 400 A, 30 degrees after 20 kV between phases, in mA and 10 mV (9-2LE).
fn check_values(rate: u32, seen: &Seen) {
    let angle = TAU * 50.0 * f64::from(seen.smp_cnt) / f64::from(rate);
    let ia = 400e3 * SQRT_2 * (angle - TAU / 12.0).cos();
    let ua = 20_000e2 / 3_f64.sqrt() * SQRT_2 * angle.cos();
    for (index, expected) in [(0, ia), (4, ua)] {
        let off = f64::from(seen.values[index]) - expected;
        assert!(off.abs() <= 0.51, "member {index} of {seen:?} is off by {off}");
    }
    assert_eq!(seen.values.len(), 8);
    assert_eq!(seen.values[3], seen.values[..3].iter().sum::<i32>());
}

/// Checks every frame; returns the number of frames of each stream.
fn check_frames(config: &StreamConfig, captured: &[Captured]) -> Vec<u64> {
    let asdu_count = u64::from(config.spec.asdus);
    let names: BTreeMap<String, u16> = (0..STREAMS).map(|n| (format!("TEST{:02}", n + 1), n)).collect();
    // For each stream: the number of its frames, and the next expected sample.
    let mut streams = vec![(0_u64, 0_u64); usize::from(STREAMS)];
    let mut closest_ns = i64::MAX;
    for frame in captured {
        let asdus = asdus(frame);
        assert_eq!(asdus.len() as u64, asdu_count);
        let stream = names[&asdus[0].sv_id];
        check_header(config, frame, stream);
        let (frames, next) = &mut streams[usize::from(stream)];
        let rate = u64::from(config.spec.rate);
        let first = u64::from(asdus[0].smp_cnt);
        let skipped = (first + rate - *next % rate) % rate;
        assert!(
            skipped.is_multiple_of(asdu_count),
            "whole frames are missing: {skipped} samples"
        );
        assert!(
            *frames > 0 || first == 0,
            "the first sample is that at the top of the second"
        );
        for (seen, at) in asdus.iter().zip(0..) {
            assert_eq!(u64::from(seen.smp_cnt), (first + at) % rate);
            assert_eq!(names[&seen.sv_id], stream);
            check_values(config.spec.rate, seen);
        }
        *frames += 1;
        *next += skipped + asdu_count;
        let due_ns = i64::from(asdus[asdus.len() - 1].smp_cnt) * SECOND_NS / i64::from(config.spec.rate);
        let after_ns = (frame.stamp_ns - due_ns + PAIRING_NS).rem_euclid(SECOND_NS) - PAIRING_NS;
        assert!(
            after_ns < SECOND_NS / 2,
            "sent {} ns before it was due",
            SECOND_NS - after_ns
        );
        closest_ns = closest_ns.min(after_ns);
    }
    assert!(
        (-PAIRING_NS..SECOND_NS / 5).contains(&closest_ns),
        "the closest came {closest_ns} ns after its due instant"
    );
    let published = DURATION_NS * u64::from(config.spec.rate) / 1_000_000_000;
    for (_, next) in &streams {
        assert!(
            *next <= published,
            "{next} samples counted through, {published} were due"
        );
    }
    streams.into_iter().map(|(frames, _)| frames).collect()
}

fn check(config: &StreamConfig, test: &str) {
    let (captured, recorded) = publish(&of(config, STREAMS));
    let streams = check_frames(config, &captured);
    let counters = recorded.counters("publish/lateness");
    assert_eq!(
        counters.expected,
        u64::from(STREAMS) * DURATION_NS * config.spec.frames_per_second() / 1_000_000_000,
        "every frame due is accounted for"
    );
    assert_eq!(counters.received + counters.missed, counters.expected);
    assert_eq!((counters.lost, counters.overrun), (0, 0));
    let each = counters.received / u64::from(STREAMS);
    assert_eq!(
        streams,
        vec![each; usize::from(STREAMS)],
        "captured of each stream, and said to be sent"
    );
    assert_eq!(each * u64::from(STREAMS), counters.received);
    let refused = recorded.events("publish/lateness");
    assert!(
        !refused.iter().any(|event| event.kind == EventKind::SocketDrop),
        "{refused:?}"
    );
    check_tshark(config, &captured, test);
}

/// tshark reads the same svIDs, counters, values and tags.
fn check_tshark(config: &StreamConfig, captured: &[Captured], test: &str) {
    if Command::new("tshark").arg("--version").output().is_err() {
        testing::skip(test, "needs tshark to decode what was published");
        return;
    }
    let directory = tempfile::tempdir().expect("a temporary directory");
    let path = directory.path().join("published.pcap");
    let mut writer = PcapWriter::new(BufWriter::new(File::create(&path).expect("a capture"))).expect("a header");
    for frame in captured {
        writer.write(frame.stamp_ns, &frame.octets).expect("a frame");
    }
    writer.finish().expect("a capture");
    let rows = tshark(&path);
    assert_eq!(rows.len(), captured.len());
    let vid: Vec<String> = config.spec.vlan.iter().map(|tag| tag.vid().to_string()).collect();
    for (row, frame) in rows.iter().zip(captured) {
        let asdus = asdus(frame);
        let expected = [
            vec![],
            vid.clone(),
            asdus.iter().map(|asdu| asdu.sv_id.clone()).collect(),
            asdus.iter().map(|asdu| asdu.smp_cnt.to_string()).collect(),
            asdus.iter().flat_map(|asdu| &asdu.values).map(i32::to_string).collect(),
        ];
        assert_eq!(row.as_slice(), expected);
    }
}

/// For each frame the occurrences of each field.
fn tshark(path: &Path) -> Vec<Vec<Vec<String>>> {
    let fields = ["_ws.malformed", "vlan.id", "sv.svID", "sv.smpCnt", "sv.meas_value"];
    let output = Command::new("tshark")
        .args(["-o", "sv.decode_data_as_phsmeas:TRUE", "-T", "fields"])
        .args(["-E", "occurrence=a", "-E", "aggregator=;"])
        .args(fields.iter().flat_map(|field| ["-e", field]))
        .arg("-r")
        .arg(path)
        .output()
        .expect("tshark runs");
    let split = |cell: &str| {
        cell.split(';')
            .filter(|text| !text.is_empty())
            .map(str::to_owned)
            .collect()
    };
    let text = String::from_utf8(output.stdout).expect("text");
    text.lines().map(|line| line.split('\t').map(split).collect()).collect()
}

fn config(rate: u32, asdus: u8, vlan: Option<VlanTag>) -> StreamConfig {
    StreamConfig {
        spec: StreamSpec {
            rate,
            asdus,
            vlan,
            conf_rev: 7,
            smp_synch: 1,
            simulate: asdus == 2,
            ..StreamSpec::named("TEST")
        },
        waveform: Arc::new(Waveform::new(rate)),
        ahead: 0,
    }
}

/// Publishes `count` streams that differ only in their number.
fn of(stream: &StreamConfig, count: u16) -> PublishConfig {
    PublishConfig {
        streams: (0..count).map(|number| stream.numbered(number)).collect(),
        duration_ns: Some(DURATION_NS),
        ..PublishConfig::default()
    }
}

#[test]
fn at_4000_samples_a_second() {
    let test = "at_4000_samples_a_second";
    if can_run(test) {
        check(&config(4_000, 1, None), test);
    }
}

#[test]
fn at_4800_samples_a_second_in_a_vlan() {
    let test = "at_4800_samples_a_second_in_a_vlan";
    if can_run(test) {
        check(&config(4_800, 1, Some(VlanTag::new(4, false, 100))), test);
    }
}

#[test]
fn two_samples_in_a_frame() {
    let test = "two_samples_in_a_frame";
    if can_run(test) {
        check(&config(4_800, 2, None), test);
    }
}

#[test]
fn two_samples_in_a_frame_in_a_vlan() {
    let test = "two_samples_in_a_frame_in_a_vlan";
    if can_run(test) {
        check(&config(4_000, 2, Some(VlanTag::new(6, false, 0))), test);
    }
}

#[test]
fn streams_of_several_rates() {
    if !can_run("streams_of_several_rates") {
        return;
    }
    let paces = [(4_000, 1), (4_800, 2), (14_400, 6)];
    let mut streams = Vec::new();
    for ((rate, asdus), number) in paces.into_iter().zip([0, 10, 20]) {
        let stream = config(rate, asdus, None);
        streams.extend((number..number + 2).map(|number| stream.numbered(number)));
    }
    let published = PublishConfig {
        streams,
        record: true,
        ..of(&config(4_000, 1, None), 0)
    };
    let (captured, recorded) = publish(&published);
    let mut sent: BTreeMap<String, u64> = BTreeMap::new();
    for frame in &captured {
        let seen = asdus(frame);
        *sent.entry(seen[0].sv_id.clone()).or_default() += 1;
        let config = published
            .streams
            .iter()
            .find(|stream| stream.spec.sv_id == seen[0].sv_id);
        let config = config.expect("a stream that was published");
        assert_eq!(seen.len(), usize::from(config.spec.asdus));
        seen.iter().for_each(|asdu| check_values(config.spec.rate, asdu));
    }
    for ((rate, asdus), number) in paces.into_iter().zip([1, 11, 21]) {
        let counters = recorded.counters(&format!("publish/lateness/F{rate}S{asdus}"));
        let due = 2 * DURATION_NS * u64::from(rate) / u64::from(asdus) / 1_000_000_000;
        assert_eq!(counters.expected, due);
        assert_eq!(counters.received + counters.missed, due);
        let both = sent[&format!("TEST{number:02}")] + sent[&format!("TEST{:02}", number + 1)];
        assert_eq!(both, counters.received, "F{rate}S{asdus}");
    }
    check_recording(&captured, &recorded);
}

/// Every frame that came is recorded under its stream and count, handed over after it was due and before it came.
fn check_recording(captured: &[Captured], recorded: &Recorded) {
    let mut left: BTreeMap<(String, u16), Vec<[i64; 2]>> = BTreeMap::new();
    let mut reader = SegmentReader::new();
    let take = |octets: Result<&[u8], String>| {
        let segment = reader.read(octets.expect("there")).expect("whole");
        assert_eq!(segment.points, ["due", "sent"]);
        for index in 0..segment.block.len() {
            let number = segment.block.stream[index];
            let info = segment.streams.iter().find(|info| info.number == number);
            let info = info.expect("an announced stream");
            let count = info.count(segment.block.number[index], segment.block.flags[index]);
            let stamps = [0, 1].map(|point: usize| segment.block.stamps[point][index]);
            left.entry((info.name.clone(), count)).or_default().push(stamps);
        }
    };
    recorded.file.each_segment(take).expect("readable");
    for frame in captured {
        let first = asdus(frame).remove(0);
        let of_frame = left.get_mut(&(first.sv_id.clone(), first.smp_cnt));
        // The same count comes once a second, in order.
        let [due, sent] = of_frame.filter(|of| !of.is_empty()).expect("recorded").remove(0);
        assert!(
            due - PAIRING_NS < sent && sent < frame.stamp_ns,
            "{first:?}: {due} {sent}"
        );
    }
    assert_eq!(
        left.values().map(Vec::len).sum::<usize>(),
        0,
        "recorded, and never came"
    );
}

#[test]
fn a_fault_with_unbalance_in_6i3u_each_stream_ahead_of_the_last() {
    let test = "a_fault_with_unbalance_in_6i3u_each_stream_ahead_of_the_last";
    if !can_run(test) {
        return;
    }
    let text = "frequency_hz = 60\ncurrents_a = 100\ncurrent_angles_deg = 0\n[[harmonic]]\norder = 5\npercent = 10\n\
                [[state]]\nname = \"before\"\nduration = \"400ms\"\n\
                [[state]]\nname = \"fault\"\ncurrents_a = [1000, 100, 100]\nquality = \"test\"\n";
    let signal = Signal::Synth(waveform::synth::parse(text, "test").expect("a waveform"));
    let mut tables = Tables::new(signal);
    let sampling = Sampling {
        dataset: "6I3U".parse().expect("a dataset"),
        ..Sampling::new(4_800)
    };
    let stream = |number: u16| {
        let table = tables
            .of(&sampling, u64::from(number), 30.0 * f64::from(number))
            .expect("a table");
        let waveform = Arc::new(Waveform::of(table, "a fault".into()));
        let config = config(4_800, 2, None);
        StreamConfig { waveform, ..config }.numbered(number)
    };
    let published = PublishConfig {
        streams: (0..3).map(stream).collect(),
        duration_ns: Some(DURATION_NS),
        ..PublishConfig::default()
    };
    let (captured, _) = publish(&published);
    // For each stream: the number of full seconds, and the last smpCnt.
    let mut seconds: BTreeMap<String, (u32, u16)> = BTreeMap::new();
    let (mut before, mut faulted) = (0, 0);
    for seen in captured.iter().flat_map(asdus) {
        let (second, last) = seconds.entry(seen.sv_id.clone()).or_default();
        *second += u32::from(seen.smp_cnt < *last);
        *last = seen.smp_cnt;
        let time_s = f64::from(*second) + f64::from(seen.smp_cnt) / 4_800.0;
        let number: f64 = seen.sv_id["TEST".len()..].parse().expect("a number");
        let angle = TAU * 60.0 * time_s + (30.0 * (number - 1.0)).to_radians();
        let in_fault = time_s >= 0.4;
        *(if in_fault { &mut faulted } else { &mut before }) += 1;
        let rms = if in_fault { 1000e3 } else { 100e3 };
        let expected = rms * SQRT_2 * (angle.cos() + 0.1 * (5.0 * angle).cos());
        assert!(
            (f64::from(seen.values[0]) - expected).abs() < 0.6,
            "{seen:?}: {expected}"
        );
        assert_eq!(seen.values.len(), 9);
        assert_eq!(seen.values[3], seen.values[..3].iter().sum::<i32>());
        assert_eq!(seen.values[4..6], [0, 0]);
    }
    assert_eq!(seconds.len(), 3);
    assert!(before > 0 && faulted > 0, "{before} {faulted}");
    check_tshark(&published.streams[0], &captured, test);
}
