//! A recording in a file of its own, beside the run: that of one end of a step, which is joined with those of the other ends.

use super::{Session, SessionError};
use model::{Fact, RunState};
use run::{NewRun, Recorder, RecorderOptions};
use std::path::PathBuf;
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
    _folder: TempDir,
    /// Its file.
    pub file: PathBuf,
}

impl Session {
    /// Begins a recording beside the run, on the same instants, as one of the command `command`.
    ///
    /// # Errors
    /// Its file cannot be made: a full disk, for example.
    pub fn aside(&self, command: &str) -> Result<Aside, SessionError> {
        let folder = self.file().parent().filter(|folder| !folder.as_os_str().is_empty());
        let folder = tempfile::Builder::new()
            .prefix(".triptime-frames-")
            .tempdir_in(folder.unwrap_or_else(|| std::path::Path::new(".")))
            .map_err(|error| SessionError::Wrong(format!("no folder for a recording beside the run: {error}")))?;
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
            _folder: self.folder,
            file: self.file,
        })
    }
}
