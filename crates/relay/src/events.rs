//! State changes in a task.

use crate::ptp::PtpState;
use protection::measure::Blocks;
use protection::supervision::SampleState;
use protection::{Direction, Phases};

/// A change of state, with its instant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Event {
    /// Number of the last sample that the task processed.
    pub at: u64,
    /// The owner of the state.
    pub subject: Subject,
    /// The new state.
    pub change: Change,
}

/// The owner of a changed state, by its index in the relay's file, from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Subject {
    /// A protection function.
    Function(usize),
    /// A trip.
    Trip(usize),
    /// The breaker failure function of a trip.
    Breaker(usize),
    /// A stream.
    Stream(usize),
    /// The supervision of the fuses of a stream's voltage transformers.
    Fuse(usize),
    /// The power-swing block of a stream's distance zones.
    Swing(usize),
    /// The clock of the host.
    HostClock,
}

/// The new state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    /// Started, or started in further phases.
    Start(Phases, Direction),
    /// Operated, or operated in further phases: the decision of a function, the command of a trip, or the second trip of a
    /// breaker failure function.
    Operate(Phases),
    /// The neighbouring breakers are tripped.
    Backtrip,
    /// Reset: neither started nor operated any more.
    Reset,
    /// Blocked, with the reasons.
    Blocked(Blocks),
    /// No longer blocked.
    Released,
    /// State of a stream's samples.
    Samples(SampleState),
    /// A stream's counter jumped: its samples start again.
    Restart,
    /// A sample had a value that left the course of the wave for one sample, and was replaced; the number of such samples so far.
    Implausible(u64),
    /// Synchronisation of a stream (smpSynch).
    Synch(u8),
    /// Synchronisation of the host's clock by PTP.
    Ptp(PtpState),
}

/// Changes from one output of a function to the next: new phases, a reset, a block. At most three.
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
