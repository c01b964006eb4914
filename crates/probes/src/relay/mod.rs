//! A virtual protection relay: sampled values in, protection functions, GOOSE out, once a task cycle.
//!
//! One thread wakes at every due instant of the cycle, takes what its socket holds, works on the samples and publishes what has
//! changed. The same thread accounts for every sample of its streams as a subscriber does. A cycle that is slept through is
//! `missed` and not made up for; one that takes longer than the cycle is `late`: an overrun. Where records are wanted, a thread beside it
//! keeps what was last, and writes what was around a trip. With a CPU for each task, three threads share the same work: see [`apart`].
//!
//! Hooks: AF_PACKET on one interface, one send(2) a GOOSE message. Produces: `task/NAME`, start of a cycle to its end;
//! `task-stage/NAME/…`, its parts; what `subscribe` produces of its streams, where "the application has the frame" is the instant its task
//! takes it. Of three threads: `task/NAME/receive`, `/functions` and `/output`, and `use/ID` beside `age/ID`. Needs: `CAP_NET_RAW`;
//! `CAP_SYS_NICE` for a real-time policy.

mod alone;
mod apart;
mod burden;
mod file;
mod functions;
mod outputs;
mod receiving;
mod records;
mod ring;
mod series;
mod task;
mod threads;
mod words;

pub use file::{Found, find};
pub use records::{Folder, FolderError};

use crate::error::ProbeError;
use crate::hot::Running;
use crate::need::{Need, of_port};
use crate::port::Port;
use crate::probe::{About, Probe};
use crate::second::next_second;
use crate::subscribe::{self, ClockRelation};
use ::relay::Config;
use model::kind;
use run::{Recorder, Stop};
use sys::packet::PortOptions;
use sys::thread::Policy;
use threads::Threads;

/// How a relay is to be run.
#[derive(Debug, Clone)]
pub struct RelayConfig {
    /// What it is, and where its tasks run.
    pub relay: Config,
    /// How the clock of the publishers relates to ours.
    pub clock: ClockRelation,
    /// How long it runs; `None` until told to stop.
    pub duration_ns: Option<u64>,
    /// Scheduling policy.
    pub policy: Policy,
    /// How long before a due instant the thread of the functions stops sleeping and spins.
    pub spin_ahead_ns: u64,
    /// Where its disturbance records go; `None`: there are none, and they cost nothing.
    pub records: Option<Folder>,
}

/// How the packet socket of this relay is to be opened: one without inputs takes no GOOSE.
pub fn port_options(relay: &Config) -> PortOptions {
    let goose = (!relay.inputs.is_empty()).then_some(wire::ether::GOOSE);
    PortOptions {
        ethertypes: std::iter::once(wire::ether::SV).chain(goose).collect(),
        ..subscribe::port_options()
    }
}

/// What is known of this probe.
pub static ABOUT: About = About {
    name: "relay",
    words: "relay",
    what: "A virtual protection relay: start of each task cycle -> its end, and how old the samples are that it works on.",
    kinds: &[&kind::TASK, &kind::TASK_STAGE, &kind::USE, &kind::AGE],
    page: "guide/relay.md",
};

impl Probe for RelayConfig {
    const ABOUT: &'static About = &ABOUT;
    type On = Port;
    type Started = Running;

    fn needs(&self) -> Vec<Need> {
        of_port(self.policy, self.relay.cpus.all().iter())
    }

    fn start(&self, on: impl Into<Port>, recorder: &mut Recorder, stop: &Stop) -> Result<Running, ProbeError> {
        if self.spin_ahead_ns >= self.relay.task_ns {
            return Err(ProbeError::Usage(
                "relay: --spin-ahead must be shorter than the task cycle".into(),
            ));
        }
        let folder = self.records.clone();
        let (tape, writer) = folder
            .map(|folder| records::both_ends(self, folder, recorder.events()))
            .unzip();
        let threads = Threads {
            config: self,
            recorder,
            stop,
        };
        let running = Running::start(threads.of(on.into(), tape)?, next_second)?;
        // Only now: what could not get ready would leave it behind. Until then the ring has room.
        let writing = writer.map(|writer| writer.begin().inspect_err(|_| stop.request()));
        Ok(running.with(writing.transpose()?))
    }
}
