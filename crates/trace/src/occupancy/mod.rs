//! The occupants of a CPU over time: turns the events into segments without gaps.
//!
//! At every instant the innermost occupant counts: non-maskable interrupt, interrupt, softirq, thread, idle thread.

use crate::event::{Event, Name, Thread, Vector, What, softirq_name};
use crate::snapshot::{Snapshot, Turn};
use std::fmt;
use units::Monotonic;

/// Occupants of a CPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Who {
    /// A non-maskable interrupt.
    Nmi,
    /// The handler of an interrupt.
    Interrupt {
        /// Its number.
        number: u32,
        /// Name under which it was requested.
        name: Name,
    },
    /// One of the processor's own vectors.
    Vector(Vector),
    /// A timer that is handled outside every interrupt that has tracepoints.
    Timer,
    /// Deferred interrupt work, by number.
    Softirq(u32),
    /// A thread.
    Thread(Thread),
    /// The idle thread.
    Idle,
    /// Switches are missing from the events.
    Lost,
    /// The events do not reach back far enough.
    Unknown,
}

impl fmt::Display for Who {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Nmi => f.write_str("non-maskable interrupt"),
            Self::Interrupt { number, name } => write!(f, "interrupt {number} {name}"),
            Self::Vector(vector) => write!(f, "interrupt {vector}"),
            Self::Timer => f.write_str("interrupt timer"),
            Self::Softirq(number) => write!(f, "softirq {}", softirq_name(*number)),
            Self::Thread(thread) => write!(f, "thread {thread}"),
            Self::Idle => f.write_str("idle"),
            Self::Lost | Self::Unknown => f.write_str("unknown"),
        }
    }
}

/// A stretch of time in which one occupant had the CPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Segment {
    /// Start of the segment.
    pub from: Monotonic,
    /// End of the segment.
    pub to: Monotonic,
    /// The occupant.
    pub who: Who,
}

impl Segment {
    /// Its length in ns.
    pub fn ns(&self) -> u64 {
        u64::try_from(self.to - self.from).unwrap_or(0)
    }

    /// The part of it between two instants.
    pub(crate) fn clipped(&self, from: Monotonic, to: Monotonic) -> Option<Self> {
        let clipped = Self {
            from: self.from.max(from),
            to: self.to.min(to),
            who: self.who,
        };
        (clipped.from < clipped.to).then_some(clipped)
    }
}

/// Occupants of the CPU over the whole snapshot, from its `from` to its `to`, without gaps.
pub fn segments(snapshot: &Snapshot) -> Vec<Segment> {
    let mut turns = snapshot.turns().into_iter();
    let opening = snapshot.opening.and_then(|_| turns.next());
    let mut state = State {
        turn: opening,
        frames: frames_open_at_the_start(&snapshot.events),
    };
    let mut line = SegmentChain {
        segments: Vec::new(),
        at: snapshot.from,
    };
    for event in &snapshot.events {
        line.advance(event.at, state.who());
        if matches!(event.what, What::Switch { .. }) {
            state.turn = turns.next();
            // Threads are not switched inside an interrupt: an exit event was lost.
            state.frames.clear();
        }
        state.take(&event.what);
    }
    line.advance(snapshot.to, state.who());
    let nmis = snapshot.events.iter().filter_map(|event| match event.what {
        What::Nmi { lasted_ns } => Some((event.at - i64::from(lasted_ns), event.at)),
        _ => None,
    });
    nmis.fold(line.segments, |segments, (from, to)| overlay(&segments, from, to))
}

/// The occupant above threads that begins with this event, if there is one.
fn frame_of(entry: &What) -> Option<Who> {
    match *entry {
        What::InterruptEntry { number, name } => Some(Who::Interrupt { number, name }),
        What::VectorEntry(vector) => Some(Who::Vector(vector)),
        What::SoftirqEntry(number) => Some(Who::Softirq(number)),
        What::TimerEntry { .. } => Some(Who::Timer),
        _ => None,
    }
}

/// The frame that this event ends. The exit of an interrupt does not contain its name.
fn frame_ended_by(exit: &What) -> Option<Who> {
    match *exit {
        What::InterruptExit { number } => Some(Who::Interrupt {
            number,
            name: Name::default(),
        }),
        What::VectorExit(vector) => Some(Who::Vector(vector)),
        What::SoftirqExit(number) => Some(Who::Softirq(number)),
        What::TimerExit => Some(Who::Timer),
        _ => None,
    }
}

fn is_same_frame(open: &Who, ended: &Who) -> bool {
    match (open, ended) {
        (Who::Interrupt { number: open, .. }, Who::Interrupt { number: ended, .. }) => open == ended,
        _ => open == ended,
    }
}

/// Frames whose end is among the events and whose beginning is not, the outermost first. A switch shows that none was open.
fn frames_open_at_the_start(events: &[Event]) -> Vec<Who> {
    let mut open: Vec<Who> = Vec::new();
    let mut before = Vec::new();
    for event in events {
        if matches!(event.what, What::Switch { .. }) {
            break;
        }
        open.extend(frame_of(&event.what));
        if let Some(ended) = frame_ended_by(&event.what) {
            match open.iter().rposition(|frame| is_same_frame(frame, &ended)) {
                Some(at) => open.truncate(at),
                None => before.insert(0, ended),
            }
        }
    }
    before
}

/// State of a CPU after the events so far.
struct State {
    turn: Option<Turn>,
    frames: Vec<Who>,
}

impl State {
    fn take(&mut self, what: &What) {
        self.frames.extend(frame_of(what));
        if let Some(ended) = frame_ended_by(what)
            && let Some(at) = self.frames.iter().rposition(|frame| is_same_frame(frame, &ended))
        {
            self.frames.truncate(at);
        }
    }

    fn who(&self) -> Who {
        // A timer is handled by an interrupt or softirq, whose name is more informative.
        let named = self.frames.iter().rev().find(|frame| **frame != Who::Timer);
        match (named.or(self.frames.last()), self.turn) {
            (Some(frame), _) => *frame,
            (None, Some(turn)) if !turn.is_certain => Who::Lost,
            (None, Some(turn)) if turn.thread.is_idle() => Who::Idle,
            (None, Some(turn)) => Who::Thread(turn.thread),
            (None, None) => Who::Unknown,
        }
    }
}

/// The segments so far, which end at `at`.
struct SegmentChain {
    segments: Vec<Segment>,
    at: Monotonic,
}

impl SegmentChain {
    fn advance(&mut self, to: Monotonic, who: Who) {
        if to <= self.at {
            return;
        }
        push(&mut self.segments, Segment { from: self.at, to, who });
        self.at = to;
    }
}

/// Appends a segment, or extends the last one if the occupant is the same.
fn push(segments: &mut Vec<Segment>, segment: Segment) {
    match segments.last_mut() {
        Some(last) if last.who == segment.who && last.to == segment.from => last.to = segment.to,
        _ => segments.push(segment),
    }
}

/// The segments with a non-maskable interrupt inserted.
fn overlay(segments: &[Segment], from: Monotonic, to: Monotonic) -> Vec<Segment> {
    let mut laid = Vec::with_capacity(segments.len() + 2);
    for segment in segments {
        let nmi = Segment {
            who: Who::Nmi,
            ..*segment
        };
        let parts = [
            segment.clipped(segment.from, from),
            nmi.clipped(from, to),
            segment.clipped(to, segment.to),
        ];
        for part in parts.into_iter().flatten() {
            push(&mut laid, part);
        }
    }
    laid
}

#[cfg(test)]
mod tests;
