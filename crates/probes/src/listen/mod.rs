//! Receives paced streams, as an AVB listener does, and measures the time between their frames.
//!
//! *Listener delta* is the time between two consecutive frames of one stream, by the kernel's receive stamps. A frame is late
//! when its delta is more than `late_after_ns` (one and a half intervals), and, behind a gap in the sequence numbers, more than
//! that and one interval for each missing frame: so loss and lateness are told apart. Missing frames are counted as lost; their
//! gap is in the delta all the same. Duplicates are counted and leave the delta alone.
//!
//! Streams of `talk` carry a 64-bit sequence number and a session in every framing: each frame is accounted for, a talker
//! that starts again is noticed and is no loss, and frames before the first and after the last one that came are known to be
//! missing. Other AVTP streams have a counter of 8 bits: a loss of 256 frames, or a multiple, is not seen in it; the delta shows
//! it. Other SV streams have smpCnt, and the time: a silence costs the frames that were due in it; a jump of half a second or more
//! that the time does not explain is taken as a new start.
//!
//! Hooks: AF_PACKET on one interface. Produces: `listen/STREAM` (listener delta, with the stream's counters),
//! `delivery/listen` (kernel receive stamp -> application has the frame, of all streams). Needs: `CAP_NET_RAW`; `CAP_SYS_NICE`
//! for a real-time policy.

mod decode;
mod notice;
mod order;
mod receiver;
mod series;
mod stream;

use crate::error::ProbeError;
use crate::framing::Framing;
use crate::hot::{HotThread, Running};
use crate::need::{Need, of_port};
use crate::nic::ReceiveStamps;
use crate::port::Port;
use crate::probe::{About, Probe};
use crate::reception::Receive;
use model::kind;
use run::{Recorder, Stop};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use sys::packet::PortOptions;
use sys::thread::Policy;
use units::Period;

/// How streams are to be received.
#[derive(Debug, Clone)]
pub struct ListenConfig {
    /// Time between the frames of every stream.
    pub period: Period,
    /// Frames that come later than this after the one before are late.
    pub late_after_ns: u64,
    /// Only streams of this framing; `None` takes all.
    pub framing: Option<Framing>,
    /// Most streams told apart; further ones are counted and reported, not measured.
    pub max_streams: u16,
    /// Maker of the time stamps; the port must have been opened for it.
    pub stamps: ReceiveStamps,
    /// How to wait for frames.
    pub receive: Receive,
    /// How long to receive; `None` until told to stop.
    pub duration_ns: Option<u64>,
    /// Scheduling policy.
    pub policy: Policy,
    /// CPU to run on.
    pub cpu: Option<u32>,
    /// Second part of the series' names, before the stream's.
    pub label: Option<String>,
    /// Samples of `listen/*` above are counted as overflow and kept as spikes.
    pub threshold_ns: Option<u64>,
}

impl ListenConfig {
    /// Up to 16 streams of any framing with one frame every `period`, late after one and a half, blocking, at normal
    /// priority, until told to stop.
    pub fn every(period: Period) -> Self {
        Self {
            period,
            late_after_ns: period.whole_ns() + period.whole_ns() / 2,
            framing: None,
            max_streams: 16,
            stamps: ReceiveStamps::Software,
            receive: Receive::Block,
            duration_ns: None,
            policy: Policy::Other,
            cpu: None,
            label: None,
            threshold_ns: None,
        }
    }
}

/// Frames that the ring holds: half a second of a stream at 125 us.
const RING_FRAMES: usize = 4_096;

/// Octets kept of a frame: everything that is looked at lies well before.
const FRAME_BYTES: usize = 512;

/// Streams at the configured interval that the recorder's ring is sized for, at two records a frame.
const STREAMS_IN_RING: u64 = 4;

/// How the packet socket for this probe is to be opened: every frame of the framings, whatever its destination.
pub fn port_options(framing: Option<Framing>) -> PortOptions {
    let all = [Framing::Test, Framing::Avtp, Framing::Sv];
    let wanted = all.into_iter().filter(|one| framing.is_none_or(|only| only == *one));
    PortOptions {
        ethertypes: wanted.map(Framing::ether_type).collect(),
        ring_frames: RING_FRAMES,
        frame_bytes: FRAME_BYTES,
        promiscuous: true,
        ..PortOptions::default()
    }
}

/// A listener under way.
#[derive(Debug)]
pub struct Listening {
    /// Its thread.
    pub running: Running,
    /// Frames of streams received so far.
    pub frames: Arc<AtomicU64>,
}

/// Facts known about this probe before it runs.
pub static ABOUT: About = About {
    name: "listen",
    words: "listen",
    what: "A paced stream as it comes: one frame -> the next.",
    kinds: &[&kind::LISTEN, &kind::DELIVERY],
    page: "guide/talk-listen.md",
};

impl Probe for ListenConfig {
    const ABOUT: &'static About = &ABOUT;
    type On = Port;
    type Started = Listening;

    fn needs(&self) -> Vec<Need> {
        of_port(self.policy, self.cpu)
    }

    fn start(&self, on: impl Into<Port>, recorder: &mut Recorder, stop: &Stop) -> Result<Listening, ProbeError> {
        let mut port = on.into();
        if self.max_streams == 0 {
            return Err(ProbeError::Usage(
                "listen: no stream: use --max-streams 1 or more".into(),
            ));
        }
        port.follow_nic(recorder)?;
        let describe = Box::new(series::Listen::of(self, &port));
        let per_second = STREAMS_IN_RING * 2 * 1_000_000_000 / self.period.whole_ns();
        let slots = usize::from(self.max_streams) + 1;
        let mut feed = recorder.feed(crate::hot::capacity(per_second), slots, describe);
        feed.announce(series::DELIVERY, "listen");
        let frames = Arc::new(AtomicU64::new(0));
        let mut receiver = receiver::Receiver::new(self, port, stop.clone(), Arc::clone(&frames));
        let thread = HotThread::new(
            "listen",
            self.policy,
            self.cpu,
            feed,
            Box::new(move |_, feed| receiver.run(feed)),
        );
        Ok(Listening {
            running: Running::start(vec![thread], sys::clock::monotonic)?,
            frames,
        })
    }
}
