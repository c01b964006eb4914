//! Watches for changes of the machine during a run: settings that get another value, and guests, containers, services and threads that come or go.
//!
//! A thread on the housekeeping CPUs looks about once a second. It only reads; a change that is undone between two looks is not seen.

mod cards;
mod groups;
mod interrupts;
mod joined;
mod known;
mod settings;
mod tuned;
mod units;
mod work;

use ::units::{CpuList, Monotonic};
use cards::Cards;
use groups::Groups;
use host::Host;
use interrupts::Interrupts;
use joined::joined;
use known::{Known, Listing};
use model::{Change, ChangeWatch, Subject};
use run::{Events, Stop};
use settings::Settings;
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;
use tuned::Tuned;
use units::Units;
use work::Work;

/// Time between two looks.
const EVERY: Duration = Duration::from_secs(1);

/// Pause before the next look, as a multiple of the mean CPU time of a look: looking takes no more than a per cent of a CPU.
const PAUSE_PER_LOOK: u64 = 100;

/// Longest pause. Above it, a host with very many interrupts, groups and threads pays more, so that a change is still dated to some seconds.
const LONGEST_PAUSE: Duration = Duration::from_secs(5);

/// Looks between two notes of the watch's own state in the run file: a killed run says how far it was watched, to so many seconds.
const LOOKS_PER_NOTE: u64 = 20;

/// Most changes that a run stores. The surplus is counted.
const MOST_CHANGES: u64 = 10_000;

/// Most parts that are named as not watched.
const MOST_UNREAD: usize = 50;

/// Stack of the watching thread in bytes, all of it locked.
const STACK_BYTES: usize = 512 << 10;

/// A part of the machine that is looked at.
trait Part: Send {
    /// Its name in messages.
    fn name(&self) -> &'static str;

    /// Everything that it has now, as far as it can be read; `None` if it was not looked at this time.
    ///
    /// # Errors
    /// The reason why nothing can be said about any of it.
    fn look(&mut self, host: &Host) -> Result<Option<Listing>, String>;

    /// A subject, and something that changes it while it is there, in words.
    fn hint(&self) -> Option<(Subject, String)> {
        None
    }
}

/// A watching thread; ended by [`Changes::stop`].
pub(super) struct Changes {
    stop: Stop,
    thread: JoinHandle<ChangeWatch>,
    /// The state of the watch after its last look.
    last: Arc<Mutex<ChangeWatch>>,
}

impl Changes {
    /// Watches the machine from now on, for a run that measures on the CPUs `judged`, and on these interfaces of the calling thread's network namespace.
    pub(super) fn start(events: Events, judged: CpuList, interfaces: Vec<String>) -> Self {
        let stop = Stop::new();
        let ended = stop.clone();
        let last = Arc::new(Mutex::new(ChangeWatch::default()));
        let state = Arc::clone(&last);
        let builder = std::thread::Builder::new().stack_size(STACK_BYTES);
        let watch = move || {
            sys::thread::set_name("triptime-change");
            let parts: Vec<Box<dyn Part>> = vec![
                Box::new(Interrupts::default()),
                Box::new(Groups),
                Box::new(Settings::new(judged.clone())),
                Box::new(Cards::new(interfaces)),
                Box::new(Tuned::default()),
                Box::new(Units::default()),
                Box::new(Work::new(judged)),
            ];
            Looks::new(parts, events, state).until(&ended)
        };
        let thread = builder.spawn(watch).expect("the system has a thread left");
        Self { stop, thread, last }
    }

    /// Looks once more, ends, and returns the state of the watch.
    pub(super) fn stop(self) -> ChangeWatch {
        self.stop.request();
        self.thread.thread().unpark();
        self.thread.join().unwrap_or_else(|_| ended_early(&self.last))
    }
}

/// The state of a watch whose thread ended in a panic: it saw nothing after its last look.
fn ended_early(last: &Mutex<ChangeWatch>) -> ChangeWatch {
    let mut watch = last.lock().unwrap_or_else(PoisonError::into_inner).clone();
    watch.unread.push("the watch ended early".to_owned());
    watch
}

/// Notes a part that could not be read.
fn note(unread: &mut BTreeSet<String>, why: String) {
    if unread.len() < MOST_UNREAD {
        unread.insert(why);
    }
}

