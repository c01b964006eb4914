//! Whole runs merged: what the merged run says.

use crate::merge::{Input, Merge, MergeError, Merged, Relation};
use recording::{Record, SegmentWriter, StreamInfo, facts, instants};
use std::path::{Path, PathBuf};
use store::model::{Event, EventKind, Fact, RunInfo, RunState, SeriesClock, SeriesSpec, setting};
use store::{Batch, RunFile, RunWriter, SealedSegment};
use tempfile::TempDir;
use units::Realtime;

const RATE: u64 = 4_000;
const PERIOD_NS: i64 = 250_000;
const START_NS: i64 = 1_790_000_000_000_000_000;
/// From point to point within a run.
const HOP_NS: i64 = 5_000;
/// From the host's last point to the guest's first.
const CROSSING_NS: i64 = 20_000;

/// A run to be written.
struct Plan {
    points: [&'static str; 2],
    frames: Vec<u64>,
    /// When frame 0 came to its first point, on this run's clock.
    first_ns: i64,
    /// From when to when it recorded, from the true start on.
    from_ns: i64,
    to_ns: i64,
    boot: &'static str,
    /// Frames lost between its two points.
    lost_inside: Vec<u64>,
    events: Vec<Event>,
}

impl Plan {
    fn host(frames: u64) -> Self {
        Self {
            points: ["nic", "tap"],
            frames: (0..frames).collect(),
            first_ns: START_NS,
            from_ns: START_NS - 1_000_000_000,
            to_ns: START_NS + frames as i64 * PERIOD_NS + 1_000_000_000,
            boot: "a",
            lost_inside: Vec::new(),
            events: Vec::new(),
        }
    }

    fn guest(frames: u64) -> Self {
        Self {
            points: ["nic", "app"],
            first_ns: START_NS + HOP_NS + CROSSING_NS,
            ..Self::host(frames)
        }
    }

    /// The same with its clock that much ahead.
    fn ahead(mut self, ns: i64) -> Self {
        self.first_ns += ns;
        self.from_ns += ns;
        self.to_ns += ns;
        self
    }

    fn lose(mut self, lost: impl Fn(u64) -> bool) -> Self {
        self.frames.retain(|frame| !lost(*frame));
        self
    }

    fn write(&self, directory: &Path, name: &str) -> PathBuf {
        let path = directory.join(name);
        let info = RunInfo {
            id: name.to_owned(),
            command: "trace".to_owned(),
            arguments: Vec::new(),
            tool_version: "0".to_owned(),
            started: Realtime::from_ns(self.from_ns),
            window_ns: 1_000_000_000,
        };
        let mut run = RunWriter::create(&path, &info, None).unwrap();
        let fact = |group: &str, name: &str, value: String| Fact {
            group: group.to_owned(),
            name: name.to_owned(),
            value: Ok(value),
            source: String::new(),
        };
        run.add_facts(&[
            fact("kernel", "boot id", self.boot.to_owned()),
            fact("clock", "clock source", "tsc".to_owned()),
            fact(facts::GROUP, facts::FROM, facts::instant(self.from_ns)),
            fact(facts::GROUP, facts::TO, facts::instant(self.to_ns)),
            fact(facts::GROUP, facts::UNCERTAINTY, facts::duration(100)),
        ])
        .unwrap();
        self.series(&mut run);
        let mut segment = SegmentWriter::new(&self.points);
        let stream = StreamInfo {
            rate: Some(RATE as u32),
            source: Some([2, 0, 0, 0, 0, 1]),
            destination: Some([1, 12, 205, 4, 0, 1]),
            appid: Some(0x4000),
            ..StreamInfo::named(0, "MU01")
        };
        segment.set_stream(stream).unwrap();
        for part in self.frames.chunks(4_000) {
            for frame in part.iter().filter(|frame| !self.lost_inside.contains(frame)) {
                let at_ns = self.first_ns + *frame as i64 * PERIOD_NS;
                let record = Record {
                    stream: 0,
                    samples: 1,
                    flags: 0,
                    number: *frame,
                    stamps: instants([Some(at_ns), Some(at_ns + HOP_NS)]),
                };
                segment.push(&record).unwrap();
            }
            let (first_ns, last_ns) = segment.span_ns().unwrap_or_default();
            let (samples, octets) = (segment.samples(), segment.seal().unwrap());
            let sealed = SealedSegment {
                first_ns,
                last_ns,
                samples,
                octets,
            };
            run.add_segment(&sealed).unwrap();
        }
        run.write(&Batch {
            events: self.events.clone(),
            ..Batch::default()
        })
        .unwrap();
        run.finish(RunState::Complete, (self.to_ns - self.from_ns) as u64)
            .unwrap();
        path
    }

