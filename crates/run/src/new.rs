//! Making a run file.

use model::{RunInfo, RunState};
use std::path::{Path, PathBuf};
use store::{RunWriter, StoreError};
use units::Realtime;

/// Largest number of runs with the same name, which contains the start time in seconds.
const MOST_OF_A_NAME: u32 = 1_000;

/// A run file to be made.
#[derive(Debug, Clone)]
pub struct NewRun {
    /// The run file.
    pub file: PathBuf,
    /// True if a number may be appended to its name when a run of that name exists already.
    pub may_be_numbered: bool,
    /// The subcommand.
    pub command: String,
    /// The command line as the user gave it.
    pub arguments: Vec<String>,
    /// Version of triptime.
    pub tool_version: String,
    /// Length of a window in ns.
    pub window_ns: u64,
    /// Bytes for histograms in the run file; `None`: no limit.
    pub file_budget: Option<u64>,
    /// Texts kept in the run with their names: plan, limits.
    pub documents: Vec<(String, String)>,
}

impl NewRun {
    /// Creates the file of a run that began at `started`, with its documents in it. Sets `file` to the name actually used.
    ///
    /// # Errors
    /// The file cannot be created.
    pub fn create(&mut self, started: Realtime) -> Result<RunWriter, StoreError> {
        let now = sys::clock::realtime();
        let info = RunInfo {
            id: format!("{:x}-{:x}", now.as_ns(), std::process::id()),
            command: self.command.clone(),
            arguments: self.arguments.clone(),
            tool_version: self.tool_version.clone(),
            started,
            window_ns: self.window_ns,
        };
        let mut writer = self.create_file(&info)?;
        for (name, text) in &self.documents {
            writer.put_document(name, text)?;
        }
        Ok(writer)
    }

    /// Creates the file under the first name that no other run takes at the same time.
    fn create_file(&mut self, info: &RunInfo) -> Result<RunWriter, StoreError> {
        let first = self.file.clone();
        for number in 2..MOST_OF_A_NAME {
            match RunWriter::create(&self.file, info, self.file_budget) {
                Err(StoreError::Exists { .. }) if self.may_be_numbered => {
                    self.file = first.with_extension(format!("{number}.triptime"));
                }
                made => return made,
            }
        }
        RunWriter::create(&self.file, info, self.file_budget)
    }

    /// Creates the file of a run that began at `started`, calls `fill`, which fills it and returns how it ended and its length in
    /// ns, and closes it. Removes a file that could not be written completely.
    ///
    /// # Errors
    /// Errors of `fill`; the file cannot be created or closed.
    pub fn make<E: From<StoreError>>(
        &mut self,
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

/// Removes a run file and the files that SQLite keeps next to it.
pub fn remove(file: &Path) {
    for suffix in ["", "-wal", "-shm"] {
        let mut name = file.as_os_str().to_owned();
        name.push(suffix);
        let _ = std::fs::remove_file(name);
    }
}

#[cfg(test)]
mod tests {
    use super::NewRun;
    use store::StoreError;
    use units::Realtime;

    #[test]
    fn of_those_that_take_one_name_at_once_each_has_a_run() {
        let folder = tempfile::tempdir().expect("a folder");
        let new = |may_be_numbered| NewRun {
            file: folder.path().join("now-wakeup.triptime"),
            may_be_numbered,
            command: "wakeup".into(),
            arguments: Vec::new(),
            tool_version: "0".into(),
            window_ns: 1_000_000_000,
            file_budget: None,
            documents: Vec::new(),
        };
        let names: Vec<String> = (0..3)
            .map(|_| {
                let mut run = new(true);
                run.create(Realtime::from_ns(0)).expect("made");
                run.file.file_name().expect("a name").to_string_lossy().into_owned()
            })
            .collect();
        assert_eq!(
            names,
            ["now-wakeup.triptime", "now-wakeup.2.triptime", "now-wakeup.3.triptime"]
        );
        let refused = new(false).create(Realtime::from_ns(0));
        assert!(
            matches!(refused, Err(StoreError::Exists { .. })),
            "a name that was given"
        );
    }
}
