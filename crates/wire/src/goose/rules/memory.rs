//! The rules' memory of earlier messages: their contents, the state before, and how `t` behaves.

use crate::goose::outcome::{Heard, Said};

/// So long a message may be held up and still be one of the publisher's own that the next state overtook: more than two paths of a
/// redundant network differ by, and about the shortest time after which a state that goes on is repeated.
const HELD_UP_NS: i64 = 2_000_000;

/// Messages whose contents are kept: more than can be told from late ones.
const KEPT: usize = 32;

/// Digests of the newest messages of a state, by their numbers.
#[derive(Debug, Clone, Default)]
pub(super) struct Bodies([u64; KEPT]);

impl Bodies {
    /// Keeps what message `number` says.
    pub(super) fn keep(&mut self, number: u64, said: &Said) {
        self.0[slot(number)] = said.body();
    }

    /// True if message `number`, which was kept, said the same.
    pub(super) fn is_kept(&self, number: u64, said: &Said) -> bool {
        self.0[slot(number)] == said.body()
    }
}

fn slot(number: u64) -> usize {
    // Less than 32.
    (number % KEPT as u64) as usize
}

/// A state that is over.
#[derive(Debug, Clone, Copy)]
pub(super) struct Earlier {
    st_num: u32,
    /// The last one taken of it.
    sq_num: u32,
    t_ns: i64,
    /// When the next one began.
    over: Heard,
    /// A late one may still come.
    may_be_late: bool,
    /// So many messages more may have been sent and lost between its last one and the next state's first.
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

    /// The same, whose late message came.
    pub(super) fn without_late(self) -> Self {
        Self {
            may_be_late: false,
            ..self
        }
    }

    /// The number of missing messages between this one and the last one taken, if this one may have been overtaken on its way.
    pub(super) fn overtaken(&self, said: &Said, now: Heard) -> Option<u64> {
        let missing = u64::from(said.numbers.sq_num.saturating_sub(self.sq_num)).saturating_sub(1);
        let is_just_over = now.since(self.over).is_some_and(|ns| ns <= HELD_UP_NS);
        (self.may_be_late && is_just_over && missing <= self.most_missing).then_some(missing)
    }
}

/// How `t` behaves within a state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stamps {
    /// It stands, as it should.
    OfTheState,
    /// It moved on once with a repetition: a publisher that began again, or one that stamps each message.
    Moved,
    /// It moves on with repetitions.
    OfEachMessage,
}

impl Stamps {
    /// The clocks of devices that stamp each message are no coarser: one that stands for longer is that of a state.
    pub(super) const COARSEST_NS: i64 = 100_000_000;
}
