//! What the relay publishes: a control block whose members follow its functions.

use crate::error::ProbeError;
use crate::messages::Messages;
use ::relay::Engine;
use ::relay::config::{Feed, GooseOutput};
use ::relay::engine::State;
use wire::ether::Mac;
use wire::goose::Value;

/// A control block under way.
pub(super) struct Output {
    messages: Messages,
    members: Box<[Member]>,
    due_ns: i64,
}

/// A member that follows something, and what it is now.
struct Member {
    place: usize,
    feed: Feed,
    value: Value,
}

impl Output {
    pub(super) fn new(output: &GooseOutput, source: Mac) -> Result<Self, ProbeError> {
        let value = |place: usize| output.block.message.all_data[place].clone();
        let member = |(place, feed): &(usize, Feed)| Member {
            place: *place,
            feed: *feed,
            value: value(*place),
        };
        Ok(Self {
            messages: Messages::new(&output.block, source, "relay")?,
            members: output.feeds.iter().map(member).collect(),
            due_ns: 0,
        })
    }

    /// Makes the message that is due at `now_ns` from the start of the run, if one is: at once where something changed.
    pub(super) fn make(&mut self, engine: &Engine, now_ns: i64, has_changed: bool) -> bool {
        let is_change = has_changed && self.follow(engine);
        if !is_change && now_ns < self.messages.repeat_ns() {
            return false;
        }
        self.due_ns = now_ns;
        self.messages.make(now_ns, is_change, || sys::clock::realtime().as_ns());
        true
    }

    /// The message as it was made.
    pub(super) fn frame(&self) -> &[u8] {
        self.messages.frame()
    }

    /// It was sent at `now_ns` from the start of the run.
    pub(super) fn sent(&mut self, now_ns: i64) {
        self.messages.sent(self.due_ns, now_ns);
    }

    /// Whether a member is another one now.
    fn follow(&mut self, engine: &Engine) -> bool {
        for member in &mut self.members {
            become_state(&mut member.value, engine.output(member.feed));
        }
        let members = self.members.iter().map(|member| (member.place, &member.value));
        self.messages.set(members)
    }
}

/// Validity of a quality, IEC 61850-7-3: its first two bits.
const INVALID: u8 = 0b0100_0000;

/// Writes a state into a value of the type that the file gave it.
fn become_state(value: &mut Value, state: State) {
    match (value, state) {
        (Value::Boolean(is_set), State::Boolean(now)) => *is_set = now,
        (Value::Integer(number), State::Number(now)) => *number = i64::from(now),
        (Value::Unsigned(number), State::Number(now)) => *number = u64::from(now),
        (Value::BitString { bits, .. }, State::Quality(is_good)) => {
            if let Some(first) = bits.first_mut() {
                *first = if is_good { 0 } else { INVALID };
            }
        }
        // The file is refused where a member's type does not fit what it follows.
        _ => {}
    }
}
