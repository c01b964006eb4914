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
use crate::hot::{HotThread, Running};
use crate::need::{Need, of_port};
use crate::port::Port;
use crate::probe::{About, Probe};
use crate::second::next_second;
use crate::subscribe::{self, ClockRelation};
use ::relay::Config;
use ::relay::config::Cpus;
use model::kind;
use run::{Recorder, Stop};
use sys::packet::PortOptions;
use sys::thread::Policy;
use threads::Threads;

/// How a relay is to be run.
#[derive(Debug, Clone)]
pub struct RelayConfig {
    /// Settings of the relay, and where its tasks run.
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
    /// Names of its streams' series, in their order, where other relays of the run take the same streams; else they are
    /// called as the streams are.
    pub stream_labels: Vec<String>,
    /// The other relays of the step, by name, and where their tasks run.
    pub beside: Vec<(String, Cpus)>,
}

/// How the packet socket of this relay is to be opened: one without inputs takes no GOOSE.
pub fn port_options(relay: &Config) -> PortOptions {
    let goose = (!relay.inputs.is_empty()).then_some(wire::ether::GOOSE);
    PortOptions {
        ethertypes: std::iter::once(wire::ether::SV).chain(goose).collect(),
        hidden: false,
        ..subscribe::port_options()
    }
}

/// Facts known about this probe before it runs.
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
        start_together(vec![(self.clone(), on.into())], recorder, stop)
    }
}

/// Starts relays side by side, each at its own port. The first task of all is at one instant, so that none waits for streams longer than
/// another.
///
/// # Errors
/// Refusal of the first of them; none goes on then.
pub fn start_together(
    relays: Vec<(RelayConfig, Port)>,
    recorder: &mut Recorder,
    stop: &Stop,
) -> Result<Running, ProbeError> {
    let mut threads = Vec::new();
    let mut writers = Vec::new();
    for (config, port) in relays {
        let (own, writer) = config.threads(port, recorder, stop)?;
        threads.extend(own);
        writers.extend(writer);
    }
    let mut running = Running::start(threads, next_second)?;
    // Only now: what could not get ready would leave it behind. Until then the ring has room.
    for writer in writers {
        let writing = writer.begin().inspect_err(|_| stop.request())?;
        running = running.with(Some(writing));
    }
    Ok(running)
}

impl RelayConfig {
    /// The other relays that have this CPU.
    pub fn sharing(&self, cpu: u32) -> Vec<&str> {
        let there = self.beside.iter().filter(|(_, cpus)| cpus.all().contains(cpu));
        there.map(|(name, _)| name.as_str()).collect()
    }

    /// Makes the threads that run its tasks, and the writer of its records.
    fn threads(
        &self,
        port: Port,
        recorder: &mut Recorder,
        stop: &Stop,
    ) -> Result<(Vec<HotThread>, Option<records::Writer>), ProbeError> {
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
        Ok((threads.of(port, tape)?, writer))
    }
}
