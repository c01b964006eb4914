//! A test set for relays: publishes sampled values with faults, and times the trips that the relays return as GOOSE messages.
//!
//! There are three threads. The publisher sends the stream on the grid of the second and copies each sample from tables prepared
//! before. The listener takes GOOSE messages with the kernel's stamps. The conductor, which is not time-critical, prepares the
//! tables, and decides from the reports of the other two the outcome of each shot, for each of the relays that receive the
//! stream.
//!
//! Hooks: AF_PACKET on one interface, one sendto per frame, one socket for GOOSE. Produces: `trip/SCENARIO`, a sample per shot:
//! from the due instant of the first faulted sample to the kernel's stamp of the first GOOSE frame with the trip bit;
//! `start/SCENARIO`, the same for the start bit; `security/SCENARIO` for scenarios without a trip; `phase/SCENARIO` and
//! `zone/SCENARIO` for trips whose phases or function are expected; and `publish/lateness`. Needs: `CAP_NET_RAW`; `CAP_SYS_NICE`
//! for a real-time policy.

mod account;
mod conductor;
mod control;
mod ears;
mod frames;
mod lans;
mod late;
mod limits;
mod listener;
mod members;
mod notice;
mod options;
mod peer;
mod program;
mod proof;
mod publisher;
mod ramp;
mod script;
mod searching;
mod security;
mod selection;
mod series;
mod stage;
mod trial;
mod under_test;
mod watch;

pub use control::Control;
pub(crate) use limits::{FAILURES, FALSE, within};
pub use limits::{OVERRUNS, limits};
pub use members::{FunctionMember, MemberName};
pub use options::{TripOptions, USUAL_SHOTS};
pub use peer::{Hostile, PeerConfig, PeerRole};
pub use security::Security;
pub(crate) use stage::sampling;
pub use under_test::UnderTest;

use crate::error::ProbeError;
use crate::hot::{Beside, HotThread, Running};
use crate::need::{Need, of_port};
use crate::port::Port;
use crate::probe::{About, Probe};
use crate::publish::{Batch, PublishConfig, StreamConfig, Waveform, check_stream, lateness};
use crate::reception::{Lans, Receive, Reception};
use crate::redundant::{LanFault, attended};
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
use sys::packet::PortOptions;
use sys::thread::Policy;
use under_test::CountedShots;
use units::Monotonic;
use waveform::scenario::Scenario;
use waveform::type_test::TypeTest;
use wire::ether::Mac;

/// Settings of a test of relays.
#[derive(Debug, Clone)]
pub struct TripConfig {
    /// Scenarios published in the shots, in turn. With a type test, a scenario is only used for the shot that finds the relay and
    /// for the negative controls.
    pub scenarios: Vec<Scenario>,
    /// A type test, whose shots are published once each instead of those of the scenarios.
    pub type_test: Option<TypeTest>,
    /// Number of shots of each scenario.
    pub shots: u32,
    /// Minimum length of the steady state before each fault, in ns.
    pub settle_ns: u64,
    /// Seed of the random pauses before faults. The first three shots of a run have additional random pauses.
    pub seed: u64,
    /// The stream that the relays receive.
    pub stream: StreamSpec,
    /// Further streams with the same rate: the first one is that of the far side if the scenarios have two sides, all others have the steady state of the
    /// first scenario.
    pub others: Vec<StreamSpec>,
    /// The relays that receive it; at least one.
    pub relays: Vec<UnderTest>,
    /// Time from a trip to the opening of the breaker's poles, in ns; `None` lets the fault last as long as its scenario says.
    /// With several relays, the time starts at the trip of the last one, so that the fault lasts for each.
    pub breaker_ns: Option<u64>,
    /// Negative controls at the beginning and the end.
    pub controls: Vec<Control>,
    /// Disturbances of the samples for which the relay must not trip; each has as many shots as a scenario.
    pub security: Vec<Security>,
    /// A second device whose GOOSE the relay uses; its shots are then published instead of those of the scenarios.
    pub peer: Option<PeerConfig>,
    /// Fault of the LANs from the first faulted sample to the end of each disturbance, for ports of two LANs.
    pub lan_fault: Option<LanFault>,
    /// Time before the due instant of a frame at which the thread stops sleeping and spins, in ns.
    pub spin_ahead_ns: u64,
    /// Time in ns after which no shot begins; `None` plays all shots.
    pub duration_ns: Option<u64>,
    /// Method of waiting for GOOSE.
    pub receive: Receive,
    /// Scheduling policy of publisher and listener.
    pub policy: Policy,
    /// CPU of the publisher.
    pub cpu: Option<u32>,
    /// CPU of the listener.
    pub goose_cpu: Option<u32>,
}

