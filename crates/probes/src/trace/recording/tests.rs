use super::Frames;
use crate::trace::series::Names;
use ::trace::hops::{Duration, Hook, HopSeries, Point, PointKind, StreamInfo};
use model::{RunInfo, RunState};
use recording::{Record, SegmentReader};
use run::{Recorder, RecorderOptions, Stop};
use store::{RunFile, RunWriter};
use tempfile::TempDir;
use units::Monotonic;

const POINTS: [&str; 3] = ["nic", "tap", "vhost"];

fn points() -> Vec<Point> {
    let point = |(number, name): (usize, &&str)| Point {
        name: (*name).to_owned(),
        hooks: vec![Hook {
            ifindex: 1,
            netns: 1,
            kind: PointKind::Receive,
        }],
        parent: number.saturating_sub(1),
    };
    POINTS.iter().enumerate().map(point).collect()
}

fn stream(number: u32, asdus: u8) -> StreamInfo {
    StreamInfo {
        number,
        destination: [1, 12, 205, 4, 0, 1],
        source: [2, 0, 0, 0, 0, number as u8],
        appid: 0x4000,
        vlan: Some(5),
        asdus,
        sv_id: b"MU01".to_vec(),
        progress: ::trace::hops::Progress::default(),
    }
}

/// Durations that the kernel reports for a frame that came to the first point at `first_ns` and to the others this much later.
fn told(stream: u32, smp_cnt: u16, first_ns: i64, later_ns: &[i64]) -> Vec<Duration> {
    let mut all = Vec::new();
    let mut before_ns = 0;
    for (index, later_ns) in later_ns.iter().enumerate() {
        let mut tell = |total: bool, ns: i64| {
            all.push(Duration {
                series: HopSeries {
                    stream,
                    point: index + 1,
                    total,
                },
                at: Monotonic::from_ns(first_ns + later_ns),
                ns: ns as u64,
                cpu: 0,
                thread: 1,
                smp_cnt,
            });
        };
        tell(false, later_ns - before_ns);
        if index > 0 {
            tell(true, *later_ns);
        }
        before_ns = *later_ns;
    }
    all
}

/// Records the frames that `feed` makes.
fn recorded(feed: impl FnOnce(&mut Frames, &Names)) -> (Vec<Record>, Vec<recording::StreamInfo>) {
    let directory = TempDir::new().expect("tempdir");
    let path = directory.path().join("run");
    let start = sys::clock::pair();
    let info = RunInfo {
        id: "x".to_owned(),
        command: "trace".to_owned(),
        arguments: Vec::new(),
        tool_version: "0".to_owned(),
        started: start.realtime,
        window_ns: 1_000_000_000,
    };
    let writer = RunWriter::create(&path, &info, None).expect("a run");
    let options = RecorderOptions {
        start: start.monotonic,
        window_ns: 1_000_000_000,
        explain: None,
    };
    let recorder = Recorder::start(writer, options, &Stop::new());
    let mut names = Names::new(&points(), None, &recorder);
    names.learn(&[stream(0, 1), stream(1, 2)]);
    let mut frames = Frames::new(&recorder, &points());
    feed(&mut frames, &names);
    frames.finish(&names);
    recorder.finish(RunState::Complete).expect("written");
    let (mut records, mut streams, mut reader) = (Vec::new(), Vec::new(), SegmentReader::new());
    let run = RunFile::open(&path).expect("a run");
    run.each_segment(|octets| {
        let segment = reader.read(octets.expect("whole")).expect("a segment");
        assert_eq!(segment.points, POINTS);
        streams.clone_from(&segment.streams);
        records.extend((0..segment.block.len()).map(|index| segment.block.get(index)));
    })
    .expect("read");
    (records, streams)
}

fn distances(record: &Record) -> [Option<i64>; 2] {
    let from = |point: usize| Some(record.stamps[point]? - record.stamps[0]?);
    [from(1), from(2)]
}

#[test]
fn frames_are_put_together_whatever_the_order_they_are_told_in() {
    let now = sys::clock::monotonic();
    let (records, _) = recorded(|frames, names| {
        let mut all = Vec::new();
        for smp_cnt in 0..100_u16 {
            let first_ns = now.as_ns() + i64::from(smp_cnt) * 250_000;
            // Two frames are under way at a time.
            all.extend(told(0, smp_cnt, first_ns, &[2_000, 300_000 + i64::from(smp_cnt)]));
        }
        all.sort_by_key(|duration| duration.at);
        for duration in &all {
            frames.take(duration);
            frames.pass_on(duration.at, names);
        }
    });
    assert_eq!(records.len(), 100);
    for (index, record) in (0..).zip(&records) {
        assert_eq!(record.number, index);
        assert_eq!(distances(record), [Some(2_000), Some(300_000 + index as i64)]);
    }
}

#[test]
fn a_frame_that_never_came_further_waits_half_a_second_and_keeps_its_turn() {
    let now = sys::clock::monotonic();
    let (records, _) = recorded(|frames, names| {
        let at = |ms: i64| now.as_ns() + ms * 1_000_000;
        told(0, 7, at(0), &[2_000])
            .iter()
            .for_each(|duration| frames.take(duration));
        told(0, 8, at(1), &[2_000, 9_000])
            .iter()
            .for_each(|duration| frames.take(duration));
        frames.pass_on(now + 400_000_000, names);
        assert_eq!(frames.pending.len(), 2);
        frames.pass_on(now + 500_000_001, names);
        assert_eq!(frames.pending.len(), 0);
        // The same count one turn later belongs to another frame.
        told(0, 7, at(1_000), &[3_000, 8_000])
            .iter()
            .for_each(|duration| frames.take(duration));
    });
    let all: Vec<_> = records.iter().map(distances).collect();
    assert_eq!(
        all,
        [
            [Some(2_000), None],
            [Some(2_000), Some(9_000)],
            [Some(3_000), Some(8_000)]
        ]
    );
    assert_eq!(records[1].number, 8);
}

#[test]
fn several_asdus_are_one_record_and_streams_of_one_sv_id_are_told_apart() {
    let now = sys::clock::monotonic().as_ns();
    let (records, streams) = recorded(|frames, _| {
        for smp_cnt in [0_u16, 2, 4] {
            let first_ns = now + i64::from(smp_cnt) * 208_000;
            for duration in told(1, smp_cnt, first_ns, &[1_000, 2_000]) {
                frames.take(&duration);
            }
        }
        told(0, 0, now, &[1_000, 2_000])
            .iter()
            .for_each(|duration| frames.take(duration));
    });
    let of = |number: u16| records.iter().filter(move |record| record.stream == number);
    assert!(of(1).all(|record| record.samples == 2) && of(1).map(|record| record.number).eq([0, 2, 4]));
    assert_eq!(of(0).count(), 1);
    assert_eq!(
        streams.iter().map(|info| info.sv_id()).collect::<Vec<_>>(),
        ["MU01", "MU01"]
    );
    assert_ne!(streams[0].name, streams[1].name);
    assert_eq!(streams[1].source, Some([2, 0, 0, 0, 0, 1]));
}
