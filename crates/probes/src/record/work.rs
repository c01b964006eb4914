//! The one thread that writes: drains the rings, builds windows, has late samples explained.

mod counted;

use super::clock::ClockWatch;
use super::feed::{AfterWord, Announcement, Record, Source};
use super::reasons::Reasons;
use super::recorder::{Command, Live, RecorderOptions, since};
use super::signal::SpikeSignal;
use super::tape::Reel;
use super::why::{Question, QuestionKind};
use super::window::{Closed, Open, Sample};
use crate::stop::Stop;
use std::collections::BTreeMap;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, Sender};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use store::model::{Event, EventKind, Fact, RunState, SeriesId, SeriesSpec};
use store::{Batch, RunWriter, StoreError};
use units::Monotonic;

/// How often the rings are drained with an explainer: soon enough that the kernel's events around a late sample are still there.
const POLL_EXPLAINING: Duration = Duration::from_millis(50);

/// How often they are drained without: soon enough for a capture to keep what was around a spike, and for who looks on.
const POLL: Duration = Duration::from_millis(100);

/// A window is closed this long after its end, so that records still in a ring find it open.
const GRACE_NS: u64 = 100_000_000;

struct FeedState {
    source: Source,
    series: Vec<Option<Open>>,
    /// Every series that is or was one of its own: they go on in later feeds.
    known: Vec<SeriesId>,
    /// Whether the explainer knows of its thread.
    watched: bool,
}

/// The work of the recording thread.
pub(super) struct Work {
    /// `None` once the file is closed.
    writer: Option<RunWriter>,
    start: Monotonic,
    window_ns: u64,
    feeds: BTreeMap<usize, FeedState>,
    tapes: Vec<Box<dyn Reel>>,
    /// Series whose samples are counted elsewhere, by name.
    counted: BTreeMap<String, Open>,
    batch: Batch,
    clock: ClockWatch,
    reasons: Reasons,
    signal: SpikeSignal,
    live: Arc<Mutex<Vec<Live>>>,
    failure: Option<StoreError>,
    stop: Stop,
    /// Who waits until all that was pushed has been looked at.
    waiting: Vec<Sender<()>>,
}

impl Work {
    pub(super) fn new(
        writer: RunWriter,
        options: RecorderOptions,
        signal: SpikeSignal,
        live: Arc<Mutex<Vec<Live>>>,
        stop: Stop,
    ) -> Self {
        Self {
            writer: Some(writer),
            start: options.start,
            window_ns: options.window_ns.max(1),
            feeds: BTreeMap::new(),
            tapes: Vec::new(),
            counted: BTreeMap::new(),
            batch: Batch::default(),
            clock: ClockWatch::new(),
            reasons: Reasons::new(options.explain),
            signal,
            live,
            failure: None,
            stop,
            waiting: Vec::new(),
        }
    }

    /// Records until it is told to finish.
    pub(super) fn run(
        &mut self,
        inbox: &Receiver<Command>,
        afterwords: &Receiver<AfterWord>,
    ) -> Result<(), StoreError> {
        let poll = if self.reasons.can_explain() {
            POLL_EXPLAINING
        } else {
            POLL
        };
        loop {
            let finish = self.take_commands(inbox);
            let now_ns = since(self.start, sys::clock::monotonic());
            self.reasons.observe();
            self.drain_all();
            for settled in self.waiting.drain(..) {
                let _ = settled.send(());
            }
            self.drain_tapes(now_ns, finish.is_some());
            self.watch_clock(now_ns);
            while let Ok(word) = afterwords.try_recv() {
                self.after_word(&word, now_ns);
            }
            if let Some((state, duration_ns)) = finish {
                self.close_windows(duration_ns.max(now_ns), true);
                self.write();
                let what_it_cost = self.reasons.summary();
                self.add_facts(&what_it_cost);
                return self.end(state, duration_ns);
            }
            self.close_windows(now_ns, false);
            self.write();
            self.show();
            std::thread::sleep(poll);
        }
    }

