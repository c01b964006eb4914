//! Makes changes on the machine, and undoes them.

use std::fmt;
use std::fs;
use std::io;

use super::journal::{Journal, JournalEntry, JournalError};
use super::machine::TunedMachine;
use super::operation::{Operation, Target};
use super::values::{self, holds};
use units::foreign::shown;

/// Result of a change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// It already had that value.
    Unchanged,
    /// Written and read back.
    Done,
    /// It did not take effect, and the old value was restored.
    RolledBack(String),
    /// It failed, and nothing was changed.
    Refused(String),
    /// It did not take effect, and the old value could not be restored.
    Stuck(String),
    /// Somebody else has set it since, so it is left; contains the value that triptime had set.
    Foreign(String),
}

/// A change, with the earlier value of its target.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Applied {
    /// The target of the change.
    pub target: Target,
    /// Its value before.
    pub before: Option<String>,
    /// Value to set.
    pub after: String,
    /// The result.
    pub outcome: Outcome,
}

impl Applied {
    /// True if the target has the value to set.
    pub fn holds(&self) -> bool {
        matches!(self.outcome, Outcome::Done | Outcome::Unchanged)
    }
}

impl fmt::Display for Applied {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let target = shown(&self.target.to_string()).into_owned();
        let before = self.before.as_deref().unwrap_or("(not there)");
        let values = format!("{} -> {}", shown(before), shown(&self.after));
        match &self.outcome {
            Outcome::Unchanged => write!(f, "{target}: already set"),
            Outcome::Done => write!(f, "{target}: {values}"),
            Outcome::RolledBack(why) => write!(
                f,
                "{target}: {values} did not take effect, the old value was restored: {why}"
            ),
            Outcome::Refused(why) => write!(f, "{target}: refused: {why}"),
            Outcome::Foreign(ours) => write!(
                f,
                "{target}: left at {}: somebody else has set it since triptime set {}; before that it was {} (--undo --force restores it)",
                shown(before),
                shown(ours),
                shown(&self.after)
            ),
            Outcome::Stuck(why) => write!(
                f,
                "{target}: {values} did not take effect, and the old value was NOT restored: {why}"
            ),
        }
    }
}

/// Makes the changes one after the other, for the check `check`.
///
/// # Errors
/// The journal cannot be written: then no further change is made.
pub fn apply(
    machine: &TunedMachine,
    journal: &mut Journal,
    check: &str,
    operations: &[Operation],
) -> Result<Vec<Applied>, JournalError> {
    operations
        .iter()
        .map(|operation| one(machine, journal, check, operation))
        .collect()
}

fn one(
    machine: &TunedMachine,
    journal: &mut Journal,
    check: &str,
    operation: &Operation,
) -> Result<Applied, JournalError> {
    let Operation { target, value } = operation;
    let applied = |before, outcome| Applied {
        target: target.clone(),
        before,
        after: value.clone(),
        outcome,
    };
    let before = match machine.read(target) {
        Ok(before) => before,
        Err(error) => return Ok(applied(None, Outcome::Refused(error.to_string()))),
    };
    if holds(target, before.as_deref(), value) {
        return Ok(applied(before, Outcome::Unchanged));
    }
    let mut entry = JournalEntry {
        check: check.to_owned(),
        target: target.clone(),
        before: before.as_deref().map(|now| values::before(target, now, value)),
        after: value.clone(),
        boot: boot(),
    };
    let mark = journal.add(&entry)?;
    let written = machine.write(target, Some(value));
    let outcome = match written
        .map_err(|error| error.to_string())
        .and_then(|()| verified(machine, target, value))
    {
        Ok(()) => Outcome::Done,
        Err(why) => back(machine, operation, before.as_deref(), why),
    };
    match &outcome {
        Outcome::Refused(_) | Outcome::RolledBack(_) => journal.forget(mark)?,
        // The kernel's form of triptime's value, not another program's value.
        Outcome::Stuck(_) => {
            if let Ok(Some(now)) = machine.read(target) {
                entry.after = values::before(target, &now, value);
                journal.add(&entry)?;
            }
        }
        _ => {}
    }
    Ok(applied(before, outcome))
}

/// Reads a value back after writing it.
fn verified(machine: &TunedMachine, target: &Target, value: &str) -> Result<(), String> {
    match machine.read(target) {
        Ok(now) if holds(target, now.as_deref(), value) => Ok(()),
        Ok(now) => Err(format!("it reads back as \"{}\"", now.unwrap_or_default())),
        Err(error) => Err(format!("it cannot be read back: {error}")),
    }
}

