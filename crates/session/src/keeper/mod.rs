//! Keeps a run's entry among the runs of this machine, sends signs of life to a service manager, and ends the run before its disk
//! is full.
//!
//! The thread that shows progress does all of this once in two seconds, on CPUs that are not measured.

mod folder;

pub use folder::FolderKeeper;

use crate::detach::{Detached, Notify, log_of, unit_name};
use crate::room::Disk;
use crate::roster::{Entry, Largest, Phase, Registered, Roster, RunEnd, StartKind, StepUnderWay};
use crate::runner::Position;
use crate::session::Session;
use crate::spec::RunSpec;
use model::EventKind;
use run::{Live, Thresholds};
use std::cmp::Reverse;
use std::path::Path;
use std::time::{Duration, Instant};
use units::Monotonic;

/// Interval between two looks at the run.
const EVERY: Duration = Duration::from_secs(2);

/// Most series in the entry: those over their limits and with the largest samples come first.
const MOST_SERIES: usize = 40;

/// Longest time for closing the run file and writing the report, before a service manager considers the run hung.
const FINISHING: Duration = Duration::from_secs(600);

/// Keeper of a run until it has ended.
pub struct Keeper {
    /// `None`: there is no folder to write the entry to.
    registered: Option<Registered>,
    unlisted: Option<String>,
    /// The disk that it must not fill; `None`: filling it is permitted.
    disk: Option<Disk>,
    notify: Option<Notify>,
    is_ready: bool,
    limits: Thresholds,
    /// How long it will measure in ns, if it has no plan.
    lasts_ns: Option<u64>,
    /// True if windows are due by the clock, not when others send.
    is_paced: bool,
    began: Option<Instant>,
    looked: Option<Instant>,
    /// The reason, if the full disk ended the run.
    used_up: Option<String>,
    stands_still: Option<String>,
    /// True if the run already contains the reason for its end: a stuck run may never be closed.
    is_told: bool,
}

impl Keeper {
    /// Registers a run, whose file has this path, among those of this machine. If that fails, the run is measured all the same.
    pub fn start(spec: &RunSpec, file: &Path) -> Self {
        let (registered, unlisted) = enter(
            entry(spec, file),
            spec.plan.as_deref().unwrap_or(&spec.run.command),
            spec.detached.as_ref(),
        );
        Self {
            registered,
            unlisted,
            disk: (!spec.force).then(|| Disk::of(file)),
            notify: Notify::from_environment(),
            is_ready: false,
            limits: spec.thresholds.clone(),
            lasts_ns: spec.lasts_ns,
            is_paced: spec.is_paced,
            began: None,
            looked: None,
            used_up: None,
            stands_still: None,
            is_told: false,
        }
    }

    /// Why it is not listed, if it runs in the background.
    pub fn unlisted(&self) -> Option<&str> {
        self.unlisted.as_deref()
    }

    /// Why it was ended, if the keeper noticed the reason.
    pub fn why(&self) -> Option<String> {
        let still = || self.stands_still.as_ref().map(|why| format!("{why}: ended early"));
        self.used_up.clone().or_else(still)
    }

    /// True if the run already contains the reason for its end.
    pub fn has_told(&self) -> bool {
        self.is_told
    }

    /// Why it was ended to save disk space, if it was.
    pub fn used_up(&self) -> Option<&str> {
        self.used_up.as_deref()
    }

    /// Notes that the measurement is over.
    pub fn finishing(&mut self, session: &Session) {
        self.look_again(session);
        self.write(|entry| {
            entry.phase = Phase::Finishing;
            "closing the run file and writing the report".clone_into(&mut entry.doing);
            entry.left_ns = None;
        });
        if let Some(notify) = &self.notify {
            notify.finishing(FINISHING);
        }
    }

    /// Notes the run's end with this exit status. The entry of a run in the foreground is removed.
    pub fn ended(mut self, status: u8, complete: bool, why: Option<String>) {
        self.write(|entry| {
            entry.phase = Phase::Ended;
            entry.left_ns = None;
            entry.end = Some(RunEnd {
                at_ns: sys::clock::realtime().as_ns(),
                status,
                complete,
                why,
            });
        });
        match self.registered.take() {
            Some(registered) if registered.entry.way == StartKind::Foreground => registered.remove(),
            _ => {}
        }
    }

