//! Undos that are due, each in a file beside the entries of the runs, so that they survive the processes that know them.

use super::{ActionPart, Ending};
use crate::roster::{Process, Roster};
use bed::program::{Outlives, carry_out};
use serde::{Deserialize, Serialize};
use std::fs;
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// Ending of the files of undos that nobody has begun.
const DUE: &str = "undo";
/// Ending of the files of undos that a process has begun.
const TAKEN: &str = "undo-taken";

/// An undo that is to run once.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct DueUndo {
    pub(super) id: u64,
    /// Name of the action.
    pub(super) name: String,
    /// Program and arguments.
    pub(super) words: Vec<String>,
    pub(super) limit_ns: u64,
    /// Folder in which the run was started: relative names in the command are meant from there.
    folder: PathBuf,
    /// The steward that will run it.
    steward: Process,
}

impl DueUndo {
    pub(super) fn new(id: u64, name: String, words: Vec<String>, limit_ns: u64) -> Self {
        Self {
            id,
            name,
            words,
            limit_ns,
            folder: std::env::current_dir().unwrap_or_default(),
            steward: Process::own(),
        }
    }

    /// Writes it down.
    ///
    /// # Errors
    /// There is no folder for it, or the file cannot be written: then its action must not run.
    pub(super) fn write(self, folder: Option<&Path>) -> io::Result<Written> {
        let folder = folder.ok_or_else(|| {
            io::Error::other("no folder for it: neither TRIPTIME_RUNTIME_DIR nor XDG_RUNTIME_DIR is set")
        })?;
        let mut builder = fs::DirBuilder::new();
        builder.recursive(true).mode(0o755).create(folder)?;
        let name = format!("{}-{}-{}", self.steward.pid, self.steward.start_ticks, self.id);
        let path = folder.join(format!("{name}.{DUE}"));
        let draft = folder.join(format!("{name}.draft"));
        fs::write(&draft, serde_json::to_string_pretty(&self).map_err(io::Error::other)?)?;
        fs::rename(&draft, &path)?;
        Ok(Written { undo: self, path })
    }

    fn carry_out(&self) -> Ending {
        let limit = Duration::from_nanos(self.limit_ns);
        let carried = carry_out(&self.words, Outlives::Yes, limit, &AtomicBool::new(false));
        Ending::of(self.id, ActionPart::Undo, carried)
    }
}

/// An undo in its file.
#[derive(Debug)]
pub(super) struct Written {
    pub(super) undo: DueUndo,
    path: PathBuf,
}

impl Written {
    /// Runs it, unless another process already has; `None` in that case.
    pub(super) fn carry_out(self) -> Option<Ending> {
        let taken = self.path.with_extension(taken_by(&Process::own()));
        // Only one process can rename the file, so the command begins only once.
        fs::rename(&self.path, &taken).ok()?;
        let answer = self.undo.carry_out();
        let _ = fs::remove_file(&taken);
        Some(answer)
    }

    /// Forgets it: its action never began.
    pub(super) fn forget(self) {
        let _ = fs::remove_file(&self.path);
    }
}

/// Ending of the file of an undo that a process has begun: `812-90411.undo-taken`.
fn taken_by(process: &Process) -> String {
    format!("{}-{}.{TAKEN}", process.pid, process.start_ticks)
}

/// The process that has begun an undo, by the name of its file.
fn taker(one: &Written) -> Option<Process> {
    let stem = one.path.file_stem()?.to_str()?;
    let (pid, start_ticks) = stem.rsplit_once('.')?.1.split_once('-')?;
    Some(Process {
        pid: pid.parse().ok()?,
        start_ticks: start_ticks.parse().ok()?,
        ..one.undo.steward.clone()
    })
}

/// Forgets undos that were begun by processes that are gone; a sentence about each.
fn begun_in(folder: &Path) -> Vec<String> {
    let files = fs::read_dir(folder).into_iter().flatten().flatten();
    let paths = files.map(|file| file.path());
    let taken = paths.filter(|path| path.extension().is_some_and(|ending| ending == TAKEN));
    let is_left = |one: &Written| taker(one).as_ref().unwrap_or(&one.undo.steward).is_gone();
    taken
        .filter_map(read)
        .filter(is_left)
        .filter(|one| fs::remove_file(&one.path).is_ok())
        .map(|one| {
            format!(
                "action {} of a run that was killed: its undo was begun and its end is not known",
                one.undo.name
            )
        })
        .collect()
}

/// Runs undos whose run and steward are both gone, each in the folder of its run; a sentence about each.
pub fn left_over() -> Vec<String> {
    let roster = Roster::own();
    roster.map_or_else(Vec::new, |roster| left_over_in(roster.folder()))
}

