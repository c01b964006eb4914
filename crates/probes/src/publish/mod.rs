//! Publishes sampled-value streams as merging units do: on an absolute grid aligned to the second.
//!
//! smpCnt 0 is the sample at the top of the second of the wall clock. A frame is due at the instant of its last sample, and
//! all streams are due together, as synchronised merging units are. When the thread overruns, the frames it slept through
//! are `missed`: not sent, so that a subscriber sees them as lost, and never sent as a burst.
//!
//! Hooks: AF_PACKET on one interface, one sendmmsg per due instant. Produces: `publish/lateness`.
//! Needs: `CAP_NET_RAW`; `CAP_SYS_NICE` for a real-time policy.

mod sender;
mod series;
mod streams;
mod waveform;

use crate::error::ProbeError;
use crate::hot::{HotThread, Running};
use crate::port::Port;
use crate::record::Recorder;
use crate::stop::Stop;
use sys::packet::PortOptions;
use sys::thread::{Policy, RtThread};
use units::Monotonic;
use wire::ether::{Mac, VlanTag};

/// What is to be published.
#[derive(Debug, Clone)]
pub struct PublishConfig {
    /// Number of streams.
    pub streams: u16,
    /// Samples a second of each stream.
    pub rate: u32,
    /// ASDUs in a frame, 1 to 8.
    pub asdus: u8,
    /// svID of stream n is this and a number of two or more digits from 01.
    pub sv_id_prefix: String,
    /// APPID of every stream.
    pub appid: u16,
    /// Destination of the first stream; the last octets count up from stream to stream.
    pub destination: Mac,
    /// 802.1Q tag.
    pub vlan: Option<VlanTag>,
    /// confRev of every stream.
    pub conf_rev: u32,
    /// smpSynch of every stream.
    pub smp_synch: u8,
    /// Simulation bit of every stream.
    pub simulate: bool,
    /// Sleep until this long before the due instant, then spin.
    pub spin_ahead_ns: u64,
    /// How long to publish; `None` until told to stop.
    pub duration_ns: Option<u64>,
    /// Scheduling policy.
    pub policy: Policy,
    /// CPU to run on.
    pub cpu: Option<u32>,
    /// Samples above are counted as overflow and kept as spikes.
    pub threshold_ns: Option<u64>,
}

impl Default for PublishConfig {
    /// One 9-2LE stream of 4800 samples a second, `MU01`, at normal priority, until told to stop.
    fn default() -> Self {
        Self {
            streams: 1,
            rate: 4_800,
            asdus: 1,
            sv_id_prefix: "MU".into(),
            appid: 0x4000,
            destination: Mac([0x01, 0x0c, 0xcd, 0x04, 0x00, 0x01]),
            vlan: None,
            conf_rev: 1,
            smp_synch: 2,
            simulate: false,
            spin_ahead_ns: 0,
            duration_ns: None,
            policy: Policy::Other,
            cpu: None,
            threshold_ns: None,
        }
    }
}

impl PublishConfig {
    /// Frames a second of each stream.
    pub fn frames_per_second(&self) -> u64 {
        u64::from(self.rate) / u64::from(self.asdus.max(1))
    }
}

/// The rates that smpCnt can count and a second holds a whole number of frames of.
const HIGHEST_RATE: u32 = 15_360;

/// Time before the first second that is published: the threads get ready in it.
const LEAD_NS: i64 = 200_000_000;

/// A port that only sends: it costs the receive path nothing.
pub fn port_options() -> PortOptions {
    PortOptions {
        ring_frames: 0,
        ..PortOptions::default()
    }
}

/// Starts publishing on `port`; runs until its duration is over or `stop` is set.
///
/// # Errors
/// A setting that cannot be, or what the kernel refused, before anything was sent.
pub fn start(
    config: &PublishConfig,
    port: impl Into<Port>,
    recorder: &mut Recorder,
    stop: &Stop,
) -> Result<Running, ProbeError> {
    check(config)?;
    let port = port.into();
    let streams = streams::Streams::new(config, Mac(port.mac()))?;
    let describe = Box::new(series::Publish::of(config, &port));
    let mut feed = recorder.feed(crate::hot::capacity(config.frames_per_second()), 1, describe);
    feed.announce(0, "lateness");
    if let Some(cpu) = config.cpu {
        feed.set_cpu(cpu);
    }
    let mut sender = sender::Sender::new(config.clone(), port, streams, stop.clone());
    let thread = HotThread {
        name: "publish".into(),
        real_time: RtThread {
            policy: config.policy,
            cpu: config.cpu,
            stack_bytes: crate::hot::STACK_BYTES,
        },
        body: Box::new(move |start, feed| sender.run(start, feed)),
        feed,
        own_files: false,
    };
    Running::start(vec![thread], next_second)
}

/// The instant of the next full second of the wall clock that leaves time to get ready.
pub(crate) fn next_second() -> Monotonic {
    let pair = sys::clock::pair();
    let earliest = pair.realtime.as_ns() + LEAD_NS;
    let second = earliest.div_euclid(1_000_000_000) + 1;
    pair.monotonic + (second * 1_000_000_000 - pair.realtime.as_ns())
}

fn check(config: &PublishConfig) -> Result<(), ProbeError> {
    let usage = |message: String| Err(ProbeError::Usage(message));
    if config.streams == 0 {
        return usage("publish: no stream: use --streams 1 or more".into());
    }
    if config.rate == 0 || config.rate > HIGHEST_RATE {
        return usage(format!(
            "publish: {} samples a second cannot be: use 1 to {HIGHEST_RATE}",
            config.rate
        ));
    }
    if !(1..=8).contains(&config.asdus) || !config.rate.is_multiple_of(u32::from(config.asdus)) {
        return usage(format!(
            "publish: {} ASDUs in a frame cannot be: use 1 to 8, a divisor of the rate {}",
            config.asdus, config.rate
        ));
    }
    if config.spin_ahead_ns >= 1_000_000_000 / config.frames_per_second() {
        return usage("publish: --spin-ahead must be shorter than the time between frames".into());
    }
    Ok(())
}
