//! The other end of a ping-pong: repeats a boolean of one control block in its own, at once.
//!
//! A relay answers in its task cycle. This end has no cycle, so that a round trip shows the path between two devices and nothing else.

use super::options::{PONG, block};
use super::ping_port_options;
use super::waiting::{LONGEST_SLEEP_NS, reception, wait};
use crate::error::ProbeError;
use crate::hot::{HotThread, Running};
use crate::messages::Messages;
use crate::need::{Need, of_port};
use crate::notice::notices;
use crate::port::Port;
use crate::probe::{About, Probe};
use crate::reception::{Account, Arrival, Polling, Receive, Reception};
use crate::second::next_second;
use model::{EventKind, SeriesSpec, kind};
use run::{Describe, Feed, Recorder, Stop};
use streamset::goose::ControlBlock;
use sys::packet::PortOptions;
use sys::thread::Policy;
use sys::wait::sleep_until;
use units::{Monotonic, Ns};
use wire::ether::{Mac, VlanTag};
use wire::goose::{Followed, Follower, Frame, Heard, Member, Simulation, Value};

/// Samples a second that the recorder's ring has room for.
const SAMPLES_PER_SECOND: u64 = 10_000;

/// Slot and label of the series.
const TURNAROUND: (u16, &str) = (0, "pong");

notices! {
    /// Notices of the end that answers.
    enum Notice {
        /// Number of frames that the socket dropped.
        Dropped = 0,
        /// Number of answers that were not sent.
        NotSent = 1,
    }
}

/// Settings of the end that answers.
#[derive(Debug, Clone)]
pub struct PongConfig {
    /// Reference of the control block that pings.
    pub ping: String,
    /// Number of its boolean that is repeated.
    pub member: Member,
    /// The control block of the answers; its first member is the boolean.
    pub block: ControlBlock,
    /// Time in ns after which it ends; `None`: when it is stopped.
    pub duration_ns: Option<u64>,
    /// Method of waiting for GOOSE.
    pub receive: Receive,
    /// Scheduling policy of its thread.
    pub policy: Policy,
    /// CPU of its thread.
    pub cpu: Option<u32>,
}

/// The ports of this end, both on one interface.
#[derive(Debug)]
pub struct PongPorts {
    /// Port for the answers: see [`PongPorts::sending`].
    pub pong: Port,
    /// Port for listening: see [`crate::trip::goose_port_options`].
    pub goose: Port,
}

impl PongPorts {
    /// Options of the socket for the answers.
    pub fn sending() -> PortOptions {
        PortOptions {
            tx_stamps: false,
            ..ping_port_options()
        }
    }
}

impl PongConfig {
    /// Answers pings of the usual control block with `TRIPTIMELD0/LLN0$GO$gcbPong`.
    ///
    /// # Errors
    /// Never: the text of the control block is this program's own.
    pub fn usual(ping: &ControlBlock) -> Result<Self, ProbeError> {
        Ok(Self {
            ping: String::from_utf8_lossy(&ping.message.gocb_ref).into_owned(),
            member: Member::numbered(0),
            block: block(PONG, "pong")?,
            duration_ns: None,
            receive: Receive::Block,
            policy: Policy::Other,
            cpu: None,
        })
    }
}

/// Description of this end, independent of its settings.
static ABOUT: About = About {
    name: "pong",
    words: "ping-pong",
    what: "Answers of this program to GOOSE pings: the kernel receives a ping -> the send call of its answer returned.",
    kinds: &[&kind::TURNAROUND],
    page: "guide/ping-pong.md",
};

impl Probe for PongConfig {
    const ABOUT: &'static About = &ABOUT;
    type On = PongPorts;
    type Started = Running;

    fn needs(&self) -> Vec<Need> {
        of_port(self.policy, self.cpu)
    }

    fn start(&self, on: impl Into<PongPorts>, recorder: &mut Recorder, stop: &Stop) -> Result<Running, ProbeError> {
        let ports = on.into();
        let describe = Box::new(Series(self.clone(), ports.goose.interface().to_owned()));
        let mut feed = recorder.feed(crate::hot::capacity(SAMPLES_PER_SECOND), 1, describe);
        feed.announce(TURNAROUND.0, TURNAROUND.1);
        let mut responder = Responder::new(self, ports, stop)?;
        let body = Box::new(move |start, feed: &mut Feed| responder.run(start, feed));
        let answering = HotThread::new("pong", self.policy, self.cpu, feed, body);
        Running::start(vec![answering], next_second)
    }
}

/// Name and settings of the series.
struct Series(PongConfig, String);

impl Describe for Series {
    fn series(&self, _slot: u16, label: &str) -> SeriesSpec {
        let Self(config, interface) = self;
        let settings = [
            ("interface", interface.clone()),
            ("ping", format!("member {} of {}", config.member, config.ping)),
            (
                "answer",
                String::from_utf8_lossy(&config.block.message.gocb_ref).into_owned(),
            ),
            ("policy", config.policy.to_string()),
            (
                "cpu",
                config.cpu.map_or_else(|| "any".to_owned(), |cpu| cpu.to_string()),
            ),
            ("receive", config.receive.word().to_owned()),
        ];
        SeriesSpec {
            settings: settings.map(|(key, value)| (key.to_owned(), value)).to_vec(),
            ..SeriesSpec::of(
                &kind::TURNAROUND,
                label,
                "kernel has a GOOSE message with a changed ping -> the send call of its answer returned",
            )
        }
    }

