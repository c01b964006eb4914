//! Control blocks that the relay publishes, with members that follow its functions.

use crate::error::ProbeError;
use crate::messages::Messages;
use ::relay::config::GooseOutput;
use ::relay::engine::State;
use units::Monotonic;
use wire::ether::Mac;
use wire::goose::Value;

/// State of a member that follows a function.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Told {
    /// Number of the member's control block.
    pub(super) block: usize,
    /// Index among those members of the block that follow a function.
    pub(super) member: usize,
    pub(super) state: State,
}

/// All running control blocks. Only their creation allocates memory.
pub(super) struct Outputs {
    blocks: Box<[Output]>,
    start: Monotonic,
}

impl Outputs {
    pub(super) fn new(gooses: &[GooseOutput], source: Mac) -> Result<Self, ProbeError> {
        let blocks = gooses.iter().map(|output| Output::new(output, source));
        Ok(Self {
            blocks: blocks.collect::<Result<_, _>>()?,
            start: Monotonic::from_ns(0),
        })
    }

    /// Sets the due instant of the first messages to `start`.
    pub(super) fn begin(&mut self, start: Monotonic) {
        self.start = start;
    }

    /// Sets a member; its block is sent when it is marked as changed.
    pub(super) fn follow(&mut self, told: Told) {
        let block = self.blocks.get_mut(told.block);
        if let Some(member) = block.and_then(|block| block.members.get_mut(told.member)) {
            become_state(&mut member.value, told.state);
        }
    }

    /// Sends the changed control blocks, given as bits, and the repetitions that are due at `now`.
    pub(super) fn send(
        &mut self,
        now: Monotonic,
        changed: u64,
        mut publish: impl FnMut(&[u8]) -> Result<u64, ProbeError>,
    ) -> Result<(), ProbeError> {
        for (index, output) in self.blocks.iter_mut().enumerate() {
            let has_changed = changed >> index & 1 == 1;
            if output.make(now - self.start, has_changed) {
                publish(output.messages.frame())?;
                output.sent(sys::clock::monotonic() - self.start);
            }
        }
        Ok(())
    }

    /// Due instant of the next repetition; `None` if nothing is published.
    pub(super) fn due(&self) -> Option<Monotonic> {
        let due_ns = self.blocks.iter().map(|block| block.messages.repeat_ns()).min();
        due_ns.map(|due_ns| self.start + due_ns)
    }
}

/// A running control block.
struct Output {
    messages: Messages,
    members: Box<[Member]>,
    due_ns: i64,
    /// True once a message was made.
    has_begun: bool,
}

/// A member that follows a function, with its current state.
struct Member {
    place: usize,
    value: Value,
}

impl Output {
    fn new(output: &GooseOutput, source: Mac) -> Result<Self, ProbeError> {
        let value = |place: usize| output.block.message.all_data[place].clone();
        let members = output.feeds.iter().map(|(place, _)| Member {
            place: *place,
            value: value(*place),
        });
        Ok(Self {
            messages: Messages::new(&output.block, source, "relay")?,
            members: members.collect(),
            due_ns: 0,
            has_begun: false,
        })
    }

    /// Makes the message that is due at `now_ns` from the start of the run, if there is one: at once if a member changed. The
    /// first message always has the first state, whatever its values: its numbers show a subscriber that the relay has restarted.
    fn make(&mut self, now_ns: i64, has_changed: bool) -> bool {
        let has_begun = std::mem::replace(&mut self.has_begun, true);
        let is_change = has_changed && self.write() && has_begun;
        if !is_change && now_ns < self.messages.repeat_ns() {
            return false;
        }
        self.due_ns = now_ns;
        self.messages.make(now_ns, is_change, || sys::clock::realtime().as_ns());
        true
    }

    /// Records that the message was sent at `now_ns` from the start of the run.
    fn sent(&mut self, now_ns: i64) {
        self.messages.sent(self.due_ns, now_ns);
    }

    /// Writes the members; returns true if one of them changed.
    fn write(&mut self) -> bool {
        let members = self.members.iter().map(|member| (member.place, &member.value));
        self.messages.set(members)
    }
}

/// Validity of a quality, IEC 61850-7-3: its first two bits.
const INVALID: u8 = 0b0100_0000;

/// Writes a state into a value of the type given in the file.
fn become_state(value: &mut Value, state: State) {
    match (value, state) {
        (Value::Boolean(is_set), State::Boolean(now)) => *is_set = now,
        (Value::Integer(number), State::Number(now)) => *number = i64::from(now),
        (Value::Unsigned(number), State::Number(now)) => *number = u64::from(now),
        (Value::Float32(number), State::Float(bits)) => *number = f32::from_bits(bits),
        (Value::BitString { bits, .. }, State::Quality(is_good)) => {
            if let Some(first) = bits.first_mut() {
                *first = if is_good { 0 } else { INVALID };
            }
        }
        // The file is refused if a member's type does not fit its function.
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::{Outputs, Told};
    use ::relay::config::parse;
    use ::relay::engine::State;
    use units::Monotonic;
    use wire::ether::{EthernetView, Mac};
    use wire::goose::Frame;

    const FILE: &str = include_str!("../../../../tests/data/relay.toml");

    /// stNum and sqNum of the sent messages.
    fn sent(outputs: &mut Outputs, at_ms: i64, changed: u64) -> Vec<(u32, u32)> {
        let mut numbers = Vec::new();
        let publish = |octets: &[u8]| {
            let ethernet = EthernetView::parse(octets).expect("a frame");
            let frame = Frame::parse(&ethernet).expect("a message");
            numbers.push((frame.st_num(), frame.sq_num()));
            Ok(0)
        };
        let now = Monotonic::from_ns(at_ms * 1_000_000);
        outputs.send(now, changed, publish).expect("it publishes");
        numbers
    }

    /// A task that is late in its first cycle has samples before the first message is sent.
    #[test]
    fn the_first_message_is_of_state_1_though_samples_have_come() {
        let config = parse(FILE, "relay.toml").expect("a relay");
        let mut outputs = Outputs::new(&config.gooses, Mac([2, 0, 0, 0, 0, 1])).expect("an output");
        let told = |state| Told {
            block: 0,
            member: 0,
            state: State::Boolean(state),
        };
        outputs.follow(told(true));
        assert_eq!(sent(&mut outputs, 28, 1), [(1, 1)]);
        outputs.follow(told(false));
        assert_eq!(sent(&mut outputs, 29, 0), [], "nothing says that it changed");
        assert_eq!(sent(&mut outputs, 29, 1), [(2, 0)]);
        assert_eq!(sent(&mut outputs, 30, 1), [], "the same again is no change");
        assert!(outputs.due().is_some_and(|due| due > Monotonic::from_ns(30_000_000)));
    }
}
