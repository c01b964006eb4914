//! The recording thread: drains the rings, builds windows, has late samples explained, and alone writes the file.

mod adopt;
mod counted;
mod drain;
mod quota;
#[cfg(test)]
mod tests;
mod threads;
mod windows;

use crate::clock::ClockWatch;
use crate::courses::Courses;
use crate::delays::Turns;
use crate::feed::{AfterWord, Source};
use crate::pulse::Pulse;
use crate::reasons::Reasons;
use crate::recorder::{COMMANDS, Command, Live, RecorderOptions, since};
use crate::signal::SpikeSignal;
use crate::stop::Stop;
use crate::tape::Reel;
use crate::thresholds::Thresholds;
use crate::window::Open;
use model::{Event, EventKind, Fact, RunState};
use quota::Quota;
use std::collections::BTreeMap;
use std::sync::mpsc::{Receiver, Sender};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use store::{Batch, RunWriter, StoreError};
use sys::thread::Standing;
use threads::{Doubt, Known};
use units::{Monotonic, SignedNs};

/// Interval between two rounds with an explainer: short enough that the kernel's events around a late sample are still there.
const POLL_EXPLAINING: Duration = Duration::from_millis(50);

/// Interval without an explainer: short enough for a capture to keep the frames around a spike, and for the progress line.
const POLL: Duration = Duration::from_millis(100);

/// Longest time that only rings are drained, if they fill faster than they are drained.
const CATCHING_UP: Duration = Duration::from_secs(1);

/// Most windows held in memory before they are written. A recorder that was delayed for some seconds finds several windows of each
/// series in the rings, and a window takes some 20 KB until it is written.
const MOST_WINDOWS: usize = 64;

/// Most spikes, and most events, held in memory before they are written, if they are explained: a spike with its explanation takes
/// up to 1 KB.
const MOST_SPIKES: usize = 1_024;

struct FeedState {
    source: Source,
    series: Vec<Option<Open>>,
    /// Every series that is or was one of its own: they continue in later feeds.
    known: Vec<Known>,
    courses: Courses,
    /// True if the explainer knows its thread.
    watched: bool,
    /// Last look at its counts of lost records, in ns since the start of the run.
    looked_ns: Option<u64>,
    doubts: Vec<Doubt>,
    /// The turns of its thread on the CPU until the last look.
    turns: Option<Turns>,
    /// Last policy and CPUs of its thread, if they differ from those at its start.
    changed_to: Option<Standing>,
}

/// The part of the work that other threads see.
#[derive(Default)]
pub(crate) struct Seen {
    /// Present state of every series.
    pub(crate) live: Arc<Mutex<Vec<Live>>>,
    /// Signs that it is still at work.
    pub(crate) pulse: Pulse,
}

/// The work of the recording thread.
pub(crate) struct Work {
    /// `None` once the file is closed.
    writer: Option<RunWriter>,
    start: Monotonic,
    window_ns: u64,
    feeds: BTreeMap<usize, FeedState>,
    tapes: Vec<Box<dyn Reel>>,
    /// Series whose samples are counted elsewhere, by name.
    counted: BTreeMap<String, Open>,
    /// The step in which each was last counted.
    counted_in: BTreeMap<String, usize>,
    /// Counts from elsewhere before this instant have been passed.
    counted_until_ns: u64,
    batch: Batch,
    clock: ClockWatch,
    reasons: Reasons,
    thresholds: Thresholds,
    signal: SpikeSignal,
    seen: Seen,
    failure: Option<StoreError>,
    stop: Stop,
    /// When the measuring threads were last looked at.
    threads_seen_ns: Option<u64>,
    /// Callers that wait until everything pushed so far has been processed.
    waiting: Vec<Sender<()>>,
    quota: Quota,
}

impl Work {
    pub(crate) fn new(
        writer: RunWriter,
        options: RecorderOptions,
        signal: SpikeSignal,
        seen: Seen,
        stop: Stop,
    ) -> Self {
        Self {
            writer: Some(writer),
            start: options.start,
            window_ns: options.window_ns.max(1),
            feeds: BTreeMap::new(),
            tapes: Vec::new(),
            counted: BTreeMap::new(),
            counted_in: BTreeMap::new(),
            counted_until_ns: 0,
            batch: Batch::default(),
            clock: ClockWatch::start(),
            reasons: Reasons::new(options.explain),
            thresholds: Thresholds::default(),
            signal,
            seen,
            failure: None,
            stop,
            threads_seen_ns: None,
            waiting: Vec::new(),
            quota: Quota::default(),
        }
    }

