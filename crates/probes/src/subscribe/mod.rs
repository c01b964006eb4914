//! Receives sampled values as a protection application does, and accounts for every sample of every stream.
//!
//! Hooks: AF_PACKET on one interface. Produces, per stream: `spacing/ID` (time between frames at the kernel) and, if the clock
//! relation to the publisher is known, `arrival/ID` (sample's due instant -> kernel receive stamp) and `age/ID` (sample's due
//! instant -> application has it). For all streams together: `delivery/subscribe` (kernel receive stamp -> application has the
//! frame). Every series of a stream carries the stream's counters. Needs: `CAP_NET_RAW`; `CAP_SYS_NICE` for a real-time policy.
//!
//! Expected streams have their series from the start: if one never comes, or stops, its due samples are lost. GOOSE messages on
//! the port are supervised as well. Per control block: `goose/REF` (time between messages at the kernel; its counters: lost
//! messages, duplicates, reordered, and late = expiries of timeAllowedtoLive) and, with a clock relation, `goose-transfer/REF`
//! (`t` of a change of state -> application has its first message).
//!
//! One-way figures require two clocks that agree. Without a stated relation they are not measured, since they could be wrong.

mod expected;
mod goose;
mod inputs;
mod instants;
mod key;
mod lans;
mod notice;
mod proofs;
#[cfg(test)]
mod proved_tests;
mod receiver;
mod recording;
mod series;
mod stream;
mod table;
#[cfg(test)]
mod tests;
mod unread;

use crate::error::ProbeError;
use crate::hot::{HotThread, Running};
use crate::need::{Need, of_port};
use crate::nic::ReceiveStamps;
use crate::port::Port;
use crate::probe::{About, Probe};
use crate::reception::Receive;
use crate::redundant::attended;
use crate::sender::SenderEnd;
pub(crate) use expected::id as id_of;
pub use goose::SuperviseConfig;
pub(crate) use goose::is_goose;
use model::{SeriesSpec, kind, setting};
pub(crate) use receiver::{Ages, Receiver, Taker};
use run::{Describe, Feed, Recorder, Stop};
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use streamset::StreamSpec;
use sys::packet::PortOptions;
use sys::thread::Policy;
use units::Ns;
pub use unread::say_unread;
use wire::redundancy::{Lan, SUPERVISION};

/// Relation of the publisher's clock to this machine's `CLOCK_REALTIME`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ClockRelation {
    /// The publisher runs on this machine: one clock, no uncertainty.
    SameHost,
    /// Both clocks follow one PTP grandmaster.
    Ptp {
        /// Largest difference between the clocks, in ns, as stated by the user; `None` takes it from the series `clock/*` of the
        /// same run.
        stated_ns: Option<u64>,
        /// The publisher's share of the difference, in ns, if the rest is measured.
        publisher_ns: u64,
    },
    /// The publisher's machine was asked for its time.
    Within {
        /// Largest possible difference between the clocks, in ns.
        ns: u64,
    },
    /// Not known: one-way figures are not measured.
    Unknown,
}

impl ClockRelation {
    /// Description in words, for the report.
    pub fn describe(self) -> String {
        match self {
            Self::SameHost => "publisher on the same host: one clock".into(),
            Self::Ptp {
                stated_ns: Some(ns), ..
            } => format!("both clocks follow PTP, stated to agree within {}", Ns(ns)),
            Self::Ptp {
                stated_ns: None,
                publisher_ns,
            } => format!(
                "both clocks follow PTP: this one's distance is measured, the publisher's stated to be within {}",
                Ns(publisher_ns)
            ),
            Self::Within { ns } => format!(
                "the publisher's machine was asked for its time: the clocks agree within {}",
                Ns(ns)
            ),
            Self::Unknown => "not known: no one-way figures".into(),
        }
    }

    /// True if instants of the two clocks may be subtracted.
    pub(crate) fn is_known(self) -> bool {
        self != Self::Unknown
    }

    /// Settings of a one-way series that the verdict needs about the relation.
    fn settings(self) -> Vec<(String, String)> {
        let (stated_ns, publisher_ns) = match self {
            Self::Ptp {
                stated_ns,
                publisher_ns,
            } => (stated_ns, publisher_ns),
            Self::Within { ns } => (Some(ns), 0),
            Self::SameHost | Self::Unknown => return Vec::new(),
        };
        let uncertainty = stated_ns.map_or_else(|| setting::MEASURED.to_owned(), |ns| ns.to_string());
        let mut settings = vec![(setting::CLOCK_UNCERTAINTY_NS.to_owned(), uncertainty)];
        if stated_ns.is_none() {
            settings.push((setting::PUBLISHER_UNCERTAINTY_NS.to_owned(), publisher_ns.to_string()));
        }
        settings
    }
}

/// A relay that receives the frames.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ForRelay {
    /// Name of the relay.
    pub name: String,
    /// True if its task polls the frames once a cycle; false if a thread waits for them.
    pub by_task: bool,
    /// For a waiting thread: after a frame has woken it, more are awaited for this long before any is read.
    pub gather_ns: Option<u64>,
    /// References of the control blocks that it uses as inputs.
    pub inputs: Vec<String>,
}