    fn end(&mut self, state: RunState, duration_ns: u64) -> Result<(), StoreError> {
        let state = if self.failure.is_some() {
            RunState::Interrupted
        } else {
            state
        };
        let closed = self
            .writer
            .take()
            .map_or(Ok(()), |writer| writer.finish(state, duration_ns));
        match self.failure.take() {
            Some(failure) => Err(failure),
            None => closed,
        }
    }

    fn add_facts(&mut self, facts: &[Fact]) {
        if let Some(writer) = &mut self.writer
            && self.failure.is_none()
            && !facts.is_empty()
            && let Err(error) = writer.add_facts(facts)
        {
            self.fail(error);
        }
    }

    fn take_commands(&mut self, inbox: &Receiver<Command>) -> Option<(RunState, u64)> {
        while let Ok(command) = inbox.try_recv() {
            match command {
                Command::Feed(number, source) => {
                    let state = FeedState {
                        series: source.overruns.iter().map(|_| None).collect(),
                        source,
                        known: Vec::new(),
                        watched: false,
                    };
                    self.feeds.insert(number, state);
                }
                Command::Tape(source) => self.tapes.push(source),
                Command::Event(event) => self.batch.events.push(event),
                Command::Facts(facts) => self.add_facts(&facts),
                Command::Counted(span) => self.take_counted(&span),
                Command::Settle(done) => self.waiting.push(done),
                Command::Finish(state, duration_ns) => return Some((state, duration_ns)),
            }
        }
        None
    }

    fn drain_all(&mut self) {
        for number in self.feeds.keys().copied().collect::<Vec<_>>() {
            if let Some(mut feed) = self.feeds.remove(&number) {
                self.drain(&mut feed);
                self.feeds.insert(number, feed);
            }
        }
    }

    /// Packs what is on the tapes and keeps the segments that are full; all of them when the run ends.
    fn drain_tapes(&mut self, now_ns: u64, is_end: bool) {
        let mut sealed = Vec::new();
        let mut said = Vec::new();
        for tape in &mut self.tapes {
            let mut keep = |segment| sealed.push(segment);
            let mut packed = tape.drain(&mut keep);
            if is_end && packed.is_ok() {
                packed = tape.seal(&mut keep);
            }
            if let Err(error) = packed {
                said.push((EventKind::Incomplete, format!("recording: samples left out: {error}")));
            }
            match tape.take_overrun() {
                0 => {}
                n => said.push((
                    EventKind::RecorderOverrun,
                    format!("recording: {n} frames are not in it, the recorder fell behind"),
                )),
            }
        }
        self.batch.events.extend(said.into_iter().map(|(kind, text)| Event {
            at_ns: now_ns,
            kind,
            series: None,
            text,
        }));
        for segment in sealed {
            if self.failure.is_none()
                && let Some(writer) = &mut self.writer
                && let Err(error) = writer.add_segment(&segment)
            {
                self.fail(error);
            }
        }
    }

    fn drain(&mut self, feed: &mut FeedState) {
        self.announced(feed);
        let thread = feed.source.thread.load();
        if !feed.watched
            && let Some((cpu, thread)) = thread
        {
            self.reasons.watch(cpu, thread);
            feed.watched = true;
        }
        while let Ok(record) = feed.source.records.pop() {
            let slot = match record {
                Record::Sample { slot, .. } | Record::Count { slot, .. } | Record::Notice { slot, .. } => {
                    usize::from(slot)
                }
            };
            if feed.series.get(slot).is_some_and(Option::is_none) {
                // The announcement was pushed before the record, so it is there by now.
                self.announced(feed);
            }
            if feed.series.get(slot).is_some_and(Option::is_some) {
                self.record(feed, slot, record);
            }
        }
        for (slot, overrun) in feed.source.overruns.iter().enumerate() {
            let n = overrun.swap(0, Ordering::Relaxed);
            if n > 0
                && let Some(Some(series)) = feed.series.get_mut(slot)
            {
                series.overrun(n);
                let text = format!("{}: {n} records lost, the recorder fell behind", series.name());
                self.batch.events.push(Event {
                    at_ns: since(self.start, sys::clock::monotonic()),
                    kind: EventKind::RecorderOverrun,
                    series: Some(series.id()),
                    text,
                });
            }
        }
    }

