//! Receiver of windows and events during an analysis.

use crate::gaps::Gap;
use model::StreamId;
use model::Tally;

/// One closed window of one stream, borrowed.
#[derive(Debug)]
pub struct Window<'a> {
    /// Number of the stream, from 0 in the order of appearance.
    pub stream: usize,
    /// Start of the window, ns from the first stamp of the capture.
    pub start_ns: u64,
    /// End of the window.
    pub end_ns: u64,
    /// Its measurements and counts.
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
    /// The counter of the stream does not show the losses here.
    Uncountable,
    /// An event of the stream that its counters do not show: a restart, a second publisher.
    Doubt,
    /// Samples are missing here.
    Loss,
    /// The stamps of the stream went back.
    StampsBack,
    /// Frames without a stamp: their spacing is not known.
    Unstamped,
}

/// An event in a stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    /// Number of the stream.
    pub stream: usize,
    /// Instant, in ns from the first stamp of the capture.
    pub at_ns: u64,
    /// Kind of the event.
    pub kind: EventKind,
    /// Text for a person, with frame numbers.
    pub text: String,
}

/// Receives the findings of an analysis. Every method has an empty default: `()` ignores all of them.
pub trait Sink {
    /// Called for the first frame, with its stamp.
    fn begin(&mut self, _time_ns: Option<i64>) {}

    /// Called for a new stream; `label` is its unique name. Returns the spacing above which its samples are counted as `overflow`.
    fn opened(&mut self, _stream: usize, _identity: &StreamId, _label: &str) -> Option<u64> {
        None
    }

    /// Called for each closed window of a stream in which something was counted.
    fn window(&mut self, _window: &Window<'_>) {}

    /// Called for each event.
    fn event(&mut self, _event: Event) {}

    /// True if nothing more is accepted because of earlier events, so that the reading can stop.
    fn refuses(&self) -> bool {
        false
    }
}

impl Sink for () {}

/// Largest number of events passed on for one stream; further ones are counted.
const EVENTS: u32 = 200;

/// Number of events of a stream that were passed on.
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

    /// Writes an event of an earlier frame that was recognised only later.
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
