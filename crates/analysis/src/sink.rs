//! The place to which windows and events go as they come.

use crate::gaps::Gap;
use model::StreamId;
use model::Tally;

/// One closed window of one stream, lent.
#[derive(Debug)]
pub struct Window<'a> {
    /// Number of the stream, from 0 in the order of appearance.
    pub stream: usize,
    /// Start of the window, ns from the first stamp of the capture.
    pub start_ns: u64,
    /// End of the window.
    pub end_ns: u64,
    /// Measurements and counts of it.
    pub tally: &'a Tally,
    /// Its longest gaps, longest first.
    pub worst: &'a [Gap],
}

/// Kinds of events in a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EventKind {
    /// A new GOOSE state.
    State,
    /// A GOOSE stream was silent for longer than it allowed.
    Expired,
    /// Something in the header or the counter changed.
    Change,
    /// The counter of the stream cannot tell what was lost here.
    Uncountable,
    /// Something happened to the stream that its counters do not show: a restart, a second publisher.
    Doubt,
    /// Samples are missing here.
    Loss,
    /// The stamps of the stream went back.
    StampsBack,
    /// Frames without a stamp: their spacing is not known.
    Unstamped,
}

/// Something that happened in a stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    /// Number of the stream.
    pub stream: usize,
    /// When, ns from the first stamp of the capture.
    pub at_ns: u64,
    /// Kind of the event.
    pub kind: EventKind,
    /// For a person, with frame numbers.
    pub text: String,
}

/// Takes what an analysis finds on its way. Every method has an empty default: `()` takes nothing.
pub trait Sink {
    /// The first frame came, with its stamp.
    fn begin(&mut self, _time_ns: Option<i64>) {}

    /// A stream was seen for the first time; `label` is its name, unlike that of any other. Returns the spacing above which
    /// its samples are counted as `overflow`.
    fn opened(&mut self, _stream: usize, _identity: &StreamId, _label: &str) -> Option<u64> {
        None
    }

    /// A window of a stream in which something was counted is closed.
    fn window(&mut self, _window: &Window<'_>) {}

    /// Something happened.
    fn event(&mut self, _event: Event) {}

    /// True if nothing more is taken, because of what happened: to read on is of no use.
    fn refuses(&self) -> bool {
        false
    }
}

impl Sink for () {}

/// Events of one stream that are passed on; further ones are counted.
const EVENTS: u32 = 200;

/// How many events of a stream were passed on.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Budget {
    listed: u32,
    /// Events that were not passed on.
    pub(crate) unlisted: u64,
}

/// Writes the events of one stream at one frame.
pub(crate) struct Notes<'a> {
    pub(crate) sink: &'a mut dyn Sink,
    pub(crate) stream: usize,
    pub(crate) at_ns: u64,
    /// Number of the frame.
    pub(crate) frame: u64,
}

impl Notes<'_> {
    pub(crate) fn write(&mut self, budget: &mut Budget, kind: EventKind, text: impl FnOnce() -> String) {
        self.write_at(self.at_ns, budget, kind, text);
    }

    /// Writes an event of an earlier frame, of which it was not known at once.
    pub(crate) fn write_at(&mut self, at_ns: u64, budget: &mut Budget, kind: EventKind, text: impl FnOnce() -> String) {
        if budget.listed >= EVENTS {
            budget.unlisted += 1;
            return;
        }
        budget.listed += 1;
        let stream = self.stream;
        self.sink.event(Event {
            stream,
            at_ns,
            kind,
            text: text(),
        });
    }
}
