//! A virtual protection relay: sampled values in, protection functions, GOOSE out, once a task cycle.
//!
//! One thread wakes at every due instant of the cycle, takes the frames that its socket holds, processes the samples and
//! publishes the changes. The same thread accounts for every sample of its streams as a subscriber does. A cycle whose time
//! passed during an overrun is `missed` and not repeated; a task that takes longer than the cycle is `late`: an overrun. If
//! records are configured, a separate thread keeps the latest samples and writes those around a trip. If each task has its own
//! CPU, three threads share the same work: see [`apart`].
//!
//! Hooks: AF_PACKET on one interface, one send(2) a GOOSE message. Produces: `task/NAME`, from the start of a cycle to its end;
//! `task-stage/NAME/…`, its parts; and the series of `subscribe` for its streams, where "the application has the frame" is the
//! instant at which its task takes the frame. With three threads: `task/NAME/receive`, `/functions` and `/output`, and `use/ID`
//! in addition to `age/ID`. Needs: `CAP_NET_RAW`; `CAP_SYS_NICE` for a real-time policy.

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
use crate::hot::{Beside, HotThread, Running};
use crate::need::{Need, of_port};
use crate::port::Port;
use crate::probe::{About, Probe};
use crate::redundant::attended;
use crate::second::next_second;
use crate::subscribe::{self, ClockRelation};
use crate::timesync::{PtpView, TimeSync, TimeSyncConfig};
use ::relay::Config;
use ::relay::config::Cpus;
use model::kind;
use run::{Recorder, Stop};
use std::time::Duration;
use sys::packet::PortOptions;
use sys::thread::Policy;
use threads::Threads;

/// Settings of a running relay.
#[derive(Debug, Clone)]
pub struct RelayConfig {
    /// Settings of the relay, and the CPUs of its tasks.
    pub relay: Config,
    /// Relation of the publishers' clock to the clock of this host.
    pub clock: ClockRelation,
    /// Duration of the run; `None` runs until a stop is requested.
    pub duration_ns: Option<u64>,
    /// Scheduling policy.
    pub policy: Policy,
    /// Time before a due instant at which the thread of the functions stops sleeping and spins, in ns.
    pub spin_ahead_ns: u64,
    /// Folder of the disturbance records; `None` keeps none and costs nothing.
    pub records: Option<Folder>,
    /// Series names of its streams, in their order, if other relays of the run receive the same streams; otherwise the series
    /// have the names of the streams.
    pub stream_labels: Vec<String>,
    /// State of the host's PTP; without it the state is unknown.
    pub ptp: Option<PtpView>,
    /// Names of the other relays of the step, with the CPUs of their tasks.
    pub beside: Vec<(String, Cpus)>,
}

/// Options of the packet socket of this relay; a relay without inputs receives no GOOSE.
pub fn port_options(relay: &Config) -> PortOptions {
    let goose = (!relay.inputs.is_empty()).then_some(wire::ether::GOOSE);
    PortOptions {
        ethertypes: std::iter::once(wire::ether::SV).chain(goose).collect(),
        hidden: false,
        ..subscribe::port_options()
    }
}

/// Description of this probe, independent of its settings.
pub static ABOUT: About = About {
    name: "relay",
    words: "relay",
    what: "A virtual protection relay: start of each task cycle -> its end, and the age of the samples that it processes.",
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

/// Starts several relays together, each at its own port. The first tasks of all relays begin at the same instant, so that no
/// relay waits longer for its streams than another.
///
/// # Errors
/// The first refusal of a relay; all relays have then ended.
pub fn start_together(
    relays: Vec<(RelayConfig, Port)>,
    recorder: &mut Recorder,
    stop: &Stop,
) -> Result<Running, ProbeError> {
    let mut threads = Vec::new();
    let mut writers = Vec::new();
    let mut attendants = Vec::new();
    let watch = own_watch(&relays, recorder)?;
    for (mut config, port) in relays {
        config.ptp = config.ptp.or_else(|| watch.as_ref().map(TimeSync::view));
        attendants.extend(port.attendant(true)?);
        let (own, writer) = config.threads(port, recorder, stop)?;
        threads.extend(own);
        writers.extend(writer);
    }
    let mut running = Running::start(threads, next_second)?;
    // Started only now: an error in the preparation above would leave this thread running. Until then the ring has room.
    for writer in writers {
        let writing = writer.begin().inspect_err(|_| stop.request())?;
        running = running.with(Some(writing));
    }
    for attendant in attendants {
        running = attended(running, Some(attendant), recorder.events(), stop)?;
    }
    if let Some(watch) = watch {
        let kept = Beside::start("relay-ptp", move |over| keep(watch, over)).map_err(|error| no_thread(&error))?;
        running = running.with(Some(kept));
    }
    Ok(running)
}

/// Watch over the host's PTP for relays that respond to its loss, unless the command has given them its own.
fn own_watch(relays: &[(RelayConfig, Port)], recorder: &mut Recorder) -> Result<Option<TimeSync>, ProbeError> {
    let is_needed = |config: &RelayConfig| config.relay.ptp_loss.looks() && config.ptp.is_none();
    match relays.iter().any(|(config, _)| is_needed(config)) {
        true => TimeSync::start(&TimeSyncConfig::default(), recorder).map(Some),
        false => Ok(None),
    }
}

/// Keeps the watch until the relays have ended.
fn keep(watch: TimeSync, over: &Stop) {
    while !over.requested() {
        std::thread::park_timeout(Duration::from_secs(1));
    }
    watch.stop();
}

fn no_thread(error: &std::io::Error) -> ProbeError {
    ProbeError::NoTraffic(format!("relay: the system has no thread left: {error}"))
}

impl RelayConfig {
    /// Names of the other relays on this CPU.
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
