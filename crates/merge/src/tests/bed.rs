//! Whole runs made from a plan, and the results of merging them.

use crate::{Input, Merge, MergeError, Merged, Relation};
use model::fact::{BOOT_ID, CLOCK_SOURCE, RECORDED_FROM, RECORDED_TO, STAMP_UNCERTAINTY};
use model::{Event, EventKind, RunInfo, RunState, SeriesClock, SeriesSpec};
use recording::{Record, SegmentWriter, StreamInfo, instants};
use std::path::{Path, PathBuf};
use store::{Batch, RunFile, RunWriter, SealedSegment};
use tempfile::TempDir;
use units::Realtime;

pub(super) const RATE: u64 = 4_000;
pub(super) const PERIOD_NS: i64 = 250_000;
pub(super) const START_NS: i64 = 1_790_000_000_000_000_000;
pub(super) const WINDOW_NS: u64 = 1_000_000_000;
/// Time between two points of a run.
pub(super) const HOP_NS: i64 = 5_000;
/// Time between the host's last point and the guest's first.
pub(super) const CROSSING_NS: i64 = 20_000;

/// Description of a run that a test writes.
pub(super) struct Plan {
    pub(super) points: [&'static str; 2],
    pub(super) frames: Vec<u64>,
    /// Time of frame 0 at its first point, on this run's clock.
    pub(super) first_ns: i64,
    /// Start and end of its recording, from the true start on.
    pub(super) from_ns: i64,
    pub(super) to_ns: i64,
    pub(super) boot: &'static str,
    /// Frames lost between its two points.
    pub(super) lost_inside: Vec<u64>,
    pub(super) events: Vec<Event>,
    /// True if it states the start and end of its recording.
    pub(super) says_span: bool,
    pub(super) state: RunState,
    pub(super) command: &'static str,
}

impl Plan {
    pub(super) fn host(frames: u64) -> Self {
        Self {
            points: ["nic", "tap"],
            frames: (0..frames).collect(),
            first_ns: START_NS,
            from_ns: START_NS - 1_000_000_000,
            to_ns: START_NS + frames as i64 * PERIOD_NS + 1_000_000_000,
            boot: "a",
            lost_inside: Vec::new(),
            events: Vec::new(),
            says_span: true,
            state: RunState::Complete,
            command: "trace",
        }
    }

    pub(super) fn guest(frames: u64) -> Self {
        Self {
            points: ["nic", "app"],
            first_ns: START_NS + HOP_NS + CROSSING_NS,
            ..Self::host(frames)
        }
    }

    /// The same run with its clock ahead by this much.
    pub(super) fn ahead(mut self, ns: i64) -> Self {
        self.first_ns += ns;
        self.from_ns += ns;
        self.to_ns += ns;
        self
    }

    pub(super) fn lose(mut self, lost: impl Fn(u64) -> bool) -> Self {
        self.frames.retain(|frame| !lost(*frame));
        self
    }

    pub(super) fn write(&self, directory: &Path, name: &str) -> PathBuf {
        let path = directory.join(name);
        let info = RunInfo {
            id: name.to_owned(),
            command: self.command.to_owned(),
            arguments: Vec::new(),
            tool_version: "0".to_owned(),
            started: Realtime::from_ns(self.from_ns),
            window_ns: WINDOW_NS,
        };
        let mut run = RunWriter::create(&path, &info, None).unwrap();
        run.add_facts(&[
            BOOT_ID.fact(Ok(self.boot.to_owned()), ""),
            CLOCK_SOURCE.fact(Ok("tsc".to_owned()), ""),
            STAMP_UNCERTAINTY.fact(Ok(100), ""),
        ])
        .unwrap();
        if self.says_span {
            run.add_facts(&[
                RECORDED_FROM.fact(Ok(Realtime::from_ns(self.from_ns)), ""),
                RECORDED_TO.fact(Ok(Realtime::from_ns(self.to_ns)), ""),
            ])
            .unwrap();
        }
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
        run.finish(self.state, (self.to_ns - self.from_ns) as u64).unwrap();
        path
    }

