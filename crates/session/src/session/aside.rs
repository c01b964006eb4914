//! A recording in a file of its own, beside the run: that of one end of a step, which is joined with those of the other ends.

use super::{Session, SessionError};
use crate::room::Disk;
use model::{Fact, RunState};
use run::{NewRun, Recorder, RecorderOptions};
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// A recording under way. Dropping it removes its file.
pub struct Aside {
    folder: TempDir,
    file: PathBuf,
    recorder: Recorder,
}

/// A recording that has ended.
pub struct Sealed {
    /// Holds its file; both are removed when this is dropped.
    folder: TempDir,
    /// Its file.
    pub file: PathBuf,
}

impl Sealed {
    /// Leaves the file where it is, and returns its path.
    pub fn keep(self) -> PathBuf {
        let _ = self.folder.keep();
        self.file
    }
}

impl Session {
    /// A folder for recordings beside the run file, removed when it is dropped. It is named after the run file, so that the recordings of a run that
    /// was killed are found.
    ///
    /// # Errors
    /// It cannot be made: a full disk, for example.
    pub fn folder_beside(&self) -> Result<TempDir, SessionError> {
        folder_beside(self.file())
            .map_err(|error| SessionError::Wrong(format!("no folder for a recording beside the run: {error}")))
    }

    /// Why recordings of `octets` bytes cannot be joined beside the run file; `None` if there is room.
    pub fn cannot_join(&self, octets: u64) -> Option<String> {
        Disk::of(self.file()).cannot_join(octets)
    }

    /// Begins a recording beside the run, on the same instants, as one of the command `command`.
    ///
    /// # Errors
    /// Its file cannot be made: a full disk, for example.
    pub fn aside(&self, command: &str) -> Result<Aside, SessionError> {
        let folder = self.folder_beside()?;
        let start = self.recorder.start_instant();
        let now = sys::clock::pair();
        let started = units::Realtime::from_ns(now.realtime.as_ns() - (now.monotonic - start));
        let mut run = NewRun {
            file: folder.path().join(format!("{command}.triptime")),
            may_be_numbered: false,
            command: command.to_owned(),
            arguments: Vec::new(),
            tool_version: env!("CARGO_PKG_VERSION").to_owned(),
            window_ns: self.window_ns(),
            file_budget: self.file_budget,
            documents: Vec::new(),
        };
        let writer = run.create(started)?;
        let options = RecorderOptions {
            start,
            window_ns: self.window_ns(),
            explain: None,
        };
        Ok(Aside {
            folder,
            file: run.file,
            recorder: Recorder::start(writer, options, &self.stop),
        })
    }
}

impl Aside {
    /// Receives the recording.
    pub fn recorder(&self) -> &Recorder {
        &self.recorder
    }

    /// Closes the file, with these facts about the recording.
    ///
    /// # Errors
    /// The error that kept the file from being written.
    pub fn finish(self, facts: Vec<Fact>) -> Result<Sealed, SessionError> {
        self.recorder.add_facts(facts);
        self.recorder.finish(RunState::Complete)?;
        Ok(Sealed {
            folder: self.folder,
            file: self.file,
        })
    }
}

fn folder_beside(file: &Path) -> std::io::Result<TempDir> {
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty());
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    tempfile::Builder::new()
        .prefix(&format!("{name}.frames-"))
        .tempdir_in(folder.unwrap_or_else(|| Path::new(".")))
}

#[cfg(test)]
mod tests {
    use super::folder_beside;

    #[test]
    fn recordings_beside_a_run_are_in_a_folder_that_is_named_after_it() {
        let directory = tempfile::tempdir().expect("a directory");
        let beside = folder_beside(&directory.path().join("run.triptime")).expect("a folder");
        assert_eq!(beside.path().parent(), Some(directory.path()));
        let name = beside.path().file_name().expect("a name").to_string_lossy();
        assert!(name.starts_with("run.triptime.frames-"), "{name}");
        let path = beside.path().to_owned();
        drop(beside);
        assert!(!path.exists());
    }
}
