//! A virtual protection relay: sampled values in, protection functions, GOOSE out, once a task cycle.
//!
//! One thread wakes at every due instant of the cycle, takes what its socket holds, works on the samples and publishes what has
//! changed. The same thread accounts for every sample of its streams as a subscriber does. A cycle that is slept through is
//! `missed` and not made up for; one that takes longer than the cycle is `late`: an overrun. Where records are wanted, a thread beside it
//! keeps what was last, and writes what was around a trip.
//!
//! Hooks: AF_PACKET on one interface, one send(2) a GOOSE message. Produces: `task/NAME`, start of a cycle to its end;
//! `task-stage/NAME/…`, its parts; what `subscribe` produces of its streams, where "the application has the frame" is the instant its task
//! takes it. Needs: `CAP_NET_RAW`; `CAP_SYS_NICE` for a real-time policy.

mod burden;
mod file;
mod outputs;
mod records;
mod series;
mod task;
mod words;

pub use file::{Found, find};
pub use records::{Folder, FolderError};

use crate::error::ProbeError;
use crate::hot::{HotThread, Running};
use crate::need::{Need, of_port};
use crate::port::Port;
use crate::probe::{About, Probe};
use crate::second::next_second;
use crate::subscribe::{self, ClockRelation, SubscribeConfig, SuperviseConfig};
use ::relay::Config;
use model::kind;
use outputs::Output;
use run::{Recorder, Stop};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use sys::packet::PortOptions;
use sys::thread::Policy;
use task::Task;
use wire::ether::Mac;

/// How a relay is to be run.
#[derive(Debug, Clone)]
pub struct RelayConfig {
    /// What it is.
    pub relay: Config,
    /// How the clock of the publishers relates to ours.
    pub clock: ClockRelation,
    /// How long it runs; `None` until told to stop.
    pub duration_ns: Option<u64>,
    /// Scheduling policy.
    pub policy: Policy,
    /// CPU to run on.
    pub cpu: Option<u32>,
    /// How long before a due instant the thread stops sleeping and spins.
    pub spin_ahead_ns: u64,
    /// Where its disturbance records go; `None`: there are none, and they cost nothing.
    pub records: Option<Folder>,
    /// What the series of its streams are called, in their order, where other relays of the run take the same streams; else they are
    /// called as the streams are.
    pub stream_labels: Vec<String>,
    /// Relays that have the same CPU.
    pub shares_cpu_with: Vec<String>,
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
    kinds: &[&kind::TASK, &kind::TASK_STAGE, &kind::USE],
    page: "guide/relay.md",
};

impl Probe for RelayConfig {
    const ABOUT: &'static About = &ABOUT;
    type On = Port;
    type Started = Running;

    fn needs(&self) -> Vec<Need> {
        of_port(self.policy, self.cpu)
    }

    fn start(&self, on: impl Into<Port>, recorder: &mut Recorder, stop: &Stop) -> Result<Running, ProbeError> {
        start_together(vec![(self.clone(), on.into())], recorder, stop)
    }
}

/// Starts relays side by side, each at its own port. The first task of all is at one instant, so that none waits for streams longer than
/// another.
///
/// # Errors
/// What the first of them was refused; none goes on then.
pub fn start_together(
    relays: Vec<(RelayConfig, Port)>,
    recorder: &mut Recorder,
    stop: &Stop,
) -> Result<Running, ProbeError> {
    let mut threads = Vec::new();
    let mut writers = Vec::new();
    for (config, port) in relays {
        let (thread, writer) = config.thread(port, recorder, stop)?;
        threads.push(thread);
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
    /// What runs its task, and what writes its records.
    fn thread(
        self,
        port: Port,
        recorder: &mut Recorder,
        stop: &Stop,
    ) -> Result<(HotThread, Option<records::Writer>), ProbeError> {
        if self.spin_ahead_ns >= self.relay.task_ns {
            return Err(ProbeError::Usage(
                "relay: --spin-ahead must be shorter than the task cycle".into(),
            ));
        }
        let source = Mac(port.mac());
        let gooses = self.relay.gooses.iter().map(|output| Output::new(output, source));
        let gooses = gooses.collect::<Result<Vec<_>, _>>()?;
        let cycles = 1_000_000_000 / self.relay.task_ns.max(1) + 1;
        let describe = Box::new(series::Relay::of(&self, &port));
        let slots = usize::from(series::SLOTS);
        let mut feed = recorder.feed(crate::hot::capacity(cycles * u64::from(series::SLOTS)), slots, describe);
        series::announce(&mut feed, &self.relay.name, self.records.is_some());
        let folder = self.records.clone();
        let (tape, writer) = folder
            .map(|folder| records::both_ends(&self, folder, recorder.events()))
            .unzip();
        let frames = Arc::new(AtomicU64::new(0));
        let (receiver, received) = subscribe::receiver(&self.subscription(), port, &frames, recorder, stop)?;
        let engine = ::relay::Engine::new(&self.relay).map_err(|error| ProbeError::Usage(format!("relay: {error}")))?;
        let (policy, cpu) = (self.policy, self.cpu);
        let mut task = Task::new(self, engine, receiver, received, gooses, tape, stop.clone());
        let body = Box::new(move |start, feed: &mut run::Feed| task.run(start, feed));
        Ok((HotThread::new("relay", policy, cpu, feed, body), writer))
    }

    /// How its streams are accounted for.
    fn subscription(&self) -> SubscribeConfig {
        SubscribeConfig {
            rate: Some(self.relay.rate),
            expected: self.relay.streams.iter().map(|stream| stream.spec.clone()).collect(),
            max_streams: u16::try_from(self.relay.streams.len()).unwrap_or(u16::MAX),
            clock: self.clock,
            duration_ns: self.duration_ns,
            policy: self.policy,
            cpu: self.cpu,
            task: Some(self.relay.name.clone()),
            labels: self.stream_labels.clone(),
            goose: SuperviseConfig {
                max_blocks: 0,
                ..SuperviseConfig::default()
            },
            ..SubscribeConfig::default()
        }
    }
}
