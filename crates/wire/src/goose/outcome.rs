//! The outcome of a GOOSE message, and the part of the message that the rules look at.

use super::Frame;
use crate::order::OrderPlace;

/// The messages of a stream, counted by outcome.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counts {
    /// Changes of state, the first one seen not counted.
    pub states: u64,
    /// Messages of a state that was known, duplicates and late ones among them.
    pub repetitions: u64,
    /// States that never came: stNum jumped over them. Each had at least one message, which is counted as lost.
    pub missed_states: u64,
    /// States that did not begin with sqNum 0: their first messages were lost, or, where the time does not allow that, the publisher
    /// does not reset it.
    pub begun_late: u64,
    /// Of these, states whose sqNum goes on from that of the state before, further than the time allows messages to be lost: whether any
    /// were is not known.
    pub not_reset: u64,
    /// Messages from before the last one, too far back to be late, while that was live: replayed, or of a second publisher.
    pub old: u64,
    /// Messages of the state before that came, one each, within 2 ms of this one's beginning: overtaken on their way.
    pub held_up: u64,
    /// Messages with numbers that were seen, and other contents: of a second publisher.
    pub conflicting: u64,
    /// Repetitions whose values are not those of their state.
    pub altered: u64,
    /// Times the publisher restarted: with lower numbers after the last message had expired or with a later `t`, or with numbers
    /// further ahead than the time since the last message allows; or another one took its place.
    pub restarts: u64,
    /// Times no message came for longer than the last one allowed.
    pub expired: u64,
    /// Messages with timeAllowedtoLive 0, which is not allowed: whether the publisher died after them cannot be judged.
    pub without_life: u64,
    /// 1 when at the end no message had come for two and a half of the intervals at which they had come, though it had not expired.
    pub fell_silent: u64,
    /// Messages taken.
    pub taken: u64,
}

/// The fields that the rules are about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Numbers {
    /// State number.
    pub st_num: u32,
    /// Sequence number within the state.
    pub sq_num: u32,
    /// timeAllowedtoLive, ms.
    pub tal_ms: u32,
}

impl Numbers {
    /// The digests of a message.
    pub fn of(frame: &Frame<'_>) -> Self {
        Self {
            st_num: frame.st_num(),
            sq_num: frame.sq_num(),
            tal_ms: frame.time_allowed_to_live(),
        }
    }
}

/// The parts of a message that tell its publisher from another: its numbers, its time, and its values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Said {
    /// The numbers.
    pub numbers: Numbers,
    /// `t`: when its state began by the publisher's clock, ns since 1970 UTC.
    pub t_ns: i64,
    /// A digest of its values.
    pub values: u64,
}

impl Said {
    /// The numbers, time and values of a message.
    pub fn of(frame: &Frame<'_>) -> Self {
        Self {
            numbers: Numbers::of(frame),
            t_ns: frame.t().as_ns(),
            values: digest(frame.all_data().octets()),
        }
    }

    /// All that two messages of the same numbers have in common when they are one.
    pub(in crate::goose) fn body(&self) -> u64 {
        let parts = [self.values, self.t_ns.cast_unsigned(), u64::from(self.numbers.tal_ms)];
        parts.into_iter().fold(OFFSET, mix)
    }
}

impl From<Numbers> for Said {
    /// A message of which only the numbers are known.
    fn from(numbers: Numbers) -> Self {
        Self {
            numbers,
            t_ns: 0,
            values: 0,
        }
    }
}

/// FNV-1a, 64 bits.
const OFFSET: u64 = 0xcbf2_9ce4_8422_2325;

fn digest(octets: &[u8]) -> u64 {
    octets.iter().fold(OFFSET, |hash, octet| mix(hash, u64::from(*octet)))
}

fn mix(hash: u64, part: u64) -> u64 {
    (hash ^ part).wrapping_mul(0x0100_0000_01b3)
}

/// When the kernel had a message, ns of a clock that is not stepped; `None` where no stamp says so. What happened to an application
/// after that must neither hide a silence nor make one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Heard(pub Option<i64>);

impl Heard {
    /// At this instant, if it is known.
    pub fn at(ns: Option<i64>) -> Self {
        Self(ns)
    }

    /// Time since `before`, ns; `None` when one of them is not known.
    pub(in crate::goose) fn since(self, before: Self) -> Option<i64> {
        Some(self.0?.saturating_sub(before.0?))
    }
}

/// The outcome of one message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// The first of the stream.
    First,
    /// A new state, after so many that never came.
    NewState(u64),
    /// The publisher began again.
    Restart,
    /// A repetition, with its place among the others: `Next`, `Gap`, `Duplicate` or `Late`.
    Repetition(OrderPlace),
    /// From before the last message, while that is live: replayed, or of a second publisher.
    Old,
    /// Of the state before, overtaken by this one on its way; so many before it never came.
    HeldUp(u64),
    /// With numbers that were seen, and other contents: of a second publisher.
    Conflicting,
}

/// An oddity of a message that was taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Oddity {
    /// `t` moved on in the state, once: the publisher had begun again.
    BeganAgain,
    /// Its values are not those of its state.
    Altered,
    /// A new state whose sqNum goes on from that of the state before: [`Counts::not_reset`].
    NotReset,
    /// The dataset has other entries, or is another one, under the same confRev.
    Regrouped,
    /// sqNum went from its highest value to 0, which is the first of a state's: the next one is 1.
    ToZero,
}

impl Oddity {
    /// True where it puts the counts in doubt. A number that everybody understands does not.
    pub fn is_doubt(self) -> bool {
        self != Self::ToZero
    }
}

impl Outcome {
    /// True if a subscriber takes the message: else it is a duplicate, late, old or contradicts an earlier one.
    pub fn is_taken(self) -> bool {
        self.is_measured() && !matches!(self, Self::Repetition(OrderPlace::Late))
    }

    /// True if the time since the previous message is measured.
    pub fn is_measured(self) -> bool {
        !matches!(
            self,
            Self::Old | Self::HeldUp(_) | Self::Conflicting | Self::Repetition(OrderPlace::Duplicate)
        )
    }
}