    fn write(&mut self, change: impl FnOnce(&mut Entry)) {
        if let Some(registered) = &mut self.registered {
            change(&mut registered.entry);
            registered.entry.seen_ns = sys::clock::monotonic().as_ns();
            // The folder is full or gone: the next write may succeed.
            let _ = registered.write();
        }
    }

    /// True if the interval is over, or another step has begun.
    fn is_due(&self, position: Option<Position>) -> bool {
        let step = position.map(|position| position.step);
        let written = self.registered.as_ref().and_then(|registered| registered.entry.step);
        let is_new = self.registered.is_some() && step != written.map(|step| step.number);
        is_new || self.looked.is_none_or(|looked| looked.elapsed() >= EVERY)
    }

    /// Looks after the run, if the interval is over: updates the entry, and ends the run before its disk is full.
    pub fn look(&mut self, session: &Session, doing: &str, position: Option<Position>, measures: bool) {
        if !self.is_due(position) {
            return;
        }
        self.looked = Some(Instant::now());
        if measures {
            self.began.get_or_insert_with(Instant::now);
        }
        self.guard(session);
        let stand = self.stand(session, position);
        self.write(|entry| {
            entry.phase = if measures { Phase::Measuring } else { Phase::Starting };
            doing.clone_into(&mut entry.doing);
            entry.step = position.map(|at| StepUnderWay {
                number: at.step,
                of: at.of,
            });
            stand.write_to(entry);
        });
        if measures {
            self.tell(session, doing);
            self.tell_run(session);
        }
    }

    /// Writes an event with the reason into the run if it is stuck: what blocks it may also keep its file from ever being closed.
    fn tell_run(&mut self, session: &Session) {
        if let Some(why) = self
            .stands_still
            .as_ref()
            .filter(|_| session.stop.requested() && !self.is_told)
        {
            session.recorder.events().write(EventKind::Interrupted, why.clone());
            self.is_told = true;
        }
    }

    /// Looks again with the last description and present figures.
    fn look_again(&mut self, session: &Session) {
        let stand = self.stand(session, None);
        self.write(|entry| stand.write_to(entry));
        self.stands_still = self.stands_still(session);
    }

    /// Ends the run when only the disk's reserve is left.
    fn guard(&mut self, session: &Session) {
        if self.used_up.is_none()
            && let Some(why) = self.disk.as_ref().and_then(Disk::used_up)
        {
            session.stop.request();
            self.used_up = Some(why);
        }
    }

    /// The figures for the entry.
    fn stand(&self, session: &Session, position: Option<Position>) -> Stand {
        let pulse = session.recorder.pulse();
        let live = session.recorder.live();
        let due = self.is_paced.then(|| self.window_due(session, position)).flatten();
        let left = || {
            let (lasts_ns, began) = (self.lasts_ns?, self.began?);
            Some(lasts_ns.saturating_sub(u64::try_from(began.elapsed().as_nanos()).ok()?))
        };
        Stand {
            recorder_ns: pulse.turned().map(Monotonic::as_ns),
            window_ns: due.map(Monotonic::as_ns),
            left_ns: position.map(|position| position.left_ns()).or_else(left),
            series: live.len(),
            largest: largest(&live, &self.limits),
        }
    }

    /// Instant from which the next window is awaited.
    fn window_due(&self, session: &Session, position: Option<Position>) -> Option<Monotonic> {
        let since = position.map(|position| position.since).or(self.began);
        let began = since.map(|since| sys::clock::monotonic() - i64::try_from(since.elapsed().as_nanos()).unwrap_or(0));
        began.into_iter().chain(session.recorder.pulse().closed()).max()
    }

    fn stands_still(&self, session: &Session) -> Option<String> {
        let now_ns = sys::clock::monotonic().as_ns();
        match &self.registered {
            Some(registered) => registered.entry.stands_still(now_ns),
            // Even without a folder the state is checked, for the service manager.
            None => {
                let mut entry = Entry::new("", "", 0);
                entry.phase = Phase::Measuring;
                entry.window_ns = session.window_ns();
                self.stand(session, None).write_to(&mut entry);
                entry.stands_still(now_ns)
            }
        }
    }

