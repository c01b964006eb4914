//! The packets of a trace. Field numbers are those of `perfetto_trace.proto`.

use super::message::Message;
use model::Explanation;
use units::Monotonic;

/// `BUILTIN_CLOCK_MONOTONIC`.
const MONOTONIC: u64 = 3;
/// We write as one sequence; any number but 0.
const SEQUENCE: u64 = 1;

/// `TrackEvent.Type`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TrackEventType {
    Begin = 1,
    End = 2,
    Instant = 3,
}

/// An event on a track.
#[derive(Debug, Clone)]
pub(super) struct TrackEvent {
    pub(super) at: Monotonic,
    pub(super) track: u64,
    pub(super) kind: TrackEventType,
    /// Empty for an end.
    pub(super) name: String,
    pub(super) notes: Vec<Note>,
}

/// A `DebugAnnotation`: shown with the event's details.
#[derive(Debug, Clone)]
pub(super) struct Note {
    name: String,
    value: Value,
}

#[derive(Debug, Clone)]
enum Value {
    Number(u64),
    Signed(i64),
    Text(String),
}

impl Note {
    pub(super) fn number(name: impl Into<String>, value: u64) -> Self {
        Self::new(name, Value::Number(value))
    }

    pub(super) fn signed(name: impl Into<String>, value: i64) -> Self {
        Self::new(name, Value::Signed(value))
    }

    pub(super) fn text(name: impl Into<String>, value: impl Into<String>) -> Self {
        Self::new(name, Value::Text(value.into()))
    }

    fn new(name: impl Into<String>, value: Value) -> Self {
        Self {
            name: name.into(),
            value,
        }
    }

    fn message(&self) -> Message {
        let named = Message::default().text(10, &self.name);
        match &self.value {
            Value::Number(value) => named.number(3, *value),
            Value::Signed(value) => named.number(4, value.cast_unsigned()),
            Value::Text(value) => named.text(6, value),
        }
    }
}

/// What an explanation says, as notes.
pub(super) fn notes_of(explanation: &Explanation) -> Vec<Note> {
    let mut notes = vec![
        Note::text("cause", explanation.cause.word()),
        Note::text("text", explanation.text.as_str()),
        Note::text("extent", extent_word(explanation)),
    ];
    let stages = explanation.stages.iter().map(|part| ("stage", part));
    let occupants = explanation.occupants.iter().map(|part| ("occupant", part));
    let parts = stages.chain(occupants);
    notes.extend(parts.map(|(role, part)| Note::number(format!("{role}: {} (ns)", part.what), part.ns)));
    notes.push(Note::number("unexplained (ns)", explanation.unexplained_ns));
    notes.extend(
        explanation
            .around
            .iter()
            .map(|line| Note::text("around", line.as_str())),
    );
    notes
}

fn extent_word(explanation: &Explanation) -> &'static str {
    match explanation.extent {
        model::Extent::OneCpu => "one CPU",
        model::Extent::AllCpus => "all watched CPUs",
        model::Extent::Unknown => "unknown",
    }
}

/// Says that `CLOCK_MONOTONIC` is the trace's clock.
pub(super) fn clock(at: Monotonic) -> Message {
    let clock = Message::default().number(1, MONOTONIC).number(2, stamp(at));
    let snapshot = Message::default().message(1, &clock).number(2, MONOTONIC);
    packet(&sequenced().message(6, &snapshot))
}

/// Announces a track; `rank` orders it among those of its parent.
pub(super) fn track(uuid: u64, parent: Option<u64>, name: &str, rank: u64) -> Message {
    /// `ChildTracksOrdering.EXPLICIT`.
    const EXPLICIT: u64 = 3;
    let mut descriptor = Message::default().number(1, uuid).text(2, name);
    if let Some(parent) = parent {
        descriptor = descriptor.number(5, parent);
    }
    descriptor = descriptor.number(11, EXPLICIT).number(12, rank);
    packet(&sequenced().message(60, &descriptor))
}

/// An event.
pub(super) fn event(event: &TrackEvent) -> Message {
    let mut message = Message::default().number(9, event.kind as u64).number(11, event.track);
    if !event.name.is_empty() {
        message = message.text(23, &event.name);
    }
    for note in &event.notes {
        message = message.message(4, &note.message());
    }
    let stamped = sequenced().number(8, stamp(event.at)).number(58, MONOTONIC);
    packet(&stamped.message(11, &message))
}

fn sequenced() -> Message {
    Message::default().number(10, SEQUENCE)
}

/// `Trace.packet`.
fn packet(packet: &Message) -> Message {
    Message::default().message(1, packet)
}

/// An instant before boot, which no event has, is boot.
fn stamp(at: Monotonic) -> u64 {
    u64::try_from(at.as_ns()).unwrap_or(0)
}
