//! Loads: work that competes with a measurement, on the CPUs that the user chooses.
//!
//! A load runs from [`Load::start`] until [`Load::stop`] or until it is dropped, and leaves no thread, process, namespace or file behind. It reports
//! its amount of work, so that an idle load is noticed.
//!
//! The threads of a load belong to this process and run under the normal policy, nice 0. Starting and stopping one maps and
//! unmaps memory, which interrupts the process's other CPUs for a moment (TLB flush): start loads before a measured window
//! and stop them after it.

mod cache;
mod command;
mod error;
mod hackbench;
mod kind;
mod management;
mod memory;
mod messages;
mod packets;
mod request;
mod settings;
mod usage;
mod words;
mod workers;

use std::fmt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use units::CpuList;

use crate::Seat;
use command::Runner;
use kind::{IDLE, ThreadLoad};
use workers::Workers;

pub use cache::CacheLoad;
pub use error::{AmountError, LoadError};
pub use hackbench::HackbenchLoad;
pub use management::{ManagementLoad, Rate};
pub use memory::{Access, MemoryLoad};
pub use messages::Over;
pub use packets::PacketLoad;
pub use request::{LoadRequest, LoadRequestError, kind_from, names};

/// Time that a load may take to its first work before it counts as missing: an emulated guest answers within a second.
const FIRST_WORK: Duration = Duration::from_secs(10);

/// A load to make, and its CPUs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoadSpec {
    /// Kind of load, with its settings.
    pub kind: LoadKind,
    /// The CPUs it may run on.
    pub cpus: CpuList,
}

/// Kinds of loads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LoadKind {
    /// System calls, wake-ups and switches of groups of threads, as hackbench has them.
    Hackbench(HackbenchLoad),
    /// Memory bandwidth.
    Memory(MemoryLoad),
    /// Cache eviction.
    Cache(CacheLoad),
    /// Network softirqs.
    Packets(PacketLoad),
    /// Traffic over the management network of a bed.
    Management(ManagementLoad),
    /// A program and its arguments, split at blanks outside quotes; no shell interprets it.
    Command {
        /// Such as `stress-ng --cpu 1`; `triptime` is this program.
        line: String,
        /// The network namespace that it runs in; `None`: that of this process.
        namespace: Option<PathBuf>,
    },
}

/// Placeholder for the interface of an end of a bed in a command line.
const INTERFACE: &str = "{interface}";

/// Makers of loads.
enum Maker<'a> {
    Threads(&'a dyn ThreadLoad),
    Program(&'a str, Option<&'a Path>),
}

impl LoadKind {
    /// A short name for series: `hackbench`, `cache`; of a command its program, such as `stress-ng`.
    pub fn label(&self) -> String {
        match self.maker() {
            Maker::Threads(threads) => threads.name().to_owned(),
            Maker::Program(line, _) => command::label(line),
        }
    }

    /// The same load at an end of a bed: a command runs in the network namespace there, and the interface's name replaces the placeholder in its
    /// line.
    #[must_use]
    pub fn at(&self, (namespace, interface): Seat) -> Self {
        match self {
            Self::Command { line, .. } => Self::Command {
                line: line.replace(INTERFACE, &interface),
                namespace,
            },
            other => other.clone(),
        }
    }

    /// True for a command.
    pub fn is_command(&self) -> bool {
        matches!(self, Self::Command { .. })
    }

    /// True for a command with a placeholder for an interface's name.
    pub fn asks_for_interface(&self) -> bool {
        matches!(self, Self::Command { line, .. } if line.contains(INTERFACE))
    }

    fn maker(&self) -> Maker<'_> {
        match self {
            Self::Hackbench(load) => Maker::Threads(load),
            Self::Memory(load) => Maker::Threads(load),
            Self::Cache(load) => Maker::Threads(load),
            Self::Packets(load) => Maker::Threads(load),
            Self::Management(load) => Maker::Threads(load),
            Self::Command { line, namespace } => Maker::Program(line, namespace.as_deref()),
        }
    }

    /// Refuses impossible amounts.
    fn check(&self) -> Result<(), AmountError> {
        match self.maker() {
            Maker::Threads(threads) => threads.check(),
            Maker::Program(..) => Ok(()),
        }
    }
}

/// In the form of `--load`, with all amounts; for a command its line.
impl fmt::Display for LoadKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let threads = match self.maker() {
            Maker::Threads(threads) => threads,
            Maker::Program(line, _) => return f.write_str(line),
        };
        f.write_str(threads.name())?;
        for (index, (key, value)) in threads.settings().iter().enumerate() {
            let separator = if index == 0 { ':' } else { ',' };
            write!(f, "{separator}{key}={value}")?;
        }
        Ok(())
    }
}

