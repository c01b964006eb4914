//! Helpers for the tests of the probes: two namespaces joined by a veth pair, and a run file.

// Every test program includes this file and uses a part of it.
#![allow(dead_code, unreachable_pub)]

use model::{Counters, Event, RunInfo, RunState, SeriesId, SeriesSpec, Spike};
use run::{Explain, Recorder, RecorderOptions, Stop};
use std::path::PathBuf;
use std::process::{Child, Command};
use std::time::{Duration, Instant};
use store::{RunFile, RunWriter};
use sys::netns::NetNs;
use sys::packet::{PacketPort, PortOptions};
use sys::privilege::Capability;
use sys::{SysError, link};
use tempfile::TempDir;
use units::Monotonic;

/// True if a test that needs namespaces and packet sockets can run here. Otherwise it panics, or, if skips are allowed, reports
/// the skip on standard error.
pub fn can_run(test: &str) -> bool {
    can_run_with(test, &[Capability::SysAdmin, Capability::NetAdmin, Capability::NetRaw])
}

/// As [`can_run`], for a test that needs `needs`.
pub fn can_run_with(test: &str, needs: &[Capability]) -> bool {
    let missing: Vec<String> = needs
        .iter()
        .filter(|need| !sys::privilege::has(**need))
        .map(Capability::to_string)
        .collect();
    if missing.is_empty() {
        return true;
    }
    testing::skip(test, &format!("needs {}", missing.join(", ")));
    false
}

/// Two namespaces joined by a veth pair: `a0` in the first, `b0` in the second, unless they have other names.
pub struct Pair {
    a: NetNs,
    b: NetNs,
    names: [&'static str; 2],
}

impl Pair {
    pub fn build() -> Self {
        Self::build_named("a0", "b0")
    }

    pub fn build_named(in_a: &'static str, in_b: &'static str) -> Self {
        let pair = Self {
            a: NetNs::create().expect("a namespace"),
            b: NetNs::create().expect("a namespace"),
            names: [in_a, in_b],
        };
        inside(&pair.a, || {
            link::add_veth(in_a, in_b, &pair.b)?;
            link::set_up(in_a)
        });
        inside(&pair.b, || link::set_up(in_b));
        wait_for_carrier(&pair.a, in_a);
        wait_for_carrier(&pair.b, in_b);
        pair
    }

    pub fn port_a(&self, options: &PortOptions) -> PacketPort {
        inside(&self.a, || PacketPort::open(self.names[0], options))
    }

    pub fn port_b(&self, options: &PortOptions) -> PacketPort {
        inside(&self.b, || PacketPort::open(self.names[1], options))
    }

    /// Runs `work` in the first namespace; panics if it fails.
    pub fn in_a<T: Send>(&self, work: impl FnOnce() -> Result<T, SysError> + Send) -> T {
        inside(&self.a, work)
    }

    /// Starts a program in the first namespace.
    pub fn spawn_a(&self, command: &mut Command) -> Child {
        inside(&self.a, || Ok(command.spawn().expect("the program starts")))
    }

    /// Starts a program in the second namespace.
    pub fn spawn_b(&self, command: &mut Command) -> Child {
        inside(&self.b, || Ok(command.spawn().expect("the program starts")))
    }

    /// Sets the interface of the first namespace down or up.
    pub fn set_a(&self, is_up: bool) {
        inside(&self.a, || {
            if is_up {
                link::set_up(self.names[0])
            } else {
                link::set_down(self.names[0])
            }
        });
        if is_up {
            wait_for_carrier(&self.a, self.names[0]);
        }
    }

    /// Sets the interface of the second namespace down or up, and with it the carrier of the first.
    pub fn set_b(&self, is_up: bool) {
        inside(&self.b, || {
            if is_up {
                link::set_up(self.names[1])
            } else {
                link::set_down(self.names[1])
            }
        });
    }

    /// Removes the pair, both ends of it.
    pub fn remove(&self) {
        inside(&self.a, || link::delete(self.names[0]));
    }

    /// Sets the largest payload of `b0` alone.
    pub fn set_far_mtu(&self, octets: u32) {
        inside(&self.b, || link::set_mtu(self.names[1], octets));
    }

