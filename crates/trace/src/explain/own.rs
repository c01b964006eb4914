//! What the measuring thread was doing whenever the CPU went from one thread to another.

use crate::event::{What, tag_of};
use crate::snapshot::Snapshot;
use units::Monotonic;

/// What the measuring thread was doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Own {
    /// It could have run. The kernel passes over a ready thread of higher priority only when it holds it back.
    Ready,
    /// It waited for something.
    Waiting,
}

/// What it was doing just after each switch, in order of time.
pub(super) struct OwnStates(Vec<(Monotonic, Own)>);

impl OwnStates {
    /// `woken`: when it was being woken, which may have been on another CPU.
    pub(super) fn of(on_cpu: &Snapshot, thread: i32, woken: Option<Monotonic>) -> Self {
        let mut states = Vec::new();
        let mut own = Own::Waiting;
        let mut woken = woken;
        for event in &on_cpu.events {
            if woken.is_some_and(|woken| woken < event.at) {
                own = Own::Ready;
                woken = None;
            }
            match event.what {
                What::Waking(other) if other.pid == thread => own = Own::Ready,
                What::Switch {
                    previous_could_run,
                    previous,
                    ..
                } => {
                    if previous == tag_of(thread) {
                        own = if previous_could_run { Own::Ready } else { Own::Waiting };
                    }
                    states.push((event.at, own));
                }
                _ => {}
            }
        }
        Self(states)
    }

    /// At the last switch up to `at`. Before the first it waited, or ran.
    pub(super) fn at_last_switch(&self, at: Monotonic) -> Own {
        let count = self.0.partition_point(|(switched, _)| *switched <= at);
        let last = count.checked_sub(1).and_then(|index| self.0.get(index));
        last.map_or(Own::Waiting, |(_, own)| *own)
    }
}
