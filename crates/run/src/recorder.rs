//! The handle of the recording thread, the only one that writes the run file.

use crate::adopted::Adopted;
use crate::counted::{Counted, CountedSpan};
use crate::feed::{AfterWord, Describe, Described, Feed, Source};
use crate::labels::{Labels, LabelsAt};
use crate::pulse::Pulse;
use crate::signal::SpikeSignal;
use crate::stop::Stop;
use crate::tape::{Reel, Tape};
use crate::thresholds::Thresholds;
use crate::why::Explain;
use crate::work::{Seen, Work};
use model::{Action, Change, ChangeWatch, Counters, Event, EventKind, Fact, Reading, RunState, SeriesSpec, Shot};
use std::sync::mpsc::{self, Sender, SyncSender};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use store::{RunWriter, StoreError};
use units::Monotonic;

/// Maximum number of commands that wait for the recorder. A sender with more commands waits, too; measuring threads send none. A span counted in
/// the kernel takes some 20 KB.
pub(crate) const COMMANDS: usize = 128;

/// Settings of a recorder.
pub struct RecorderOptions {
    /// Instant 0 of the run file.
    pub start: Monotonic,
    /// Length of a window in ns.
    pub window_ns: u64,
    /// Explains late samples, if an explainer is available.
    pub explain: Option<Box<dyn Explain>>,
}

/// Present state of a series while it is measured.
#[derive(Debug, Clone)]
pub struct Live {
    /// Name of the series.
    pub name: String,
    /// Counts so far.
    pub counters: Counters,
    /// Smallest sample so far.
    pub min_ns: Option<i64>,
    /// The latest sample.
    pub last_ns: Option<i64>,
    /// Mean of the samples so far.
    pub mean_ns: Option<f64>,
    /// Largest sample so far.
    pub max_ns: Option<i64>,
}

/// Commands to the recording thread.
pub(crate) enum Command {
    Feed(usize, Source),
    Tape(Box<dyn Reel>),
    Event(Event),
    Shot(Shot),
    Action(Action),
    Readings(Vec<Reading>),
    Changes(Vec<Change>, ChangeWatch),
    LastFacts(Vec<Fact>),
    OnCpu { cpu: u32, event: Event },
    OfFeed { feed: usize, event: Event },
    Facts(Vec<Fact>),
    Thresholds(Thresholds),
    Counted(Box<CountedSpan>, usize),
    CountedUntil(Monotonic),
    CountedEvent(Box<SeriesSpec>, usize, Event),
    Adopt(Box<Adopted>, Sender<Result<(), StoreError>>),
    Settle(Sender<()>),
    Finish(RunState, u64),
}

/// Handle of the recording thread.
pub struct Recorder {
    commands: SyncSender<Command>,
    after: Sender<AfterWord>,
    thread: JoinHandle<Result<(), StoreError>>,
    live: Arc<Mutex<Vec<Live>>>,
    pulse: Pulse,
    signal: SpikeSignal,
    start: Monotonic,
    feeds: usize,
    step: usize,
    thresholds: Thresholds,
    settings: Vec<(String, String)>,
    labels: Labels,
    /// The recorder that keeps every sample of what is started now, in a file of its own.
    aside: Option<SyncSender<Command>>,
}

impl Recorder {
    /// Starts recording into `writer`. If the file can no longer be written (full disk), `stop` is set, the part already written is
    /// kept, and [`Recorder::finish`] returns the error.
    pub fn start(writer: RunWriter, options: RecorderOptions, stop: &Stop) -> Self {
        let (commands, inbox) = mpsc::sync_channel(COMMANDS);
        let (after, afterwords) = mpsc::channel();
        let live = Arc::new(Mutex::new(Vec::new()));
        let start = options.start;
        let signal = SpikeSignal::default();
        let pulse = Pulse::default();
        let seen = Seen {
            live: Arc::clone(&live),
            pulse: pulse.clone(),
        };
        let mut work = Work::new(writer, options, signal.clone(), seen, stop.clone());
        let thread = std::thread::spawn(move || {
            sys::thread::set_name("triptime-record");
            // The thread shares its CPU with the loads; if it reads late, the flight recorder's rings have overwritten the events.
            sys::thread::prefer();
            work.run(&inbox, &afterwords)
        });
        Self {
            commands,
            after,
            thread,
            live,
            pulse,
            signal,
            start,
            feeds: 0,
            step: 0,
            thresholds: Thresholds::default(),
            settings: Vec::new(),
            labels: Labels::default(),
            aside: None,
        }
    }

    /// From now on, tapes are kept by `aside` in place of this recorder, and what is counted elsewhere is passed to both, with its events; `None`
    /// ends that. What was started before keeps its recorder. Both must have the same instant 0.
    pub fn record_aside(&mut self, aside: Option<&Self>) {
        self.aside = aside.map(|aside| aside.commands.clone());
    }

