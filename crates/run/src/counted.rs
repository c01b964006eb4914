//! Samples that are counted outside the recorder, such as in the kernel, and are passed to it in spans.

use crate::recorder::{Command, since};
use model::{Counters, Event, EventKind, SeriesSpec, setting};
use std::collections::BTreeSet;
use std::sync::mpsc::SyncSender;
use std::sync::{Arc, Mutex, PoisonError};
use units::Monotonic;

/// Samples of one series over a span of time within a window.
#[derive(Debug, Clone)]
pub struct CountedSpan {
    /// The series. Spans of the same name belong to the same series.
    pub series: SeriesSpec,
    /// End of the span. It began where the previous span of this series ended, or at the instant last given to
    /// [`Counted::handed_over`]. A span that overlaps several windows makes one of them.
    pub at: Monotonic,
    /// Counts of its samples.
    pub counters: Counters,
    /// Sum of the samples, in ns.
    pub sum_ns: i64,
    /// Shortest, in ns.
    pub min_ns: Option<i64>,
    /// Longest, in ns.
    pub max_ns: Option<i64>,
    /// Values in ns, and the number of samples that have each value.
    pub samples: Vec<(u64, u64)>,
    /// Samples that may be kept one by one.
    pub spikes: Vec<CountedSpike>,
}

impl CountedSpan {
    /// A span in which nothing was counted.
    pub fn empty(series: SeriesSpec, at: Monotonic) -> Self {
        Self {
            series,
            at,
            counters: Counters::default(),
            sum_ns: 0,
            min_ns: None,
            max_ns: None,
            samples: Vec::new(),
            spikes: Vec::new(),
        }
    }

    /// A planned series that was not measured: limits on it stay undecided, with the reason `why`. If the series exists already, it
    /// keeps its settings, and this adds nothing to it.
    pub fn not_measured(mut series: SeriesSpec, why: &str) -> Self {
        series.settings.push((setting::NOT_MEASURED.to_owned(), why.to_owned()));
        Self::empty(series, sys::clock::monotonic())
    }

    /// True if nothing was counted.
    pub(crate) fn is_empty(&self) -> bool {
        self.counters == Counters::default() && self.spikes.is_empty()
    }
}

/// One sample that may be kept one by one; the counts include it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CountedSpike {
    /// Instant at which it ended.
    pub at: Monotonic,
    /// The sample, in ns.
    pub value_ns: i64,
    /// CPU on which it ended.
    pub cpu: u32,
    /// Thread that ran on that CPU at that instant.
    pub thread: i32,
    /// Number of the sample.
    pub sequence: u64,
}

/// Passes counted samples to the recorder, from any thread.
#[derive(Debug, Clone)]
pub struct Counted {
    /// The recorders; usually one.
    inboxes: Vec<SyncSender<Command>>,
    start: Monotonic,
    settings: Vec<(String, String)>,
    /// Number of the step in which they are counted.
    step: usize,
    /// Series that were passed before. For these the name is enough: the rest of their description takes kilobytes, and many spans
    /// may wait for a recorder that is seconds late.
    known: Arc<Mutex<BTreeSet<String>>>,
}

impl Counted {
    pub(crate) fn new(
        inboxes: Vec<SyncSender<Command>>,
        start: Monotonic,
        settings: Vec<(String, String)>,
        step: usize,
    ) -> Self {
        Self {
            inboxes,
            start,
            settings,
            step,
            known: Arc::default(),
        }
    }

    /// Passes a span to the recorder.
    pub fn add(&self, mut span: CountedSpan) {
        match self.is_known(&span.series.name) {
            true => span.series = SeriesSpec::named(&span.series.name),
            false => self.share(&mut span.series),
        }
        self.send(|| Command::Counted(Box::new(span.clone()), self.step));
    }

    /// Declares that everything counted before this instant has been passed: windows that end before it are closed.
    pub fn handed_over(&self, until: Monotonic) {
        self.send(|| Command::CountedUntil(until));
    }

    /// Writes an event at the present instant that affects this series alone.
    pub fn write(&self, mut series: SeriesSpec, kind: EventKind, text: &str) {
        self.share(&mut series);
        let event = Event {
            at_ns: since(self.start, sys::clock::monotonic()),
            since_ns: None,
            kind,
            series: None,
            text: text.to_owned(),
        };
        self.send(|| Command::CountedEvent(Box::new(series.clone()), self.step, event.clone()));
    }

    /// Sends a command to each recorder. One that has ended takes none.
    fn send(&self, command: impl Fn() -> Command) {
        for inbox in &self.inboxes {
            let _ = inbox.send(command());
        }
    }

    /// True if a span of this series was passed before; marks the series as known.
    fn is_known(&self, name: &str) -> bool {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.contains(name) || !known.insert(name.to_owned())
    }

    /// Adds the settings shared by everything that is measured at the same time.
    fn share(&self, series: &mut SeriesSpec) {
        series.settings.extend(self.settings.iter().cloned());
    }
}