    /// The hop as the kernel counted it.
    fn series(&self, run: &mut RunWriter) {
        let spec = SeriesSpec {
            name: format!("hop/{}-to-{}/MU01", self.points[0], self.points[1]),
            what: "a hop".to_owned(),
            clock: SeriesClock::Monotonic,
            interval_ns: None,
            threshold_ns: None,
            settings: Vec::new(),
        };
        let series = run.add_series(&spec).unwrap();
        let mut open = crate::logger::windows::Open::new(series);
        for frame in &self.frames {
            if self.lost_inside.contains(frame) {
                open.counters().lost += 1;
                open.counters().expected += 1;
            } else {
                open.sample(0, HOP_NS, *frame);
            }
        }
        let mut batch = Batch::default();
        open.close((self.to_ns - self.from_ns) as u64, &mut batch);
        run.write(&batch).unwrap();
    }
}

struct Result {
    merged: Merged,
    file: RunFile,
    _directory: TempDir,
}

impl Result {
    /// Expected, received, lost, duplicate, and the extremes of a series.
    fn of(&self, name: &str) -> ([u64; 4], Option<(i64, i64)>) {
        let series = self.file.series().unwrap();
        let (id, _) = series.iter().find(|(_, spec)| spec.name == name).unwrap_or_else(|| {
            panic!(
                "no {name} in {:?}",
                series.iter().map(|(_, spec)| &spec.name).collect::<Vec<_>>()
            )
        });
        let totals = self.file.totals(*id).unwrap();
        let c = totals.counters;
        (
            [c.expected, c.received, c.lost, c.duplicate],
            totals.min_ns.zip(totals.max_ns),
        )
    }

    fn crossing(&self) -> ([u64; 4], Option<(i64, i64)>) {
        self.of("hop/host.tap-to-guest.nic/MU01")
    }