    /// Sets the largest payload of both ends.
    pub fn set_mtu(&self, octets: u32) {
        inside(&self.a, || link::set_mtu(self.names[0], octets));
        inside(&self.b, || link::set_mtu(self.names[1], octets));
    }
}

/// Runs `work` in a namespace; panics if it fails.
fn inside<T: Send>(namespace: &NetNs, work: impl FnOnce() -> Result<T, SysError> + Send) -> T {
    match namespace.run(work).expect("a thread in the namespace") {
        Ok(value) => value,
        Err(error) => panic!("{error}"),
    }
}

/// Waits until the interface passes frames.
fn wait_for_carrier(namespace: &NetNs, name: &str) {
    wait_until(&format!("carrier of {name}"), || {
        inside(namespace, || link::find(name)).carrier
    });
}

/// Waits until a condition is true; panics after 30 seconds, far longer than any scheduling delay.
pub fn wait_until(what: &str, mut true_now: impl FnMut() -> bool) {
    let until = Instant::now() + Duration::from_secs(30);
    while !true_now() {
        assert!(Instant::now() < until, "waited 30 s in vain for: {what}");
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// A run that is being recorded into its own file.
pub struct Run {
    pub recorder: Recorder,
    pub stop: Stop,
    /// Instant 0 of the file.
    pub start: Monotonic,
    path: PathBuf,
    directory: TempDir,
}

impl Run {
    /// Starts recording in windows of 200 ms, so that counts come from several windows.
    pub fn start() -> Self {
        Self::explained_by(None)
    }

    /// As [`Run::start`], with an explainer of late samples.
    pub fn explained_by(explain: Option<Box<dyn Explain>>) -> Self {
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
            explain,
        };
        let start = options.start;
        Self {
            recorder: Recorder::start(writer, options, &stop),
            stop,
            start,
            path,
            directory,
        }
    }

    /// Contents of the file so far.
    pub fn so_far(&self) -> RunFile {
        RunFile::open(&self.path).expect("the run file opens")
    }

    /// Closes the file and opens it again as a reader.
    pub fn finish(self) -> Recorded {
        self.recorder
            .finish(RunState::Complete)
            .expect("the run file is closed");
        Recorded {
            file: RunFile::open(&self.path).expect("the run file opens"),
            _directory: self.directory,
        }
    }
}

/// A finished run.
pub struct Recorded {
    pub file: RunFile,
    _directory: TempDir,
}

impl Recorded {
    /// Names of all series.
    pub fn names(&self) -> Vec<String> {
        let series = self.file.series().expect("series");
        series.into_iter().map(|(_, SeriesSpec { name, .. })| name).collect()
    }

    /// Counters of a series over the whole run.
    pub fn counters(&self, name: &str) -> Counters {
        self.file.totals(self.id(name)).expect("totals").counters
    }

    /// The worst samples of a series, the worst first.
    pub fn spikes(&self, name: &str) -> Vec<Spike> {
        self.file.spikes(self.id(name)).expect("spikes")
    }

    /// Number of the series `name`.
    pub fn id(&self, name: &str) -> SeriesId {
        let series = self.file.series().expect("series");
        let found = series.iter().find(|(_, spec)| spec.name == name);
        found
            .map(|(id, _)| *id)
            .unwrap_or_else(|| panic!("no series {name} in {:?}", self.names()))
    }

    /// Events that touch the series `name` in order.
    pub fn events(&self, name: &str) -> Vec<Event> {
        let series = self.file.series().expect("series");
        let id = series.iter().find(|(_, spec)| spec.name == name).map(|(id, _)| *id);
        let events = self.file.events().expect("events");
        events
            .into_iter()
            .filter(|event| event.series == id && id.is_some())
            .collect()
    }
}

/// Pseudo-random numbers, the same in every run (splitmix64).
pub struct Numbers(pub u64);

impl Numbers {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number in `from..to`.
    pub fn within(&mut self, from: u64, to: u64) -> u64 {
        from + self.next() % (to - from)
    }
}