    /// Makes a feed of `capacity` records for up to `slots` series of one measuring thread. A series whose earlier feed has ended
    /// continues in this one under the same name.
    pub fn feed(&mut self, capacity: usize, slots: usize, describe: Box<dyn Describe>) -> Feed {
        let number = self.feeds;
        self.feeds += 1;
        let (feed, source) = Feed::new(
            capacity,
            slots,
            Described {
                describe,
                settings: self.settings.clone(),
                labels: self.labels(),
                step: self.step,
            },
            number,
            self.after.clone(),
            self.signal.clone(),
        );
        let _ = self.commands.send(Command::Feed(number, source));
        feed
    }

    /// Makes a tape that keeps every sample of one measuring thread: `capacity` records between two looks of the recorder, with a
    /// stamp for each of `points`, in the order in which a frame passes them; at most `N` points.
    pub fn tape<const N: usize>(&self, capacity: usize, points: &[&str]) -> Tape<N> {
        let (tape, source) = Tape::new(capacity, points, self.labels());
        let keeper = self.aside.as_ref().unwrap_or(&self.commands);
        let _ = keeper.send(Command::Tape(Box::new(source)));
        tape
    }

    /// Names of streams for one more place that sees them, for a caller that names its series itself.
    pub fn labels(&self) -> LabelsAt {
        self.labels.for_observer()
    }

    /// A sender of samples that are counted elsewhere, for any thread.
    pub fn counted(&self) -> Counted {
        let inboxes = std::iter::once(&self.commands).chain(&self.aside).cloned().collect();
        Counted::new(inboxes, self.start, self.settings.clone(), self.step)
    }

    /// Begins another step: series measured from now on have nothing to do with the threads of earlier steps, even if both measure
    /// at the same time.
    pub fn begin_step(&mut self) {
        self.step += 1;
    }

    /// A writer of events, for any thread.
    pub fn events(&self) -> Events {
        Events {
            commands: self.commands.clone(),
            start: self.start,
            feed: None,
            aside: self.aside.clone(),
        }
    }

    /// A writer of events of this feed: events that may cast doubt on samples affect the series of this feed only.
    pub fn events_of(&self, feed: &Feed) -> Events {
        Events {
            feed: Some(feed.number()),
            ..self.events()
        }
    }

    /// Instant 0 of the run file, on whose grid the windows are.
    pub fn start_instant(&self) -> Monotonic {
        self.start
    }

    /// The signal that a sample was over its threshold or a loss became likely, for the thread that captures.
    pub fn spike_signal(&self) -> SpikeSignal {
        self.signal.clone()
    }

    /// Sets the thresholds of series that are made from now on, unless their probe sets its own.
    pub fn set_thresholds(&mut self, thresholds: Thresholds) {
        self.thresholds = thresholds.clone();
        let _ = self.commands.send(Command::Thresholds(thresholds));
    }

    /// Sets the settings shared by series that are made from now on, such as the loads that run at the same time; they follow the
    /// series' own.
    pub fn set_settings(&mut self, settings: Vec<(String, String)>) {
        self.settings = settings;
    }

    /// A shared setting of the series that are made from now on.
    pub fn setting(&self, name: &str) -> Option<&str> {
        let found = self.settings.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| value.as_str())
    }

    /// Adds a shared setting to the series that are made from now on.
    pub fn add_setting(&mut self, name: &str, value: String) {
        self.settings.push((name.to_owned(), value));
    }

    /// The thresholds of series by their names.
    pub fn thresholds(&self) -> &Thresholds {
        &self.thresholds
    }

    /// Adds facts to the inventory of the run, such as those of a test bed that was built after it started.
    pub fn add_facts(&self, facts: Vec<Fact>) {
        let _ = self.commands.send(Command::Facts(facts));
    }

    /// Stores facts about the machine that were different when they were read again.
    pub fn add_last_facts(&self, facts: Vec<Fact>) {
        let _ = self.commands.send(Command::LastFacts(facts));
    }

    /// Adds the run of another place to this one: its series, its events, its inventory.
    ///
    /// # Errors
    /// Its file cannot be read.
    pub fn adopt(&self, adopted: Adopted) -> Result<(), StoreError> {
        let (done, outcome) = mpsc::channel();
        let _ = self.commands.send(Command::Adopt(Box::new(adopted), done));
        // An error means that the recording thread has ended; it reports the reason itself.
        outcome.recv().unwrap_or(Ok(()))
    }

    /// Present state of every series, for a progress line.
    pub fn live(&self) -> Vec<Live> {
        self.live.lock().map(|live| live.clone()).unwrap_or_default()
    }

    /// Signs that the recorder is still at work.
    pub fn pulse(&self) -> &Pulse {
        &self.pulse
    }

    /// Waits until everything that was pushed so far has been processed: then the capture knows about every spike.
    pub fn settle(&self) {
        let (done, settled) = mpsc::channel();
        let _ = self.commands.send(Command::Settle(done));
        // An error means that the recording thread has ended and processes nothing more.
        let _ = settled.recv();
    }

    /// Drains every ring, closes every window and the file.
    ///
    /// # Errors
    /// The error that kept the file from being written; the windows closed before it are in the file.
    pub fn finish(self, state: RunState) -> Result<(), StoreError> {
        self.finish_at(state, sys::clock::monotonic())
    }

    /// As [`Recorder::finish`], for a run that ended at this instant: what was done since is no part of it.
    ///
    /// # Errors
    /// As of [`Recorder::finish`].
    pub fn finish_at(self, state: RunState, at: Monotonic) -> Result<(), StoreError> {
        let duration_ns = since(self.start, at);
        let _ = self.commands.send(Command::Finish(state, duration_ns));
        self.thread
            .join()
            .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    }
}

