//! A test set for relays: publishes sampled values with faults in them, and times the trips that come back as GOOSE.
//!
//! Three threads. The publisher sends the stream on the grid of the second and copies each sample out of tables that were made
//! before. The listener takes GOOSE with the kernel's stamps. The conductor, which is not hot, makes the tables, and decides from
//! what the other two tell what each shot was, for each of the relays that take the stream.
//!
//! Hooks: AF_PACKET on one interface, one sendto per frame, one socket for GOOSE. Produces: `trip/SCENARIO`, a sample per shot: due
//! instant of the first faulted sample to the kernel's stamp of the first GOOSE frame with the trip bit; `start/SCENARIO` likewise;
//! `security/SCENARIO` for scenarios without a trip; `phase/SCENARIO` and `zone/SCENARIO` for trips whose phases or function are
//! expected; and `publish/lateness`. Needs: `CAP_NET_RAW`; `CAP_SYS_NICE` for a real-time policy.

mod account;
mod conductor;
mod control;
mod ears;
mod frames;
mod late;
mod limits;
mod listener;
mod members;
mod notice;
mod options;
mod program;
mod proof;
mod publisher;
mod script;
mod security;
mod selection;
mod series;
mod stage;
mod under_test;
mod watch;

pub use control::Control;
pub use limits::limits;
pub use members::{FunctionMember, MemberName};
pub use options::{TripOptions, USUAL_SHOTS};
pub use security::Security;
pub(crate) use stage::sampling;
pub use under_test::UnderTest;

use crate::error::ProbeError;
use crate::hot::{Beside, HotThread, Running};
use crate::need::{Need, of_port};
use crate::port::Port;
use crate::probe::{About, Probe};
use crate::publish::{Batch, PublishConfig, StreamConfig, Waveform, check_stream, lateness};
use crate::reception::{Receive, Reception};
use crate::second::next_second;
use conductor::Conductor;
use ears::Hearing;
use listener::{Ears, Heard, Listener, Name, Tallies, Wanted};
use model::kind;
use publisher::Publisher;
use run::{Recorder, Stop};
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, OnceLock};
use streamset::StreamSpec;
use sys::packet::{PacketPort, PortOptions};
use sys::thread::Policy;
use under_test::CountedShots;
use units::Monotonic;
use waveform::scenario::Scenario;
use waveform::type_test::TypeTest;
use wire::ether::Mac;

/// Settings of a test of relays.
#[derive(Debug, Clone)]
pub struct TripConfig {
    /// Scenarios published in the shots, one after the other. With a type test only the shot by which the relay is found, and which the
    /// negative controls take.
    pub scenarios: Vec<Scenario>,
    /// A type test, whose shots are published once each in place of those of the scenarios.
    pub type_test: Option<TypeTest>,
    /// Shots of each scenario.
    pub shots: u32,
    /// Steady state before each fault, in ns, at the least.
    pub settle_ns: u64,
    /// Seed of the random pauses before faults. The first three shots of a run wait by chance, too.
    pub seed: u64,
    /// The stream that the relay takes.
    pub stream: StreamSpec,
    /// Further streams of the same rate, in the steady state of the first scenario.
    pub others: Vec<StreamSpec>,
    /// The relays that take it; one at the least.
    pub relays: Vec<UnderTest>,
    /// Time from a trip to the opening of the breaker's poles, in ns; `None`: the fault lasts as long as its scenario says. Of several
    /// relays it is the last one's trip, so that the fault lasts for each.
    pub breaker_ns: Option<u64>,
    /// Negative controls at begin and end.
    pub controls: Vec<Control>,
    /// Disturbances of the samples for which the relay must not trip; as many shots of each as of a scenario.
    pub security: Vec<Security>,
    /// Sleep until this long before a frame is due, in ns, then spin.
    pub spin_ahead_ns: u64,
    /// No shot begins after this long, in ns; `None`: all shots.
    pub duration_ns: Option<u64>,
    /// How to wait for GOOSE.
    pub receive: Receive,
    /// Scheduling policy of publisher and listener.
    pub policy: Policy,
    /// CPU of the publisher.
    pub cpu: Option<u32>,
    /// CPU of the listener.
    pub goose_cpu: Option<u32>,
}

/// The two ports of a test set, of one interface.
#[derive(Debug)]
pub struct Ports {
    /// To publish by: see [`crate::publish::port_options`].
    pub stream: Port,
    /// To listen by: see [`goose_port_options`].
    pub goose: Port,
}

/// Messages that others on the bus may bring while the listener is held up: a tenth of a second of 10 000 a second.
const RING_FRAMES: usize = 1_024;