/// Restores the old value after a change that did not take effect.
fn back(machine: &TunedMachine, operation: &Operation, before: Option<&str>, why: String) -> Outcome {
    let Operation { target, value } = operation;
    if machine.read(target).is_ok_and(|now| now.as_deref() == before) {
        return Outcome::Refused(why);
    }
    let old = before.map(|now| values::before(target, now, value));
    match machine.write(target, old.as_deref()) {
        Ok(()) => Outcome::RolledBack(why),
        Err(error) => Outcome::Stuck(format!("{why}; the old value: {error}")),
    }
}

/// Undoes every change in the journal, the last one first, and empties the journal. Changes that cannot be undone stay in it, and so do
/// values that somebody else has set since. Settings of an earlier boot ended with it, and threads that have ended need nothing.
///
/// # Errors
/// The journal cannot be read or written.
pub fn undo(machine: &TunedMachine, journal: &mut Journal) -> Result<Vec<Applied>, JournalError> {
    take_back(machine, journal, 0, false)
}

/// Same as [`undo`], but also overwrites values that somebody else has set since.
///
/// # Errors
/// As of [`undo`].
pub fn undo_forced(machine: &TunedMachine, journal: &mut Journal) -> Result<Vec<Applied>, JournalError> {
    take_back(machine, journal, 0, true)
}

/// Same as [`undo`], for the changes after the first `first` ones of the journal, which stay on the machine and in the journal.
///
/// # Errors
/// As of [`undo`].
pub fn undo_behind(machine: &TunedMachine, journal: &mut Journal, first: usize) -> Result<Vec<Applied>, JournalError> {
    take_back(machine, journal, first, false)
}

fn take_back(
    machine: &TunedMachine,
    journal: &mut Journal,
    first: usize,
    forced: bool,
) -> Result<Vec<Applied>, JournalError> {
    let boot = boot();
    let mut entries = journal.entries()?;
    if entries.is_empty() {
        return Ok(Vec::new());
    }
    let later = entries.split_off(first.min(entries.len()));
    let (mut done, mut stuck) = (Vec::new(), Vec::new());
    for entry in later.into_iter().rev().filter(|entry| entry.boot == boot) {
        let now = machine.read(&entry.target);
        let before = now.as_ref().ok().and_then(Option::as_deref);
        let before = before.map(|now| values::before(&entry.target, now, &entry.after));
        let outcome = restored(machine, &entry, now, forced);
        if matches!(outcome, Outcome::Stuck(_) | Outcome::Foreign(_)) {
            stuck.insert(0, entry.clone());
        }
        done.push(Applied {
            after: entry.before.unwrap_or_default(),
            before,
            target: entry.target,
            outcome,
        });
    }
    entries.extend(stuck);
    journal.keep(&entries)?;
    Ok(done)
}

fn restored(machine: &TunedMachine, entry: &JournalEntry, now: io::Result<Option<String>>, forced: bool) -> Outcome {
    let target = &entry.target;
    let now = match now {
        Ok(now) => now,
        Err(error) if has_gone(machine, target, &error) => return Outcome::Unchanged,
        Err(error) => return Outcome::Stuck(error.to_string()),
    };
    let as_good = match entry.before.as_deref() {
        Some("") => machine.as_good_as_empty(target),
        _ => None,
    };
    let is_back = |now: Option<&str>| match (&entry.before, now) {
        (None, None) => true,
        (Some(before), Some(now)) => holds(target, Some(now), before) || as_good.as_deref() == Some(now),
        _ => false,
    };
    if is_back(now.as_deref()) {
        return Outcome::Unchanged;
    }
    let is_ours = now
        .as_deref()
        .is_some_and(|now| values::is_kept(target, now, &entry.after));
    if !(is_ours || forced) {
        return Outcome::Foreign(entry.after.clone());
    }
    let written = machine.write(target, entry.before.as_deref());
    let written = written.or_else(|error| match &as_good {
        Some(all) => machine.write(target, Some(all)),
        None => Err(error),
    });
    match written.and_then(|()| machine.read(target)) {
        Ok(now) if is_back(now.as_deref()) => Outcome::Done,
        Ok(now) => Outcome::Stuck(format!("it reads back as \"{}\"", now.unwrap_or_default())),
        Err(error) => Outcome::Stuck(error.to_string()),
    }
}

/// True if the target has gone, and its setting with it: an ended thread, a removed interface or group.
fn has_gone(machine: &TunedMachine, target: &Target, error: &io::Error) -> bool {
    let is_gone = error.kind() == io::ErrorKind::NotFound;
    match target {
        Target::File(_) => is_gone && machine.has_lost_folder_of(target),
        // The kernel returns ESRCH for a thread that ends during the call.
        Target::Thread(_) | Target::Priority(_) => true,
        _ => is_gone,
    }
}

/// Id of the running boot; empty if unknown.
pub(super) fn boot() -> String {
    let id = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    id.trim().to_owned()
}
