//! The rounds of a logbook.

use crate::frames::{Copied, Problem, Room, Wanted};
use crate::metrics::Metrics;
use crate::month::{MonthRun, adopt, join, make_room};
use crate::settings::{BookError, Now, Settings};
use crate::teller::{Capture, Tell, Told};
use model::{Event, EventKind, SeriesSpec, Window};
use sentinel::{Alarm, Found, Sentinel, Watched, stamp};
use std::sync::Mutex;
use store::{Batch, StoreError};

/// Events, shots and spikes that wait for a disk that refuses them.
const WAITING: usize = 10_000;

/// Findings that one round takes.
const A_ROUND: usize = 4_096;

/// After a shot or an alarm its counts are written, at most this often, in ns.
const FLUSH_NS: i64 = 5_000_000_000;

/// Time between two attempts to write what the disk refused, in ns.
const AGAIN_NS: i64 = 10_000_000_000;

/// Time between two writes of the metrics, in ns.
const METRICS_NS: i64 = 15_000_000_000;

/// How far from its first alarm one capture goes on, in captures' usual lengths: further alarms get one of their own.
const LENGTHS: i64 = 5;

/// The watch, shared with the thread that hears.
pub type Watch = Mutex<Sentinel>;

/// A logbook.
pub struct Logbook {
    settings: Settings,
    room: Room,
    series: Vec<SeriesSpec>,
    run: Option<MonthRun>,
    problem: Option<Problem>,
    copied: Copied,
    batch: Batch,
    refused: Option<String>,
    dropped: u64,
    tellers: Vec<Box<dyn Tell>>,
    metrics: Metrics,
    window_end_ns: i64,
    flushed_ns: i64,
    tried_ns: i64,
    measured_ns: i64,
    needs_flush: bool,
}

impl Logbook {
    /// Opens the logbook of a watch that begins now. `gap` is the time before it in which nothing was watched, from that instant of the wall
    /// clock on.
    ///
    /// # Errors
    /// The folder or the run file cannot be made.
    pub fn open(
        settings: Settings,
        watch: &Watch,
        tellers: Vec<Box<dyn Tell>>,
        gap_since_ns: Option<i64>,
        now: Now,
    ) -> Result<Self, BookError> {
        std::fs::create_dir_all(&settings.folder)?;
        adopt(&settings.folder)?;
        make_room(&settings);
        let series: Vec<SeriesSpec> = hold(watch).series().cloned().collect();
        let mut book = Self {
            room: Room {
                folder: settings.folder.join("captures"),
                most_octets: settings.captures_octets,
                interface: settings.interface.clone(),
            },
            metrics: Metrics::new(&settings, &series),
            series,
            run: None,
            problem: None,
            copied: Copied::default(),
            batch: Batch::default(),
            refused: None,
            dropped: 0,
            tellers,
            window_end_ns: 0,
            flushed_ns: now.at_ns,
            tried_ns: now.at_ns,
            measured_ns: i64::MIN,
            needs_flush: false,
            settings,
        };
        book.begin_run(watch, now)?;
        if let Some(since_ns) = gap_since_ns {
            book.gap(watch, since_ns, now);
        }
        Ok(book)
    }

    /// Tells that nothing was watched since an instant of the wall clock.
    fn gap(&mut self, watch: &Watch, since_ns: i64, now: Now) {
        let text = match now.wall_ns.checked_sub(since_ns).filter(|ns| *ns >= 0) {
            Some(ns) => {
                self.metrics.gap(ns.unsigned_abs());
                format!("nothing was watched for {}, until this start", units::Ns(ns.unsigned_abs()))
            }
            None => "nothing was watched before this start, for how long is not known: the wall clock is behind the last entry".to_owned(),
        };
        hold(watch).own([now.at_ns, now.at_ns], EventKind::StreamDoubt, &text);
    }

    fn begin_run(&mut self, watch: &Watch, now: Now) -> Result<(), StoreError> {
        let watched = times(watch).into_iter().map(|(_, time)| time).collect();
        self.run = Some(MonthRun::begin(&self.settings, &self.series, watched, now)?);
        self.window_end_ns = now
            .at_ns
            .saturating_add(i64::try_from(self.settings.window_ns).unwrap_or(i64::MAX / 4));
        Ok(())
    }

