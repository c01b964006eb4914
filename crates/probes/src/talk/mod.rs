//! Sends one frame each interval, as an AVB talker does, and measures how late each one is.
//!
//! The thread sleeps until `spin_ahead_ns` before the due instant, then spins, and sends one frame. *Talker delta* is the instant
//! just before the send call minus the due instant; a frame is late if that is more than `late_after_ns`. If later due instants
//! have passed meanwhile, those cycles are missed: no frame is sent for them.
//!
//! With launch times, the thread wakes this long before the due instant and hands the frame over with the due instant as its
//! launch time: the queueing discipline or the NIC sends it. The series then shows the lateness of the hand-over.
//!
//! Every frame carries the fields of a test frame, so that `listen` accounts for each one with every framing. Frames of the
//! warm-up, and those sent for 15 ms after the last frame, are marked: from the marks a listener knows whether the first or the
//! last frames are missing.
//!
//! Hooks: AF_PACKET on one interface, one send call each interval. Produces: `talk/LABEL` (talker delta), `send/LABEL` (the send
//! call), with stamps `departure/LABEL` (due instant -> the driver has the frame, or the NIC has sent it), and on a port with one
//! credit-based shaper `credit/LABEL` (how far a frame was sent before the shaper has the credit for it). Needs: `CAP_NET_RAW`; `CAP_SYS_NICE` for a real-time policy; `CAP_NET_ADMIN` and an ETF queueing discipline for launch times.

mod frame;
mod options;
pub mod search;
mod sender;
mod series;

pub use frame::{AVTP_DESTINATION, SV_DESTINATION};

use crate::credit::Allowed;
use crate::error::ProbeError;
use crate::framing::Framing;
use crate::hot::{HotThread, Running};
use crate::need::{Need, of_port};
use crate::nic::Stamps;
use crate::port::Port;
use crate::probe::{About, Probe};
use crate::second::next_second;
use analysis::Credit;
use model::kind;
pub use options::TalkOptions;
use run::{Recorder, Stop};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use sys::packet::PortOptions;
use sys::privilege::Capability;
use sys::thread::Policy;
use units::{Monotonic, Period};
use wire::ether::{Mac, VlanTag};

/// Settings of a talker.
#[derive(Debug, Clone)]
pub struct TalkConfig {
    /// Format of the frames.
    pub framing: Framing,
    /// Destination of the frames; `None` uses the group address of the framing.
    pub destination: Option<Mac>,
    /// 802.1Q tag.
    pub vlan: Option<VlanTag>,
    /// Length of a test frame in octets, without FCS and tag; the other framings have a fixed length.
    pub frame_bytes: usize,
    /// Time between due instants.
    pub period: Period,
    /// Time before the due instant at which the thread stops sleeping and spins; with launch times, the time of the hand-over.
    pub spin_ahead_ns: u64,
    /// Talker delta above which a frame is late.
    pub late_after_ns: u64,
    /// True to hand frames over with a launch time; the port must have been opened for it.
    pub launch_time: bool,
    /// Maker of the departure stamps; the port must have been opened for it.
    pub stamps: Stamps,
    /// Duration of the sending; `None` sends until a stop is requested.
    pub duration_ns: Option<u64>,
    /// Scheduling policy.
    pub policy: Policy,
    /// CPU to run on.
    pub cpu: Option<u32>,
    /// Second part of the series' names; `None` is the framing.
    pub label: Option<String>,
    /// Samples of `talk/*` above this are counted as overflow and kept as spikes, unless a limit on them sets another threshold.
    pub threshold_ns: Option<u64>,
}

impl TalkConfig {
    /// Test frames every `period` at normal priority, late after one period, until a stop is requested.
    pub fn every(period: Period) -> Self {
        Self {
            framing: Framing::Test,
            destination: None,
            vlan: None,
            frame_bytes: wire::test_frame::MIN_OCTETS,
            period,
            spin_ahead_ns: 0,
            late_after_ns: period.whole_ns(),
            launch_time: false,
            stamps: Stamps::Off,
            duration_ns: None,
            policy: Policy::Other,
            cpu: None,
            label: None,
            threshold_ns: None,
        }
    }

    /// Credit by which its frames are judged.
    fn allowed(&self, port: &Port) -> Result<Allowed, String> {
        match self.launch_time {
            true => Err("frames with a launch time leave at that time, not when they are handed over".into()),
            false => Allowed::sending(port),
        }
    }

    /// Second part of the series' names.
    pub fn label(&self) -> &str {
        self.label.as_deref().unwrap_or(self.framing.word())
    }
}

/// Shortest interval: a thread that sends more often has no time to sleep.
pub const SHORTEST_INTERVAL_NS: u64 = 10_000;

/// Time from the moment the thread is ready to its first frame.
const LEAD_NS: i64 = 10_000_000;