/// Octets kept of a frame: the longest GOOSE message fits.
const FRAME_BYTES: usize = 1_600;

/// How the packet socket of the listener is to be opened: every GOOSE frame, whatever its destination.
pub fn goose_port_options() -> PortOptions {
    PortOptions {
        ethertypes: vec![wire::ether::GOOSE],
        ring_frames: RING_FRAMES,
        frame_bytes: FRAME_BYTES,
        promiscuous: true,
        ..PortOptions::default()
    }
}

/// Messages on their way from listener to conductor.
const HEARD: usize = 8_192;

/// Facts known about this probe before it runs.
pub static ABOUT: About = About {
    name: "trip",
    words: "trip",
    what: "A relay's trips: due instant of the first faulted sample -> its trip GOOSE is back at the test set.",
    kinds: &[&kind::TRIP, &kind::START, &kind::SECURITY, &kind::PHASE, &kind::ZONE],
    page: "guide/trip.md",
};

/// State that the threads of a test set share.
#[derive(Clone, Default)]
struct Shared {
    /// Ends all of them.
    ended: Stop,
    /// The control blocks of the relays, in their order, once they are known.
    names: Arc<OnceLock<Vec<Name>>>,
    tallies: Arc<Tallies>,
    /// All samples before this one were sent.
    sent: Arc<AtomicU64>,
    /// Why the conductor could not go on.
    failure: Arc<OnceLock<String>>,
}

impl Probe for TripConfig {
    const ABOUT: &'static About = &ABOUT;
    type On = Ports;
    type Started = Running;

    fn needs(&self) -> Vec<Need> {
        let cpus = self.goose_cpu.map(Need::Cpu);
        of_port(self.policy, self.cpu).into_iter().chain(cpus).collect()
    }

    fn start(&self, on: impl Into<Ports>, recorder: &mut Recorder, stop: &Stop) -> Result<Running, ProbeError> {
        self.check()?;
        let Ports { stream, goose } = on.into();
        let shared = Shared::default();
        let named = self.relays.iter().map(|relay| relay.goose.as_ref());
        let named: Option<Vec<Name>> = named.map(|goose| Some(Name::of(goose?.as_bytes()))).collect();
        if let Some(names) = named {
            let _ = shared.names.set(names);
        }
        let (to_conductor, heard) = rtrb::RingBuffer::new(HEARD);
        let (exchange, prompter) = script::exchange(&shared.ended);
        let sampling = sampling(&self.stream)?;
        let (opening, wave) = stage::opening(&self.scenarios, &sampling).map_err(|error| refused(&error))?;
        let feed = self.feed(recorder, stream.interface());
        let mut conductor = Conductor {
            config: self.clone(),
            proofs: self.relays.iter().map(|_| proof::Proof::default()).collect(),
            link: stream.packet().map(PacketPort::link),
            stage: stage::Stage::new(self, sampling, wave, exchange),
            hearing: Hearing::new(heard, Arc::clone(&shared.names), self.relays.clone()),
            groups: self.groups().len(),
            shared: shared.clone(),
            // Its events touch the series of its shots, and nothing else that is measured beside them.
            events: recorder.events_of(&feed),
            feed,
            stop: stop.clone(),
            start: Monotonic::from_ns(0),
            watched: sys::clock::monotonic(),
            shots: 0,
        };
        let publisher = self.publisher(stream, opening, prompter, &shared, recorder)?;
        let listener = self.listener(goose, to_conductor, &shared, recorder);
        let running = Running::start(vec![publisher, listener], || {
            conductor.start = next_second();
            conductor.start
        })?;
        let conducting = Beside::start("trip-conductor", move |over| conductor.run(over));
        let conducting = conducting.map_err(|error| {
            shared.ended.request();
            ProbeError::NoTraffic(format!("trip: the system has no thread left: {error}"))
        })?;
        Ok(running.with(Some(conducting)))
    }
}

fn refused(error: &waveform::WaveformError) -> ProbeError {
    ProbeError::Usage(format!("trip: {error}"))
}