    /// Does a round.
    pub fn turn(&mut self, watch: &Watch, now: Now) {
        if self.is_new_month(now) && self.refused.is_none() {
            hold(watch).settle(now.at_ns);
        }
        let alarms = self.gather(watch, now);
        for alarm in &alarms {
            let kept = self.keep_frames(watch, alarm, now);
            // The shot and its words are in the run file before anyone is told.
            self.write(watch, now);
            self.announce(alarm, &kept, now);
        }
        self.follow(watch, now);
        self.needs_flush |= !alarms.is_empty() || !self.batch.shots.is_empty();
        let is_due = self.needs_flush && now.at_ns.saturating_sub(self.flushed_ns) >= FLUSH_NS;
        if now.at_ns >= self.window_end_ns || is_due {
            self.close_windows(watch, now, false);
        }
        self.write(watch, now);
        self.roll(watch, now);
        let problems: Vec<String> = self
            .tellers
            .iter_mut()
            .filter_map(|teller| teller.go_on(now.at_ns))
            .collect();
        for problem in problems {
            hold(watch).own([now.at_ns, now.at_ns], EventKind::Note, &problem);
        }
        self.measure(watch, now, !alarms.is_empty());
    }

    /// Ends the logbook with the watch.
    ///
    /// # Errors
    /// The last counts could not be written, or the file not be closed.
    pub fn end(mut self, watch: &Watch, now: Now) -> Result<(), BookError> {
        hold(watch).settle(now.at_ns);
        self.turn(watch, now);
        self.close_windows(watch, now, true);
        self.tried_ns = i64::MIN;
        self.write(watch, now);
        if let Some(problem) = self.problem.take() {
            problem.end(now.wall_ns, &self.room);
        }
        self.measure(watch, now, true);
        self.tellers.iter_mut().for_each(|teller| teller.end());
        match self.run.take() {
            Some(run) => run.end(&self.settings, &times(watch), now),
            None => Ok(()),
        }
    }

    /// Takes what was found: events and shots wait for the next write, alarms are returned.
    fn gather(&mut self, watch: &Watch, now: Now) -> Vec<Alarm> {
        let mut alarms = Vec::new();
        let begun_ns = self.run.as_ref().map_or(now.at_ns, |run| run.begun_ns);
        let of_run = |ns: i64| u64::try_from(ns.saturating_sub(begun_ns)).unwrap_or(0);
        let mut watch = hold(watch);
        for _ in 0..A_ROUND {
            let Some(found) = watch.next_found() else { break };
            match found {
                Found::Alarm(alarm) => alarms.push(alarm),
                Found::Event {
                    at_ns,
                    since_ns,
                    kind,
                    series,
                    text,
                } => {
                    let event = Event {
                        at_ns: of_run(at_ns),
                        since_ns: since_ns.map(of_run),
                        kind,
                        series: series.map(|number| model::SeriesId(u32::try_from(number).unwrap_or(u32::MAX))),
                        text,
                    };
                    push(&mut self.batch.events, event, &mut self.dropped);
                }
                Found::Shot { at_ns, mut shot } => {
                    shot.at_ns = of_run(at_ns);
                    push(&mut self.batch.shots, shot, &mut self.dropped);
                }
            }
        }
        alarms
    }

