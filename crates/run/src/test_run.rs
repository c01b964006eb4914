//! The run of a test, in a separate folder.

use crate::{Explain, RecorderOptions};
use model::RunInfo;
use std::path::PathBuf;
use store::{RunFile, RunWriter};
use tempfile::TempDir;
use units::Realtime;

/// The folder of a test; it is removed with its file when dropped.
pub(crate) struct TestRun(TempDir);

impl TestRun {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().expect("a directory"))
    }

    /// Makes its file, and the settings of a recorder that begins now.
    pub(crate) fn begin(&self, window_ns: u64, explain: Option<Box<dyn Explain>>) -> (RunWriter, RecorderOptions) {
        let info = RunInfo {
            id: "1".into(),
            command: "test".into(),
            arguments: Vec::new(),
            tool_version: "0".into(),
            started: Realtime::from_ns(0),
            window_ns,
        };
        let options = RecorderOptions {
            start: sys::clock::monotonic(),
            window_ns,
            explain,
        };
        let writer = RunWriter::create(&self.file(), &info, None).expect("a run file");
        (writer, options)
    }

    /// Opens the written file.
    pub(crate) fn read(&self) -> RunFile {
        RunFile::open(&self.file()).expect("a run")
    }

    fn file(&self) -> PathBuf {
        self.0.path().join("run.triptime")
    }
}
