//! The first events of the streams of a capture, for the listing.

use analysis::{Event, Sink, Window};
use model::StreamId;

/// Number of events of one stream that the listing shows.
const EVENTS_SHOWN: usize = 8;

/// The first events of every stream.
#[derive(Debug, Default)]
pub(super) struct FirstEvents {
    streams: Vec<Vec<String>>,
}

impl FirstEvents {
    /// Adds an event.
    pub(super) fn take(&mut self, event: &Event) {
        if self.streams.len() <= event.stream {
            self.streams.resize_with(event.stream + 1, Vec::new);
        }
        let Some(texts) = self.streams.get_mut(event.stream) else {
            return;
        };
        // Keeps one more than is shown, to report that there are more.
        if texts.len() <= EVENTS_SHOWN {
            let at = units::format_ns(event.at_ns as f64);
            texts.push(format!("at {at}: {}", event.text));
        }
    }

    /// Events of a stream, in order of time.
    pub(super) fn of(&self, stream: usize) -> impl Iterator<Item = &str> {
        let texts = self.streams.get(stream).map(Vec::as_slice).unwrap_or_default();
        let more = (texts.len() > EVENTS_SHOWN).then_some("… and more (--out keeps 200 of them)");
        texts.iter().take(EVENTS_SHOWN).map(String::as_str).chain(more)
    }
}

impl Sink for FirstEvents {
    fn opened(&mut self, _: usize, _: &StreamId, _: &str) -> Option<u64> {
        None
    }

    fn window(&mut self, _: &Window<'_>) {}

    fn event(&mut self, event: Event) {
        self.take(&event);
    }
}