    /// Records until the command to finish.
    pub(crate) fn run(
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
            self.catch_up();
            for settled in self.waiting.drain(..) {
                let _ = settled.send(());
            }
            self.explain_kept();
            self.hand_over_spikes();
            self.drain_tapes(now_ns, finish.is_some());
            self.watch_clock();
            self.watch_threads(now_ns);
            while let Ok(word) = afterwords.try_recv() {
                self.after_word(&word, now_ns);
            }
            if let Some((state, duration_ns)) = finish {
                self.close_windows(duration_ns.max(now_ns), true);
                self.write();
                self.batch.events = self.quota.finish(now_ns);
                self.write();
                let what_it_cost = self.reasons.summary();
                self.add_facts(&what_it_cost);
                return self.end(state, duration_ns);
            }
            self.close_windows(now_ns, false);
            self.write();
            self.show();
            self.seen.pulse.turn();
            if !self.is_behind() {
                std::thread::sleep(poll);
            }
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
        // Commands that arrive meanwhile wait for the next round.
        for _ in 0..COMMANDS {
            let Ok(command) = inbox.try_recv() else { break };
            self.relieve();
            match command {
                Command::Feed(number, source) => {
                    let state = FeedState {
                        series: source.overruns.iter().map(|_| None).collect(),
                        source,
                        known: Vec::new(),
                        courses: Courses::default(),
                        watched: false,
                        looked_ns: None,
                        doubts: Vec::new(),
                        turns: None,
                        changed_to: None,
                    };
                    self.feeds.insert(number, state);
                }
                Command::Tape(source) => self.tapes.push(source),
                Command::Event(event) => self.batch.events.push(event),
                Command::Shot(shot) => self.batch.shots.push(shot),
                Command::Action(action) => self.batch.actions.push(action),
                Command::Readings(closed) => self.batch.readings.extend(closed),
                Command::Changes(changes, watch) => {
                    self.batch.changes.extend(changes);
                    self.batch.watches.push(watch);
                }
                Command::LastFacts(facts) => self.batch.last_facts.extend(facts),
                Command::OnCpu { cpu, event } => self.on_cpu(cpu, &event),
                Command::OfFeed { feed, event } => self.of_feed(feed, &event),
                Command::Thresholds(thresholds) => self.thresholds = thresholds,
                Command::Facts(facts) => self.add_facts(&facts),
                Command::CountedUntil(at) => self.counted_until_ns = since(self.start, at),
                Command::Counted(span, step) => {
                    self.counted_in.insert(span.series.name.clone(), step);
                    self.take_counted(&span);
                }
                Command::CountedEvent(series, step, event) => {
                    self.counted_in.insert(series.name.clone(), step);
                    self.take_counted_event(&series, event);
                }
                Command::Adopt(adopted, done) => {
                    let _ = done.send(self.adopt(&adopted));
                }
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

    /// Continues to drain while much is left: explanations and the display can wait, a ring cannot. All rings in turn, and for a
    /// limited time, because counts from elsewhere wait, too.
    fn catch_up(&mut self) {
        let began = Instant::now();
        while self.is_behind() && began.elapsed() < CATCHING_UP {
            self.drain_all();
        }
    }

    /// True if a ring is filled by more than a sixteenth.
    fn is_behind(&self) -> bool {
        self.feeds.values().any(|feed| {
            let records = &feed.source.records;
            records.slots() > records.buffer().capacity() / 16
        })
    }

    /// Packs the records of the tapes and keeps the full segments; all segments when the run ends.
    fn drain_tapes(&mut self, now_ns: u64, is_end: bool) {
        let mut sealed = Vec::new();
        let mut said = Vec::new();
        let mut facts = Vec::new();
        for tape in &mut self.tapes {
            facts.append(&mut tape.take_facts());
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
                    format!("recording: {n} frames are missing, the recorder fell behind"),
                )),
            }
        }
        self.batch.events.extend(said.into_iter().map(|(kind, text)| Event {
            at_ns: now_ns,
            since_ns: None,
            kind,
            series: None,
            text,
        }));
        self.add_facts(&facts);
        for segment in sealed {
            if self.failure.is_none()
                && let Some(writer) = &mut self.writer
                && let Err(error) = writer.add_segment(&segment)
            {
                self.fail(error);
            }
        }
    }

    /// Writes what is ready, if there is much of it.
    fn relieve(&mut self) {
        let batch = &self.batch;
        if batch.windows.len() >= MOST_WINDOWS || batch.spikes.len().max(batch.events.len()) >= MOST_SPIKES {
            self.write();
        }
    }

    fn write(&mut self) {
        if self.batch.is_empty() {
            return;
        }
        let mut batch = std::mem::take(&mut self.batch);
        self.quota.apply(&mut batch.events, self.window_ns);
        if !batch.windows.is_empty() {
            batch.causes = self.reasons.take_totals();
        }
        if self.failure.is_none()
            && let Some(writer) = &mut self.writer
        {
            match writer.write(&batch) {
                Ok(()) if batch.windows.is_empty() => {}
                Ok(()) => self.seen.pulse.close(),
                Err(error) => self.fail(error),
            }
        }
    }

    fn fail(&mut self, error: StoreError) {
        self.stop.request();
        self.failure.get_or_insert(error);
    }

    fn watch_clock(&mut self) {
        let before_ns = since(self.start, self.clock.last());
        if let Some(step_ns) = self.clock.step() {
            let text = format!(
                "the wall clock stepped by {} against the monotonic one",
                SignedNs(step_ns)
            );
            self.batch.events.push(Event {
                at_ns: since(self.start, self.clock.last()),
                since_ns: Some(before_ns),
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
            ended_as,
            ended_with,
        } = word;
        if let Some(standing) = ended_as {
            self.runs_as(*feed, standing, at_ns);
            if let Some(turns) = ended_with.filter(|_| standing.is_real_time) {
                self.has_had(*feed, turns, name);
            }
        }
        let mut say = |kind: EventKind, text: String| {
            let event = Event {
                at_ns,
                since_ns: None,
                kind,
                series: None,
                text,
            };
            self.of_thread(*feed, &event);
        };
        if minor_faults + major_faults > 0 {
            let text = format!("{name}: {minor_faults} minor and {major_faults} major page faults while measuring");
            say(EventKind::PageFaults, text);
        }
        if let Some(cpu) = wrong_cpu {
            say(
                EventKind::Migration,
                format!("{name}: no longer on cpu{cpu}, which it was assigned to"),
            );
        }
    }

    fn show(&self) {
        let Ok(mut live) = self.seen.live.lock() else { return };
        live.clear();
        let series = self.feeds.values().flat_map(|feed| feed.series.iter().flatten());
        live.extend(series.chain(self.counted.values()).map(Open::live));
    }
}
