//! State of a run now: by its file, and by its entry among the runs of this machine.

use model::RunState;
use report::live::{Live, LiveState};
use session::roster::{Entry, Found, Roster, Standing};
use std::path::Path;
use store::RunFile;

/// A run in the list of this machine, and how it stood there.
pub(super) struct Listed {
    entry: Entry,
    standing: Standing,
}

impl Listed {
    /// The run in `file`; of several, the latest. It is looked up before the file is opened: a run closes its file before it leaves, so one that had
    /// not left is not taken for a killed one.
    pub(super) fn of(file: &Path) -> Option<Self> {
        entry_of(file).map(Self::now)
    }

    fn now(found: Found) -> Self {
        Self {
            standing: found.entry.standing(found.owner),
            entry: found.entry,
        }
    }
}

/// State of a run, as far as it is known. `of_run`: the process that writes it exists, because it started this one.
pub(super) fn of(run: &RunFile, listed: Option<Listed>, of_run: bool) -> Live {
    let end_ns = run.info().started.as_ns().saturating_add_unsigned(run.duration_ns());
    let age_ns = u64::try_from(sys::clock::realtime().as_ns() - end_ns).unwrap_or(0);
    let state = match run.state() {
        _ if run.is_unended() => return unended(listed, of_run, age_ns),
        RunState::Complete => LiveState::Complete,
        RunState::Interrupted | RunState::Running => LiveState::Interrupted,
    };
    Live {
        state,
        why: None,
        doing: None,
        left_ns: None,
        age_ns,
    }
}

fn entry_of(file: &Path) -> Option<Found> {
    let file = std::path::absolute(file).ok()?;
    let real = file.canonicalize().ok();
    let is_it = |found: &Found| {
        let named = Path::new(&found.entry.file);
        named == file || (real.is_some() && named.canonicalize().ok() == real)
    };
    let all = Roster::all();
    let found = all.iter().flat_map(Roster::runs).filter(is_it);
    found.max_by_key(|found| found.entry.started_ns)
}

fn unended(listed: Option<Listed>, of_run: bool, age_ns: u64) -> Live {
    let Some(Listed { entry, standing }) = listed else {
        return unlisted(of_run, age_ns);
    };
    let (state, why) = match standing {
        Standing::Starting => (LiveState::Starting, None),
        Standing::Measuring => (LiveState::Measuring, None),
        Standing::Finishing => (LiveState::Finishing, None),
        Standing::Stuck(why) => (LiveState::Stuck, Some(why)),
        Standing::WithoutAWord(why) => (LiveState::Killed, Some(why)),
        Standing::Ended => (
            LiveState::Killed,
            Some("it ended, and did not close its file".to_owned()),
        ),
        Standing::Unknown(_) if of_run => (LiveState::Measuring, None),
        Standing::Unknown(why) => (LiveState::Unknown, Some(why)),
    };
    Live {
        why,
        doing: state.is_running().then(|| doing(&entry)),
        left_ns: left_ns(&entry).filter(|_| state.is_running()),
        state,
        age_ns,
    }
}

/// A run that is not listed, because there is no folder for the list, or because the list was lost by a reboot.
fn unlisted(of_run: bool, age_ns: u64) -> Live {
    let why = "its end is not recorded, and no process is known to write it: it was killed, its machine was rebooted, or it runs elsewhere";
    Live {
        state: if of_run {
            LiveState::Measuring
        } else {
            LiveState::Unknown
        },
        why: (!of_run).then(|| why.to_owned()),
        doing: None,
        left_ns: None,
        age_ns,
    }
}

fn doing(entry: &Entry) -> String {
    match entry.step {
        Some(step) => format!("step {} of {}: {}", step.number, step.of, entry.doing),
        None => entry.doing.clone(),
    }
}

/// Remaining measuring time, in ns.
fn left_ns(entry: &Entry) -> Option<u64> {
    let since_ns = u64::try_from(sys::clock::monotonic().as_ns() - entry.seen_ns).unwrap_or(0);
    Some(entry.left_ns?.saturating_sub(since_ns))
}

#[cfg(test)]
mod tests {
    use super::{Listed, LiveState, left_ns, unended};
    use session::roster::{Entry, Found, Phase, Process, RunEnd, StepUnderWay};
    use std::process::Command;

    fn found(change: impl FnOnce(&mut Entry)) -> Listed {
        Listed::now(entry(change))
    }

    fn entry(change: impl FnOnce(&mut Entry)) -> Found {
        let mut entry = Entry::new("wakeup", "/tmp/run.triptime", 0);
        entry.phase = Phase::Measuring;
        entry.window_ns = 1_000_000_000;
        entry.step = Some(StepUnderWay { number: 2, of: 3 });
        entry.left_ns = Some(60_000_000_000);
        change(&mut entry);
        Found {
            entry,
            path: "/tmp/wakeup.json".into(),
            owner: rustix::process::getuid().as_raw(),
        }
    }

    #[test]
    fn a_run_of_a_living_process_is_measured() {
        let live = unended(Some(found(|_| ())), false, 5);
        assert_eq!((live.state, live.age_ns), (LiveState::Measuring, 5));
        assert_eq!(live.doing.as_deref(), Some("step 2 of 3: getting ready"));
        assert!(
            live.left_ns.is_some_and(|ns| (1..=60_000_000_000).contains(&ns)),
            "{live:?}"
        );
    }

    #[test]
    fn a_run_of_a_process_that_is_gone_was_killed_and_has_no_time_left() {
        let gone = found(|entry| entry.process.start_ticks -= 1);
        let live = unended(Some(gone), false, 0);
        assert_eq!((live.state, live.left_ns), (LiveState::Killed, None));
        assert!(live.why.is_some_and(|why| why.contains("is gone")));
        let ended = found(|entry| {
            entry.end = Some(RunEnd {
                at_ns: 0,
                status: 0,
                complete: true,
                why: None,
            });
        });
        assert_eq!(
            unended(Some(ended), false, 0).state,
            LiveState::Killed,
            "its file is not closed"
        );
    }

    #[test]
    fn a_run_that_leaves_after_it_was_looked_up_was_not_killed() {
        let sleep = Command::new("sleep").arg("60").spawn();
        let mut process = sleep.expect("a process");
        let its = Process::of(process.id()).expect("it exists");
        let before = found(|entry| entry.process = its);
        let gone = before.entry.process.clone();
        process.kill().expect("our own child");
        process.wait().expect("ended");
        assert_eq!(unended(Some(before), false, 0).state, LiveState::Measuring);
        let after = found(|entry| entry.process = gone);
        assert_eq!(unended(Some(after), false, 0).state, LiveState::Killed);
    }

    #[test]
    fn a_process_that_stands_still_is_stuck() {
        let still = found(|entry| entry.seen_ns -= 60_000_000_000);
        assert_eq!(unended(Some(still), true, 0).state, LiveState::Stuck);
        let over = found(|entry| entry.seen_ns -= 100_000_000_000).entry;
        assert_eq!(left_ns(&over), Some(0));
    }

    #[test]
    fn without_an_entry_only_the_process_that_measures_knows() {
        assert_eq!(unended(None, true, 0).state, LiveState::Measuring);
        let unknown = unended(None, false, 0);
        assert_eq!(unknown.state, LiveState::Unknown);
        assert!(unknown.why.is_some());
    }
}
