//! A small relay: instantaneous overcurrent of Ia, sample by sample, with a delay set by the test.

// Every test program that includes this file uses a part of it.
#![allow(dead_code)]

#[path = "parts.rs"]
pub(crate) mod parts;

use parts::{Block, Turning};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use sys::packet::{PacketPort, PortOptions};
use units::Monotonic;
use wire::ether::{self, EthernetView, Mac, VlanTag};
use wire::goose::{Follower, Frame, Heard, Message, Simulation, Value};
use wire::sv;

/// Behaviour of a relay.
#[derive(Clone)]
pub(crate) struct RelayKind {
    /// svID of its stream; `None` accepts every stream.
    pub(crate) sv_id: Option<&'static str>,
    /// Time in ns from the first sample over the threshold to its trip; `None` never trips.
    pub(crate) delay_ns: Option<i64>,
    /// The same time to its start.
    pub(crate) start_ns: i64,
    /// Threshold: peak of Ia in mA.
    pub(crate) threshold_ma: i32,
    /// True if its messages are marked as simulated.
    pub(crate) simulates: bool,
    /// Name of its control block.
    pub(crate) name: &'static str,
    /// True if its trip bit stays set after a trip.
    pub(crate) latches: bool,
    /// True if it ignores quality, simulation bit and smpSynch.
    pub(crate) trusts: bool,
    /// If set, it reads no sample, and trips by this knowledge.
    pub(crate) blind: Option<fn(Moment) -> bool>,
    /// Time in ns after the start of its stream at which its function dies; its messages continue.
    pub(crate) dies_ns: Option<i64>,
    /// Control block whose member 0 blocks its trip; its port then needs GOOSE, too.
    pub(crate) blocked_by: Option<&'static str>,
}

/// Knowledge of a device that reads no sample.
#[derive(Clone, Copy)]
pub(crate) struct Moment {
    /// Function of the wall clock, in ns.
    pub(crate) wall_ns: i64,
    /// Function of the time since the first frame of any stream, in ns; negative before that frame.
    pub(crate) since_first_ns: i64,
}

impl Default for RelayKind {
    fn default() -> Self {
        Self {
            sv_id: Some("MU01"),
            delay_ns: Some(10_000_000),
            start_ns: 2_000_000,
            threshold_ma: 1_500_000,
            simulates: false,
            name: "IED1LD0/LLN0$GO$gcbTrip",
            latches: false,
            trusts: false,
            blind: None,
            dies_ns: None,
            blocked_by: None,
        }
    }
}

/// A relay that runs until it is dropped.
pub(crate) struct Relay {
    longest_ns: Arc<AtomicI64>,
    _turning: Turning,
}

impl Relay {
    /// Starts a relay on a port that was opened with [`options`].
    pub(crate) fn start(kind: RelayKind, port: PacketPort) -> Self {
        let longest_ns = Arc::new(AtomicI64::new(0));
        let mut state = State::new(kind, port, Arc::clone(&longest_ns));
        Self {
            longest_ns,
            _turning: Turning::start(move || state.turn()),
        }
    }
}

impl Relay {
    /// Longest time in ns for which a current was over the threshold.
    pub(crate) fn longest_ns(&self) -> i64 {
        self.longest_ns.load(Ordering::Relaxed)
    }
}

/// Options of its port.
pub(crate) fn options() -> PortOptions {
    PortOptions {
        ethertypes: vec![ether::SV],
        promiscuous: true,
        ..PortOptions::default()
    }
}

/// Time for which the current must be below the threshold before the relay resets.
const RESET_NS: i64 = 40_000_000;

struct State {
    kind: RelayKind,
    port: PacketPort,
    output: Block,
    block: Option<Follower>,
    /// First and last time at which the current was over the threshold.
    over: Option<(Monotonic, Monotonic)>,
    first: Option<Monotonic>,
    longest_ns: Arc<AtomicI64>,
}

impl State {
    fn new(kind: RelayKind, port: PacketPort, longest_ns: Arc<AtomicI64>) -> Self {
        let message = Message {
            src: Mac(port.mac()),
            simulate: kind.simulates,
            gocb_ref: kind.name.as_bytes().to_vec(),
            dat_set: b"IED1LD0/LLN0$dsTrip".to_vec(),
            simulation: kind.simulates,
            all_data: vec![Value::Boolean(false), Value::Boolean(false)],
            ..Message::default()
        };
        let member = || "0".parse().expect("a member");
        let block = kind
            .blocked_by
            .map(|name| Follower::new(name.as_bytes(), member(), Simulation::Off, false));
        Self {
            kind,
            port,
            output: Block::new(message),
            block,
            over: None,
            first: None,
            longest_ns,
        }
    }

    fn turn(&mut self) {
        let _ = self.port.wait(500_000);
        let now = sys::clock::monotonic();
        while let Some(frame) = self.port.next() {
            self.first.get_or_insert(now);
            let tag = frame.vlan().map(|tag| VlanTag {
                tpid: tag.tpid,
                tci: tag.tci,
            });
            if let Some(block) = &mut self.block
                && let Ok(ethernet) = EthernetView::with_tag(frame.data(), tag)
                && let Ok(goose) = Frame::parse(&ethernet)
            {
                block.take(&goose, Heard::at(Some(now.as_ns())));
            }
            if is_over(&self.kind, frame.data(), tag) {
                let first = self.over.map_or(now, |(first, _)| first);
                self.over = Some((first, now));
                self.longest_ns.fetch_max(now - first, Ordering::Relaxed);
            }
        }
        let is_gone = self.over.is_some_and(|(_, last)| now - last > RESET_NS);
        if is_gone {
            self.over = None;
        }
        let since = |delay: i64| self.over.is_some_and(|(first, _)| now - first >= delay);
        let was = self.output.values()[0] == Value::Boolean(true);
        let since_first_ns = self.first.map_or(-1, |first| now - first);
        let is_dead = self.kind.dies_ns.is_some_and(|ns| since_first_ns > ns);
        let moment = Moment {
            wall_ns: sys::clock::realtime().as_ns(),
            since_first_ns,
        };
        let trip = match self.kind.blind {
            Some(trips) => trips(moment),
            None => !is_dead && self.kind.delay_ns.is_some_and(since) || was && self.kind.latches,
        };
        let is_blocked = self
            .block
            .as_ref()
            .is_some_and(|block| block.live_value() == Some(true));
        let values = [trip && !is_blocked, since(self.kind.start_ns)].map(Value::Boolean);
        self.output.say(values.to_vec(), now, &self.port);
    }
}

/// True if a frame has a sample of good quality over the threshold, for a stream of the relay.
fn is_over(kind: &RelayKind, data: &[u8], tag: Option<VlanTag>) -> bool {
    let ethernet = EthernetView::with_tag(data, tag);
    let Ok(frame) = ethernet.and_then(|ethernet| sv::Frame::parse(&ethernet)) else {
        return false;
    };
    frame.asdus().any(|asdu| {
        let (value, rest) = asdu.seq_data().split_first_chunk().expect("a member");
        let quality = rest.first_chunk().map(|octets| u32::from_be_bytes(*octets));
        let is_good = !frame.header().simulate() && asdu.smp_synch() != Some(0) && quality == Some(0);
        kind.sv_id.is_none_or(|wanted| asdu.sv_id() == wanted.as_bytes())
            && (is_good || kind.trusts)
            && i32::from_be_bytes(*value).abs() > kind.threshold_ma
    })
}
