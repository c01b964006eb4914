//! State changes in a task.

use protection::measure::Blocks;
use protection::supervision::SampleState;
use protection::{Direction, Phases};

/// Something that changed, and when.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Event {
    /// Number of the last sample that the task worked on.
    pub at: u64,
    /// The owner of the state.
    pub subject: Subject,
    /// The new state.
    pub change: Change,
}

/// The owner of a changed state, by its place in the relay's file, from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Subject {
    /// A protection function.
    Function(usize),
    /// A trip.
    Trip(usize),
    /// The breaker failure function behind a trip.
    Breaker(usize),
    /// A stream.
    Stream(usize),
}

/// The new state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    /// It has started, or has started in further phases.
    Start(Phases, Direction),
    /// It has operated, or in further phases: a function its decision, a trip its command, a breaker failure function its second
    /// trip.
    Operate(Phases),
    /// The neighbours of a breaker are tripped.
    Backtrip,
    /// Neither started nor operated any more.
    Reset,
    /// It does not decide, and why.
    Blocked(Blocks),
    /// It decides again.
    Released,
    /// How the samples of a stream come.
    Samples(SampleState),
    /// A stream's counter jumped: its samples begin anew.
    Restart,
    /// Synchronisation of a stream (smpSynch).
    Synch(u8),
}

/// Changes from one output of a function to the next: phases that came, a reset, a block. At most three.
pub(crate) fn changes(before: &protection::Output, now: &protection::Output, mut tell: impl FnMut(Change)) {
    let was_on = before.started.any() || before.operated.any();
    let is_on = now.started.any() || now.operated.any();
    if was_on && !is_on {
        tell(Change::Reset);
    }
    if !before.started.contains(now.started) {
        tell(Change::Start(now.started, now.direction));
    }
    if !before.operated.contains(now.operated) {
        tell(Change::Operate(now.operated));
    }
    if before.blocked != now.blocked {
        tell(if now.blocked.any() {
            Change::Blocked(now.blocked)
        } else {
            Change::Released
        });
    }
}
