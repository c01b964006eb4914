//! A run file that was copied without its log.

use crate::support::{WINDOW_NS, batch, create};
use model::{EventKind, RunState, SeriesId};
use std::fs;
use std::path::{Path, PathBuf};
use store::RunFile;

/// Two windows of a run that is not closed, as a killed process leaves it: the file, and its log if requested.
fn killed(directory: &Path, with_log: bool) -> PathBuf {
    let (path, copy) = (directory.join("x.triptime"), directory.join("copy.triptime"));
    let mut writer = create(&path, 2, None);
    for number in 0..2 {
        writer.write(&batch(2, number)).expect("written");
    }
    fs::copy(&path, &copy).expect("copied");
    if with_log {
        fs::copy(directory.join("x.triptime-wal"), directory.join("copy.triptime-wal")).expect("copied");
    }
    copy
}

#[test]
fn it_has_every_window_that_was_written_and_says_that_the_log_is_missing() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = killed(directory.path(), false);
    // Reading it once must not make it look complete.
    for look in 0..2 {
        let run = RunFile::open(&path).expect("a run");
        assert_eq!(
            (run.state(), run.duration_ns()),
            (RunState::Interrupted, 2 * WINDOW_NS),
            "look {look}"
        );
        assert_eq!(run.windows(SeriesId(1)).expect("windows").len(), 2);
        let said = run.lacks_log().expect("said");
        assert!(said.contains("copy.triptime-wal"), "{said}");
        let last = run.events().expect("events").pop().expect("an event");
        assert_eq!((last.kind, last.series), (EventKind::Interrupted, None));
        assert!(last.text.contains("windows may be missing"), "{}", last.text);
    }
}

#[test]
fn with_its_log_or_closed_it_says_nothing_of_it() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = killed(directory.path(), true);
    assert_eq!(RunFile::open(&path).expect("a run").lacks_log(), None);
    let closed = directory.path().join("closed.triptime");
    for state in [RunState::Complete, RunState::Interrupted] {
        create(&closed, 1, None).finish(state, 1).expect("finished");
        assert_eq!(RunFile::open(&closed).expect("a run").lacks_log(), None);
        fs::remove_file(&closed).expect("removed");
    }
}
