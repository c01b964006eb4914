//! Trace: transit of sampled values from point to point inside the host.
//!
//! eBPF programs time each frame at the points and count the durations in the kernel; one ordinary thread reads the counts at the
//! end of each span and passes them to the recorder. Single durations are reported only if they are among the worst or over the
//! threshold; for those the flight recorder gives an explanation.
//!
//! Hooks: those of [`::trace::hops`]. Produces: `hop/A-to-B/SVID` for each pair of neighbouring points, and from the first point
//! to each point further on. The first point may be the NIC's own stamp. Needs: `CAP_BPF` and `CAP_PERFMON`.

mod floors;
mod links;
mod live;
mod quiet;
mod reader;
mod recording;
mod series;
mod summary;
mod wall;

pub use live::{LiveHop, LiveView};
pub use summary::TraceSummary;

use crate::error::ProbeError;
use crate::need::Need;
use crate::nic::NicStamps;
use crate::probe::{About, Probe};
use crate::sender::SenderEnd;
use ::trace::hops::{HopOptions, HopTracer, Point};
use links::Links;
use model::kind;
use reader::Reader;
use run::{Recorder, Stop};
use std::collections::BTreeMap;
use std::thread::JoinHandle;
use sys::netns::NetNs;
use sys::privilege::Capability;

/// Settings of a trace.
#[derive(Debug, Clone)]
pub struct TraceConfig {
    /// The points, in order.
    pub points: Vec<Point>,
    /// Maximum number of streams to track.
    pub max_streams: u32,
    /// Durations from one point to the next above this are counted as overflow and kept as spikes; `None` uses the recorder's
    /// thresholds for the name of each series.
    pub threshold_ns: Option<u64>,
    /// True to keep every frame with its stamps.
    pub record: bool,
    /// Length of the run's windows.
    pub window_ns: u64,
    /// Numbers by which this network namespace knows the others, by their inode numbers; interfaces there are watched, too.
    pub namespaces: BTreeMap<u32, i32>,
    /// End of the sender of the streams, if it is known: after it, no frames are expected.
    pub sender: SenderEnd,
}

/// A running trace, ended by its `stop`.
#[derive(Debug)]
pub struct Tracing {
    thread: JoinHandle<Result<TraceSummary, ProbeError>>,
    live: LiveView,
}

/// Description of this probe, independent of its settings.
pub static ABOUT: About = About {
    name: "trace",
    words: "trace",
    what: "Sampled values inside this host: one point on their way -> the next.",
    kinds: &[&kind::HOP],
    page: "guide/trace.md",
};

impl Probe for TraceConfig {
    const ABOUT: &'static About = &ABOUT;
    /// The NIC that stamps the frames of the first point, if there is one.
    type On = Option<NicStamps>;
    type Started = Tracing;

    fn needs(&self) -> Vec<Need> {
        vec![Need::Wish(Capability::IpcLock), Need::Tracing]
    }

    fn start(
        &self,
        on: impl Into<Option<NicStamps>>,
        recorder: &mut Recorder,
        stop: &Stop,
    ) -> Result<Tracing, ProbeError> {
        let mut nic = on.into();
        if let Some(nic) = &mut nic {
            nic.follow(recorder)?;
        }
        let tracer = HopTracer::start(HopOptions {
            first_by_nic: nic.is_some(),
            points: self.points.clone(),
            max_streams: self.max_streams,
            threshold_ns: self.threshold_ns,
            tell_all: self.record,
        })?;
        let own = NetNs::current().and_then(|own| own.inode())?;
        let links = Links::new(&self.points, own, &self.namespaces);
        let live = LiveView::default();
        let mut reader = Reader::new(tracer, self, recorder, (live.clone(), links), nic)?;
        let stop = stop.clone();
        let thread = std::thread::Builder::new()
            .name("triptime-hops".to_owned())
            .spawn(move || reader.run(&stop))
            .map_err(|error| ProbeError::Usage(format!("cannot start a thread: {error}")))?;
        Ok(Tracing { thread, live })
    }
}

impl Tracing {
    /// True if the trace has ended, by an error or by request.
    pub fn is_finished(&self) -> bool {
        self.thread.is_finished()
    }

    /// Durations so far, for display in a terminal.
    pub fn live(&self) -> &LiveView {
        &self.live
    }

    /// Waits for the end of the trace.
    ///
    /// # Errors
    /// The error that ended the trace, or no sampled values came.
    pub fn join(self) -> Result<TraceSummary, ProbeError> {
        let ended = self.thread.join();
        ended.unwrap_or_else(|_| Err(ProbeError::Panicked("trace".to_owned())))
    }
}