fn refused(error: &waveform::WaveformError) -> ProbeError {
    ProbeError::Usage(format!("trip: {error}"))
}

/// The two ports of a test set, on the same interface.
#[derive(Debug)]
pub struct Ports {
    /// Port for publishing: see [`crate::publish::port_options`].
    pub stream: Port,
    /// Port for listening: see [`goose_port_options`].
    pub goose: Port,
}

/// Number of messages that other devices may send while the listener is held up: a tenth of a second of 10 000 a second.
const RING_FRAMES: usize = 1_024;

/// Bytes kept of each frame: the longest GOOSE message fits.
const FRAME_BYTES: usize = 1_600;

/// Options of the listener's packet socket: every GOOSE frame, whatever its destination.
pub fn goose_port_options() -> PortOptions {
    PortOptions {
        ethertypes: vec![wire::ether::GOOSE],
        ring_frames: RING_FRAMES,
        frame_bytes: FRAME_BYTES,
        promiscuous: true,
        ..PortOptions::default()
    }
}

/// Number of messages that fit between listener and conductor.
const HEARD: usize = 8_192;

/// Description of this probe, independent of its settings.
pub static ABOUT: About = About {
    name: "trip",
    words: "trip",
    what: "A relay's trips: due instant of the first faulted sample -> its trip GOOSE has returned to the test set.",
    kinds: &[&kind::TRIP, &kind::START, &kind::SECURITY, &kind::PHASE, &kind::ZONE],
    page: "guide/trip.md",
};

/// State that the threads of a test set share.
#[derive(Clone, Default)]
struct Shared {
    /// Stop request for all threads.
    ended: Stop,
    /// The control blocks of the relays, in their order, once they are known.
    names: Arc<OnceLock<Vec<Name>>>,
    tallies: Arc<Tallies>,
    /// Number of a sample; all samples before it were sent.
    sent: Arc<AtomicU64>,
    /// Reason why the conductor could not continue.
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
        self.with_ramp_signal()?.begin(on.into(), recorder, stop)
    }
}

impl TripConfig {
    /// The stream of the far side, if the scenarios have two.
    fn far(&self) -> Option<&StreamSpec> {
        let sides = self.scenarios.first().map_or(1, |scenario| scenario.wave.sides());
        self.others.first().filter(|_| sides > 1)
    }

    /// Either each scenario has two sides, and there is a stream for the far one, or none has.
    fn check_sides(&self) -> Result<(), ProbeError> {
        let sides = self.scenarios.iter().map(|scenario| scenario.wave.sides());
        let of_test = self.type_test.iter().map(|test| test.reference().wave.sides());
        let sides: Vec<usize> = sides.chain(of_test).collect();
        let usage = |problem: &str| Err(ProbeError::Usage(format!("trip: {problem}")));
        match (sides.iter().min(), sides.iter().max()) {
            (Some(least), Some(most)) if least != most => {
                usage("some of the scenarios have two sides and some have one: play them in runs of their own")
            }
            (Some(2), _) if self.others.is_empty() => usage("the scenario has two sides: give --streams 2"),
            _ => Ok(()),
        }
    }

