//! Parts that these tests share: a bed with a journal of its frames, and a run file.

use bed::fault::{Direction, Faults, Observer, Rule, Side};
use bed::{End, FaultBed};
use model::{Counters, Event, RunInfo, RunState};
use run::{Recorder, RecorderOptions, Stop};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::time::{Duration, Instant};
use store::{RunFile, RunWriter};
use sys::packet::{PacketPort, PortOptions};
use sys::privilege::Capability;
use tempfile::TempDir;

/// All tests of this process share one wall clock: tests that step it run alone.
static WALL_CLOCK: RwLock<()> = RwLock::new(());

/// Held by a test whose wall clock must not jump.
pub(crate) type SteadyClock = RwLockReadGuard<'static, ()>;

/// Held by a test that steps the wall clock.
pub(crate) type ClockOfOurOwn = RwLockWriteGuard<'static, ()>;

/// For a test that needs the bed: `None` where it cannot run. Panics then, unless skips are allowed.
pub(crate) fn can_run(test: &str) -> Option<SteadyClock> {
    has_what_it_needs(test).then(|| WALL_CLOCK.read().unwrap_or_else(PoisonError::into_inner))
}

/// As [`can_run`], for a test that steps the wall clock.
pub(crate) fn can_run_alone(test: &str) -> Option<ClockOfOurOwn> {
    has_what_it_needs(test).then(|| WALL_CLOCK.write().unwrap_or_else(PoisonError::into_inner))
}

fn has_what_it_needs(test: &str) -> bool {
    let needs = [Capability::SysAdmin, Capability::NetAdmin, Capability::NetRaw];
    let missing = needs.into_iter().find(|need| !sys::privilege::has(*need));
    let why = match missing {
        Some(capability) => format!("needs {capability}"),
        None if !Path::new("/dev/net/tun").exists() => "needs /dev/net/tun".into(),
        None => return true,
    };
    testing::skip(test, &why);
    false
}

/// A frame that passed the wire.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Passage {
    pub(crate) way: Direction,
    pub(crate) side: Side,
    pub(crate) frame: Vec<u8>,
}

/// All frames that passed, in their order.
#[derive(Debug, Clone, Default)]
pub(crate) struct Journal(Arc<Mutex<Vec<Passage>>>);

impl Journal {
    fn observer(&self) -> Observer {
        let journal = Arc::clone(&self.0);
        Box::new(move |way, side, frame| {
            let frame = frame.to_vec();
            journal
                .lock()
                .expect("no panic in the journal")
                .push(Passage { way, side, frame });
        })
    }

    /// The frames on one side of one way that `read` makes something of.
    pub(crate) fn of<T>(&self, way: Direction, side: Side, read: impl Fn(&[u8]) -> Option<T>) -> Vec<T> {
        let passages = self.0.lock().expect("no panic in the journal");
        passages
            .iter()
            .filter(|passage| (passage.way, passage.side) == (way, side))
            .filter_map(|passage| read(&passage.frame))
            .collect()
    }
}

/// Fate of the frames that were sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Counted {
    pub(crate) sent: u64,
    pub(crate) lost: u64,
    pub(crate) duplicate: u64,
    pub(crate) reordered: u64,
}

impl Counted {
    /// Computed from the frames that entered and left a wire, by their order of sending or their numbers. The rules are not used for this.
    pub(crate) fn of<T: Ord>(sent: usize, came: &[T]) -> Self {
        let (mut seen, mut highest, mut reordered) = (BTreeSet::new(), None, 0);
        for place in came {
            if seen.insert(place) {
                reordered += u64::from(Some(place) < highest);
                highest = highest.max(Some(place));
            }
        }
        let received = seen.len() as u64;
        Self {
            sent: sent as u64,
            lost: sent as u64 - received,
            duplicate: came.len() as u64 - received,
            reordered,
        }
    }
}

/// A bed with those rules for the two directions.
pub(crate) fn bed(to_device: Vec<Rule>, to_test_set: Vec<Rule>, seed: u64) -> (FaultBed, Journal) {
    let journal = Journal::default();
    let faults = Faults {
        to_device,
        to_test_set,
        seed,
        observer: Some(journal.observer()),
    };
    (FaultBed::build(faults).expect("the bed is built"), journal)
}

pub(crate) fn port(bed: &FaultBed, end: End, options: &PortOptions) -> PacketPort {
    bed.port(end, options).expect("a port")
}

/// Waits until a condition is true; panics after 30 seconds, far longer than any scheduling noise.
pub(crate) fn wait_until(what: &str, mut true_now: impl FnMut() -> bool) {
    let until = Instant::now() + Duration::from_secs(30);
    while !true_now() {
        assert!(Instant::now() < until, "waited 30 s in vain for: {what}");
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// A run being recorded into a file of its own.
pub(crate) struct Run {
    pub(crate) recorder: Recorder,
    pub(crate) stop: Stop,
    path: PathBuf,
    _directory: TempDir,
}

impl Run {
    pub(crate) fn start() -> Self {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let path = directory.path().join("run.triptime");
        let pair = sys::clock::pair();
        let info = RunInfo {
            id: "test".into(),
            command: "test".into(),
            arguments: Vec::new(),
            tool_version: "0".into(),
            started: pair.realtime,
            window_ns: 200_000_000,
        };
        let writer = RunWriter::create(&path, &info, None).expect("a run file");
        let stop = Stop::new();
        let options = RecorderOptions {
            start: pair.monotonic,
            window_ns: info.window_ns,
            explain: None,
        };
        Self {
            recorder: Recorder::start(writer, options, &stop),
            stop,
            path,
            _directory: directory,
        }
    }

    pub(crate) fn finish(self) -> Recorded {
        self.recorder
            .finish(RunState::Complete)
            .expect("the run file is closed");
        Recorded {
            file: RunFile::open(&self.path).expect("the run file opens"),
            _directory: self._directory,
        }
    }
}

/// A finished run.
pub(crate) struct Recorded {
    file: RunFile,
    _directory: TempDir,
}

impl Recorded {
    /// Counters of a series over the whole run.
    pub(crate) fn counters(&self, name: &str) -> Counters {
        let series = self.file.series().expect("series");
        let found = series.iter().find(|(_, spec)| spec.name == name);
        let (id, _) = found.unwrap_or_else(|| panic!("no series {name}"));
        self.file.totals(*id).expect("totals").counters
    }

    pub(crate) fn events(&self) -> Vec<Event> {
        self.file.events().expect("events")
    }
}
