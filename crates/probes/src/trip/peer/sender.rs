//! The peer's end at the publisher: its messages and those of the attack, sent after the frames of the stream that are due at the same instant.

use super::attack::{Attack, Last};
use super::{Hostile, PeerConfig};
use crate::error::ProbeError;
use crate::messages::{Messages, utc_ns};
use crate::port::Port;
use units::Monotonic;
use wire::ether::Mac;
use wire::goose::Value;
use wire::time::{TimeQuality, UtcTime};

/// Time between two messages of an attack.
const EVERY_NS: i64 = 2_000_000;

/// Copies of the peer's last message after each frame of the stream, in a storm.
const STORM: usize = 10;

/// Octets behind the end of a padded message.
const PADDING: usize = 40;

/// A state of the peer, from a sample on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::trip) struct Order {
    /// The first sample, counted from the first second.
    pub(in crate::trip) begin: u64,
    /// Value of the member.
    pub(in crate::trip) value: bool,
    pub(in crate::trip) hostile: Option<Hostile>,
}

/// The messages of the peer and of the attacks. Only its creation allocates memory.
pub(in crate::trip) struct Peer {
    messages: Messages,
    member: usize,
    quality: TimeQuality,
    start: Monotonic,
    value: bool,
    last: Last,
    /// The last message of the state before.
    before: Vec<u8>,
    padded: Vec<u8>,
    attacks: Vec<Attack>,
    hostile: Option<Hostile>,
    /// Number of messages of the present attack, and the due time of the next one in ns from the start.
    count: u32,
    next_ns: i64,
}

impl Peer {
    /// Encodes the first message and those of the attacks.
    ///
    /// # Errors
    /// A message cannot be encoded.
    pub(in crate::trip) fn new(config: &PeerConfig, source: Mac) -> Result<Self, ProbeError> {
        let messages = Messages::new(&config.block, source, "trip")?;
        let attacks = config.hostile.iter().map(|case| Attack::new(*case, config, source));
        let message = &config.block.message;
        let value = message.all_data.get(config.member) == Some(&Value::Boolean(true));
        Ok(Self {
            before: messages.frame().to_vec(),
            padded: messages.frame().iter().copied().chain([0; PADDING]).collect(),
            messages,
            member: config.member,
            quality: message.t.quality,
            start: Monotonic::from_ns(0),
            value,
            last: Last {
                st_num: message.st_num,
                sq_num: message.sq_num,
                t: message.t,
                value,
            },
            attacks: attacks.collect::<Result<_, _>>()?,
            hostile: None,
            count: 0,
            next_ns: 0,
        })
    }

    /// The run begins at this instant.
    pub(in crate::trip) fn begin(&mut self, start: Monotonic) {
        self.start = start;
    }

    /// Takes an order.
    pub(in crate::trip) fn take(&mut self, order: Order) {
        self.value = order.value;
        if self.hostile != order.hostile {
            (self.hostile, self.count, self.next_ns) = (order.hostile, 0, 0);
        }
    }

    /// Sends what is due at `due`; returns the number of messages that the kernel did not accept.
    ///
    /// # Errors
    /// An error after which a publisher cannot continue.
    pub(in crate::trip) fn send(&mut self, due: Monotonic, port: &mut Port) -> Result<u64, ProbeError> {
        let due_ns = due - self.start;
        let mut refused = 0;
        let is_change = self.value != self.last.value;
        if is_change || due_ns >= self.messages.repeat_ns() {
            refused += self.send_own(due_ns, is_change, due, port)?;
        }
        match self.hostile {
            None | Some(Hostile::Padded) => {}
            Some(Hostile::Storm) => {
                for _ in 0..STORM {
                    refused += port.publish(self.messages.frame())?;
                }
            }
            Some(case) if due_ns >= self.next_ns => {
                refused += self.send_hostile(case, due, port)?;
                self.count = self.count.wrapping_add(1);
                self.next_ns = due_ns + EVERY_NS;
            }
            Some(_) => {}
        }
        Ok(refused)
    }

    fn send_own(&mut self, due_ns: i64, is_change: bool, due: Monotonic, port: &mut Port) -> Result<u64, ProbeError> {
        if is_change {
            self.before.copy_from_slice(self.messages.frame());
            let value = Value::Boolean(self.value);
            self.messages.set(std::iter::once((self.member, &value)));
        }
        self.messages.make(due_ns, is_change, || utc_ns(due));
        let [st_num, sq_num] = self.messages.numbers();
        self.last = Last {
            st_num,
            sq_num,
            t: self.messages.changed(),
            value: self.value,
        };
        let frame = self.messages.frame();
        let refused = match self.hostile {
            Some(Hostile::Padded) => {
                self.padded[..frame.len()].copy_from_slice(frame);
                port.publish(&self.padded)?
            }
            _ => port.publish(frame)?,
        };
        self.messages.sent(due_ns, sys::clock::monotonic() - self.start);
        Ok(refused)
    }

    fn send_hostile(&mut self, case: Hostile, due: Monotonic, port: &mut Port) -> Result<u64, ProbeError> {
        if case == Hostile::Replayed {
            return port.publish(&self.before);
        }
        let now = UtcTime::from_ns(utc_ns(due), self.quality);
        match self.attacks.iter_mut().find(|attack| attack.case == case) {
            Some(attack) => port.publish(attack.frame(&self.last, self.count, now)),
            None => Ok(0),
        }
    }
}
