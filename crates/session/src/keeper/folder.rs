//! The keeper of a series of runs in one folder: each run has its own keeper, and this one is for all of them.

use super::{EVERY, enter};
use crate::detach::{Detached, Notify, log_of, unit_name};
use crate::roster::{Entry, Phase, Registered, RunEnd, StartKind, StepUnderWay};
use std::path::Path;
use std::time::Instant;

/// Keeper of the runs of a folder, until the last has ended.
pub struct FolderKeeper {
    registered: Option<Registered>,
    unlisted: Option<String>,
    notify: Option<Notify>,
    is_ready: bool,
    looked: Option<Instant>,
}

impl FolderKeeper {
    /// Registers the runs of a plan in `folder` as one entry.
    pub fn start(plan: &str, folder: &Path, detached: Option<&Detached>) -> Self {
        let absolute = |path: &Path| std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        let text = |path: &Path| absolute(path).to_string_lossy().into_owned();
        let mut entry = Entry::new("qualify", &text(folder), sys::clock::realtime().as_ns());
        entry.plan = Some(plan.to_owned());
        if let Some(detached) = detached {
            entry.way = detached.way;
            entry.log = Some(text(&log_of(folder)));
            entry.unit = (detached.way != StartKind::Session).then(|| unit_name(&detached.name));
        }
        let (registered, unlisted) = enter(entry, plan, detached);
        Self {
            registered,
            unlisted,
            notify: Notify::from_environment(),
            is_ready: false,
            looked: None,
        }
    }

    /// Why it is not listed, if it runs in the background.
    pub fn unlisted(&self) -> Option<&str> {
        self.unlisted.as_deref()
    }

    /// Notes the start of a run, the `number`th of `of` in this round; all runs together take about `left_ns` more.
    pub fn begins(&mut self, doing: &str, number: usize, of: usize, left_ns: u64) {
        self.write(|entry| {
            entry.phase = Phase::Measuring;
            doing.clone_into(&mut entry.doing);
            entry.step = Some(StepUnderWay { number, of });
            entry.left_ns = Some(left_ns);
        });
        if let Some(notify) = self.notify.as_ref().filter(|_| !self.is_ready) {
            notify.ready(doing);
            self.is_ready = true;
        }
    }

    /// Checks the run at intervals, and updates the entry.
    pub fn goes_on(&mut self) {
        let since = self.looked.map(|looked| looked.elapsed());
        if since.is_some_and(|since| since < EVERY) {
            return;
        }
        let gone_ns = since.map_or(0, |since| u64::try_from(since.as_nanos()).unwrap_or(u64::MAX));
        self.looked = Some(Instant::now());
        self.write(|entry| entry.left_ns = entry.left_ns.map(|left| left.saturating_sub(gone_ns)));
        if let Some(notify) = &mut self.notify {
            notify.goes_on(Instant::now());
        }
    }

    /// Notes that all have ended, or were requested to, with the exit status of all of them.
    pub fn ended(mut self, status: u8, why: Option<String>) {
        let end = RunEnd {
            at_ns: sys::clock::realtime().as_ns(),
            status,
            complete: why.is_none(),
            why,
        };
        self.write(|entry| entry.end = Some(end));
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
}