    fn events(&self, kind: EventKind) -> Vec<String> {
        let events = self.file.events().unwrap().into_iter();
        events
            .filter(|event| event.kind == kind)
            .map(|event| event.text)
            .collect()
    }
}

fn open(directory: &Path, runs: &[&Plan], relation: Relation) -> std::result::Result<Merge, MergeError> {
    let labels = ["host", "guest", "third"];
    let inputs: Vec<Input> = runs
        .iter()
        .zip(labels)
        .map(|(plan, label)| Input {
            path: plan.write(directory, label),
            label: Some(label.to_owned()),
        })
        .collect();
    Merge::open(&inputs, relation)
}

fn merge(runs: &[&Plan], relation: Relation) -> Result {
    let directory = TempDir::new().unwrap();
    let merge = open(directory.path(), runs, relation).unwrap();
    finish(&merge, directory)
}

fn finish(merge: &Merge, directory: TempDir) -> Result {
    let path = directory.path().join("merged");
    let info = RunInfo {
        id: "merged".to_owned(),
        command: "merge".to_owned(),
        arguments: Vec::new(),
        tool_version: "0".to_owned(),
        started: merge.started(),
        window_ns: merge.window_ns(),
    };
    let mut run = RunWriter::create(&path, &info, None).unwrap();
    let merged = merge.write(&mut run).unwrap();
    run.finish(merge.state(), merge.duration_ns()).unwrap();
    Result {
        merged,
        file: RunFile::open(&path).unwrap(),
        _directory: directory,
    }
}

#[test]
fn every_frame_has_all_points_and_the_crossing_its_time() {
    let result = merge(&[&Plan::host(10_000), &Plan::guest(10_000)], Relation::SameHost);
    let took = Some((CROSSING_NS, CROSSING_NS));
    assert_eq!(result.crossing(), ([10_000, 10_000, 0, 0], took));
    let whole = 2 * HOP_NS + CROSSING_NS;
    assert_eq!(
        result.of("hop/host.nic-to-guest.app/MU01"),
        ([10_000, 10_000, 0, 0], Some((whole, whole)))
    );
    assert_eq!(result.of("hop/guest.nic-to-guest.app/MU01").0, [10_000, 10_000, 0, 0]);
    assert_eq!(
        (result.merged.frames, result.merged.whole, result.merged.apart_ns),
        (10_000, 10_000, Some(200))
    );
    assert_eq!(result.file.segment_totals().unwrap().unwrap().samples, 10_000);
    let series = result.file.series().unwrap();
    let crossing = series
        .iter()
        .find(|(_, spec)| spec.name.contains("to-guest.nic"))
        .unwrap();
    let uncertainty = (setting::CLOCK_UNCERTAINTY_NS.to_owned(), "200".to_owned());
    assert!(crossing.1.settings.contains(&uncertainty), "{:?}", crossing.1.settings);
}

#[test]
fn losses_are_told_apart_by_where_they_happened() {
    let mut host = Plan::host(10_000);
    host.lost_inside = vec![100, 101];
    let mut guest = Plan::guest(10_000).lose(|frame| [100, 101].contains(&frame) || frame % 2_000 == 1_999);
    guest.lost_inside = vec![500, 501, 502];
    let result = merge(&[&host, &guest], Relation::SameHost);
    let lost_between = 5;
    // Of the three lost inside the guest nothing is known at its nic but that they came.
    assert_eq!(result.crossing().0, [9_998, 9_998 - lost_between - 3, lost_between, 0]);
    let whole = result.of("hop/host.nic-to-guest.app/MU01").0;
    assert_eq!(whole, [10_000, 9_998 - lost_between - 3, lost_between + 3 + 2, 0]);
}

#[test]
fn what_a_run_did_not_record_is_not_lost() {
    let mut guest = Plan::guest(10_000).lose(|frame| !(2_000..6_000).contains(&frame));
    guest.from_ns = START_NS + 2_000 * PERIOD_NS;
    guest.to_ns = START_NS + 6_000 * PERIOD_NS;
    let result = merge(&[&Plan::host(10_000), &guest], Relation::SameHost);
    assert_eq!(result.crossing().0, [4_000, 4_000, 0, 0]);
    // Ended by a crash half a second before the host: the same.
    let result = merge(&[&guest_like_host(), &Plan::guest(10_000)], Relation::SameHost);
    assert_eq!(result.crossing().0, [4_000, 4_000, 0, 0]);
    assert!(result.events(EventKind::Incomplete).is_empty());
}

fn guest_like_host() -> Plan {
    let mut host = Plan::host(10_000).lose(|frame| !(2_000..6_000).contains(&frame));
    host.from_ns = START_NS + 2_000 * PERIOD_NS;
    host.to_ns = START_NS + 6_000 * PERIOD_NS;
    host
}

#[test]
fn without_a_relation_there_are_pairs_and_losses_but_no_times() {
    let guest = Plan::guest(5_000).lose(|frame| frame == 77).ahead(123_000_000);
    let result = merge(&[&Plan::host(5_000), &guest], Relation::Unstated);
    assert_eq!(result.crossing(), ([5_000, 0, 1, 0], None));
    assert_eq!(result.merged.crossings[0].paired, 4_999);
    let said = result.events(EventKind::Note);
    assert!(said.iter().any(|text| text.contains("was not stated")), "{said:?}");
}

#[test]
fn an_offset_is_taken_off_and_a_wrong_one_is_contradicted() {
    let guest = Plan::guest(5_000).ahead(-40_000_000);
    let result = merge(&[&Plan::host(5_000), &guest], Relation::Offset(-40_000_000, 1_000));
    assert_eq!(
        result.crossing(),
        ([5_000, 5_000, 0, 0], Some((CROSSING_NS, CROSSING_NS)))
    );
    assert_eq!(result.merged.contradicted, 0);
    let result = merge(&[&Plan::host(5_000), &guest], Relation::Offset(-39_900_000, 1_000));
    assert_eq!(result.merged.contradicted, 5_000);
    let doubts = result.events(EventKind::ClockDoubt);
    assert!(
        doubts[0].contains("contradicted: 5000 frames") && doubts[0].contains("80.0 µs"),
        "{doubts:?}"
    );
}

#[test]
fn the_same_host_is_checked() {
    let directory = TempDir::new().unwrap();
    let mut guest = Plan::guest(10);
    guest.boot = "b";
    let refused = open(directory.path(), &[&Plan::host(10), &guest], Relation::SameHost)
        .unwrap_err()
        .to_string();
    assert!(refused.contains("their boot id is a and b"), "{refused}");
}

#[test]
fn doubts_of_either_runs_clock_are_those_of_the_merged_run() {
    let word = |at_ns: u64, kind, text: &str| Event {
        at_ns,
        kind,
        series: None,
        text: text.to_owned(),
    };
    let (mut host, mut guest) = (Plan::host(5_000), Plan::guest(5_000));
    host.events = vec![word(5, EventKind::ClockGood, "ok")];
    let lost = word(900, EventKind::ClockDoubt, "port 1 is LISTENING");
    guest.events = vec![
        word(5, EventKind::ClockGood, "ok"),
        lost,
        word(2_000, EventKind::ClockGood, "ok"),
    ];
    let result = merge(&[&host, &guest], Relation::Ptp(2_000));
    let words: Vec<Event> = result.file.events().unwrap();
    let words: Vec<(u64, EventKind)> = words
        .iter()
        .filter(|event| matches!(event.kind, EventKind::ClockDoubt | EventKind::ClockGood))
        .map(|event| (event.at_ns, event.kind))
        .collect();
    assert_eq!(
        words,
        [
            (0, EventKind::ClockGood),
            (900, EventKind::ClockDoubt),
            (2_000, EventKind::ClockGood)
        ]
    );
    assert_eq!(result.merged.apart_ns, Some(2_200));
}

#[test]
fn a_torn_segment_is_named_and_its_frames_are_not_lost() {
    let directory = TempDir::new().unwrap();
    let (host, guest) = (Plan::host(12_000), Plan::guest(12_000));
    let paths = [host.write(directory.path(), "h"), guest.write(directory.path(), "g")];
    tear(&paths[1], 2);
    let inputs: Vec<Input> = paths
        .iter()
        .zip(["host", "guest"])
        .map(|(path, label)| Input {
            path: path.clone(),
            label: Some(label.to_owned()),
        })
        .collect();
    let result = finish(&Merge::open(&inputs, Relation::SameHost).unwrap(), directory);
    let ([expected, received, lost, _], _) = result.crossing();
    assert_eq!((expected, received, lost), (12_000, 8_000, 0));
    let said = result.events(EventKind::Incomplete);
    assert!(
        said.iter()
            .any(|text| text.contains("segment 2: its checksum is wrong")),
        "{said:?}"
    );
}

/// Flips a bit in a segment of a closed run.
fn tear(path: &Path, number: usize) {
    let mut found = Vec::new();
    let run = RunFile::open(path).unwrap();
    let mut at = 0;
    run.each_segment(|octets| {
        at += 1;
        if at == number {
            found = octets.unwrap().to_vec();
        }
    })
    .unwrap();
    drop(run);
    let mut octets = std::fs::read(path).unwrap();
    // The checksum of a segment is in it once, but pages of the database may cut it anywhere.
    let piece = &found[found.len() - 24..];
    let place = octets.windows(piece.len()).position(|window| window == piece).unwrap();
    octets[place] ^= 0x10;
    std::fs::write(path, octets).unwrap();
}

#[test]
fn what_cannot_be_merged_is_refused() {
    let directory = TempDir::new().unwrap();
    let path = Plan::host(10).write(directory.path(), "a");
    let input = |label: &str| Input {
        path: path.clone(),
        label: Some(label.to_owned()),
    };
    assert!(matches!(
        Merge::open(&[input("a")], Relation::Unstated),
        Err(MergeError::Runs(1))
    ));
    let twice = Merge::open(&[input("a"), input("a")], Relation::Unstated);
    assert!(matches!(twice, Err(MergeError::Label(_))));
    let three = [input("a"), input("b"), input("c")];
    assert!(matches!(
        Merge::open(&three, Relation::Offset(5, 1)),
        Err(MergeError::Clock(_))
    ));
}

#[test]
fn three_runs_in_a_row() {
    let mut third = Plan::guest(5_000);
    third.points = ["in", "out"];
    third.first_ns += HOP_NS + CROSSING_NS;
    let guest = Plan::guest(5_000).lose(|frame| frame == 10);
    let result = merge(&[&Plan::host(5_000), &guest, &third], Relation::SameHost);
    // The third run saw it: so it came through the second, which lacks it.
    assert_eq!(result.crossing().0, [5_000, 4_999, 0, 0]);
    assert_eq!(result.of("hop/guest.app-to-third.in/MU01").0, [4_999, 4_999, 0, 0]);
    let whole = 3 * HOP_NS + 2 * CROSSING_NS;
    assert_eq!(
        result.of("hop/host.nic-to-third.out/MU01"),
        ([5_000, 5_000, 0, 0], Some((whole, whole)))
    );
}