/// The looks of one run.
struct Looks {
    parts: Vec<(Box<dyn Part>, Known)>,
    events: Events,
    watch: ChangeWatch,
    last: Arc<Mutex<ChangeWatch>>,
    unread: BTreeSet<String>,
    told: u64,
    looked: Option<Monotonic>,
}

impl Looks {
    fn new(parts: Vec<Box<dyn Part>>, events: Events, last: Arc<Mutex<ChangeWatch>>) -> Self {
        Self {
            parts: parts.into_iter().map(|part| (part, Known::default())).collect(),
            events,
            watch: ChangeWatch::default(),
            last,
            unread: BTreeSet::new(),
            told: 0,
            looked: None,
        }
    }

    fn until(mut self, ended: &Stop) -> ChangeWatch {
        loop {
            let is_last = ended.requested();
            self.look(is_last);
            if is_last {
                return self.watch;
            }
            let mean_ns = self.watch.cpu_ns / self.watch.looks.max(1);
            let pause = Duration::from_nanos(mean_ns * PAUSE_PER_LOOK).clamp(EVERY, LONGEST_PAUSE);
            if !ended.requested() {
                std::thread::park_timeout(pause);
            }
        }
    }

    /// Looks at every part, and stores what changed.
    fn look(&mut self, is_last: bool) {
        let used_ns = || sys::thread::usage().cpu_ns;
        let before_ns = used_ns();
        let now = sys::clock::monotonic();
        // A host per look: it remembers the folders that it met, and those of processes would fill the memory of a long run.
        let host = Host::live();
        let mut found = Vec::new();
        for (part, known) in &mut self.parts {
            match part.look(&host) {
                Ok(None) => {}
                Ok(Some(listing)) => found.extend(known.compare(listing, now, &mut |why| {
                    note(&mut self.unread, format!("{}: {why}", part.name()));
                })),
                Err(why) => note(&mut self.unread, format!("{}: {why}", part.name())),
            }
        }
        let hints: Vec<_> = self.parts.iter().filter_map(|(part, _)| part.hint()).collect();
        let changes = joined(&found, &hints, |at| self.events.at_ns(at));
        let cost_ns = used_ns() - before_ns;
        self.store(changes, now, cost_ns, is_last);
    }

    fn store(&mut self, mut changes: Vec<Change>, now: Monotonic, cost_ns: u64, is_last: bool) {
        let room = usize::try_from(MOST_CHANGES - self.told).unwrap_or(0);
        self.watch.dropped += changes.len().saturating_sub(room) as u64;
        changes.truncate(room);
        self.told += changes.len() as u64;
        let at_ns = self.events.at_ns(now);
        match self.looked.replace(now) {
            None => self.watch.from_ns = at_ns,
            Some(_) => self.watch.longest_ns = self.watch.longest_ns.max(at_ns.saturating_sub(self.watch.to_ns)),
        }
        self.watch.to_ns = at_ns;
        self.watch.looks += 1;
        self.watch.cpu_ns += cost_ns;
        self.watch.unread = self.unread.iter().cloned().collect();
        *self.last.lock().unwrap_or_else(PoisonError::into_inner) = self.watch.clone();
        let is_due = self.watch.looks % LOOKS_PER_NOTE == 1;
        if is_due || is_last || !changes.is_empty() {
            self.events.changes(changes, self.watch.clone());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{MOST_UNREAD, ended_early, note};
    use model::ChangeWatch;
    use std::collections::BTreeSet;
    use std::sync::Mutex;

    #[test]
    fn a_watch_that_ended_early_keeps_its_looks_and_says_so() {
        let last = Mutex::new(ChangeWatch {
            looks: 7,
            unread: vec!["cpuset: refused".to_owned()],
            ..ChangeWatch::default()
        });
        let watch = ended_early(&last);
        assert_eq!((watch.looks, watch.unread.len()), (7, 2));
        assert_eq!(watch.unread[1], "the watch ended early");
    }

    #[test]
    fn unread_parts_are_bounded() {
        let mut unread = BTreeSet::new();
        (0..1_000).for_each(|at| note(&mut unread, format!("{at}")));
        assert_eq!(unread.len(), MOST_UNREAD);
    }
}
