//! One CPU's events as slices on its tracks.

use super::packet::{Note, TrackEvent, TrackEventType};
use crate::event::{Event, Thread, What, softirq_name};
use crate::snapshot::{Snapshot, Turn};
use units::Monotonic;

/// The tracks of a CPU that its events go to.
#[derive(Debug, Clone, Copy)]
pub(super) struct Tracks {
    pub(super) running: u64,
    pub(super) interrupts: u64,
    pub(super) softirqs: u64,
}

/// The slices of a stretch, which all begin and end within it. On each track they are in order.
pub(super) fn slices(snapshot: &Snapshot, tracks: Tracks) -> Vec<TrackEvent> {
    let mut slices = running(snapshot, tracks.running);
    slices.extend(nested(snapshot, tracks.interrupts, interrupt_edge));
    slices.extend(nested(snapshot, tracks.softirqs, softirq_edge));
    slices
}

/// Which thread has the CPU; and, as instants, the wake-ups made there and the idle states entered and left.
fn running(snapshot: &Snapshot, track: u64) -> Vec<TrackEvent> {
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

fn begin(turn: &Turn, track: u64) -> TrackEvent {
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
        kind: TrackEventType::Begin,
        name,
        notes: notes(thread),
    }
}

fn notes(thread: &Thread) -> Vec<Note> {
    vec![
        Note::signed("pid", thread.pid.into()),
        Note::signed("kernel priority", thread.priority.into()),
    ]
}

fn end(at: Monotonic, track: u64) -> TrackEvent {
    TrackEvent {
        at,
        track,
        kind: TrackEventType::End,
        name: String::new(),
        notes: Vec::new(),
    }
}

fn instant(event: &Event, track: u64) -> Option<TrackEvent> {
    let (name, notes) = match event.what {
        What::Waking(thread) => (format!("wakes {}", thread.name), notes(&thread)),
        What::IdleEntry(state) => (format!("enters idle state {state}"), Vec::new()),
        What::IdleExit => ("leaves idle state".to_owned(), Vec::new()),
        _ => return None,
    };
    Some(TrackEvent {
        at: event.at,
        track,
        kind: TrackEventType::Instant,
        name,
        notes,
    })
}

/// What an event does on a track of nested slices.
enum Edge {
    /// A slice of this kind begins, shown under this name.
    Begin(Slice, String, Vec<Note>),
    /// The innermost slice of this kind ends, and with it what is open inside it.
    End(Slice),
    /// Something that is only known once it is over.
    Over(String, Vec<Note>),
}

/// Kinds of slices, so that an end finds its begin.
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
            Edge::Begin(Slice::Interrupt(number), format!("{name} ({number})"), Vec::new())
        }
        What::InterruptExit { number } => Edge::End(Slice::Interrupt(number)),
        What::VectorEntry(vector) => Edge::Begin(Slice::Vector(vector.code()), vector.to_string(), Vec::new()),
        What::VectorExit(vector) => Edge::End(Slice::Vector(vector.code())),
        What::TimerEntry { due_ns } => {
            let notes = due_ns.map(|due| Note::signed("due (ns, the timer's clock)", due));
            Edge::Begin(Slice::Timer, "timer".to_owned(), notes.into_iter().collect())
        }
        What::TimerExit => Edge::End(Slice::Timer),
        What::Nmi { lasted_ns } => {
            let notes = vec![Note::number("lasted (ns)", lasted_ns.into())];
            Edge::Over("non-maskable interrupt".to_owned(), notes)
        }
        _ => return None,
    })
}

fn softirq_edge(what: &What) -> Option<Edge> {
    match *what {
        What::SoftirqEntry(number) => {
            let name = softirq_name(number).to_owned();
            Some(Edge::Begin(Slice::Softirq(number), name, Vec::new()))
        }
        What::SoftirqExit(number) => Some(Edge::End(Slice::Softirq(number))),
        _ => None,
    }
}

fn nested(snapshot: &Snapshot, track: u64, edge: impl Fn(&What) -> Option<Edge>) -> Vec<TrackEvent> {
    let mut slices = Vec::new();
    let mut open: Vec<Slice> = Vec::new();
    for event in &snapshot.events {
        let event_at = |kind, name, notes| TrackEvent {
            at: event.at,
            track,
            kind,
            name,
            notes,
        };
        match edge(&event.what) {
            Some(Edge::Begin(slice, name, notes)) => {
                open.push(slice);
                slices.push(event_at(TrackEventType::Begin, name, notes));
            }
            Some(Edge::End(slice)) => {
                // One that began before the stretch has no begin to end.
                let depth = open.iter().rposition(|other| *other == slice).unwrap_or(open.len());
                slices.extend(open.drain(depth..).map(|_| end(event.at, track)));
            }
            Some(Edge::Over(name, notes)) => slices.push(event_at(TrackEventType::Instant, name, notes)),
            None => {}
        }
    }
    slices.extend(open.iter().map(|_| end(snapshot.to, track)));
    slices
}
