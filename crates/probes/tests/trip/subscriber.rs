//! A device that trips when the member of another device's GOOSE becomes true: an honest subscriber, and wrong ones.

use super::relay::options;
use super::relay::parts::{Block, Turning};
use sys::packet::{PacketPort, PortOptions};
use units::Monotonic;
use wire::ether::{self, EthernetView, Mac, VlanTag};
use wire::goose::{Data, Follower, Frame, Heard, Message, Simulation, Value};

/// Name of its control block.
pub(crate) const NAME: &str = "IED2LD0/LLN0$GO$gcbTrip";

/// How a subscriber decides whether it uses a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Rule {
    /// By the rules of the standard, as our own relay does.
    Standard,
    /// It uses every message.
    None,
    /// It refuses equal or lower sqNum in the same state, and takes every other state, as libiec61850 does (#606).
    OtherState,
    /// It uses states that are higher than any that it has seen, in whatever message.
    HighestSeen,
    /// It drops messages that are exactly as long as they declare, as libiec61850 1.6.2 does (#603).
    Longer,
    /// It subscribes to nothing.
    Deaf,
}

/// A subscriber that runs until it is dropped.
pub(crate) struct Subscriber {
    _turning: Turning,
}

/// Options of its port.
pub(crate) fn port_options() -> PortOptions {
    PortOptions {
        ethertypes: vec![ether::GOOSE],
        ..options()
    }
}

impl Subscriber {
    /// Starts one that follows member 0 of this control block.
    pub(crate) fn start(rule: Rule, peer: &str, port: PacketPort) -> Self {
        let mut state = State::new(rule, peer, port);
        Self {
            _turning: Turning::start(move || state.turn()),
        }
    }
}

/// The messages that it has taken.
struct Ear {
    rule: Rule,
    peer: Vec<u8>,
    follower: Follower,
    /// stNum and sqNum of the last message, or the highest stNum.
    last: [u32; 2],
    value: bool,
}

struct State {
    ear: Ear,
    port: PacketPort,
    output: Block,
}

impl State {
    fn new(rule: Rule, peer: &str, port: PacketPort) -> Self {
        let member = "0".parse().expect("a member");
        Self {
            ear: Ear {
                rule,
                peer: peer.as_bytes().to_vec(),
                follower: Follower::new(peer.as_bytes(), member, Simulation::Off, false).of_living(),
                last: [0, 0],
                value: false,
            },
            output: Block::new(Message {
                src: Mac(port.mac()),
                gocb_ref: NAME.as_bytes().to_vec(),
                dat_set: b"IED2LD0/LLN0$dsTrip".to_vec(),
                all_data: vec![Value::Boolean(false)],
                ..Message::default()
            }),
            port,
        }
    }

    fn turn(&mut self) {
        let _ = self.port.wait(500_000);
        let now = sys::clock::monotonic();
        while let Some(frame) = self.port.next() {
            let tag = frame.vlan().map(|tag| VlanTag {
                tpid: tag.tpid,
                tci: tag.tci,
            });
            let data = frame.data();
            let Ok(ethernet) = EthernetView::with_tag(data, tag) else {
                continue;
            };
            if let Ok(goose) = Frame::parse(&ethernet) {
                let declared = ethernet.payload_offset() + usize::from(goose.header().length);
                let is_longer = data.len() > declared;
                self.ear.take(&goose, is_longer, now);
            }
        }
        self.ear.look(now);
        self.output.say(vec![Value::Boolean(self.ear.value)], now, &self.port);
    }
}

impl Ear {
    fn take(&mut self, goose: &Frame<'_>, is_longer: bool, now: Monotonic) {
        if goose.gocb_ref() != self.peer {
            return;
        }
        let [st, sq] = [goose.st_num(), goose.sq_num()];
        let is_plain = !goose.simulation() && !goose.nds_com() && !goose.is_test();
        let is_used = match self.rule {
            Rule::Deaf => false,
            Rule::Standard => {
                self.follower.take(goose, Heard::at(Some(now.as_ns())));
                false
            }
            Rule::None => true,
            Rule::Longer => is_longer,
            Rule::OtherState => st != self.last[0] || sq > self.last[1],
            Rule::HighestSeen => is_plain && st > self.last[0],
        };
        self.last = match self.rule {
            Rule::HighestSeen => [self.last[0].max(st), sq],
            _ => [st, sq],
        };
        if let Some(Data::Boolean(told)) = goose.all_data().next().filter(|_| is_used) {
            self.value = told;
        }
    }

    fn look(&mut self, now: Monotonic) {
        if self.rule == Rule::Standard {
            self.follower.expire(Heard::at(Some(now.as_ns())));
            self.value = self.follower.live_value().unwrap_or(false);
        }
    }
}
