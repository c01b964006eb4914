//! Earlier messages that the rules remember: their contents, the previous state, and the behaviour of `t`.

use crate::goose::outcome::{Heard, Said};

/// Maximum delay of a message that the publisher's next state overtook: more than the difference between two paths of a
/// redundant network, and about the shortest time after which a state is repeated.
const HELD_UP_NS: i64 = 2_000_000;

/// Number of messages whose contents are kept: more than the window for late messages.
const KEPT: usize = 32;

/// Digests of the newest messages of a state, by their numbers.
#[derive(Debug, Clone, Default)]
pub(super) struct Bodies([u64; KEPT]);

impl Bodies {
    /// Keeps the contents of message `number`.
    pub(super) fn keep(&mut self, number: u64, said: &Said) {
        self.0[slot(number)] = said.body();
    }

    /// True if the kept message `number` had the same contents.
    pub(super) fn is_kept(&self, number: u64, said: &Said) -> bool {
        self.0[slot(number)] == said.body()
    }
}

fn slot(number: u64) -> usize {
    // The result is below 32.
    (number % KEPT as u64) as usize
}

/// A state that has ended.
#[derive(Debug, Clone, Copy)]
pub(super) struct Earlier {
    st_num: u32,
    /// sqNum of the last message taken in it.
    sq_num: u32,
    t_ns: i64,
    /// When the next state began.
    over: Heard,
    /// True if one late message may still arrive.
    may_be_late: bool,
    /// Maximum number of messages that may have been sent and lost between its last message and the first of the next
    /// state.
    most_missing: u64,
}

impl Earlier {
    pub(super) fn of(last: Said, over: Heard, most_missing: u64) -> Self {
        Self {
            st_num: last.numbers.st_num,
            sq_num: last.numbers.sq_num,
            t_ns: last.t_ns,
            over,
            may_be_late: true,
            most_missing,
        }
    }

    pub(super) fn is_of(&self, said: &Said) -> bool {
        said.numbers.st_num == self.st_num && said.t_ns == self.t_ns
    }

    /// The same state after its late message has arrived.
    pub(super) fn without_late(self) -> Self {
        Self {
            may_be_late: false,
            ..self
        }
    }

    /// Number of missing messages between the last one taken and this one, if this one may have been overtaken on its
    /// way.
    pub(super) fn overtaken(&self, said: &Said, now: Heard) -> Option<u64> {
        let missing = u64::from(said.numbers.sq_num.saturating_sub(self.sq_num)).saturating_sub(1);
        let is_just_over = now.since(self.over).is_some_and(|ns| ns <= HELD_UP_NS);
        (self.may_be_late && is_just_over && missing <= self.most_missing).then_some(missing)
    }
}

/// Behaviour of `t` within a state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stamps {
    /// It stays constant, as required.
    OfTheState,
    /// It changed once with a repetition: the publisher restarted, or stamps each message.
    Moved,
    /// It changes with each repetition.
    OfEachMessage,
}

impl Stamps {
    /// Coarsest clock of devices that stamp each message: a `t` that stays constant for longer belongs to the state.
    pub(super) const COARSEST_NS: i64 = 100_000_000;
}
