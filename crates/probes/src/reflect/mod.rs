//! Layer-2 round trip: initiator's clock just before the send call -> matching sequence number received.
//!
//! The reflector swaps the MAC addresses and returns the frame at once, so this is an *immediate-reflect* round trip, the
//! quantity that DPDK's l2reflect reports. It is not halved. Paced (one frame each interval) or back to back.
//!
//! Hooks: AF_PACKET on one interface. Produces: `rtt/reflect` (initiator), `turnaround/reflect` (reflector).
//! Needs: `CAP_NET_RAW`; `CAP_SYS_NICE` for a real-time policy.

mod initiator;
mod reflector;
mod series;
mod tracker;

use crate::error::ProbeError;
use crate::hot::{Body, HotThread, Running};
use crate::record::Recorder;
use crate::rest::Rest;
use crate::stop::Stop;
use sys::packet::{PacketPort, PortOptions};
use sys::thread::{Policy, RtThread};
use wire::ether::Mac;

/// Which end of the round trip.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// Sends, and measures.
    Initiator,
    /// Returns.
    Reflector,
}

/// How a thread waits for a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Receive {
    /// Looks at the ring without pause: the network path alone.
    Spin,
    /// Sleeps in the kernel until a frame comes: the wake-up that a real application pays is part of the figure.
    Block,
}

impl Receive {
    /// The word for it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Spin => "spin",
            Self::Block => "block",
        }
    }
}

/// How a round trip is to be measured.
#[derive(Debug, Clone)]
pub struct ReflectConfig {
    /// Which end this is.
    pub role: Role,
    /// Where the initiator sends to; until the first answer has shown the reflector's address, broadcast if not given.
    pub peer: Option<Mac>,
    /// Time between sends; 0 sends again as soon as the answer is there.
    pub interval_ns: u64,
    /// Length of the frames without FCS, 60 to 9000.
    pub frame_bytes: usize,
    /// How long to measure; `None` until told to stop.
    pub duration_ns: Option<u64>,
    /// An answer that took longer is counted as late.
    pub late_after_ns: u64,
    /// How to wait for frames.
    pub receive: Receive,
    /// Scheduling policy.
    pub policy: Policy,
    /// CPU to run on.
    pub cpu: Option<u32>,
    /// Pauses that keep a spinning real-time thread from being throttled by the kernel.
    pub rest: Rest,
    /// Samples above are counted as overflow and kept as spikes.
    pub threshold_ns: Option<u64>,
}

/// Shortest and longest frames, without FCS.
pub use wire::test_frame::{MAX_OCTETS as LONGEST_FRAME, MIN_OCTETS as SHORTEST_FRAME};

/// How the packet socket for this probe is to be opened.
pub fn port_options(frame_bytes: usize) -> PortOptions {
    PortOptions {
        ethertypes: vec![wire::test_frame::ETHER_TYPE],
        ring_frames: 1_024,
        frame_bytes: frame_bytes.max(128),
        promiscuous: false,
        multicast: Vec::new(),
        qdisc_bypass: false,
        ..PortOptions::default()
    }
}

/// Starts one end on `port`; it runs until its duration is over or `stop` is set.
///
/// # Errors
/// A setting that cannot be, or what the kernel refused, before anything was measured.
pub fn start(
    config: &ReflectConfig,
    port: PacketPort,
    recorder: &mut Recorder,
    stop: &Stop,
) -> Result<Running, ProbeError> {
    check(config, &port)?;
    let describe = Box::new(series::Reflect::of(config, &port));
    let mut feed = recorder.feed(capacity(config), 1, describe);
    feed.announce(0, "reflect");
    if let Some(cpu) = config.cpu {
        feed.set_cpu(cpu);
    }
    let (config, stop) = (config.clone(), stop.clone());
    let real_time = RtThread {
        policy: config.policy,
        cpu: config.cpu,
        stack_bytes: crate::hot::STACK_BYTES,
    };
    let (name, body): (&str, Body) = match config.role {
        Role::Initiator => {
            let mut end = initiator::Initiator::new(config, port, stop);
            ("initiator", Box::new(move |start, feed| end.run(start, feed)))
        }
        Role::Reflector => {
            let mut end = reflector::Reflector::new(config, port, stop);
            ("reflector", Box::new(move |_, feed| end.run(feed)))
        }
    };
    let thread = HotThread {
        name: name.into(),
        real_time,
        body,
        feed,
    };
    Running::start(vec![thread], || sys::clock::monotonic() + LEAD_NS)
}

/// Time between the thread being ready and its first frame.
const LEAD_NS: i64 = 10_000_000;

fn check(config: &ReflectConfig, port: &PacketPort) -> Result<(), ProbeError> {
    let frame = config.frame_bytes;
    if !(SHORTEST_FRAME..=LONGEST_FRAME).contains(&frame) {
        return Err(ProbeError::Usage(format!(
            "reflect: a frame of {frame} octets cannot be: use {SHORTEST_FRAME} to {LONGEST_FRAME}"
        )));
    }
    let room = usize::try_from(port.mtu())
        .unwrap_or(usize::MAX)
        .saturating_add(wire::ether::HEADER);
    if frame > room {
        return Err(ProbeError::Usage(format!(
            "reflect: a frame of {frame} octets does not fit {}: its MTU of {} allows {room}",
            port.interface(),
            port.mtu()
        )));
    }
    Ok(())
}

/// Back to back, a fast path answers in about a microsecond.
const FASTEST_BACK_TO_BACK_NS: u64 = 2_000;

fn capacity(config: &ReflectConfig) -> usize {
    let interval_ns = if config.interval_ns == 0 {
        FASTEST_BACK_TO_BACK_NS
    } else {
        config.interval_ns
    };
    crate::hot::capacity(1_000_000_000 / interval_ns)
}