    fn announced(&mut self, feed: &mut FeedState) {
        while let Ok(Announcement { slot, length, label }) = feed.source.announcements.pop() {
            let label = String::from_utf8_lossy(&label[..usize::from(length)]);
            let spec = feed.source.describe.series(slot, &label);
            let Some(series) = self.take_up(&spec.name).or_else(|| self.add_series(&spec, 0)) else {
                return;
            };
            feed.known.push(series.id());
            if let Some(place) = feed.series.get_mut(usize::from(slot)) {
                *place = Some(series);
            }
        }
    }

    /// The series of that name whose feed has ended and was drained: a plan that goes in rounds measures it again.
    fn take_up(&mut self, name: &str) -> Option<Open> {
        let over = |feed: &&mut FeedState| is_over(feed);
        let mut places = self.feeds.values_mut().filter(over).flat_map(|feed| &mut feed.series);
        let mut series = places
            .find(|place| place.as_ref().is_some_and(|series| series.name() == name))?
            .take()?;
        keep(&mut self.batch, series.pause());
        Some(series)
    }

    fn record(&mut self, feed: &mut FeedState, slot: usize, record: Record) {
        let Some(Some(series)) = feed.series.get_mut(slot) else {
            return;
        };
        let at = match record {
            Record::Sample { at, .. } | Record::Count { at, .. } | Record::Notice { at, .. } => at,
        };
        let at_ns = since(self.start, at);
        match record {
            Record::Sample { value_ns, .. } => series.measured(at_ns, value_ns),
            Record::Count { .. } => series.measured(at_ns, 0),
            Record::Notice { .. } => {}
        }
        self.open_window_of(series, at_ns);
        match record {
            Record::Sample {
                repeat,
                cpu,
                value_ns,
                sequence,
                ..
            } => {
                if series.is_over(value_ns) {
                    self.signal.set(at);
                }
                let kept = series.sample(Sample {
                    at_ns,
                    value_ns,
                    repeat,
                    cpu,
                    sequence,
                });
                let asked = feed
                    .source
                    .describe
                    .question(u16::try_from(slot).unwrap_or(0), value_ns)
                    .filter(|kind| kept || *kind == QuestionKind::Gap);
                if let Some(kind) = asked
                    && let Some((_, thread)) = feed.source.thread.load()
                {
                    let question = Question {
                        cpu: u32::from(cpu),
                        thread,
                        from: at - value_ns,
                        to: at,
                        kind,
                    };
                    let keep = series.keep(kept, value_ns);
                    if let Some(answer) = self.reasons.ask(series.id(), &question, keep) {
                        series.explain(keep, at_ns, answer);
                    }
                }
            }
            // Of a loss the measuring thread told who captures, as soon as it was likely.
            Record::Count { counter, n, .. } => series.count(counter, n),
            Record::Notice { code, a, b, .. } => {
                let (kind, text) = feed.source.describe.notice(code, series.name(), a, b);
                self.batch.events.push(Event {
                    at_ns,
                    kind,
                    series: Some(series.id()),
                    text,
                });
            }
        }
    }

    /// Closes the series' window if this instant lies behind it, and opens the one it lies in.
    fn open_window_of(&mut self, series: &mut Open, at_ns: u64) {
        let end_ns = window_end(series.start_ns(), self.window_ns);
        if at_ns >= end_ns {
            push_window(&mut self.batch, series, end_ns);
            self.skip_to(series, at_ns);
        }
    }

    /// A series whose first window begins at `start_ns`.
    fn add_series(&mut self, spec: &SeriesSpec, start_ns: u64) -> Option<Open> {
        match self.writer.as_mut()?.add_series(spec) {
            Ok(id) => Some(Open::new(id, spec, start_ns)),
            Err(error) => {
                self.fail(error);
                None
            }
        }
    }

