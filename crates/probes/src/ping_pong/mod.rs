//! GOOSE ping-pong: sends a GOOSE change of state and times the device's answer to it. This is the black-box measurement used for
//! certification (IEC 61850-10).
//!
//! One thread sends the pings, repeats them as a GOOSE publisher does, and takes the device's GOOSE messages with the kernel's
//! stamps. A second thread sends the load of the case.
//!
//! Hooks: AF_PACKET on one interface, one sendto a message, one socket for GOOSE. Produces: `pong/CASE`, a sample for each ping:
//! from just before the send call to the kernel's stamp of the first message with the answer; `ping/CASE`, this machine's part of
//! it: from just before the send call to the kernel's stamp at the driver; `publish/load`. Needs: `CAP_NET_RAW`; `CAP_SYS_NICE`
//! for a real-time policy.

mod beside;
mod case;
mod class;
mod device;
mod limits;
mod notice;
mod options;
mod pinger;
mod responder;
mod series;
mod stamps;
mod waiting;

pub use case::Case;
pub use class::Class;
pub use limits::limits;
pub use options::{PingPongOptions, ping_of, usual_ping};
pub use responder::{PongConfig, PongPorts};

use crate::error::ProbeError;
use crate::hot::{HotThread, Running};
use crate::need::{Need, of_port};
use crate::port::Port;
use crate::probe::{About, Probe};
use crate::publish::StreamConfig;
use crate::reception::Receive;
use crate::second::next_second;
use beside::{Beside, Shared};
use model::kind;
use pinger::Pinger;
use run::{Recorder, Stop};
use std::sync::Arc;
use streamset::goose::ControlBlock;
use sys::packet::PortOptions;
use sys::thread::Policy;
use wire::goose::{Member, Value};

/// Settings of a ping-pong with a device.
#[derive(Debug, Clone)]
pub struct PingPongConfig {
    /// The control block of the pings.
    pub block: ControlBlock,
    /// Number of its boolean member that changes.
    pub ping_member: usize,
    /// The device's control block reference.
    pub device: String,
    /// Number of its member that follows the ping.
    pub member: Member,
    /// Traffic sent in addition to the pings, one case after the other.
    pub cases: Vec<Case>,
    /// Number of pings of each case.
    pub pings: u32,
    /// Time without an answer after which a ping is lost, in ns.
    pub deadline_ns: u64,
    /// Minimum time from an answer to the next ping, in ns; the maximum is twice this.
    pub pause_ns: u64,
    /// Seed of the random pauses: equal seeds give equal pauses.
    pub seed: u64,
    /// GOOSE messages a second in the cases with GOOSE.
    pub goose_rate: u32,
    /// The streams of the case with sampled values.
    pub streams: Vec<StreamConfig>,
    /// The class by which answers are judged.
    pub class: Option<Class>,
    /// Time that the device's application may take, in ns.
    pub application_ns: u64,
    /// Cycles of the power system a second.
    pub frequency_hz: u32,
    /// Time in ns after which no ping is sent; `None` sends all of them.
    pub duration_ns: Option<u64>,
    /// Method of waiting for GOOSE.
    pub receive: Receive,
    /// Scheduling policy of both threads.
    pub policy: Policy,
    /// CPU of the thread that pings.
    pub cpu: Option<u32>,
    /// CPU of the thread that sends the load.
    pub load_cpu: Option<u32>,
    /// Second part of the series' names, if there is one case; `None`: the name of the case.
    pub label: Option<String>,
}

/// The ports of a ping-pong, all on one interface.
#[derive(Debug)]
pub struct PingPorts {
    /// Port for the pings: see [`ping_port_options`].
    pub ping: Port,
    /// Port for listening: see [`crate::trip::goose_port_options`].
    pub goose: Port,
    /// Port for the load: see [`crate::publish::port_options`].
    pub load: Port,
}