    /// The hop as the kernel counted it.
    fn series(&self, run: &mut RunWriter) {
        let spec = SeriesSpec {
            what: "a hop".to_owned(),
            clock: SeriesClock::Monotonic,
            interval_ns: None,
            threshold_ns: None,
            settings: Vec::new(),
            ..SeriesSpec::named(&format!("hop/{}-to-{}/MU01", self.points[0], self.points[1]))
        };
        let series = run.add_series(&spec).unwrap();
        let mut open = run::ReadSeries::new(series, None, 0);
        let mut batch = Batch::default();
        let mut window_end_ns = WINDOW_NS;
        for frame in &self.frames {
            let since_ns = (self.first_ns - self.from_ns + *frame as i64 * PERIOD_NS) as u64;
            while since_ns >= window_end_ns {
                open.close(window_end_ns, &mut batch);
                window_end_ns += WINDOW_NS;
            }
            if self.lost_inside.contains(frame) {
                open.counters().lost += 1;
                open.counters().expected += 1;
            } else {
                open.sample(0, HOP_NS, *frame);
            }
        }
        open.close((self.to_ns - self.from_ns) as u64, &mut batch);
        run.write(&batch).unwrap();
    }
}

pub(super) struct Merging {
    pub(super) merged: Merged,
    pub(super) file: RunFile,
    _directory: TempDir,
}

impl Merging {
    /// Expected, received, lost, duplicate, and the extremes of a series.
    pub(super) fn of(&self, name: &str) -> ([u64; 4], Option<(i64, i64)>) {
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

    /// The texts of this series' events of a kind.
    pub(super) fn events_of(&self, name: &str, kind: EventKind) -> Vec<String> {
        let series = self.file.series().unwrap();
        let (id, _) = series.iter().find(|(_, spec)| spec.name == name).unwrap();
        let events = self.file.events().unwrap().into_iter();
        let of_series = events.filter(|event| event.kind == kind && event.series == Some(*id));
        of_series.map(|event| event.text).collect()
    }

    pub(super) fn crossing(&self) -> ([u64; 4], Option<(i64, i64)>) {
        self.of("hop/host.tap-to-guest.nic/MU01")
    }

    pub(super) fn events(&self, kind: EventKind) -> Vec<String> {
        let events = self.file.events().unwrap().into_iter();
        events
            .filter(|event| event.kind == kind)
            .map(|event| event.text)
            .collect()
    }
}

pub(super) fn open(directory: &Path, runs: &[&Plan], relation: Relation) -> Result<Merge, MergeError> {
    let labels = ["host", "guest", "third"];
    let inputs: Vec<Input> = runs
        .iter()
        .zip(labels)
        .map(|(plan, label)| Input {
            path: plan.write(directory, label),
            label: Some(label.to_owned()),
            ahead_ns: 0,
        })
        .collect();
    Merge::open(&inputs, relation)
}

pub(super) fn merge(runs: &[&Plan], relation: Relation) -> Merging {
    let directory = TempDir::new().unwrap();
    let merge = open(directory.path(), runs, relation).unwrap();
    finish(&merge, directory)
}

pub(super) fn finish(merge: &Merge, directory: TempDir) -> Merging {
    try_finish(merge, directory).unwrap()
}

/// The same for runs that may be refused.
pub(super) fn try_finish(merge: &Merge, directory: TempDir) -> Result<Merging, MergeError> {
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
    let merged = merge.write(&mut run)?;
    run.finish(merge.state(), merge.duration_ns())?;
    Ok(Merging {
        merged,
        file: RunFile::open(&path)?,
        _directory: directory,
    })
}

/// An event of a run, not of a series.
pub(super) fn said(at_ns: u64, kind: EventKind, text: &str) -> Event {
    Event {
        at_ns,
        since_ns: None,
        kind,
        series: None,
        text: text.to_owned(),
    }
}