    /// After a gap without records the next window starts on the run's own grid, not where the last one ended.
    fn skip_to(&mut self, series: &mut Open, at_ns: u64) {
        let start_ns = at_ns / self.window_ns * self.window_ns;
        if start_ns > series.start_ns() {
            push_window(&mut self.batch, series, start_ns);
        }
    }

    fn close_windows(&mut self, now_ns: u64, all: bool) {
        let window_ns = self.window_ns;
        let measured = self.feeds.values_mut().flat_map(|feed| {
            let is_over = is_over(feed);
            feed.series.iter_mut().flatten().map(move |series| (series, is_over))
        });
        for (series, is_over) in measured.chain(self.counted.values_mut().map(|series| (series, all))) {
            let end_ns = window_end(series.start_ns(), window_ns);
            if now_ns < end_ns + GRACE_NS && !all {
                continue;
            }
            let end_ns = match is_over {
                true => series.end_of_measuring(end_ns),
                false if all => now_ns.max(series.start_ns() + 1).min(end_ns),
                false => end_ns,
            };
            push_window(&mut self.batch, series, end_ns);
        }
    }

    fn write(&mut self) {
        if self.batch.is_empty() {
            return;
        }
        let mut batch = std::mem::take(&mut self.batch);
        if !batch.windows.is_empty() {
            batch.causes = self.reasons.take_totals();
        }
        if self.failure.is_none()
            && let Some(writer) = &mut self.writer
            && let Err(error) = writer.write(&batch)
        {
            self.fail(error);
        }
    }

    fn fail(&mut self, error: StoreError) {
        self.stop.request();
        self.failure.get_or_insert(error);
    }

    fn watch_clock(&mut self, now_ns: u64) {
        if let Some(step_ns) = self.clock.step() {
            let text = format!(
                "the wall clock stepped by {} against the monotonic one",
                units::format_ns(step_ns as f64)
            );
            self.batch.events.push(Event {
                at_ns: now_ns,
                kind: EventKind::ClockStep,
                series: None,
                text,
            });
        }
    }

    fn after_word(&mut self, word: &AfterWord, at_ns: u64) {
        let AfterWord::Usage {
            feed,
            name,
            minor_faults,
            major_faults,
            wrong_cpu,
        } = word;
        let ids: Vec<SeriesId> = self.feeds.get(feed).map(|feed| feed.known.clone()).unwrap_or_default();
        let mut say = |kind: EventKind, text: String| {
            for id in &ids {
                self.batch.events.push(Event {
                    at_ns,
                    kind,
                    series: Some(*id),
                    text: text.clone(),
                });
            }
        };
        if minor_faults + major_faults > 0 {
            let text = format!("{name}: {minor_faults} minor and {major_faults} major page faults while measuring");
            say(EventKind::PageFaults, text);
        }
        if let Some(cpu) = wrong_cpu {
            say(
                EventKind::Migration,
                format!("{name}: no longer on cpu{cpu}, where it was put"),
            );
        }
    }

    fn show(&self) {
        let Ok(mut live) = self.live.lock() else { return };
        live.clear();
        let series = self.feeds.values().flat_map(|feed| feed.series.iter().flatten());
        live.extend(series.chain(self.counted.values()).map(Open::live));
    }
}

/// Where a window ends that begins at `start_ns`: on the run's grid, also if it began late.
fn window_end(start_ns: u64, window_ns: u64) -> u64 {
    (start_ns / window_ns + 1) * window_ns
}

/// Whether the measuring thread has ended, and everything it said is taken in.
fn is_over(feed: &FeedState) -> bool {
    feed.source.records.is_abandoned() && feed.source.records.is_empty()
}

fn push_window(batch: &mut Batch, series: &mut Open, end_ns: u64) {
    keep(batch, series.close(end_ns));
}

fn keep(batch: &mut Batch, closed: Option<Closed>) {
    if let Some(closed) = closed {
        batch.windows.push(closed.window);
        batch.spikes.extend(closed.spikes);
        batch.flights.extend(closed.flights);
    }
}