    /// Writes the frames of an alarm and waits until they are on the disk.
    /// Returns the time before it of which frames had left the ring.
    fn keep_frames(&mut self, watch: &Watch, alarm: &Alarm, now: Now) -> Result<u64, String> {
        let (before_ns, after_ns) = (signed(self.settings.before_ns), signed(self.settings.after_ns));
        let from_ns = alarm.at_ns.saturating_sub(before_ns);
        let wanted = Wanted::since(hold(watch).frames(), from_ns);
        let until_ns = alarm.found_ns.saturating_add(after_ns);
        let joins = self
            .problem
            .as_ref()
            .is_some_and(|problem| problem.covers(wanted, alarm.found_ns));
        if !joins {
            if let Some(problem) = self.problem.take() {
                problem.end(now.wall_ns, &self.room);
            }
            if from_ns.saturating_add(wanted.short_ns) > until_ns {
                return Err("they had left the ring".to_owned());
            }
            let last_ns = alarm.found_ns.saturating_add(LENGTHS * (before_ns + after_ns));
            let name = capture_name(alarm, now);
            match Problem::begin(&self.room, &name, wanted, [until_ns, last_ns]) {
                Ok(problem) => self.problem = Some(problem),
                Err(error) => return Err(error.to_string()),
            }
        }
        let Some(problem) = &mut self.problem else {
            return Err("no capture".to_owned());
        };
        problem.until_ns = problem.until_ns.max(until_ns).min(problem.last_ns);
        copy_until(problem, watch, alarm.frames_until, &mut self.copied, &self.room);
        problem.sync(&self.room);
        let short_ns = problem.short_ns(wanted);
        problem.failure().map_or(Ok(short_ns), |why| Err(why.to_owned()))
    }

    fn announce(&mut self, alarm: &Alarm, kept: &Result<u64, String>, now: Now) {
        let capture = match (kept, &self.problem) {
            (Ok(short_ns), Some(problem)) => Capture::Written {
                path: problem.path(),
                missing: problem.missing(),
                short_ns: *short_ns,
            },
            (Err(why), _) => Capture::NotKept(why),
            (Ok(_), None) => Capture::NotKept("no capture"),
        };
        let told = Told {
            alarm,
            name: &self.settings.name,
            wall_ns: now.wall_ns - (now.at_ns - alarm.at_ns),
            capture,
        };
        self.tellers.iter_mut().for_each(|teller| teller.tell(&told));
        self.metrics.told(&told);
    }

    /// Goes on with the frames after a problem.
    fn follow(&mut self, watch: &Watch, now: Now) {
        let Some(problem) = &mut self.problem else { return };
        copy_until(problem, watch, u64::MAX, &mut self.copied, &self.room);
        if now.at_ns <= problem.until_ns {
            return;
        }
        if let Some(why) = self
            .problem
            .take()
            .and_then(|problem| problem.end(now.wall_ns, &self.room))
        {
            let text = format!("frames after a problem were not kept: {why}");
            hold(watch).own([now.at_ns, now.at_ns], EventKind::Note, &text);
        }
    }

    /// Moves the counts of the open windows to what waits to be written; with `is_last` those of the end of a run file.
    fn close_windows(&mut self, watch: &Watch, now: Now, is_last: bool) {
        let Some(run) = &self.run else { return };
        let (windows, spikes) = hold(watch).close_windows(run.begun_ns, now.at_ns, is_last);
        for window in windows {
            self.add(window);
        }
        for spike in spikes {
            push(&mut self.batch.spikes, spike, &mut self.dropped);
        }
        self.flushed_ns = now.at_ns;
        self.needs_flush = false;
        let window_ns = signed(self.settings.window_ns);
        while self.window_end_ns <= now.at_ns {
            self.window_end_ns = self.window_end_ns.saturating_add(window_ns.max(1));
        }
    }

    /// One window of each series waits at most: counts are never lost, and memory does not grow.
    fn add(&mut self, window: Window) {
        match self
            .batch
            .windows
            .iter_mut()
            .find(|waiting| waiting.series == window.series)
        {
            Some(waiting) => join(waiting, &window),
            None => self.batch.windows.push(window),
        }
    }

    /// Writes what waits, unless the disk refused it a moment ago.
    fn write(&mut self, watch: &Watch, now: Now) {
        if self.batch.is_empty() || self.refused.is_some() && now.at_ns.saturating_sub(self.tried_ns) < AGAIN_NS {
            return;
        }
        self.tried_ns = now.at_ns;
        if self.run.is_none()
            && let Err(error) = self.begin_run(watch, now)
        {
            self.refuse(watch, &error, now);
            return;
        }
        let Some(run) = &mut self.run else { return };
        match run.write(&self.batch) {
            Ok(()) => {
                self.metrics.add(&self.batch.windows);
                self.metrics.written(now.wall_ns);
                self.batch = Batch::default();
                self.written_again(watch, now);
            }
            Err(error) => self.refuse(watch, &error, now),
        }
    }

