//! A stretch of one CPU's events.

use crate::event::{Event, Thread, What};
use units::Monotonic;

/// Events of a CPU between two instants.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Snapshot {
    /// The CPU.
    pub cpu: u32,
    /// Start of the snapshot.
    pub from: Monotonic,
    /// End of the snapshot.
    pub to: Monotonic,
    /// The events, in order of time.
    pub events: Vec<Event>,
    /// The last switch before `from`, which shows the occupant of the CPU at `from`.
    pub opening: Option<Event>,
    /// True if every event since `from` is included: the ring still held all of them, and the recorder was running.
    pub complete: bool,
}

/// A thread's turn on a CPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Turn {
    /// Start of the turn.
    pub from: Monotonic,
    /// The thread, with the higher of the two priorities with which it got and left the CPU.
    pub thread: Thread,
    /// True if it had the CPU until the next recorded switch; if not, that switch was away from another thread, and switches in
    /// between are missing.
    pub is_certain: bool,
}

impl Turn {
    /// Takes the priority with which it left: it may have changed its own priority while it ran.
    fn left_with(&mut self, priority: Option<i16>) {
        self.thread.priority = priority.map_or(self.thread.priority, |left| left.min(self.thread.priority));
    }
}

impl Snapshot {
    /// Makes a snapshot from events in order of time, which may begin before `from` and end after `to`. `whole` is true if they
    /// begin with the first event ever recorded.
    pub fn of(cpu: u32, from: Monotonic, to: Monotonic, events: &[Event], whole: bool) -> Self {
        Self::taking(cpu, from, to, events.to_vec(), whole)
    }

    /// The same, reusing the memory of the events.
    pub fn taking(cpu: u32, from: Monotonic, to: Monotonic, mut events: Vec<Event>, whole: bool) -> Self {
        let begin = events.partition_point(|event| event.at < from);
        let end = events.partition_point(|event| event.at <= to).max(begin);
        let is_switch = |event: &&Event| matches!(event.what, What::Switch { .. });
        let opening = events[..begin].iter().rev().find(is_switch).copied();
        events.truncate(end);
        events.drain(..begin);
        Self {
            cpu,
            from,
            to,
            events,
            opening,
            complete: whole || begin > 0,
        }
    }

    /// Turns of the threads on the CPU, in order of time, from the opening switch to the last.
    pub fn turns(&self) -> Vec<Turn> {
        let mut turns: Vec<Turn> = Vec::new();
        for event in self.opening.iter().chain(&self.events) {
            let What::Switch {
                next,
                previous,
                left_with,
                ..
            } = event.what
            else {
                continue;
            };
            if let Some(last) = turns.last_mut() {
                last.is_certain = last.thread.tag() == previous;
                last.left_with(left_with.filter(|_| last.is_certain));
            }
            turns.push(Turn {
                from: event.at.max(self.from),
                thread: next,
                is_certain: true,
            });
        }
        turns
    }
}