impl TripConfig {
    fn check(&self) -> Result<(), ProbeError> {
        self.check_relays()?;
        check_stream(&self.stream)?;
        self.others.iter().try_for_each(check_stream)?;
        let usage = |problem: &str| Err(ProbeError::Usage(format!("trip: {problem}")));
        if self.scenarios.is_empty() || self.shots == 0 {
            return usage("nothing to publish: give one scenario and one shot at least");
        }
        if self.spin_ahead_ns >= 1_000_000_000 / self.stream.frames_per_second() {
            return usage("--spin-ahead must be shorter than the time between frames");
        }
        if !self.security.is_empty() && self.type_test.is_some() {
            return usage("--security takes the fault of a scenario, not of a type test: make a run of its own of it");
        }
        if !self.security.is_empty() && !self.scenarios.iter().any(Scenario::wants_trip) {
            return usage("--security takes the fault of the first scenario that has one: give one");
        }
        let mut names: Vec<&str> = self.scenarios.iter().map(|scenario| scenario.name.as_str()).collect();
        names.sort_unstable();
        match names.windows(2).find(|pair| pair[0] == pair[1]) {
            Some(pair) => usage(&format!(
                "two scenarios are called {}: rename one of the files",
                pair[0]
            )),
            None => Ok(()),
        }
    }

    fn publisher(
        &self,
        port: Port,
        opening: script::Script,
        prompter: script::Prompter,
        shared: &Shared,
        recorder: &mut Recorder,
    ) -> Result<HotThread, ProbeError> {
        let stream = |spec: &StreamSpec, seen: &str| StreamConfig {
            spec: spec.clone(),
            waveform: Arc::new(Waveform::of(Arc::clone(&opening.table), seen.to_owned())),
            ahead: 0,
        };
        let others = self.others.iter().map(|spec| stream(spec, "steady state"));
        let others: Vec<StreamConfig> = others.collect();
        let first = stream(&self.stream, "scenarios");
        let lateness = lateness(
            &PublishConfig {
                streams: std::iter::once(first).chain(others.iter().cloned()).collect(),
                spin_ahead_ns: self.spin_ahead_ns,
                policy: self.policy,
                cpu: self.cpu,
                ..PublishConfig::default()
            },
            &port,
        );
        let per_second = u64::from(self.stream.rate) / u64::from(self.stream.asdus);
        let mut feed = recorder.feed(crate::hot::capacity(per_second), 1, lateness);
        feed.announce(publisher::LATENESS, "lateness");
        let others = Batch::new(&others, Mac(port.mac()))?;
        let mut publisher = Publisher::new(self, port, opening, others, (prompter, Arc::clone(&shared.sent)))?;
        let body = Box::new(move |start, feed: &mut run::Feed| publisher.run(start, feed));
        Ok(HotThread::new("trip-publish", self.policy, self.cpu, feed, body))
    }

    fn listener(
        &self,
        port: Port,
        heard: rtrb::Producer<Heard>,
        shared: &Shared,
        recorder: &mut Recorder,
    ) -> HotThread {
        let describe = Box::new(series::Trip::of(self, port.interface()));
        let feed = recorder.feed(crate::hot::capacity(1), 0, describe);
        let failure = Arc::clone(&shared.failure);
        let wanted = Wanted {
            names: Arc::clone(&shared.names),
            members: self.relays.iter().map(UnderTest::members).collect(),
        };
        let mut listener = Listener {
            reception: Reception {
                port,
                receive: self.receive,
                duration_ns: None,
                stop: shared.ended.clone(),
                frames: Arc::default(),
                unstamped: 0,
            },
            ears: Ears {
                wanted,
                heard,
                tallies: Arc::clone(&shared.tallies),
            },
            ended: shared.ended.clone(),
        };
        let body = Box::new(move |_, feed: &mut run::Feed| {
            listener.run(feed)?;
            match failure.get() {
                Some(why) => Err(ProbeError::NoTraffic(why.clone())),
                None => Ok(()),
            }
        });
        HotThread::new("trip-listen", self.policy, self.goose_cpu, feed, body)
    }

    /// The feed of the conductor, with all series announced.
    fn feed(&self, recorder: &mut Recorder, interface: &str) -> run::Feed {
        let places = self.places();
        let slots = series::slots(places.len());
        let describe = Box::new(series::Trip::of(self, interface));
        let mut feed = recorder.feed(crate::hot::capacity(1), slots, describe);
        // Where the conductor runs says nothing of a trip.
        if let Some(cpu) = self.goose_cpu {
            feed.set_cpu(cpu);
        }
        for (number, CountedShots { relay, group }) in places.iter().enumerate() {
            if group.trips {
                feed.announce(series::trip_slot(number), &group.label);
            }
            let relay = &self.relays[*relay];
            if group.trips && relay.start.is_some() {
                feed.announce(series::start_slot(number), &group.label);
            }
            if relay.looks_at_phases(&group.selection) {
                feed.announce(series::phase_slot(number), &group.label);
            }
            if relay.looks_at_functions(&group.selection) {
                feed.announce(series::zone_slot(number), &group.label);
            }
            if group.stays {
                feed.announce(series::security_slot(number), &group.label);
            }
        }
        feed
    }
}
