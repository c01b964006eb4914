//! A stretch of one CPU's events.

use crate::event::{Event, Thread, What};
use units::Monotonic;

/// Events of a CPU between two instants.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Snapshot {
    /// The CPU.
    pub cpu: u32,
    /// From when.
    pub from: Monotonic,
    /// Until when.
    pub to: Monotonic,
    /// The events, in order of time.
    pub events: Vec<Event>,
    /// The last switch before `from`, which tells who had the CPU then.
    pub opening: Option<Event>,
    /// True if every event since `from` is here: the ring had not been overwritten that far, and the recorder ran.
    pub complete: bool,
}

/// A thread's turn on a CPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Turn {
    /// Since when.
    pub from: Monotonic,
    /// The thread, with the higher of the priorities with which it got the CPU and left it.
    pub thread: Thread,
    /// True if it had the CPU until the next recorded switch; if not, that switch was away from another thread, and switches
    /// in between are missing.
    pub is_certain: bool,
}

impl Turn {
    /// It may have raised its own priority while it ran, or lowered it.
    fn left_with(&mut self, priority: Option<i16>) {
        self.thread.priority = priority.map_or(self.thread.priority, |left| left.min(self.thread.priority));
    }
}

impl Snapshot {
    /// Of events in order of time, which may begin before `from` and end after `to`; `whole`: they begin with the first
    /// event there ever was.
    pub fn of(cpu: u32, from: Monotonic, to: Monotonic, events: &[Event], whole: bool) -> Self {
        Self::taking(cpu, from, to, events.to_vec(), whole)
    }

    /// The same, in the room that the events have.
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