/// Options of the socket for the pings: it only sends, and reports when the driver takes a frame.
pub fn ping_port_options() -> PortOptions {
    PortOptions {
        tx_stamps: true,
        ..crate::publish::port_options()
    }
}

/// Description of this probe, independent of its settings.
pub static ABOUT: About = About {
    name: "ping_pong",
    words: "ping-pong",
    what: "A device's GOOSE answers: a GOOSE change of state is sent -> its answer has returned.",
    kinds: &[&kind::PONG, &kind::PING],
    page: "guide/ping-pong.md",
};

/// Samples a second that the recorder's ring has room for: messages of the load, and pings.
const SAMPLES_PER_SECOND: u64 = 10_000;

impl Probe for PingPongConfig {
    const ABOUT: &'static About = &ABOUT;
    type On = PingPorts;
    type Started = Running;

    fn needs(&self) -> Vec<Need> {
        let cpus = self.load_cpu.map(Need::Cpu);
        of_port(self.policy, self.cpu).into_iter().chain(cpus).collect()
    }

    fn start(&self, on: impl Into<PingPorts>, recorder: &mut Recorder, stop: &Stop) -> Result<Running, ProbeError> {
        self.check()?;
        let PingPorts { ping, goose, load } = on.into();
        let shared = Arc::new(Shared::default());
        let describe = Box::new(series::PingPong::of(self, ping.interface()));
        let mut feed = recorder.feed(crate::hot::capacity(SAMPLES_PER_SECOND), 2 * self.cases.len(), describe);
        for (number, case) in self.cases.iter().enumerate() {
            let label = self.label.clone().unwrap_or_else(|| case.to_string());
            feed.announce(series::answer_slot(number), &label);
            feed.announce(series::own_slot(number), &label);
        }
        let mut pinger = Pinger::new(self, [ping, goose], Arc::clone(&shared), stop)?;
        let body = Box::new(move |start, feed: &mut run::Feed| pinger.run(start, feed));
        let pinging = HotThread::new("ping", self.policy, self.cpu, feed, body);
        let loading = self.load(load, shared, recorder)?;
        Running::start(std::iter::once(pinging).chain(loading).collect(), next_second)
    }
}

impl PingPongConfig {
    /// Refuses a ping without the boolean that is to change, and a case that is given twice.
    ///
    /// # Errors
    /// The mistake, and the option that it is about.
    pub fn check(&self) -> Result<(), ProbeError> {
        let usage = |problem: String| Err(ProbeError::Usage(format!("trip: {problem}")));
        let message = &self.block.message;
        if !matches!(message.all_data.get(self.ping_member), Some(Value::Boolean(_))) {
            return usage(format!(
                "member {} of {} is missing or is not a boolean: name another (--ping-member)",
                self.ping_member,
                String::from_utf8_lossy(&message.gocb_ref)
            ));
        }
        let is_twice = |case: &Case| self.cases.iter().filter(|other| *other == case).count() > 1;
        match self.cases.iter().find(|case| is_twice(case)) {
            Some(case) => usage(format!("the case {case} is given twice: name each once (--cases)")),
            None => Ok(()),
        }
    }

    /// Makes the thread that sends the load, if a case has one.
    fn load(&self, port: Port, shared: Arc<Shared>, recorder: &mut Recorder) -> Result<Option<HotThread>, ProbeError> {
        let describe = Box::new(series::LoadSeries::of(self, port.interface()));
        let Some(mut beside) = Beside::new(self, port, shared)? else {
            return Ok(None);
        };
        let rate = self.streams.first().map_or(0, |stream| stream.spec.rate);
        let per_second = u64::from(self.goose_rate.max(rate));
        let mut feed = recorder.feed(crate::hot::capacity(per_second), 1, describe);
        feed.announce(beside::LATENESS, "load");
        let body = Box::new(move |_, feed: &mut run::Feed| beside.run(feed));
        Ok(Some(HotThread::new(
            "ping-load",
            self.policy,
            self.load_cpu,
            feed,
            body,
        )))
    }
}
