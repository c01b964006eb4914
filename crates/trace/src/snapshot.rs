//! A stretch of one CPU's events.

use crate::event::{Event, Thread, What};
use units::Monotonic;

/// What was recorded on a CPU between two instants.
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
    /// Whether every event since `from` is here: the ring had not been overwritten that far, and the recorder ran.
    pub complete: bool,
}

impl Snapshot {
    /// Of events in order of time, which may begin before `from` and end after `to`; `whole`: they begin with the first
    /// event there ever was.
    pub fn of(cpu: u32, from: Monotonic, to: Monotonic, events: &[Event], whole: bool) -> Self {
        let begin = events.partition_point(|event| event.at < from);
        let end = events.partition_point(|event| event.at <= to).max(begin);
        let is_switch = |event: &&Event| matches!(event.what, What::Switch { .. });
        Self {
            cpu,
            from,
            to,
            events: events[begin..end].to_vec(),
            opening: events[..begin].iter().rev().find(is_switch).copied(),
            complete: whole || begin > 0,
        }
    }

    /// Who had the CPU at `from`, as far as the events tell.
    pub fn opening_thread(&self) -> Option<Thread> {
        match self.opening?.what {
            What::Switch { next, .. } => Some(next),
            _ => None,
        }
    }
}