    fn notice(&self, code: u16, name: &str, a: u64, _b: u64) -> Option<(EventKind, String)> {
        Some(match Notice::of(code)? {
            Notice::Dropped => (
                EventKind::SocketDrop,
                format!("{name}: the kernel dropped {a} frames for this socket"),
            ),
            Notice::NotSent => (
                EventKind::NotCounted,
                format!("{name}: {a} answers were not sent: the kernel had no room for them, or the link was down"),
            ),
        })
    }
}

/// Pings as received, and the change that waits for its answer.
struct Pings {
    follower: Follower,
    /// The new value, the instant at which the kernel received it.
    changed: Option<(bool, Monotonic)>,
}

impl Account for Pings {
    fn take(&mut self, data: &[u8], vlan: Option<VlanTag>, arrival: &Arrival, _feed: &mut Feed) -> bool {
        let Some(Ok(frame)) = Frame::within(data, vlan) else {
            return false;
        };
        let followed = self.follower.take(&frame, Heard::at(Some(arrival.heard.as_ns())));
        if let Followed::Used(Some(change)) = followed {
            self.changed = Some((change.value, arrival.heard));
        }
        followed != Followed::Other
    }

    fn link(&mut self, _is_down: bool, _at: Monotonic, _feed: &mut Feed) {}

    fn look(&mut self, now: Monotonic, _feed: &mut Feed) {
        self.follower.expire(Heard::at(Some(now.as_ns())));
    }
}

/// State of the thread.
struct Responder {
    config: PongConfig,
    port: Port,
    messages: Messages,
    reception: Reception,
    polling: Polling,
    pings: Pings,
    stop: Stop,
    start: Monotonic,
    answers: u64,
    refused: u64,
}

impl Responder {
    fn new(config: &PongConfig, ports: PongPorts, stop: &Stop) -> Result<Self, ProbeError> {
        Ok(Self {
            messages: Messages::new(&config.block, Mac(ports.pong.mac()), "pong")?,
            port: ports.pong,
            reception: reception(ports.goose, config.receive, stop),
            polling: Polling::new(Monotonic::from_ns(0)),
            pings: Pings {
                follower: Follower::new(config.ping.as_bytes(), config.member, Simulation::Off, false).of_living(),
                changed: None,
            },
            stop: stop.clone(),
            start: Monotonic::from_ns(0),
            answers: 0,
            refused: 0,
            config: config.clone(),
        })
    }

    /// Answers from `start` on, until it is stopped or its time is over.
    fn run(&mut self, start: Monotonic, feed: &mut Feed) -> Result<(), ProbeError> {
        self.start = start;
        self.polling = Polling::new(start);
        sleep_until(start);
        while self.reception.port.next().is_some() {}
        while !self.is_over() {
            self.turn(feed)?;
        }
        let dropped = self.reception.port.dropped();
        for (notice, count) in [(Notice::Dropped, dropped), (Notice::NotSent, self.refused)] {
            if count > 0 {
                feed.notice(TURNAROUND.0, notice, sys::clock::monotonic(), count, 0);
            }
        }
        Ok(())
    }

    /// Repeats a due message, or waits for a frame; then answers.
    fn turn(&mut self, feed: &mut Feed) -> Result<(), ProbeError> {
        let now = sys::clock::monotonic();
        let due = self.start + self.messages.repeat_ns();
        if due <= now {
            self.send(now - self.start, false)?;
        } else {
            wait(&self.reception, due.min(now + LONGEST_SLEEP_NS), now);
        }
        self.reception.poll(&mut self.polling, &mut self.pings, feed)?;
        if let Some((value, heard)) = self.pings.changed.take() {
            self.answer(value, heard, feed)?;
        }
        Ok(())
    }

    fn answer(&mut self, value: bool, heard: Monotonic, feed: &mut Feed) -> Result<(), ProbeError> {
        let member = Value::Boolean(value);
        let is_change = self.messages.set(std::iter::once((0, &member)));
        self.send(sys::clock::monotonic() - self.start, is_change)?;
        let done = sys::clock::monotonic();
        self.answers += 1;
        feed.sample(TURNAROUND.0, done, done - heard, self.answers);
        Ok(())
    }

    fn send(&mut self, due_ns: i64, is_change: bool) -> Result<(), ProbeError> {
        self.messages.make(due_ns, is_change, || sys::clock::realtime().as_ns());
        self.refused += self.port.publish(self.messages.frame())?;
        self.messages.sent(due_ns, sys::clock::monotonic() - self.start);
        Ok(())
    }

    fn is_over(&self) -> bool {
        let is_late = |ns: u64| sys::clock::monotonic() >= self.start + Ns(ns);
        self.stop.requested() || self.config.duration_ns.is_some_and(is_late)
    }
}
