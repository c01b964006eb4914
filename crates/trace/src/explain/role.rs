//! What a piece of the latency was to the thread that waited.

use super::path::WakePath;
use super::{ORDINARY_NS, Question};
use crate::event::{Thread, What};
use crate::occupancy::{Segment, Who};
use crate::snapshot::Snapshot;

/// A piece of the latency.
#[derive(Debug, Clone, Copy)]
pub(super) struct Piece {
    pub(super) segment: Segment,
    pub(super) role: Role,
}

/// What a piece was to the thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    /// Another thread had the CPU.
    Thread,
    /// An interrupt that was not the thread's own.
    Interrupt,
    /// Deferred interrupt work.
    Softirq,
    /// The scheduler chose a thread of lower priority, or none, although this one was ready.
    Throttled,
    /// The kernel's own way from the timer to the thread, and the thread itself.
    Own,
    /// The timer was due and not served, and nothing above threads ran.
    Late,
    /// Nothing is recorded that could have taken so long.
    Stalled,
}

/// The role of a piece of a late wake-up, which lies within one stage.
pub(super) fn in_wakeup(segment: &Segment, question: &Question, path: &WakePath) -> Role {
    if let Some(above) = above_threads(&segment.who) {
        let is_own = path.interrupt.is_some_and(|own| own.clipped(segment.from, segment.to).is_some());
        return if is_own && segment.ns() <= ORDINARY_NS { Role::Own } else { above };
    }
    let waits_for_timer = segment.to <= path.served(question.to);
    match segment.who {
        Who::Thread(thread) if thread.pid == question.thread => own_or_stalled(segment),
        _ if waits_for_timer => Role::Late,
        _ if path.own.is_some_and(|own| chosen_over(segment, &own, path)) => Role::Throttled,
        Who::Thread(_) => Role::Thread,
        _ => own_or_stalled(segment),
    }
}

/// The role of a piece of a gap that a spinning thread saw.
pub(super) fn in_gap(segment: &Segment, question: &Question, own: Option<&Thread>, on_cpu: &Snapshot) -> Role {
    if let Some(above) = above_threads(&segment.who) {
        return above;
    }
    match segment.who {
        Who::Thread(thread) if thread.pid == question.thread => Role::Stalled,
        // No switch was recorded for as long as the ring reaches back: it is the thread that asks.
        Who::Unknown => Role::Stalled,
        who if own.is_some_and(|own| is_lower(&who, own)) && was_ready(segment, on_cpu) => Role::Throttled,
        Who::Thread(_) => Role::Thread,
        _ => Role::Stalled,
    }
}

fn above_threads(who: &Who) -> Option<Role> {
    match who {
        Who::Nmi | Who::Interrupt { .. } | Who::Vector(_) | Who::Timer => Some(Role::Interrupt),
        Who::Softirq(_) => Some(Role::Softirq),
        Who::Thread(_) | Who::Idle | Who::Unknown => None,
    }
}

fn own_or_stalled(segment: &Segment) -> Role {
    if segment.ns() <= ORDINARY_NS && segment.who != Who::Unknown {
        Role::Own
    } else {
        Role::Stalled
    }
}

/// Whether the scheduler chose this one while the real-time thread `own` was ready: it had been woken before. The kernel
/// does so only when it holds real-time threads back. What runs on from before the wake-up was not chosen.
fn chosen_over(segment: &Segment, own: &Thread, path: &WakePath) -> bool {
    is_lower(&segment.who, own) && segment.ns() > ORDINARY_NS && path.waking.is_some_and(|waking| segment.from > waking)
}

/// Whether it ranks below a real-time thread.
fn is_lower(who: &Who, own: &Thread) -> bool {
    match who {
        Who::Thread(thread) => own.is_realtime() && thread.priority > own.priority,
        Who::Idle => own.is_realtime(),
        _ => false,
    }
}

/// Whether the thread that lost the CPU to this one could have run on.
fn was_ready(segment: &Segment, on_cpu: &Snapshot) -> bool {
    let switches = on_cpu.events.iter().rev().filter(|event| event.at <= segment.from);
    let mut switches = switches.filter_map(|event| match event.what {
        What::Switch { previous_could_run, .. } => Some(previous_could_run),
        _ => None,
    });
    switches.next() == Some(true)
}
