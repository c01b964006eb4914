//! The outcome of a GOOSE message, and the fields of the message that the rules use.

use super::Frame;
use crate::hash::{NOTHING, mix, mix_octets};
use crate::order::OrderPlace;

/// The messages of a stream, counted by outcome.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counts {
    /// Changes of state, not counting the first state seen.
    pub states: u64,
    /// Messages of a state already seen, including duplicates and late ones.
    pub repetitions: u64,
    /// States that never arrived: stNum skipped them. Each had at least one message, which is counted as lost.
    pub missed_states: u64,
    /// States that did not begin with sqNum 0: their first messages were lost or, if there was not enough time for
    /// that, the publisher does not reset sqNum.
    pub begun_late: u64,
    /// Of these, states whose sqNum continues that of the previous state, further than the elapsed time allows for lost
    /// messages: it is not known whether any were lost.
    pub not_reset: u64,
    /// Messages older than the last one, by too much to be late, while the last one was live: replayed, or from a
    /// second publisher.
    pub old: u64,
    /// Messages of the previous state that arrived within 2 ms of the beginning of this one, at most one per state:
    /// overtaken on their way.
    pub held_up: u64,
    /// Messages with numbers already seen, but other contents: from a second publisher.
    pub conflicting: u64,
    /// Repetitions whose values differ from those of their state.
    pub altered: u64,
    /// Restarts of the publisher: lower numbers after the last message had expired or with a later `t`, or numbers
    /// further ahead than the time since the last message allows; or another publisher took its place.
    pub restarts: u64,
    /// Number of times that no message arrived within the time that the last one allowed.
    pub expired: u64,
    /// Messages with timeAllowedtoLive 0, which is not allowed: it cannot be judged whether the publisher stopped after
    /// them.
    pub without_life: u64,
    /// 1 if at the end no message had arrived for two and a half of the previous, equal intervals, although the last
    /// one had not expired.
    pub fell_silent: u64,
    /// Messages taken.
    pub taken: u64,
}

/// The fields that the rules check.
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

/// The parts of a message that distinguish its publisher from another: its numbers, its time, and its values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Said {
    /// The numbers.
    pub numbers: Numbers,
    /// `t`: the beginning of its state by the publisher's clock, ns since 1970 UTC.
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
            values: mix_octets(NOTHING, frame.all_data().octets()),
        }
    }

    /// A digest of everything that two messages with the same numbers must have in common.
    pub(in crate::goose) fn body(&self) -> u64 {
        let parts = [self.values, self.t_ns.cast_unsigned(), u64::from(self.numbers.tal_ms)];
        parts.into_iter().fold(NOTHING, mix)
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

/// Instant when the kernel received a message, in ns of a clock that is never stepped; `None` if there is no time
/// stamp. A later delay of the application must neither hide a silence nor create one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Heard(pub Option<i64>);

impl Heard {
    /// The instant `ns`, if it is known.
    pub fn at(ns: Option<i64>) -> Self {
        Self(ns)
    }

    /// Time since `before`, ns; `None` if one of the two is not known.
    pub(in crate::goose) fn since(self, before: Self) -> Option<i64> {
        Some(self.0?.saturating_sub(before.0?))
    }
}

/// The outcome of one message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// The first of the stream.
    First,
    /// A new state; this many states before it never arrived.
    NewState(u64),
    /// The publisher restarted.
    Restart,
    /// A repetition, with its place among the others: `Next`, `Gap`, `Duplicate` or `Late`.
    Repetition(OrderPlace),
    /// Older than the last message while that one is live: replayed, or from a second publisher.
    Old,
    /// A message of the previous state, overtaken by one of this state; this many messages before it never arrived.
    HeldUp(u64),
    /// A message with numbers already seen, but other contents: from a second publisher.
    Conflicting,
}

/// An oddity of an accepted message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Oddity {
    /// `t` changed once within the state: the publisher had restarted.
    BeganAgain,
    /// Its values differ from those of its state.
    Altered,
    /// A new state whose sqNum continues that of the previous state: [`Counts::not_reset`].
    NotReset,
    /// The dataset has other entries, or is another one, with the same confRev.
    Regrouped,
    /// sqNum wrapped from its highest value to 0, which is reserved for the first message of a state: it should wrap to
    /// 1.
    ToZero,
}

impl Oddity {
    /// True if it makes the counts doubtful. A wrap to 0 does not, since its meaning is clear.
    pub fn is_doubt(self) -> bool {
        self != Self::ToZero
    }
}

impl Outcome {
    /// True if a subscriber uses the message; false for a duplicate, late or old message and one that contradicts an
    /// earlier one.
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
