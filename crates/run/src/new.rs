//! Making a run file.

use model::{RunInfo, RunState};
use std::path::{Path, PathBuf};
use store::{RunWriter, StoreError};
use units::Realtime;

/// A run that is to be made.
#[derive(Debug, Clone)]
pub struct NewRun {
    /// The run file.
    pub file: PathBuf,
    /// The subcommand.
    pub command: String,
    /// The command line as it was given.
    pub arguments: Vec<String>,
    /// Version of triptime.
    pub tool_version: String,
    /// Length of a window.
    pub window_ns: u64,
    /// Octets for histograms in the run file; `None`: as many as there are.
    pub file_budget: Option<u64>,
    /// Texts kept in the run, with their names: plan, limits.
    pub documents: Vec<(String, String)>,
}

impl NewRun {
    /// Creates the file of a run that began at `started`, with its documents in it.
    ///
    /// # Errors
    /// The file cannot be made.
    pub fn create(&self, started: Realtime) -> Result<RunWriter, StoreError> {
        let now = sys::clock::realtime();
        let info = RunInfo {
            id: format!("{:x}-{:x}", now.as_ns(), std::process::id()),
            command: self.command.clone(),
            arguments: self.arguments.clone(),
            tool_version: self.tool_version.clone(),
            started,
            window_ns: self.window_ns,
        };
        let mut writer = RunWriter::create(&self.file, &info, self.file_budget)?;
        for (name, text) in &self.documents {
            writer.put_document(name, text)?;
        }
        Ok(writer)
    }

    /// Creates the file of a run that began at `started`, has `fill` fill it and say how it ended and how long it was in ns, and closes
    /// it. One that cannot be written whole is taken away.
    ///
    /// # Errors
    /// What `fill` says; the file cannot be made or closed.
    pub fn make<E: From<StoreError>>(
        &self,
        started: Realtime,
        fill: impl FnOnce(&mut RunWriter) -> Result<(RunState, u64), E>,
    ) -> Result<(), E> {
        let mut writer = self.create(started)?;
        let filled = fill(&mut writer).and_then(|(state, duration_ns)| Ok(writer.finish(state, duration_ns)?));
        if filled.is_err() {
            remove(&self.file);
        }
        filled
    }
}

/// Removes a run file and what SQLite keeps beside it.
pub fn remove(file: &Path) {
    for suffix in ["", "-wal", "-shm"] {
        let mut name = file.as_os_str().to_owned();
        name.push(suffix);
        let _ = std::fs::remove_file(name);
    }
}
