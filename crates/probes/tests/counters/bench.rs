//! Two namespaces joined by a veth pair, and a run file to record into.

use probes::record::{Recorder, RecorderOptions};
use probes::{ProbeError, Stop};
use std::time::{Duration, Instant};
use store::model::{Counters, Event, RunInfo, RunState};
use store::{RunFile, RunWriter};
use sys::netns::NetNs;
use sys::packet::{PacketPort, PortOptions};
use sys::{SysError, link};
use tempfile::TempDir;

/// The far end is the test itself; the near end is the probe.
pub(crate) struct Bench {
    far: NetNs,
    near: NetNs,
}

impl Bench {
    pub(crate) fn build() -> Self {
        let bench = Self {
            far: NetNs::create().expect("a namespace: these tests need root"),
            near: NetNs::create().expect("a namespace"),
        };
        inside(&bench.far, || {
            link::add_veth("far0", "near0", &bench.near)?;
            link::set_up("far0")
        });
        inside(&bench.near, || link::set_up("near0"));
        for (namespace, name) in [(&bench.far, "far0"), (&bench.near, "near0")] {
            let until = Instant::now() + Duration::from_secs(5);
            while !inside(namespace, || link::find(name)).carrier {
                assert!(Instant::now() < until, "{name} got no carrier");
                std::thread::sleep(Duration::from_millis(2));
            }
        }
        bench
    }

    pub(crate) fn far(&self, options: &PortOptions) -> PacketPort {
        inside(&self.far, || PacketPort::open("far0", options))
    }

    pub(crate) fn near(&self, options: &PortOptions) -> PacketPort {
        inside(&self.near, || PacketPort::open("near0", options))
    }
}

fn inside<T: Send>(namespace: &NetNs, work: impl FnOnce() -> Result<T, SysError> + Send) -> T {
    match namespace.run(work).expect("a thread in the namespace") {
        Ok(value) => value,
        Err(error) => panic!("{error}"),
    }
}

/// A run into a file of its own.
pub(crate) struct Recording {
    pub(crate) recorder: Recorder,
    pub(crate) stop: Stop,
    directory: TempDir,
}

impl Recording {
    pub(crate) fn start() -> Self {
        let directory = tempfile::tempdir().expect("tempdir");
        let pair = sys::clock::pair();
        let info = RunInfo {
            id: "test".into(),
            command: "test".into(),
            arguments: Vec::new(),
            tool_version: "0".into(),
            started: pair.realtime,
            window_ns: 300_000_000,
        };
        let writer = RunWriter::create(&directory.path().join("run.triptime"), &info, None).expect("a run file");
        let stop = Stop::new();
        let options = RecorderOptions {
            start: pair.monotonic,
            window_ns: info.window_ns,
        };
        Self {
            recorder: Recorder::start(writer, &options, &stop),
            stop,
            directory,
        }
    }

    pub(crate) fn finish(self) -> Result<Recorded, ProbeError> {
        self.recorder.finish(RunState::Complete).expect("written");
        let file = RunFile::open(&self.directory.path().join("run.triptime")).expect("readable");
        Ok(Recorded {
            file,
            _directory: self.directory,
        })
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
        let all = self.file.series().expect("series");
        let found = all.iter().find(|(_, spec)| spec.name == name);
        let (id, _) = found.unwrap_or_else(|| panic!("no {name}: {all:?}"));
        self.file.totals(*id).expect("totals").counters
    }

    pub(crate) fn names(&self) -> Vec<String> {
        self.file
            .series()
            .expect("series")
            .into_iter()
            .map(|(_, spec)| spec.name)
            .collect()
    }

    pub(crate) fn events(&self) -> Vec<Event> {
        self.file.events().expect("events")
    }

    /// Texts of the events that contain `word`.
    pub(crate) fn said(&self, word: &str) -> Vec<String> {
        self.events()
            .into_iter()
            .map(|event| event.text)
            .filter(|text| text.contains(word))
            .collect()
    }
}
