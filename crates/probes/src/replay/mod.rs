//! Sends the frames of a capture again with the capture's own timing, once or in repeated rounds.
//!
//! In each further round the sample counters of sampled-value streams continue from the end of the round before; samples that are
//! lost or repeated in the capture are lost or repeated again. GOOSE messages and other frames are sent unchanged. The first
//! frame is sent at the same time after the top of a second as it was captured. Nothing is skipped: after an overrun the thread
//! sends late and reports it.
//!
//! Hooks: AF_PACKET or AF_XDP on one interface. Produces: `publish/lateness`, one sample for each frame: from its due instant
//! to the return of the call that sent it. Needs: `CAP_NET_RAW`; `CAP_SYS_NICE` for a real-time policy.

mod frames;
mod sender;
mod series;
#[cfg(test)]
mod tests;

pub use frames::CapturedFrames;

use crate::error::ProbeError;
use crate::hot::{HotThread, Running};
use crate::need::{Need, of_port};
use crate::port::Port;
use crate::probe::{About, Probe};
use crate::second::next_second;
use model::kind;
use run::{Recorder, Stop};
use std::sync::Arc;
use sys::thread::Policy;

/// Settings for sending a capture.
#[derive(Debug, Clone)]
pub struct ReplayConfig {
    /// The frames.
    pub frames: Arc<CapturedFrames>,
    /// Name for the report: that of the file.
    pub name: String,
    /// Number of rounds; `None` sends until a stop is requested.
    pub rounds: Option<u64>,
    /// Time before the due instant at which the thread stops sleeping and spins, in ns.
    pub spin_ahead_ns: u64,
    /// Lateness in ns above which a frame counts as late.
    pub late_after_ns: u64,
    /// Longest duration of the sending; `None` for no limit.
    pub duration_ns: Option<u64>,
    /// Scheduling policy.
    pub policy: Policy,
    /// CPU to run on.
    pub cpu: Option<u32>,
    /// Samples above this are counted as overflow and kept as spikes.
    pub threshold_ns: Option<u64>,
}

/// Maximum number of frames sent with one call, all of which are already due.
const MOST_AT_ONCE: usize = 64;

/// Description of this probe, independent of its settings.
pub static ABOUT: About = About {
    name: "replay",
    words: "replay",
    what: "A capture sent again: due instant -> the send call has returned.",
    kinds: &[&kind::PUBLISH],
    page: "guide/sampled-values.md",
};

impl Probe for ReplayConfig {
    const ABOUT: &'static About = &ABOUT;
    type On = Port;
    type Started = Running;

    fn needs(&self) -> Vec<Need> {
        of_port(self.policy, self.cpu)
    }

    fn start(&self, on: impl Into<Port>, recorder: &mut Recorder, stop: &Stop) -> Result<Running, ProbeError> {
        let port = on.into();
        let (longest, most) = (self.frames.longest(), port.mtu() as usize + TAGGED_HEADER_OCTETS);
        if longest > most {
            return Err(ProbeError::Usage(format!(
                "replay: {} has a frame of {longest} octets, {} takes {most}: raise its MTU",
                self.name,
                port.interface()
            )));
        }
        let describe = Box::new(series::Replay::of(self, &port));
        let per_second = self.frames.count() as u128 * 1_000_000_000 / u128::from(self.frames.period_ns());
        let capacity = crate::hot::capacity(u64::try_from(per_second).unwrap_or(u64::MAX));
        let mut feed = recorder.feed(capacity, 1, describe);
        feed.announce(series::LATENESS, "lateness");
        let mut sender = sender::Sender::new(self.clone(), port, stop.clone());
        let thread = HotThread::new(
            "replay",
            self.policy,
            self.cpu,
            feed,
            Box::new(move |start, feed| sender.run(start, feed)),
        );
        Running::start(vec![thread], next_second)
    }
}

/// An Ethernet header with a VLAN tag.
const TAGGED_HEADER_OCTETS: usize = 18;