/// Settings of the reception of sampled values.
#[derive(Debug, Clone)]
pub struct SubscribeConfig {
    /// Samples a second of every stream; `None` learns the rate from the wrap of smpCnt.
    pub rate: Option<u32>,
    /// Maximum number of streams to track; further ones are counted and reported, not measured.
    pub max_streams: u16,
    /// Expected streams. If one never comes, or stops, its due samples are lost; every other stream is reported.
    pub expected: Vec<StreamSpec>,
    /// Relation of the clocks.
    pub clock: ClockRelation,
    /// Source of the time stamps; the port must have been opened for it.
    pub stamps: ReceiveStamps,
    /// Method of waiting for frames.
    pub receive: Receive,
    /// Duration of the reception; `None` receives until a stop is requested.
    pub duration_ns: Option<u64>,
    /// Scheduling policy.
    pub policy: Policy,
    /// CPU to run on.
    pub cpu: Option<u32>,
    /// Settings of the supervision of GOOSE control blocks.
    pub goose: SuperviseConfig,
    /// Samples of `age/*` above this are counted as overflow and kept as spikes.
    pub threshold_ns: Option<u64>,
    /// True to keep every sample with its stamps in the run file.
    pub record: bool,
    /// End of the publisher in the same run: streams that end with it have not stopped.
    pub sender: SenderEnd,
    /// The relay that receives the frames.
    pub relay: Option<ForRelay>,
    /// Series names of the expected streams, in their order, if other devices of the run receive the same streams; otherwise the
    /// series have the names of the streams.
    pub labels: Vec<String>,
}

impl SubscribeConfig {
    /// Name of the relay that receives the frames.
    fn taker(&self) -> &str {
        self.relay.as_ref().map_or("subscribe", |relay| &relay.name)
    }

    /// Name of the series of a LAN: a device beside others of the run has its own.
    fn name_of(&self, lan: Lan) -> String {
        match self.labels.is_empty() {
            true => lan.letter().to_string(),
            false => format!("{}-{}", self.taker(), lan.letter()),
        }
    }

    /// True if the task of a relay polls the frames.
    fn is_by_task(&self) -> bool {
        self.relay.as_ref().is_some_and(|relay| relay.by_task)
    }
}

impl Default for SubscribeConfig {
    /// Up to 32 streams with learned rates, clocks without a relation; blocking, at normal priority, until a stop is requested.
    fn default() -> Self {
        Self {
            rate: None,
            max_streams: 32,
            expected: Vec::new(),
            clock: ClockRelation::Unknown,
            stamps: ReceiveStamps::Software,
            receive: Receive::Block,
            duration_ns: None,
            policy: Policy::Other,
            cpu: None,
            goose: SuperviseConfig::default(),
            threshold_ns: None,
            record: false,
            sender: SenderEnd::default(),
            relay: None,
            labels: Vec::new(),
        }
    }
}

/// Number of frames that 500 streams send in 8 ms: the longest stall that must lose no frame on this socket.
const RING_FRAMES: usize = 16_384;

/// Bytes kept of each frame: the largest SV frame fits.
const FRAME_BYTES: usize = 1_600;

/// Options of the packet socket of this probe: every SV and GOOSE frame, whatever its destination.
pub fn port_options() -> PortOptions {
    PortOptions {
        ethertypes: vec![wire::ether::SV, wire::ether::GOOSE],
        hidden: true,
        ring_frames: RING_FRAMES,
        frame_bytes: FRAME_BYTES,
        promiscuous: true,
        ..PortOptions::default()
    }
}

/// Same as [`port_options`], for the port of one of two LANs: supervision frames as well.
pub fn lan_port_options() -> PortOptions {
    let mut options = port_options();
    options.ethertypes.push(SUPERVISION);
    options
}

/// Limit of a reception from two LANs that is judged by a profile, as TOML. `of` names some of the LANs of a run with several receivers; `None`: all.
/// Streams lose nothing while one LAN is dead, so a profile for streams alone would pass without any redundancy.
pub fn lan_limit(of: Option<&JudgedLans>) -> String {
    let (id, series) = match of {
        None => (String::new(), "lan/*"),
        Some(of) => (format!(".{}", of.name), of.series.as_str()),
    };
    format!(
        r#"[[limit]]
id = "redundancy.lost{id}"
series = "{series}"
quantity = "lost"
allowed = 0
source = "IEC 62439-3: a node sends each frame on both LANs"
why = "A frame that one LAN loses harms nobody as long as the other one carries it. With a LAN that loses frames, the next fault is not covered."

"#
    )
}

/// LANs that one limit judges.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JudgedLans {
    /// Their name in the limit's.
    pub name: String,
    /// Their series, as a limit names them.
    pub series: String,
}