    /// The disk refused what waits: told once, until it is written again.
    fn refuse(&mut self, watch: &Watch, error: &StoreError, now: Now) {
        if self.refused.is_none() {
            let text = format!("the run file cannot be written: {error}");
            hold(watch).own([now.at_ns, now.at_ns], EventKind::Note, &text);
            self.refused = Some(text);
        }
    }

    fn written_again(&mut self, watch: &Watch, now: Now) {
        let dropped = std::mem::take(&mut self.dropped);
        if self.refused.take().is_some() {
            let text = format!(
                "the run file is written again; {dropped} events, shots and worst samples were not kept, no count was lost"
            );
            hold(watch).own([now.at_ns, now.at_ns], EventKind::Note, &text);
        }
    }

    fn is_new_month(&self, now: Now) -> bool {
        self.run.as_ref().is_some_and(|run| run.is_over(now.wall_ns))
    }

    /// Begins a new run file with a new month.
    fn roll(&mut self, watch: &Watch, now: Now) {
        if !self.is_new_month(now) || self.refused.is_some() {
            return;
        }
        self.close_windows(watch, now, true);
        self.write(watch, now);
        if self.refused.is_some() {
            return;
        }
        let Some(run) = self.run.take() else { return };
        let ended = run.end(&self.settings, &times(watch), now);
        let begun = adopt(&self.settings.folder)
            .map_err(BookError::from)
            .and_then(|_| Ok(self.begin_run(watch, now)?));
        if let Err(error) = ended.and(begun) {
            let text = format!("the month could not be closed: {error}");
            hold(watch).own([now.at_ns, now.at_ns], EventKind::Note, &text);
        }
    }

    fn measure(&mut self, watch: &Watch, now: Now, is_urgent: bool) {
        let Some(path) = &self.settings.metrics else { return };
        if !is_urgent && now.at_ns.saturating_sub(self.measured_ns) < METRICS_NS {
            return;
        }
        self.measured_ns = now.at_ns;
        let is_refused = self.refused.is_some();
        let text = {
            let watch = hold(watch);
            self.metrics.text(&watch, is_refused, now)
        };
        if let Err(error) = Metrics::write(path, &text) {
            let text = format!("the metrics cannot be written: {error}");
            hold(watch).own([now.at_ns, now.at_ns], EventKind::Note, &text);
        }
    }
}

/// The watch, for this thread alone. A thread that ended badly while it had it leaves it usable: each of its steps is whole.
fn hold(watch: &Watch) -> std::sync::MutexGuard<'_, Sentinel> {
    watch.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

fn times(watch: &Watch) -> Vec<(String, Watched)> {
    let watch = hold(watch);
    watch.watched().map(|(name, time)| (name.to_owned(), time)).collect()
}

fn copy_until(problem: &mut Problem, watch: &Watch, until: u64, copied: &mut Copied, room: &Room) {
    // Frames that come meanwhile are taken in the next round.
    let until = until.min(hold(watch).frames().next_number());
    while problem.next() < until {
        let has_more = problem.copy(hold(watch).frames(), until, copied);
        problem.write(copied, room);
        if !has_more {
            return;
        }
    }
}

fn push<T>(list: &mut Vec<T>, item: T, dropped: &mut u64) {
    match list.len() < WAITING {
        true => list.push(item),
        false => *dropped += 1,
    }
}

fn signed(ns: u64) -> i64 {
    i64::try_from(ns).unwrap_or(i64::MAX / 16)
}

/// The file name of a capture: by time, then number, kind and subject.
fn capture_name(alarm: &Alarm, now: Now) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    let subject: String = alarm
        .subject
        .chars()
        .map(|c| if is_plain(c) { c } else { '_' })
        .take(40)
        .collect();
    format!(
        "{}-{:06}-{}-{subject}.pcapng",
        stamp(now.wall_ns),
        alarm.number,
        alarm.kind.word()
    )
}
