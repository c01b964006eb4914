//! States of the measuring thread at each switch of its CPU.

use crate::event::{Left, What, tag_of};
use crate::occupancy::Segment;
use crate::snapshot::Snapshot;
use units::Monotonic;

/// States of the measuring thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Own {
    /// It could have run. The kernel passes over a ready thread of higher priority only if it is throttling it.
    Ready,
    /// It waited for something.
    Waiting,
    /// It was stopped.
    Stopped,
}

/// Its state just after each switch, in order of time.
pub(super) struct OwnStates {
    states: Vec<(Monotonic, Own)>,
    /// Instants at which it was being woken.
    wakings: Vec<Monotonic>,
    /// Instants at which the idle thread continued although this CPU had made the thread ready.
    idle_again: Vec<Monotonic>,
}

impl OwnStates {
    /// `woken` is the instant at which it was being woken, perhaps on another CPU.
    pub(super) fn of(on_cpu: &Snapshot, thread: i32, woken: Option<Monotonic>) -> Self {
        let mut states = Vec::new();
        let mut wakings = Vec::from_iter(woken);
        let mut idle_again = Vec::new();
        let mut own = Own::Waiting;
        // A thread that another CPU wakes is ready here a little later.
        let mut is_ready_here = false;
        let mut woken = woken;
        for event in on_cpu.opening.iter().chain(&on_cpu.events) {
            if woken.is_some_and(|woken| woken < event.at) {
                own = Own::Ready;
                woken = None;
            }
            match event.what {
                What::Waking(other) if other.pid == thread => {
                    if own == Own::Stopped {
                        // No longer stopped, and not yet passed over.
                        states.push((event.at, Own::Waiting));
                    }
                    wakings.push(event.at);
                    own = Own::Ready;
                    is_ready_here = true;
                }
                What::Switch { left, previous, .. } => {
                    if previous == tag_of(thread) {
                        own = match left {
                            Left::CouldRun => Own::Ready,
                            Left::Waits => Own::Waiting,
                            Left::Stopped => Own::Stopped,
                        };
                        is_ready_here = own == Own::Ready;
                    }
                    states.push((event.at, own));
                }
                // The scheduler ran, found no thread that it would let run, and the idle thread continued.
                What::IdleEntry(_) if is_ready_here => idle_again.push(event.at),
                _ => {}
            }
        }
        wakings.sort_unstable();
        Self {
            states,
            wakings,
            idle_again,
        }
    }

    /// State at the last switch up to `at`. Before the first switch it waited, or ran.
    pub(super) fn at_last_switch(&self, at: Monotonic) -> Own {
        let count = self.states.partition_point(|(switched, _)| *switched <= at);
        let last = count.checked_sub(1).and_then(|index| self.states.get(index));
        last.map_or(Own::Waiting, |(_, own)| *own)
    }

    /// Instants at which it was being woken, in order of time.
    pub(super) fn wakings(&self) -> &[Monotonic] {
        &self.wakings
    }

    /// State at an instant at which another thread, or none, has the CPU.
    pub(super) fn at(&self, at: Monotonic) -> Own {
        let switches = self.states.partition_point(|(switched, _)| *switched <= at);
        let wakings = self.wakings.partition_point(|waking| *waking <= at);
        let switched = switches.checked_sub(1).and_then(|index| self.states.get(index));
        let woken = wakings.checked_sub(1).and_then(|index| self.wakings.get(index));
        match (switched, woken) {
            (Some((switched, own)), Some(woken)) if woken < switched => *own,
            (_, Some(_)) => Own::Ready,
            (Some((_, own)), None) => *own,
            (None, None) => Own::Waiting,
        }
    }

    /// True if the scheduler let another thread run in this piece, or none, although the thread was ready.
    pub(super) fn was_passed_over(&self, piece: &Segment) -> bool {
        let in_piece = |at: &Monotonic| (piece.from..piece.to).contains(at);
        self.at_last_switch(piece.from) == Own::Ready || self.idle_again.iter().any(in_piece)
    }
}
