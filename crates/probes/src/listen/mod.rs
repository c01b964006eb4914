//! Receives paced streams, as an AVB listener does, and measures the time between their frames.
//!
//! *Listener delta* is the time between two consecutive frames of one stream, by the kernel's receive stamps. A frame is late if
//! its delta is more than `late_after_ns` (one and a half intervals). After a gap in the sequence numbers, one more interval is
//! allowed for each missing frame, so that a lost frame does not count as a late one. Missing frames are counted as lost; their
//! gap is still part of the delta. Duplicates are counted and do not change the delta.
//!
//! Streams of `talk` carry a 64-bit sequence number and a session in every framing: each frame is accounted for, a restart of the
//! talker is noticed and is not a loss, and frames missing before the first or after the last received one are counted. Other
//! AVTP streams have a counter of 8 bits: it cannot show a loss of a multiple of 256 frames; the delta shows it. Other SV streams
//! have smpCnt, and the time is used, too: during a silence the frames due are lost; a jump of half a second or more that does
//! not fit the elapsed time is treated as a new start.
//!
//! With stamps of the NIC, frames of an SR class (priority 3 or 2) are also judged by the credit of the shaper at the other end of the
//! wire: `credit/STREAM`.
//!
//! Hooks: AF_PACKET on one interface. Produces: `listen/STREAM` (listener delta, with the stream's counters) and, for all streams
//! together, `delivery/listen` (kernel receive stamp -> application has the frame). Needs: `CAP_NET_RAW`; `CAP_SYS_NICE` for a
//! real-time policy.

mod decode;
mod notice;
mod order;
mod receiver;
mod series;
mod stream;

use crate::credit::Allowed;
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

/// Settings of the reception.
#[derive(Debug, Clone)]
pub struct ListenConfig {
    /// Time between the frames of every stream.
    pub period: Period,
    /// Largest delta of a frame that is not late, in ns.
    pub late_after_ns: u64,
    /// Only streams of this framing; `None` takes all.
    pub framing: Option<Framing>,
    /// Maximum number of streams to track; further ones are counted and reported, not measured.
    pub max_streams: u16,
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
    /// Second part of the series' names, before the name of the stream.
    pub label: Option<String>,
    /// Samples of `listen/*` above this are counted as overflow and kept as spikes.
    pub threshold_ns: Option<u64>,
}

impl ListenConfig {
    /// Up to 16 streams of any framing with one frame every `period`, late after one and a half periods; blocking, at normal
    /// priority, until a stop is requested.
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

impl ListenConfig {
    /// Credit by which frames of the SR classes are judged. The kernel stamps frames when it gets round to them, so that a frame
    /// after a late stamp seems early.
    fn allowed(&self, port: &Port) -> Result<Allowed, String> {
        match self.stamps {
            ReceiveStamps::Software => Err("it needs the stamps of the NIC (--stamps hardware)".into()),
            ReceiveStamps::Hardware => Allowed::receiving(port),
        }
    }
}

/// Number of frames in the ring: half a second of a stream at 125 us.
const RING_FRAMES: usize = 4_096;

/// Bytes kept of each frame; all fields that are read come well before that.
const FRAME_BYTES: usize = 512;

/// Number of streams at the configured interval that the recorder's ring has room for, at three records a frame.
const STREAMS_IN_RING: u64 = 4;

/// Options of the packet socket of this probe: every frame of the framings, whatever its destination.
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

/// A running listener.
#[derive(Debug)]
pub struct Listening {
    /// The receiving thread.
    pub running: Running,
    /// Number of frames of streams received so far.
    pub frames: Arc<AtomicU64>,
}

/// Description of this probe, independent of its settings.
pub static ABOUT: About = About {
    name: "listen",
    words: "listen",
    what: "A paced stream as it arrives: one frame -> the next.",
    kinds: &[&kind::LISTEN, &kind::DELIVERY, &kind::CREDIT],
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
        let allowed = self.allowed(&port);
        let describe = Box::new(series::Listen::of(self, &port, &allowed));
        let per_second = STREAMS_IN_RING * 3 * 1_000_000_000 / self.period.whole_ns();
        let streams = usize::from(self.max_streams);
        let slots = 1 + streams + if allowed.is_ok() { streams } else { 0 };
        let mut feed = recorder.feed(crate::hot::capacity(per_second), slots, describe);
        feed.announce(series::DELIVERY, "listen");
        let frames = Arc::new(AtomicU64::new(0));
        let mut receiver = receiver::Receiver::new(self, port, stop.clone(), Arc::clone(&frames), allowed.is_ok());
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
