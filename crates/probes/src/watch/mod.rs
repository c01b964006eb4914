//! Compares relays that run in parallel, such as a pilot and a conventional relay: pairs their GOOSE decisions, over any length
//! of time.
//!
//! A decision is a member that becomes true. Each decision is paired with that of the first relay; the time between the two is a
//! sample. Decisions that only one relay took are counted and listed.
//!
//! Hooks: AF_PACKET on one interface, receiving only. Produces: `decision/A-B`, the time between the kernel's stamps of the first
//! messages of both relays, in either order, where `lost` counts decisions that only one relay took; `lead/A-B`, those decisions
//! that A took first; and `lead/B-A`. Needs: `CAP_NET_RAW`; `CAP_SYS_NICE` for a real-time policy.

mod notice;
mod pairing;
mod series;
mod watcher;

use crate::error::ProbeError;
use crate::hot::{HotThread, Running};
use crate::need::{Need, of_port};
use crate::port::Port;
use crate::probe::{About, Probe};
use crate::reception::{Lans, Receive, Reception};
use crate::redundant::attended;
use model::kind;
use run::{Recorder, Stop};
use std::str::FromStr;
use std::sync::Arc;
use sys::thread::Policy;
use units::Monotonic;
use watcher::{Relays, Watcher};
use wire::goose::{MAX_NAME, Member};

/// Maximum number of watched relays.
const MOST: usize = 16;

/// A relay's decision: a member of a control block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RelayBlock {
    /// The control block reference.
    pub gocb_ref: String,
    /// The boolean that is true when the relay has decided.
    pub member: Member,
}

impl FromStr for RelayBlock {
    type Err = String;

    /// Parses a relay such as `IED1LD0/LLN0$GO$gcbTrip`, for member 0, or `IED1LD0/LLN0$GO$gcbTrip:2.0`.
    fn from_str(text: &str) -> Result<Self, String> {
        let (gocb_ref, member) = text.rsplit_once(':').unwrap_or((text, "0"));
        if !(1..=MAX_NAME).contains(&gocb_ref.len()) {
            return Err(format!(
                "\"{text}\" is not a control block: write GOCBREF, or GOCBREF:MEMBER"
            ));
        }
        Ok(Self {
            gocb_ref: gocb_ref.to_owned(),
            member: member
                .parse()
                .map_err(|error: wire::goose::MemberError| error.to_string())?,
        })
    }
}

/// Watched relays, and settings of the watch.
#[derive(Debug, Clone)]
pub struct WatchConfig {
    /// The relays; the others are compared with the first.
    pub relays: Vec<RelayBlock>,
    /// Largest time between two decisions that count as a pair, in ns.
    pub pair_within_ns: u64,
    /// Duration of the watch; `None` watches until a stop is requested.
    pub duration_ns: Option<u64>,
    /// Method of waiting for GOOSE.
    pub receive: Receive,
    /// Scheduling policy.
    pub policy: Policy,
    /// CPU to run on.
    pub cpu: Option<u32>,
}

/// Description of this probe, independent of its settings.
pub static ABOUT: About = About {
    name: "watch",
    words: "watch",
    what: "Relays side by side: the GOOSE decision of one -> that of the other.",
    kinds: &[&kind::DECISION, &kind::LEAD],
    page: "guide/watch.md",
};

/// The limit by which relays are judged with every profile, in the format of a profile.
pub const LIMIT: &str = r#"[[limit]]
id = "decision.alone"
series = "decision/*"
quantity = "lost"
allowed = 0
source = "a pilot relay decides as the conventional one does"
why = "A decision that only one of two relays takes is a failure to trip of one, or a false trip of the other."
"#;

impl WatchConfig {
    /// Settings for these relays, at normal priority on no particular CPU, until a stop is requested.
    ///
    /// # Errors
    /// There are too few or too many relays, or one is named twice.
    pub fn of(relays: Vec<RelayBlock>, pair_within_ns: u64) -> Result<Self, ProbeError> {
        let config = Self {
            relays,
            pair_within_ns,
            duration_ns: None,
            receive: Receive::Block,
            policy: Policy::Other,
            cpu: None,
        };
        config.check()?;
        Ok(config)
    }

    fn check(&self) -> Result<(), ProbeError> {
        let usage = |problem: String| Err(ProbeError::Usage(format!("trip: {problem}")));
        if !(2..=MOST).contains(&self.relays.len()) {
            return usage(format!("--watch needs 2 to {MOST} control blocks: GOCBREF,GOCBREF"));
        }
        let is_twice = |relay: &&RelayBlock| self.relays.iter().filter(|other| other == relay).count() > 1;
        match self.relays.iter().find(is_twice) {
            Some(relay) => usage(format!(
                "{} is named twice: name each relay once (--watch)",
                relay.gocb_ref
            )),
            None => Ok(()),
        }
    }
}

impl Probe for WatchConfig {
    const ABOUT: &'static About = &ABOUT;
    type On = Port;
    type Started = Running;

    fn needs(&self) -> Vec<Need> {
        of_port(self.policy, self.cpu)
    }

    fn start(&self, on: impl Into<Port>, recorder: &mut Recorder, stop: &Stop) -> Result<Running, ProbeError> {
        self.check()?;
        let port = on.into();
        let slots = series::SLOTS * (self.relays.len() - 1);
        let describe = series::Watch::of(self, port.interface());
        let labels: Vec<String> = (0..slots)
            .map(|slot| describe.label(u16::try_from(slot).unwrap_or(u16::MAX)))
            .collect();
        let mut feed = recorder.feed(crate::hot::capacity(1), slots, Box::new(describe));
        for (slot, label) in (0..).zip(&labels) {
            feed.announce(slot, label);
        }
        let attendant = port.attendant(false)?;
        let mut watcher = Watcher {
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
            relays: Relays::new(self),
        };
        let body = Box::new(move |_: Monotonic, feed: &mut run::Feed| watcher.run(feed));
        let thread = HotThread::new("watch", self.policy, self.cpu, feed, body);
        let running = Running::start(vec![thread], sys::clock::monotonic)?;
        attended(running, attendant, recorder.events(), stop)
    }
}
