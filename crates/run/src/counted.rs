//! Samples that are counted elsewhere, such as in the kernel, and handed over by the span.

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
    /// When it ended. It began where the one before it of this series ended, or when all before was last said to be handed over
    /// ([`Counted::handed_over`]). One that lies in several windows makes one of them.
    pub at: Monotonic,
    /// Counts of its samples.
    pub counters: Counters,
    /// Sum of the samples, in ns.
    pub sum_ns: i64,
    /// Shortest, in ns.
    pub min_ns: Option<i64>,
    /// Longest, in ns.
    pub max_ns: Option<i64>,
    /// Values in ns, and how many samples have each.
    pub samples: Vec<(u64, u64)>,
    /// Samples that may be worth keeping.
    pub spikes: Vec<CountedSpike>,
}

impl CountedSpan {
    /// A span in which nothing came.
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

    /// A series that was to be measured and was not: what judges it is undecided, and says `why`. A series that is there already
    /// keeps its settings, so that this adds nothing to it.
    pub fn not_measured(mut series: SeriesSpec, why: &str) -> Self {
        series.settings.push((setting::NOT_MEASURED.to_owned(), why.to_owned()));
        Self::empty(series, sys::clock::monotonic())
    }
}

/// One sample that may be worth keeping; it is among those counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CountedSpike {
    /// When it ended.
    pub at: Monotonic,
    /// The sample.
    pub value_ns: i64,
    /// CPU it ended on.
    pub cpu: u32,
    /// Thread that ran there then.
    pub thread: i32,
    /// Its number.
    pub sequence: u64,
}

/// A way to hand over counted samples, for any thread.
#[derive(Debug, Clone)]
pub struct Counted {
    commands: SyncSender<Command>,
    start: Monotonic,
    settings: Vec<(String, String)>,
    /// Number of the step that they are counted in.
    step: usize,
    /// Series that were handed over before. Of these a name is enough: what else is known of them takes kilobytes, and spans of
    /// seconds wait for a recorder that is held up.
    known: Arc<Mutex<BTreeSet<String>>>,
}

impl Counted {
    pub(crate) fn new(
        commands: SyncSender<Command>,
        start: Monotonic,
        settings: Vec<(String, String)>,
        step: usize,
    ) -> Self {
        Self {
            commands,
            start,
            settings,
            step,
            known: Arc::default(),
        }
    }

    /// Hands over a span.
    pub fn add(&self, mut span: CountedSpan) {
        match self.is_known(&span.series.name) {
            true => span.series = SeriesSpec::named(&span.series.name),
            false => self.share(&mut span.series),
        }
        let _ = self.commands.send(Command::Counted(Box::new(span), self.step));
    }

    /// Everything that was counted before this instant has been handed over: windows that end before it are closed.
    pub fn handed_over(&self, until: Monotonic) {
        let _ = self.commands.send(Command::CountedUntil(until));
    }

    /// Writes an event that touches this series alone, of now.
    pub fn write(&self, mut series: SeriesSpec, kind: EventKind, text: &str) {
        self.share(&mut series);
        let event = Event {
            at_ns: since(self.start, sys::clock::monotonic()),
            since_ns: None,
            kind,
            series: None,
            text: text.to_owned(),
        };
        let _ = self
            .commands
            .send(Command::CountedEvent(Box::new(series), self.step, event));
    }

    /// True if a span of this series was handed over before; from now on it was.
    fn is_known(&self, name: &str) -> bool {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.contains(name) || !known.insert(name.to_owned())
    }

    /// Adds the settings that it shares with all that is measured meanwhile.
    fn share(&self, series: &mut SeriesSpec) {
        series.settings.extend(self.settings.iter().cloned());
    }
}
