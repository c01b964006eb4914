//! Spans in which it is not known that two clocks agree, from the words of a watch over one of them.

use crate::event::{Event, EventKind};
use crate::window::WindowRow;
use units::Ns;

/// A span of time in which it is not known that the clocks agree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Doubtful {
    /// Its start, in ns since the start of the run.
    pub from_ns: u64,
    /// Its end, in ns since the start of the run; `None` for the end of the run.
    pub to_ns: Option<u64>,
    /// The cause.
    pub why: String,
}

impl Doubtful {
    /// True if the window overlaps it.
    pub fn touches(&self, window: &WindowRow) -> bool {
        window.end_ns > self.from_ns && self.to_ns.is_none_or(|to_ns| window.start_ns < to_ns)
    }

    /// Text such as `3.00 s to 4.50 s: port 1 is LISTENING`.
    pub fn text(&self) -> String {
        let from = Ns(self.from_ns);
        let to = self
            .to_ns
            .map_or_else(|| "the end".to_owned(), |to_ns| Ns(to_ns).to_string());
        format!("{from} to {to}: {}", self.why)
    }

    /// The spans by the words of a watch that began with the run: each doubt lasts until the watch's next word. Its first look happens
    /// before anything is received, so a doubt in its first word applies from the start. `None`: it said nothing.
    pub fn watched<'a>(events: impl Iterator<Item = &'a Event>) -> Option<Vec<Self>> {
        let mut words = events.filter(|event| event.is_clock_word()).peekable();
        let is_doubt = words.peek()?.kind == EventKind::ClockDoubt;
        let mut spans = Self::by_words(words);
        if let Some(span) = spans.first_mut().filter(|_| is_doubt) {
            span.from_ns = 0;
        }
        Some(spans)
    }

    /// The span from each doubt to the next word, of one source.
    pub fn by_words<'a>(events: impl Iterator<Item = &'a Event>) -> Vec<Self> {
        let mut spans: Vec<Self> = Vec::new();
        for event in events.filter(|event| event.is_clock_word()) {
            if let Some(open) = spans.last_mut().filter(|span| span.to_ns.is_none()) {
                open.to_ns = Some(event.at_ns);
            }
            if event.kind == EventKind::ClockDoubt {
                spans.push(Self {
                    from_ns: event.at_ns,
                    to_ns: None,
                    why: event.text.clone(),
                });
            }
        }
        spans
    }
}