/// Results of a load.
#[derive(Debug, Clone, PartialEq)]
pub struct LoadReport {
    /// Amount of work, in [`LoadReport::unit`].
    pub work: u64,
    /// Unit of the count: `messages`, `octets`, `cache lines`, `frames`, `answers` or `ms of CPU time`.
    pub unit: &'static str,
    /// A second count with its unit: `frames lost`, `frames sent`.
    pub extra: Option<(u64, &'static str)>,
    /// How long it ran.
    pub seconds: f64,
    /// Note for the user: it ended early, or did nothing. Empty if all went well.
    pub note: String,
    /// True if the measurement lacked this load.
    pub is_missed: bool,
}

/// One line, such as `100000 frames, 4 frames lost in 2.0 s`.
impl fmt::Display for LoadReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.work, self.unit)?;
        if let Some((count, what)) = self.extra {
            write!(f, ", {count} {what}")?;
        }
        write!(f, " in {:.1} s", self.seconds)?;
        if self.note.is_empty() {
            return Ok(());
        }
        write!(f, "; {}", self.note)
    }
}

/// A running load. Dropping it stops it.
#[derive(Debug)]
pub struct Load {
    spec: LoadSpec,
    started: Instant,
    running: Running,
}

#[derive(Debug)]
enum Running {
    Threads(Workers),
    Command(Runner),
}

impl Load {
    /// Starts a load; it is running on its CPUs when this returns.
    ///
    /// # Errors
    /// An impossible amount, an unusable CPU, missing memory, threads or capabilities, or a command that does not start. Nothing keeps running then.
    pub fn start(spec: &LoadSpec) -> Result<Self, LoadError> {
        if spec.cpus.is_empty() {
            return Err(LoadError::NoCpu { load: describe(spec) });
        }
        let running = match spec.kind.maker() {
            Maker::Threads(threads) => {
                threads.check()?;
                let workers = threads.start(&spec.cpus)?;
                workers.begin();
                Running::Threads(workers)
            }
            Maker::Program(line, namespace) => Running::Command(Runner::start(line, &spec.cpus, namespace)?),
        };
        Ok(Self {
            spec: spec.clone(),
            started: Instant::now(),
            running,
        })
    }

    /// Description in one line, such as `cache load: 1 thread per CPU, 1MiB each, on CPU 0`.
    pub fn describe(&self) -> String {
        describe(&self.spec)
    }

    /// A short name for series, as [`LoadKind::label`].
    pub fn label(&self) -> String {
        self.spec.kind.label()
    }

    /// Amount of work so far, in [`Load::unit`]. The CPU time of a command is up to a quarter of a second old.
    pub fn work_done(&self) -> u64 {
        match &self.running {
            Running::Threads(workers) => workers.work(),
            Running::Command(runner) => runner.work_ms(),
        }
    }

    /// Unit of [`Load::work_done`].
    pub fn unit(&self) -> &'static str {
        match self.spec.kind.maker() {
            Maker::Threads(threads) => threads.unit(),
            Maker::Program(..) => "ms of CPU time",
        }
    }

    /// Reason why it has stopped working, if it has: an error in a thread, or a command that ended, even with status 0.
    pub fn failed(&self) -> Option<String> {
        match &self.running {
            Running::Threads(workers) => workers.failed(),
            Running::Command(runner) => runner.failed(),
        }
    }

    /// Note about missing work, if it has run for some time without doing any.
    pub fn missed(&self) -> Option<&'static str> {
        let Maker::Threads(threads) = self.spec.kind.maker() else {
            return None;
        };
        let (idle, is_missed) = threads.idle();
        (is_missed && self.started.elapsed() > FIRST_WORK && self.work_done() == 0).then_some(idle)
    }

    /// Ends it and reports its work. Threads end within 500 ms; a command gets SIGTERM and is killed after 2 s.
    pub fn stop(mut self) -> LoadReport {
        let seconds = self.started.elapsed().as_secs_f64();
        let failure = self.failed();
        match &mut self.running {
            Running::Threads(workers) => workers.end(),
            Running::Command(runner) => runner.end(),
        }
        let work = self.work_done();
        let (idle, is_missed) = match self.spec.kind.maker() {
            _ if work > 0 => ("", false),
            Maker::Threads(threads) => threads.idle(),
            Maker::Program(..) => (IDLE, false),
        };
        let note = failure.or_else(|| self.failed()).unwrap_or_else(|| idle.to_owned());
        LoadReport {
            work,
            unit: self.unit(),
            extra: self.extra(),
            seconds,
            note,
            is_missed,
        }
    }

    /// The second count, once all threads have ended.
    fn extra(&self) -> Option<(u64, &'static str)> {
        match (&self.running, self.spec.kind.maker()) {
            (Running::Threads(workers), Maker::Threads(threads)) => Some((workers.extra(), threads.extra_unit()?)),
            _ => None,
        }
    }
}

fn describe(spec: &LoadSpec) -> String {
    let what = match spec.kind.maker() {
        Maker::Threads(threads) => format!("{} load: {}", threads.name(), threads.describe()),
        Maker::Program(line, _) => format!("load command {line}"),
    };
    match spec.cpus.len() {
        0 => what,
        1 => format!("{what}, on CPU {}", spec.cpus),
        _ => format!("{what}, on CPUs {}", spec.cpus),
    }
}