    fn begin(&self, on: Ports, recorder: &mut Recorder, stop: &Stop) -> Result<Running, ProbeError> {
        self.check()?;
        let Ports { stream, goose } = on;
        let shared = Shared {
            tallies: Arc::new(Tallies::of(self.relays.len())),
            ..Shared::default()
        };
        let named = self.relays.iter().map(|relay| relay.goose.as_ref());
        let named: Option<Vec<Name>> = named.map(|goose| Some(Name::of(goose?.as_bytes()))).collect();
        if let Some(names) = named {
            let _ = shared.names.set(names);
        }
        let (to_conductor, heard) = rtrb::RingBuffer::new(HEARD);
        let (exchange, prompter) = script::exchange(&shared.ended);
        let sampling = sampling(&self.stream)?;
        self.trial(&sampling).map_err(|error| refused(&error))?;
        let (opening, wave) = stage::opening(&self.scenarios, &sampling).map_err(|error| refused(&error))?;
        let feed = self.feed(recorder, stream.interface());
        let attendant = stream.attendant(true)?;
        let mut conductor = Conductor {
            config: self.clone(),
            proofs: self.relays.iter().map(|_| proof::Proof::default()).collect(),
            links: stream.links(),
            stage: stage::Stage::new(self, sampling, (Arc::clone(&opening.table), wave), exchange),
            hearing: Hearing::new(heard, Arc::clone(&shared.names), self.relays.clone()),
            groups: self.groups().len(),
            shared: shared.clone(),
            // The conductor's events concern only the series of its own shots.
            events: recorder.events_of(&feed),
            feed,
            stop: stop.clone(),
            start: Monotonic::from_ns(0),
            watched: sys::clock::monotonic(),
            shots: 0,
            faulted: None,
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
        attended(
            running.with(Some(conducting)),
            attendant,
            recorder.events(),
            &shared.ended,
        )
    }

    fn check(&self) -> Result<(), ProbeError> {
        self.check_relays()?;
        self.check_sides()?;
        check_stream(&self.stream)?;
        self.others.iter().try_for_each(check_stream)?;
        let usage = |problem: &str| Err(ProbeError::Usage(format!("trip: {problem}")));
        if self.scenarios.is_empty() || self.shots == 0 {
            return usage("nothing to publish: give at least one scenario and one shot");
        }
        if self.spin_ahead_ns >= 1_000_000_000 / self.stream.frames_per_second() {
            return usage("--spin-ahead must be shorter than the time between frames");
        }
        if let Some(fault) = self.lan_fault {
            let frames = self.stream.frames_per_second() * (1 + self.others.len() as u64);
            fault
                .check(frames)
                .or_else(|problem| usage(&format!("--lan-fault: {problem}")))?;
        }
        if self.lan_fault.is_some() && self.breaker_ns.is_some() {
            return usage(
                "--lan-fault lasts as long as the disturbance, whose end --breaker moves: leave one of them out",
            );
        }
        if !self.security.is_empty() && self.type_test.is_some() {
            return usage("--security uses the fault of a scenario, not of a type test: test it in a separate run");
        }
        if !self.security.is_empty() && !self.scenarios.iter().any(Scenario::wants_trip) {
            return usage("--security uses the fault of the first scenario that has one: give a scenario with a fault");
        }
        if self.relays.len() > 1 && self.type_test.as_ref().is_some_and(|test| test.search().is_some()) {
            return usage(
                "a search chooses its shots by the outcomes of one relay: test each relay in a run of its own",
            );
        }
        if let Some(peer) = &self.peer {
            peer.check(self.settle_ns)?;
            if self.type_test.is_some() || !self.security.is_empty() || self.scenarios.len() > 1 {
                return usage(
                    "--peer has shots of its own, with one scenario: leave out --type-test, --security and further scenarios",
                );
            }
            if self.relays.iter().any(|relay| relay.goose.is_none()) {
                return usage("--peer needs the name of the relay's GOOSE (--goose)");
            }
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
        let near = Arc::new(opening.table.side(0, &sampling(&self.stream)?.dataset));
        let stream = |spec: &StreamSpec, seen: &str| StreamConfig {
            spec: spec.clone(),
            waveform: Arc::new(Waveform::of(Arc::clone(&near), seen.to_owned())),
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
        let steady = &others[usize::from(self.far().is_some())..];
        let others = Batch::new(steady, Mac(port.mac()), port.wrapper())?;
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
                lans: Lans::of(&port, None),
                routed: port.routed(),
                port,
                receive: self.receive,
                gather_ns: None,
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
        // The CPU of the conductor has no influence on a trip.
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