fn left_over_in(folder: &Path) -> Vec<String> {
    let files = fs::read_dir(folder).into_iter().flatten().flatten();
    let paths = files.map(|file| file.path());
    let due = paths.filter(|path| path.extension().is_some_and(|ending| ending == DUE));
    let mut found: Vec<Written> = due.filter_map(read).filter(|one| one.undo.steward.is_gone()).collect();
    // The last action is undone first.
    found.sort_by_key(|one| std::cmp::Reverse((one.undo.steward.start_ticks, one.undo.id)));
    let back = std::env::current_dir();
    let mut told = begun_in(folder);
    for one in found {
        let (name, own) = (one.undo.name.clone(), one.undo.folder.clone());
        if let Err(error) = std::env::set_current_dir(&own) {
            told.push(format!(
                "COULD NOT undo action {name} of a run that was killed: {}: {error}",
                own.display()
            ));
            continue;
        }
        if let Some(answer) = one.carry_out() {
            told.push(answer.of_undo(&format!("action {name} of a run that was killed")));
        }
    }
    if let Ok(back) = back {
        // It existed a moment ago; without it, the files of this run are refused with their names.
        let _ = std::env::set_current_dir(back);
    }
    told
}

/// Reads a file that this user wrote; commands in the files of others are not run.
fn read(path: PathBuf) -> Option<Written> {
    let file = fs::File::open(&path).ok()?;
    let own = rustix::process::geteuid().as_raw();
    let undo: DueUndo = (file.metadata().ok()?.uid() == own)
        .then(|| serde_json::from_reader(io::BufReader::new(file)).ok())
        .flatten()?;
    Some(Written { undo, path })
}

#[cfg(test)]
mod tests {
    use super::{DueUndo, Process, left_over_in, taken_by};
    use std::path::Path;

    /// An undo that appends a line to a file; its steward is gone or alive.
    fn due(folder: &Path, id: u64, is_gone: bool) -> DueUndo {
        let words = ["/bin/sh", "-c", &format!("echo {id} >> {}/undone", folder.display())].map(str::to_owned);
        let mut undo = DueUndo::new(id, format!("a{id}"), words.to_vec(), 60_000_000_000);
        if is_gone {
            undo.steward.start_ticks -= 1;
        }
        undo
    }

    #[test]
    fn what_a_killed_steward_left_is_undone_once_the_last_first() {
        let folder = tempfile::tempdir().expect("a folder");
        for (id, is_gone) in [(1, true), (2, true), (3, false)] {
            let _written = due(folder.path(), id, is_gone)
                .write(Some(folder.path()))
                .expect("written");
        }
        let told = left_over_in(folder.path());
        assert_eq!(told.len(), 2, "{told:?}");
        assert!(
            told[0].starts_with("undone action a2") && told[0].ends_with("exit status 0"),
            "{told:?}"
        );
        let undone = || std::fs::read_to_string(folder.path().join("undone")).expect("a file");
        assert_eq!(undone(), "2\n1\n");
        assert_eq!(left_over_in(folder.path()), Vec::<String>::new());
        assert_eq!(undone(), "2\n1\n", "once");
    }

    #[test]
    fn an_undo_that_another_process_has_begun_is_not_begun_again() {
        let folder = tempfile::tempdir().expect("a folder");
        let written = due(folder.path(), 1, true).write(Some(folder.path())).expect("written");
        assert_eq!(left_over_in(folder.path()).len(), 1);
        assert!(written.carry_out().is_none());
    }

    #[test]
    fn an_undo_that_failed_is_not_called_undone() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut undo = due(folder.path(), 1, true);
        undo.words = ["/bin/sh", "-c", "echo busy; exit 3"].map(str::to_owned).to_vec();
        let _written = undo.write(Some(folder.path())).expect("written");
        let told = left_over_in(folder.path());
        let wanted = "COULD NOT undo action a1 of a run that was killed: exit status 3: busy";
        assert_eq!(told, [wanted]);
    }

    #[test]
    fn an_undo_whose_process_is_gone_is_told_once_and_one_under_way_is_left_alone() {
        let folder = tempfile::tempdir().expect("a folder");
        let gone = |by: Process| Process {
            start_ticks: by.start_ticks - 1,
            ..by
        };
        for (id, by) in [(1, gone(Process::own())), (2, Process::own())] {
            let written = due(folder.path(), id, true)
                .write(Some(folder.path()))
                .expect("written");
            let taken = written.path.with_extension(taken_by(&by));
            std::fs::rename(&written.path, taken).expect("renamed");
        }
        let told = left_over_in(folder.path());
        assert_eq!(
            told,
            ["action a1 of a run that was killed: its undo was begun and its end is not known"]
        );
        assert!(left_over_in(folder.path()).is_empty());
        assert_eq!(std::fs::read_dir(folder.path()).expect("a folder").count(), 1);
    }

    #[test]
    fn without_a_folder_nothing_is_written_down() {
        assert!(due(Path::new("/"), 1, false).write(None).is_err());
        assert!(Process::own().pid > 0);
    }
}