/// Records a second that the recorder's ring has room for: 50 000 frames/s with three records each. For 20 streams at 4800
/// samples/s, two in a frame, the ring of 19 MB holds 4.2 s.
const RECORDS_PER_SECOND: u64 = 150_000;

/// A running subscriber.
#[derive(Debug)]
pub struct Subscription {
    /// The receiving thread.
    pub running: Running,
    /// Number of SV frames and GOOSE messages accepted so far.
    pub frames: Arc<AtomicU64>,
}

/// Description of this probe, independent of its settings.
pub static ABOUT: About = About {
    name: "subscribe",
    words: "subscribe",
    what: "Sampled values and GOOSE as they arrive: loss, order, spacing, and due instant -> the application has them.",
    kinds: &[
        &kind::AGE,
        &kind::ARRIVAL,
        &kind::DELIVERY,
        &kind::SPACING,
        &kind::GOOSE,
        &kind::GOOSE_TRANSFER,
        &kind::LAN,
    ],
    page: "guide/sampled-values.md",
};

impl Probe for SubscribeConfig {
    const ABOUT: &'static About = &ABOUT;
    type On = Port;
    type Started = Subscription;

    fn needs(&self) -> Vec<Need> {
        of_port(self.policy, self.cpu)
    }

    fn start(&self, on: impl Into<Port>, recorder: &mut Recorder, stop: &Stop) -> Result<Subscription, ProbeError> {
        let frames = Arc::new(AtomicU64::new(0));
        let port = on.into();
        let attendant = port.attendant(false)?;
        let (mut receiver, feed) = receiver(self, port, &frames, recorder, stop)?;
        let thread = HotThread::new(
            "subscribe",
            self.policy,
            self.cpu,
            feed,
            Box::new(move |_, feed| receiver.run(&mut (), feed)),
        );
        let running = Running::start(vec![thread], sys::clock::monotonic)?;
        Ok(Subscription {
            running: attended(running, attendant, recorder.events(), stop)?,
            frames,
        })
    }
}

/// Makes the receiver, which has not started yet, and the feed for its samples. `frames` counts the accepted frames.
pub(crate) fn receiver(
    config: &SubscribeConfig,
    mut port: Port,
    frames: &Arc<AtomicU64>,
    recorder: &mut Recorder,
    stop: &Stop,
) -> Result<(Receiver, Feed), ProbeError> {
    check(config)?;
    port.follow_nic(recorder)?;
    let lans = if port.is_redundant() { Lan::BOTH.as_slice() } else { &[] };
    let slots = usize::from(series::lan_slot(config)) + lans.len();
    let describe = Box::new(series::Subscribe::of(config, &port));
    let mut feed = recorder.feed(crate::hot::capacity(RECORDS_PER_SECOND), slots, describe);
    if config.record {
        feed.set_tape(recorder.tape(recording::TAPE_FRAMES, &recording::POINTS));
    }
    feed.announce(series::DELIVERY, config.taker());
    for (slot, lan) in (series::lan_slot(config)..).zip(lans) {
        feed.announce(slot, &config.name_of(*lan));
    }
    let awaited = expected::awaited(config);
    for stream in &awaited {
        stream.announce(&mut feed);
    }
    let receiver = Receiver::new(config.clone(), awaited, port, stop.clone(), Arc::clone(frames));
    Ok((receiver, feed))
}

/// Series of the age of samples when the relay's task works on them, if another thread receives them.
pub(crate) struct Uses(series::Subscribe);

impl Uses {
    /// Series for the expected streams, whose frames are received through `port`.
    pub(crate) fn of(config: &SubscribeConfig, port: &Port) -> Self {
        Self(series::Subscribe::of(config, port))
    }

    /// Makes the series, one for each stream from slot `first` on, if the relation of the clocks is known.
    pub(crate) fn announce(config: &SubscribeConfig, first: u16, feed: &mut Feed) {
        let known = config.expected.iter().filter(|_| config.clock.is_known());
        for (slot, expected) in (first..).zip(known) {
            feed.announce_stream(slot, &expected::id(expected));
        }
    }

    /// Slot of stream number `stream`.
    pub(crate) fn series(&self, stream: u16, label: &str) -> SeriesSpec {
        self.0.series(series::slot(stream, series::Family::Age), label)
    }
}

fn check(config: &SubscribeConfig) -> Result<(), ProbeError> {
    if config.max_streams == 0 {
        return Err(ProbeError::Usage(
            "subscribe: no stream: use --max-streams 1 or more".into(),
        ));
    }
    if config.expected.len() > usize::from(config.max_streams) {
        return Err(ProbeError::Usage(format!(
            "subscribe: {} streams are expected: use --max-streams {} or more",
            config.expected.len(),
            config.expected.len()
        )));
    }
    if config.goose.expected.len() > usize::from(config.goose.max_blocks) {
        return Err(ProbeError::Usage(format!(
            "subscribe: {} GOOSE control blocks are expected, but the limit is {}: use a higher --max-control-blocks",
            config.goose.expected.len(),
            config.goose.max_blocks
        )));
    }
    Ok(())
}