    /// Sends watchdog messages to the service manager while the run is at work.
    fn tell(&mut self, session: &Session, doing: &str) {
        self.stands_still = self.stands_still(session);
        let Some(notify) = &mut self.notify else { return };
        match &self.stands_still {
            Some(why) => notify.status(why),
            None => notify.goes_on(Instant::now()),
        }
        if !self.is_ready {
            self.is_ready = true;
            notify.ready(doing);
        }
    }
}

/// The first entry of a run.
fn entry(spec: &RunSpec, file: &Path) -> Entry {
    let text = |path: &Path| {
        let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        absolute.to_string_lossy().into_owned()
    };
    let mut entry = Entry::new(&spec.run.command, &text(file), sys::clock::realtime().as_ns());
    entry.plan.clone_from(&spec.plan);
    entry.window_ns = spec.run.window_ns;
    entry.expected = spec.need.map(|need| need.expected());
    entry.at_most = spec.need.map(|need| need.most());
    if let Some(detached) = &spec.detached {
        entry.way = detached.way;
        entry.log = Some(text(&log_of(file)));
        entry.unit = (detached.way != StartKind::Session).then(|| unit_name(&detached.name));
    }
    entry
}

/// Registers a run under its name, or the first free one. If that fails, the run is measured all the same, and for a run in the
/// background the second value gives the reason: the command in the foreground that waits for it shows it.
fn enter(entry: Entry, name: &str, detached: Option<&Detached>) -> (Option<Registered>, Option<String>) {
    let Some(roster) = Roster::own() else {
        return (None, None);
    };
    let entered = match detached {
        Some(detached) => roster.take_over(&detached.name, entry),
        None => roster.enter(name, entry),
    };
    let why = entered.as_ref().err().filter(|_| detached.is_some());
    let unlisted = why.map(|error| format!("`triptime status` will not show this run: {error}"));
    (entered.ok(), unlisted)
}

/// The figures of a run in its entry.
struct Stand {
    recorder_ns: Option<i64>,
    window_ns: Option<i64>,
    left_ns: Option<u64>,
    series: usize,
    largest: Vec<Largest>,
}

impl Stand {
    fn write_to(self, entry: &mut Entry) {
        entry.recorder_seen_ns = self.recorder_ns;
        entry.window_seen_ns = self.window_ns;
        entry.left_ns = self.left_ns;
        entry.series = self.series;
        entry.largest = self.largest;
    }
}

/// The series with the largest samples, those over their limits first.
fn largest(live: &[Live], limits: &Thresholds) -> Vec<Largest> {
    let with = |series: &Live| {
        Some(Largest {
            series: series.name.clone(),
            max_ns: series.max_ns?,
            limit_ns: limits.of(&series.name),
        })
    };
    let mut all: Vec<Largest> = live.iter().filter_map(with).collect();
    all.sort_by_key(|one| (Reverse(one.is_over()), Reverse(one.max_ns)));
    all.truncate(MOST_SERIES);
    all
}

#[cfg(test)]
mod tests {
    use super::{MOST_SERIES, largest};
    use model::Counters;
    use run::{Live, Thresholds};

    #[test]
    fn series_over_their_limits_come_first_and_there_are_not_too_many() {
        let live = |name: &str, max_ns| Live {
            name: name.into(),
            counters: Counters::default(),
            min_ns: None,
            last_ns: None,
            mean_ns: None,
            max_ns,
        };
        let mut all: Vec<Live> = (0..100).map(|n| live(&format!("hop/{n}"), Some(900_000 + n))).collect();
        all.push(live("wakeup/cpu1", Some(120_001)));
        all.push(live("wakeup/cpu2", None));
        let limits = Thresholds::new(|name| (name == "wakeup/cpu1").then_some(120_000));
        let largest = largest(&all, &limits);
        assert_eq!(largest.len(), MOST_SERIES);
        assert_eq!(
            (largest[0].series.as_str(), largest[0].limit_ns),
            ("wakeup/cpu1", Some(120_000))
        );
        assert_eq!(largest[1].max_ns, 900_099);
    }
}