/// Writes events.
#[derive(Clone)]
pub struct Events {
    commands: SyncSender<Command>,
    start: Monotonic,
    /// Number of the feed whose series are affected; `None`: the series that the event's kind affects.
    feed: Option<usize>,
    /// A second recorder that gets events of any series, too.
    aside: Option<SyncSender<Command>>,
}

impl Events {
    /// Writes an event at this instant.
    pub fn write(&self, kind: EventKind, text: impl Into<String>) {
        self.write_at(sys::clock::monotonic(), kind, text);
    }

    /// Writes an event that had not happened before `since`, and is over now.
    pub fn write_since(&self, since: Monotonic, kind: EventKind, text: impl Into<String>) {
        self.send(Some(since), sys::clock::monotonic(), kind, text.into());
    }

    /// Writes an event for the series whose measuring threads measure now and can run on this CPU only, and for the series whose
    /// frames pass these threads in the same step. The same text is written only once per series.
    pub fn write_on_cpu(&self, cpu: u32, kind: EventKind, text: impl Into<String>) {
        let event = Event {
            at_ns: since(self.start, sys::clock::monotonic()),
            since_ns: None,
            kind,
            series: None,
            text: text.into(),
        };
        let _ = self.commands.send(Command::OnCpu { cpu, event });
    }

    /// Stores a shot of a test set, whose fault begins at this instant.
    pub fn shot(&self, at: Monotonic, shot: Shot) {
        let at_ns = since(self.start, at);
        let _ = self.commands.send(Command::Shot(Shot { at_ns, ..shot }));
    }

    /// Stores an execution of a plan's action, whose instants count from the start of the run.
    pub fn action(&self, action: Action) {
        let _ = self.commands.send(Command::Action(action));
    }

    /// Nanoseconds from the run's start to this instant; 0 for an instant before it.
    pub fn since_start(&self, at: Monotonic) -> u64 {
        since(self.start, at)
    }

    /// Stores windows of readings in other units than ns.
    pub fn readings(&self, closed: Vec<Reading>) {
        if !closed.is_empty() {
            let _ = self.commands.send(Command::Readings(closed));
        }
    }

    /// Stores changes of the machine, and the state of the watch that saw them. Their instants are those of [`Events::at_ns`].
    pub fn changes(&self, changes: Vec<Change>, watch: ChangeWatch) {
        let _ = self.commands.send(Command::Changes(changes, watch));
    }

    /// An instant in ns since the run's start.
    pub fn at_ns(&self, at: Monotonic) -> u64 {
        since(self.start, at)
    }

    /// Writes an event of a past instant, such as the last one at which something was known to be different.
    pub fn write_at(&self, at: Monotonic, kind: EventKind, text: impl Into<String>) {
        self.send(None, at, kind, text.into());
    }

    fn send(&self, begin: Option<Monotonic>, at: Monotonic, kind: EventKind, text: String) {
        let event = Event {
            at_ns: since(self.start, at),
            since_ns: begin.map(|begin| since(self.start, begin)),
            kind,
            series: None,
            text,
        };
        if let Some(aside) = self.aside.as_ref().filter(|_| self.feed.is_none()) {
            let _ = aside.send(Command::Event(event.clone()));
        }
        let _ = self.commands.send(match self.feed.filter(|_| kind.touches_samples()) {
            Some(feed) => Command::OfFeed { feed, event },
            None => Command::Event(event),
        });
    }
}

/// Nanoseconds from the run's start; instants before it count as the start.
pub(crate) fn since(start: Monotonic, at: Monotonic) -> u64 {
    u64::try_from(at - start).unwrap_or(0)
}
