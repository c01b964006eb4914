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
    /// Whether a message was made.
    has_begun: bool,
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
            has_begun: false,
        })
    }

    /// Makes the message that is due at `now_ns` from the start of the run, if one is: at once where something changed. The first one is of
    /// the first state, whatever that is: who subscribes tells a relay that began again by its numbers.
    pub(super) fn make(&mut self, engine: &Engine, now_ns: i64, has_changed: bool) -> bool {
        let has_begun = std::mem::replace(&mut self.has_begun, true);
        let is_change = has_changed && self.follow(engine) && has_begun;
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

#[cfg(test)]
mod tests {
    use super::Output;
    use ::relay::config::parse;
    use ::relay::{Engine, Sample};
    use wire::ether::{EthernetView, Mac};
    use wire::goose::Frame;
    use wire::quality::SvQuality;

    const FILE: &str = include_str!("../../../../tests/data/relay.toml");

    fn numbers(output: &Output) -> (u32, u32) {
        let ethernet = EthernetView::parse(output.frame()).expect("a frame");
        let frame = Frame::parse(&ethernet).expect("a message");
        (frame.st_num(), frame.sq_num())
    }

    /// A task that is late in its first cycle has samples before the first message is sent.
    #[test]
    fn the_first_message_is_of_state_1_though_samples_have_come() {
        let config = parse(FILE, "relay.toml").expect("a relay");
        let mut engine = Engine::new(&config).expect("a relay");
        let mut output = Output::new(&config.gooses[0], Mac([2, 0, 0, 0, 0, 1])).expect("an output");
        let good = Sample {
            smp_cnt: 0,
            values: [0.0; 8],
            quality: [SvQuality::GOOD; 8],
            smp_synch: 2,
            simulated: false,
            conflicting: false,
        };
        engine.push(0, &good);
        assert_eq!(engine.task(1).gooses, 1, "its health is known");
        assert!(output.make(&engine, 28_000_000, true));
        assert_eq!(numbers(&output), (1, 1));
        output.sent(28_000_000);
        // Nothing comes any more: alarm.
        assert_eq!(engine.task(200).gooses, 1);
        assert!(output.make(&engine, 29_000_000, true));
        assert_eq!(numbers(&output), (2, 0));
    }
}