/// Options of a port that only sends and does not load the receive path.
pub fn port_options(launch_time: bool) -> PortOptions {
    PortOptions {
        ring_frames: 0,
        launch_times: launch_time,
        ..PortOptions::default()
    }
}

/// Totals of a talker, set when it has ended.
#[derive(Debug, Default)]
pub struct Totals {
    sent: AtomicU64,
    late: AtomicU64,
    missed: AtomicU64,
    max_ns: AtomicI64,
}

impl Totals {
    /// Number of frames handed to the kernel.
    pub fn sent(&self) -> u64 {
        self.sent.load(Ordering::Acquire)
    }

    /// Number of late frames.
    pub fn late(&self) -> u64 {
        self.late.load(Ordering::Acquire)
    }

    /// Number of cycles without a frame.
    pub fn missed(&self) -> u64 {
        self.missed.load(Ordering::Acquire)
    }

    /// Largest talker delta in ns; 0 if no frame was sent.
    pub fn max_ns(&self) -> i64 {
        self.max_ns.load(Ordering::Acquire)
    }
}

/// A running talker.
#[derive(Debug)]
pub struct Talking {
    /// The sending thread.
    pub running: Running,
    /// Totals of the talker; complete when the thread has ended.
    pub totals: Arc<Totals>,
}

/// Description of this probe, independent of its settings.
pub static ABOUT: About = About {
    name: "talk",
    words: "talk",
    what: "One frame each interval: due instant -> just before the send call.",
    kinds: &[&kind::TALK, &kind::SEND, &kind::DEPARTURE, &kind::CREDIT],
    page: "guide/talk-listen.md",
};

impl Probe for TalkConfig {
    const ABOUT: &'static About = &ABOUT;
    type On = Port;
    type Started = Talking;

    fn needs(&self) -> Vec<Need> {
        let mut needs = of_port(self.policy, self.cpu);
        if self.launch_time {
            needs.push(Need::Wish(Capability::NetAdmin));
        }
        needs
    }

    fn start(&self, on: impl Into<Port>, recorder: &mut Recorder, stop: &Stop) -> Result<Talking, ProbeError> {
        let mut port = on.into();
        check(self)?;
        port.check_stamps(self.stamps).map_err(ProbeError::Usage)?;
        port.follow_nic(recorder)?;
        let frame = frame::Frame::new(self, &port)?;
        let allowed = self.allowed(&port);
        let describe = Box::new(series::Talk::of(self, &port, &allowed));
        // Two samples each cycle, one for the stamp, and one for the credit.
        let capacity = crate::hot::capacity(4 * 1_000_000_000 / self.period.whole_ns());
        let mut feed = recorder.feed(capacity, series::SLOTS, describe);
        feed.announce(series::TALK, self.label());
        feed.announce(series::SEND, self.label());
        if self.stamps != Stamps::Off {
            feed.announce(series::DEPARTURE, self.label());
        }
        let slope_kbit = allowed.ok().and_then(|allowed| allowed.slope_kbit);
        let credit = slope_kbit.map(|slope| Credit::of_slope(frame.bytes().len(), slope));
        if credit.is_some() {
            feed.announce(series::CREDIT, self.label());
        }
        let totals = Arc::new(Totals::default());
        let mut sender =
            sender::Sender::new(self.clone(), port, frame, stop.clone(), Arc::clone(&totals)).judging(credit);
        let thread = HotThread::new(
            "talk",
            self.policy,
            self.cpu,
            feed,
            Box::new(move |start, feed| sender.run(start, feed)),
        );
        let running = Running::start(vec![thread], || first_due(self.framing))?;
        Ok(Talking { running, totals })
    }
}

/// Start of the first cycle: soon, or at the top of a second for sampled values, which begin with smpCnt 0.
fn first_due(framing: Framing) -> Monotonic {
    match framing {
        Framing::Test | Framing::Avtp => sys::clock::monotonic() + LEAD_NS,
        Framing::Sv => next_second(),
    }
}

fn check(config: &TalkConfig) -> Result<(), ProbeError> {
    let refuse = |why: String| Err(ProbeError::Usage(format!("talk: {why}")));
    let interval_ns = config.period.whole_ns();
    if interval_ns < SHORTEST_INTERVAL_NS {
        return refuse(format!(
            "an interval of {} is too short: use at least 10us",
            config.period
        ));
    }
    if config.spin_ahead_ns >= interval_ns {
        return refuse("--spin-ahead must be shorter than --interval".into());
    }
    if config.launch_time && config.spin_ahead_ns == 0 {
        return refuse(
            "--launch-time needs --spin-ahead: how long before its launch time a frame is handed over, more than the delta \
             of the etf queueing discipline"
                .into(),
        );
    }
    Ok(())
}
