//! The engine for kernels and containers without eBPF: a tracing instance of our own in tracefs.
//!
//! It sees the same tracepoints, to the microsecond, and not when a timer was due. Reading it costs a text of the whole
//! buffer, so it suits a few late samples a second.

mod hwlat;
mod instance;
mod line;
mod osnoise;
mod parse;
mod pipe;
mod tracers;

pub use hwlat::{Hwlat, HwlatSample};
pub use osnoise::Osnoise;
pub use tracers::{Tracefs, Tracer, Tracers};

use crate::attachment::Program;
use crate::error::TraceError;
use crate::snapshot::Snapshot;
use instance::{Instance, Owed};
use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};
use units::Monotonic;

/// Buffer of each CPU, in KiB: some 20,000 events, 200 ms at 100,000 events a second.
const BUFFER_KIB: u32 = 1024;

/// A running instance; removed when dropped.
pub(crate) struct TracefsEngine {
    instance: Instance,
    programs: Vec<Program>,
    watched: Mutex<BTreeSet<i32>>,
    started: Monotonic,
}

impl TracefsEngine {
    /// Makes the instance and switches the events on.
    pub(crate) fn start() -> Result<Self, TraceError> {
        let instance = Instance::create(&Tracefs::find()?, BUFFER_KIB, Owed::Nothing)?;
        let programs = instance.enable_events()?;
        instance.filter_waking(&BTreeSet::new())?;
        Ok(Self {
            instance,
            programs,
            watched: Mutex::default(),
            started: sys::clock::monotonic(),
        })
    }

    /// Stops listening to every event.
    pub(crate) fn pause(&mut self) -> Result<(), TraceError> {
        self.instance.disable_events()
    }

    /// Starts again, with an empty buffer.
    pub(crate) fn resume(&mut self) -> Result<(), TraceError> {
        self.instance.write("trace", "\n")?;
        self.programs = self.instance.enable_events()?;
        self.started = sys::clock::monotonic();
        Ok(())
    }

    /// Records the wake-ups of this thread whatever its priority.
    pub(crate) fn watch(&self, thread: i32) -> Result<(), TraceError> {
        let mut watched = self.watched.lock().unwrap_or_else(PoisonError::into_inner);
        watched.insert(thread);
        self.instance.filter_waking(&watched)
    }

    pub(crate) fn programs(&self) -> &[Program] {
        &self.programs
    }

    pub(crate) fn events_recorded(&self) -> Result<u64, TraceError> {
        self.instance.events_written()
    }

    pub(crate) fn snapshot(&self, cpu: u32, from: Monotonic, to: Monotonic) -> Result<Snapshot, TraceError> {
        let parsed = parse::parse(cpu, &self.instance.text(cpu)?);
        let whole = parsed.whole && self.started <= from;
        let mut snapshot = Snapshot::of(cpu, from, to, &parsed.events, whole);
        snapshot.complete &= !parsed.lost_before.iter().any(|at| *at > from);
        Ok(snapshot)
    }
}
