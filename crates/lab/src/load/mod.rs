//! Loads: work that competes with a measurement, on CPUs of one's choice.
//!
//! A load runs from [`Load::start`] until [`Load::stop`] or until it is dropped, and leaves no thread and no process
//! behind. It says how much it did, so that a load that did nothing is noticed.
//!
//! The threads of a load belong to this process. Starting and stopping one maps and unmaps memory, which interrupts the
//! process's other CPUs for a moment (TLB flush): start loads before a measured window and stop them after it.

mod cache;
mod command;
mod disk;
mod kind;
mod memory;
mod output;
mod packets;
mod request;
mod scheduler;
mod timers;
mod usage;
mod words;
mod workers;

pub use kind::{LoadKind, Over};
pub use request::{KINDS, LoadRequest, RequestError, kind_from};

use std::time::Instant;

use sys::SysError;
use units::CpuList;

use command::Runner;
use workers::Workers;

/// What load to make, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoadSpec {
    /// What it does.
    pub kind: LoadKind,
    /// The CPUs it runs on, and no other.
    pub cpus: CpuList,
}

/// Why a load does not start.
#[derive(Debug, Clone, thiserror::Error)]
pub enum LoadError {
    /// No CPU to run on.
    #[error("{load}: no CPU to run on: name at least one")]
    NoCpu {
        /// The load.
        load: String,
    },
    /// An amount of 0.
    #[error("{what} of a load is 0: give at least 1")]
    Nothing {
        /// Which amount.
        what: &'static str,
    },
    /// More memory than there is.
    #[error("memory load: no room for a buffer of {bytes} octets: ask for less")]
    NoMemory {
        /// Octets of one buffer.
        bytes: u64,
    },
    /// A command that cannot be split into words.
    #[error("load command {line}: {why}")]
    Words {
        /// The command line.
        line: String,
        /// What is wrong with it.
        why: &'static str,
    },
    /// A program that does not start.
    #[error("load command {program}: {why}")]
    Program {
        /// The program.
        program: String,
        /// Why, and what to do.
        why: String,
    },
    /// A thread, socket or pipe the system does not give.
    #[error("{load}: {operation}: {why}")]
    System {
        /// The load.
        load: String,
        /// What was tried.
        operation: &'static str,
        /// Why not.
        why: String,
    },
    /// A CPU that cannot be used.
    #[error("{load}: {source}")]
    Cpu {
        /// The load.
        load: String,
        /// Why not.
        source: SysError,
    },
}

/// What a load did.
#[derive(Debug, Clone, PartialEq)]
pub struct LoadReport {
    /// How much, in [`LoadReport::unit`].
    pub work: u64,
    /// What is counted, such as `messages` or `octets`.
    pub unit: &'static str,
    /// How long it ran.
    pub seconds: f64,
    /// What a reader must know: it ended early, or did nothing. Empty when all went well.
    pub note: String,
}

/// A load that runs. Dropping it stops it.
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
    /// Starts a load; it runs on its CPUs when this returns.
    ///
    /// # Errors
    /// An amount of 0, a CPU that cannot be used, memory or threads that are not to be had, a command that does not start.
    /// Nothing runs then.
    pub fn start(spec: &LoadSpec) -> Result<Self, LoadError> {
        if spec.cpus.is_empty() {
            return Err(LoadError::NoCpu { load: describe(spec) });
        }
        let cpus = &spec.cpus;
        let running = match &spec.kind {
            LoadKind::Scheduler {
                pairs,
                message_bytes,
                over,
            } => Running::Threads(scheduler::pairs(*pairs, *message_bytes, *over, cpus)?),
            LoadKind::Hackbench {
                groups,
                fds,
                message_bytes,
                over,
            } => Running::Threads(scheduler::groups(*groups, *fds, *message_bytes, *over, cpus)?),
            LoadKind::Memory {
                bytes_per_thread,
                threads,
            } => Running::Threads(memory::start(*bytes_per_thread, *threads, cpus)?),
            LoadKind::Cache { bytes, threads } => Running::Threads(cache::start(*bytes, *threads, cpus)?),
            LoadKind::Timers { interval_ns, threads } => Running::Threads(timers::start(*interval_ns, *threads, cpus)?),
            LoadKind::Packets { frame_bytes, threads } => {
                Running::Threads(packets::start(*frame_bytes, *threads, cpus)?)
            }
            LoadKind::Disk { directory, bytes } => Running::Threads(disk::start(directory, *bytes, cpus)?),
            LoadKind::Command { line } => Running::Command(Runner::start(line, cpus)?),
        };
        Ok(Self {
            spec: spec.clone(),
            started: Instant::now(),
            running,
        })
    }

    /// What it is, in one line, such as `scheduler load: 10 pairs, messages of 100 octets, on CPU 0`.
    pub fn describe(&self) -> String {
        describe(&self.spec)
    }

    /// How much it did so far, in [`Load::unit`]. The CPU time of a command is up to a quarter of a second old.
    pub fn work_done(&self) -> u64 {
        match &self.running {
            Running::Threads(workers) => workers.work(),
            Running::Command(runner) => runner.work_ms(),
        }
    }

    /// What [`Load::work_done`] counts.
    pub fn unit(&self) -> &'static str {
        self.spec.kind.unit()
    }

    /// Why it no longer does what it should, if so.
    pub fn failed(&self) -> Option<String> {
        match &self.running {
            Running::Threads(workers) => workers.failed(),
            Running::Command(runner) => runner.failed(),
        }
    }

    /// Ends it and says what it did. Threads end within 200 ms; a command is asked with SIGTERM and killed after 2 s.
    pub fn stop(mut self) -> LoadReport {
        let seconds = self.started.elapsed().as_secs_f64();
        let failure = self.failed();
        match &mut self.running {
            Running::Threads(workers) => workers.end(),
            Running::Command(runner) => runner.end(),
        }
        let work = self.work_done();
        let note = failure.or_else(|| self.failed());
        let note = note.unwrap_or_else(|| {
            if work == 0 {
                "it did no work".to_owned()
            } else {
                String::new()
            }
        });
        LoadReport {
            work,
            unit: self.unit(),
            seconds,
            note,
        }
    }
}

fn describe(spec: &LoadSpec) -> String {
    let what = &spec.kind;
    match spec.cpus.len() {
        0 => what.to_string(),
        1 => format!("{what}, on CPU {}", spec.cpus),
        _ => format!("{what}, on CPUs {}", spec.cpus),
    }
}
