//! One CPU's events as slices on its tracks.

use super::{BEGIN, INSTANT, INTERRUPTS, RUNNING, SOFTIRQS, Track, TrackEvent, end};
use crate::event::{Event, Thread, What, softirq_name};
use crate::snapshot::{Snapshot, Turn};
use serde_json::{Value, json};

/// The slices of a stretch, which all begin and end within it, in order on each track.
pub(super) fn slices(snapshot: &Snapshot, cpu: u32) -> Vec<TrackEvent> {
    let mut slices = running(snapshot, Track { cpu, place: RUNNING });
    for (place, edge) in [(INTERRUPTS, interrupt_edge as Edges), (SOFTIRQS, softirq_edge)] {
        slices.extend(nested(snapshot, Track { cpu, place }, edge));
    }
    slices
}

/// The thread that has the CPU; and, as instants, wake-ups made there and idle states entered and left.
fn running(snapshot: &Snapshot, track: Track) -> Vec<TrackEvent> {
    let turns = snapshot.turns();
    let ends = turns
        .iter()
        .skip(1)
        .map(|next| next.from)
        .chain(std::iter::once(snapshot.to));
    let slices = turns.iter().zip(ends);
    let slices = slices.flat_map(|(turn, until)| [begin(turn, track), end(until, track)]);
    let instants = snapshot.events.iter().filter_map(|event| instant(event, track));
    slices.chain(instants).collect()
}

fn begin(turn: &Turn, track: Track) -> TrackEvent {
    let thread = &turn.thread;
    let mut name = if thread.is_idle() {
        "idle".to_owned()
    } else {
        thread.name.to_string()
    };
    if !turn.is_certain {
        name.push_str(", then unknown");
    }
    TrackEvent {
        at: turn.from,
        track,
        phase: BEGIN,
        name,
        arguments: numbers(thread),
    }
}

fn numbers(thread: &Thread) -> Value {
    json!({"pid": thread.pid, "kernel priority": thread.priority})
}

fn instant(event: &Event, track: Track) -> Option<TrackEvent> {
    let (name, arguments) = match event.what {
        What::Waking(thread) => (format!("wakes {}", thread.name), numbers(&thread)),
        What::IdleEntry(state) => (format!("enters idle state {state}"), Value::Null),
        What::IdleExit => ("leaves idle state".to_owned(), Value::Null),
        _ => return None,
    };
    Some(TrackEvent {
        at: event.at,
        track,
        phase: INSTANT,
        name,
        arguments,
    })
}

/// Effect of an event on a track of nested slices.
enum Edge {
    /// A slice of this kind begins, shown under this name.
    Begin(Slice, String, Value),
    /// The innermost slice of this kind ends, with all slices open inside it.
    End(Slice),
    /// Something that is known only when it is over.
    Over(String, Value),
}

/// Kinds of slices, so that each end finds its start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Slice {
    Interrupt(u32),
    Vector(u32),
    Timer,
    Softirq(u32),
}

fn interrupt_edge(what: &What) -> Option<Edge> {
    Some(match *what {
        What::InterruptEntry { number, name } => {
            Edge::Begin(Slice::Interrupt(number), format!("{name} ({number})"), Value::Null)
        }
        What::InterruptExit { number } => Edge::End(Slice::Interrupt(number)),
        What::VectorEntry(vector) => Edge::Begin(Slice::Vector(vector.code()), vector.to_string(), Value::Null),
        What::VectorExit(vector) => Edge::End(Slice::Vector(vector.code())),
        What::TimerEntry { due_ns } => {
            let due = due_ns.map_or(Value::Null, |due| json!({"due_ns (the timer's clock)": due}));
            Edge::Begin(Slice::Timer, "timer".to_owned(), due)
        }
        What::TimerExit => Edge::End(Slice::Timer),
        What::Nmi { lasted_ns } => Edge::Over("non-maskable interrupt".to_owned(), json!({"lasted_ns": lasted_ns})),
        _ => return None,
    })
}

fn softirq_edge(what: &What) -> Option<Edge> {
    match *what {
        What::SoftirqEntry(number) => {
            let name = softirq_name(number).to_owned();
            Some(Edge::Begin(Slice::Softirq(number), name, Value::Null))
        }
        What::SoftirqExit(number) => Some(Edge::End(Slice::Softirq(number))),
        _ => None,
    }
}

/// Returns the starts and ends on one track.
type Edges = fn(&What) -> Option<Edge>;

fn nested(snapshot: &Snapshot, track: Track, edge: Edges) -> Vec<TrackEvent> {
    let mut slices = Vec::new();
    let mut open: Vec<Slice> = Vec::new();
    for event in &snapshot.events {
        let event_at = |phase, name, arguments| TrackEvent {
            at: event.at,
            track,
            phase,
            name,
            arguments,
        };
        match edge(&event.what) {
            Some(Edge::Begin(slice, name, arguments)) => {
                open.push(slice);
                slices.push(event_at(BEGIN, name, arguments));
            }
            Some(Edge::End(slice)) => {
                // A slice that began before the stretch has no start to match.
                let depth = open.iter().rposition(|other| *other == slice).unwrap_or(open.len());
                slices.extend(open.drain(depth..).map(|_| end(event.at, track)));
            }
            Some(Edge::Over(name, arguments)) => slices.push(event_at(INSTANT, name, arguments)),
            None => {}
        }
    }
    slices.extend(open.iter().map(|_| end(snapshot.to, track)));
    slices
}
