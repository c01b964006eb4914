//! A relay that another injector tests: its faults are seen in its samples or by a contact, and the trips that follow are timed.
//!
//! One thread receives sampled values and GOOSE on one interface, by one socket: the stamps of both are of one clock. What they mean,
//! [`observation`] decides, by the same rules as of a capture. A second thread, which is not hot, writes what was seen.
//!
//! Hooks: AF_PACKET on one interface, only received from. Produces: `trip/observed`, the stamp of the frame with the first faulted sample to
//! that of the first GOOSE frame with the trip bit; `start/observed` likewise. Needs: `CAP_NET_RAW`; `CAP_SYS_NICE` for a real-time policy.

mod account;
mod options;
mod series;

pub use options::{ObserveOptions, ObservedRelay};
pub use series::{LABEL, limits, limits_of, series};

use crate::error::ProbeError;
use crate::hot::{Beside, HotThread, Running};
use crate::need::{Need, of_port};
use crate::nic::ReceiveStamps;
use crate::port::Port;
use crate::probe::{About, Probe};
use crate::reception::{Lans, Receive, Reception};
use crate::redundant::attended;
use account::{Listener, Seeing, write};
use model::{Shot, kind};
use observation::{Config, Observer, Seen, Series};
use run::{Recorder, Stop};
use series::slot;
use std::sync::Arc;
use sys::packet::PortOptions;
use sys::thread::Policy;
use units::Monotonic;

/// Frames that may come while the thread is held up: a tenth of a second of twenty streams of 4800 frames a second.
const RING_FRAMES: usize = 16_384;

/// Octets kept of a frame: the longest frame of both protocols fits.
const FRAME_BYTES: usize = 1_600;

/// Findings on their way to the thread that writes them.
const FOUND: usize = 8_192;

/// How an observation is made.
#[derive(Debug, Clone)]
pub struct ObserveConfig {
    /// The rule, the stream and the relay.
    pub observed: Config,
    /// Required operate time, in ns, where one is.
    pub within_ns: Option<u64>,
    /// How long to observe; `None` until told to stop.
    pub duration_ns: Option<u64>,
    /// Source of the time stamps; the port must have been opened for it.
    pub stamps: ReceiveStamps,
    /// How to wait for frames.
    pub receive: Receive,
    /// Scheduling policy.
    pub policy: Policy,
    /// CPU to run on.
    pub cpu: Option<u32>,
}

/// Facts known about this probe before it runs.
pub static ABOUT: About = About {
    name: "observe",
    words: "observe",
    what: "A relay's trips for another injector's faults: first faulted sample received -> its trip GOOSE received.",
    kinds: &[&kind::TRIP, &kind::START],
    page: "guide/observe.md",
};

/// How the packet socket is to be opened: every frame of sampled values and GOOSE, whatever its destination.
pub fn port_options() -> PortOptions {
    PortOptions {
        ethertypes: vec![wire::ether::SV, wire::ether::GOOSE],
        ring_frames: RING_FRAMES,
        frame_bytes: FRAME_BYTES,
        promiscuous: true,
        ..PortOptions::default()
    }
}

/// A shot as it is kept in a run, without its instant; `None` of what is no shot.
pub fn kept(seen: &Seen) -> Option<Shot> {
    let (number, outcome, trip_ns, uncertain_ns) = match seen {
        Seen::Shot(shot) => (shot.number, shot.outcome(), shot.trip_ns(), shot.start.uncertain_ns),
        Seen::FalseTrip { number, .. } => (*number, model::Outcome::False, None, None),
        _ => return None,
    };
    Some(Shot {
        number,
        at_ns: 0,
        watched_ns: None,
        uncertain_ns,
        name: LABEL.to_owned(),
        point_deg: None,
        cell: None,
        outcome,
        trip_ns,
        reset_ns: None,
    })
}

impl Probe for ObserveConfig {
    const ABOUT: &'static About = &ABOUT;
    type On = Port;
    type Started = Running;

    fn needs(&self) -> Vec<Need> {
        of_port(self.policy, self.cpu)
    }

    fn start(&self, on: impl Into<Port>, recorder: &mut Recorder, stop: &Stop) -> Result<Running, ProbeError> {
        let mut port = on.into();
        port.follow_nic(recorder)?;
        let cpu = self.cpu.map_or_else(|| "any".to_owned(), |cpu| cpu.to_string());
        let describe = series::Observed {
            config: self.observed.clone(),
            within_ns: self.within_ns,
            interface: port.interface().to_owned(),
            how: vec![
                ("policy".into(), self.policy.to_string()),
                ("cpu".into(), cpu),
                ("receive".into(), self.receive.word().into()),
            ],
            stamps: self.stamps,
        };
        let has_start = self.observed.start.is_some();
        let mut feed = recorder.feed(crate::hot::capacity(1), 1 + usize::from(has_start), Box::new(describe));
        feed.announce(slot(Series::Trips), LABEL);
        if has_start {
            feed.announce(slot(Series::Starts), LABEL);
        }
        let events = recorder.events_of(&feed);
        let attendant = port.attendant(false)?;
        let (found, to_write) = rtrb::RingBuffer::new(FOUND);
        let mut listener = Listener {
            reception: Reception {
                lans: Lans::of(&port, None),
                routed: port.routed(),
                port,
                receive: self.receive,
                gather_ns: None,
                duration_ns: self.duration_ns,
                stop: stop.clone(),
                frames: Arc::default(),
                unstamped: 0,
            },
            seeing: Seeing::new(Observer::new(&self.observed), has_start, found),
        };
        let body = Box::new(move |_: Monotonic, feed: &mut run::Feed| listener.run(feed));
        let thread = HotThread::new("observe", self.policy, self.cpu, feed, body);
        let running = Running::start(vec![thread], sys::clock::monotonic)?;
        let running = attended(running, attendant, recorder.events(), stop)?;
        let writing = Beside::start("observe-write", move |over| write(to_write, &events, over));
        match writing {
            Ok(writing) => Ok(running.with(Some(writing))),
            Err(error) => {
                stop.request();
                let _ = running.join();
                Err(ProbeError::NoTraffic(format!(
                    "trip: the system has no thread left: {error}"
                )))
            }
        }
    }
}
