//! Role of a piece of the latency for the thread that waited.

use super::ORDINARY_NS;
use super::own::{Own, OwnStates};
use super::path::WakePath;
use crate::event::Thread;
use crate::occupancy::{Segment, Who};
use model::Question;

/// A piece of the latency.
#[derive(Debug, Clone, Copy)]
pub(super) struct Piece {
    pub(super) segment: Segment,
    pub(super) role: Role,
}

/// Roles of a piece for the thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    /// Another thread had the CPU.
    Thread,
    /// An interrupt unrelated to the thread.
    Interrupt,
    /// Deferred interrupt work.
    Softirq,
    /// The scheduler chose a thread of lower priority, or none, although this one was ready.
    Throttled,
    /// The thread was stopped.
    Stopped,
    /// The thread waited for a frame, and nothing on its CPU delayed the frame.
    UnderWay,
    /// The kernel's own path from the timer to the thread, and the thread itself.
    Own,
    /// The thread had run and waited again, for example for a page; for a frame: its CPU was idle.
    Waited,
    /// The timer was due but not handled, and only threads ran.
    Late,
    /// Nothing was recorded that could have taken that long.
    Stalled,
    /// Switches are missing from the events.
    Lost,
}

/// The role of a piece of a late wake-up, which is within one stage.
pub(super) fn in_wakeup(segment: &Segment, question: &Question, path: &WakePath, own: &OwnStates) -> Role {
    if let Some(above) = above_threads(&segment.who) {
        let is_own = path
            .interrupt
            .is_some_and(|own| own.clipped(segment.from, segment.to).is_some());
        return if is_own && segment.ns() <= ORDINARY_NS {
            Role::Own
        } else {
            above
        };
    }
    if matches!(segment.who, Who::Thread(thread) if thread.pid == question.thread) {
        return own_or_stalled(segment);
    }
    if segment.who == Who::Lost {
        return Role::Lost;
    }
    let state = own.at_last_switch(segment.from);
    if state == Own::Stopped {
        return Role::Stopped;
    }
    if segment.to <= path.served(question.to) {
        return Role::Late;
    }
    let was_in = path.switched_in.is_some_and(|switched_in| switched_in < segment.from);
    // A thread woken from another CPU is ready a little after the wake-up event.
    let is_passed_over = own.was_passed_over(segment) && segment.ns() > ORDINARY_NS;
    match segment.who {
        _ if was_in && state == Own::Waiting => Role::Waited,
        who if is_passed_over && path.ranks_above(&who) => Role::Throttled,
        Who::Thread(_) => Role::Thread,
        _ => own_or_stalled(segment),
    }
}

/// The role of a piece of a gap that a spinning thread saw.
pub(super) fn in_gap(segment: &Segment, question: &Question, own: Option<&Thread>, states: &OwnStates) -> Role {
    if let Some(above) = above_threads(&segment.who) {
        return above;
    }
    match segment.who {
        Who::Thread(thread) if thread.pid == question.thread => Role::Stalled,
        Who::Lost => Role::Lost,
        // No switch was recorded for as long as the ring reaches back: the thread of the question has the CPU.
        Who::Unknown => Role::Stalled,
        _ if states.at_last_switch(segment.from) == Own::Stopped => Role::Stopped,
        who if own.is_some_and(|own| is_lower(&who, own)) && states.was_passed_over(segment) => Role::Throttled,
        Who::Thread(_) => Role::Thread,
        _ => Role::Stalled,
    }
}

/// The role of a piece of a frame's path. Short pieces are the kernel's own work on it.
pub(super) fn in_hop(segment: &Segment) -> Role {
    if segment.who == Who::Lost {
        return Role::Lost;
    }
    if segment.ns() <= ORDINARY_NS && segment.who != Who::Unknown {
        return Role::Own;
    }
    match segment.who {
        Who::Thread(_) => Role::Thread,
        Who::Idle => Role::Waited,
        who => above_threads(&who).unwrap_or(Role::Stalled),
    }
}

/// The role of a piece of the time that a thread waited for a frame.
pub(super) fn in_frame(segment: &Segment, question: &Question, own: Option<&Thread>, states: &OwnStates) -> Role {
    if let Some(above) = above_threads(&segment.who) {
        return if segment.ns() <= ORDINARY_NS { Role::Own } else { above };
    }
    if segment.who == Who::Lost {
        return Role::Lost;
    }
    let state = states.at(segment.from);
    match segment.who {
        Who::Thread(thread) if thread.pid == question.thread => Role::UnderWay,
        // No switch was recorded for as long as the ring reaches back: the thread of the question has the CPU.
        Who::Unknown => Role::UnderWay,
        _ if state == Own::Stopped => Role::Stopped,
        _ if segment.ns() <= ORDINARY_NS => Role::Own,
        who if own.is_some_and(|own| is_lower(&who, own)) && states.was_passed_over(segment) => Role::Throttled,
        Who::Thread(_) if state == Own::Ready => Role::Thread,
        // It may have kept the thread that handles the NIC's interrupts off the CPU.
        Who::Thread(thread) if own.is_some_and(|own| thread.is_realtime() && thread.priority <= own.priority) => {
            Role::Thread
        }
        _ => Role::UnderWay,
    }
}

fn above_threads(who: &Who) -> Option<Role> {
    match who {
        Who::Nmi | Who::Interrupt { .. } | Who::Vector(_) | Who::Timer => Some(Role::Interrupt),
        Who::Softirq(_) => Some(Role::Softirq),
        Who::Thread(_) | Who::Idle | Who::Lost | Who::Unknown => None,
    }
}

fn own_or_stalled(segment: &Segment) -> Role {
    if segment.ns() <= ORDINARY_NS && segment.who != Who::Unknown {
        Role::Own
    } else {
        Role::Stalled
    }
}

/// True if a scheduler that lets this thread run never chooses `who` before it: a thread of lower real-time rank, or the idle
/// thread.
pub(super) fn is_lower(who: &Who, own: &Thread) -> bool {
    match who {
        Who::Thread(thread) => own.is_realtime() && thread.priority > own.priority,
        Who::Idle => true,
        _ => false,
    }
}
