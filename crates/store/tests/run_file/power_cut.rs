//! After a power cut, the database is as last synced, and the log holds what had been written.

use crate::support::{Numbers, assert_holds, batch, create};
use rusqlite::Connection;
use std::fs;
use std::path::{Path, PathBuf};
use store::RunFile;

const SERIES: u32 = 3;

fn log_of(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push("-wal");
    PathBuf::from(name)
}

/// Number of windows that a reader finds after a power cut that left `database` and `log`.
fn windows_after_cut(directory: &Path, database: &[u8], log: &[u8]) -> u64 {
    let path = directory.join("after.triptime");
    fs::write(&path, database).expect("written");
    fs::write(log_of(&path), log).expect("written");
    let run = RunFile::open(&path).expect("opens after a power cut");
    let windows = run.events().expect("events").len() as u64;
    assert_holds(&run, SERIES, windows);
    drop(run);
    for suffix in ["", "-wal", "-shm"] {
        let _ = fs::remove_file(directory.join(format!("after.triptime{suffix}")));
    }
    windows
}

#[test]
fn a_log_cut_at_any_length_gives_a_prefix_of_the_windows() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("run.triptime");
    let mut writer = create(&path, SERIES, None);
    // An open reader keeps the log from being moved into the database.
    let reader = Connection::open(&path).expect("opens");
    reader
        .execute_batch("BEGIN; SELECT count(*) FROM series")
        .expect("reads");
    for number in 0..20 {
        writer.write(&batch(SERIES, number)).expect("written");
    }
    let (database, log) = (fs::read(&path).expect("read"), fs::read(log_of(&path)).expect("read"));
    let mut numbers = Numbers::unforeseen();
    let mut last = 0;
    let mut lengths: Vec<usize> = (0..40).map(|_| numbers.below(log.len() as u64) as usize).collect();
    lengths.extend([0, 31, 32, log.len()]);
    lengths.sort_unstable();
    for length in lengths {
        // Before the series are in the log, the run has none.
        let cut = &log[..length];
        let path = directory.path().join("cut.triptime");
        fs::write(&path, &database).expect("written");
        fs::write(log_of(&path), cut).expect("written");
        let run = RunFile::open(&path).expect("opens");
        let said = run.lacks_log().iter().count();
        let windows = (run.events().expect("events").len() - said) as u64;
        assert!(windows >= last, "a longer log holds no less");
        if said == 0 && run.series().expect("series").len() == SERIES as usize {
            assert_holds(&run, SERIES, windows);
        }
        last = windows;
        drop(run);
        fs::remove_file(directory.path().join("cut.triptime-shm")).expect("SQLite's index of the log");
    }
    assert_eq!(last, 20, "the whole log holds every window");
}

#[test]
fn a_cut_while_a_window_is_written_loses_that_window_at_most() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("run.triptime");
    let mut writer = create(&path, SERIES, Some(100_000));
    let mut numbers = Numbers::unforeseen();
    let mut restarts = 0;
    for number in 0..400 {
        let looked_at = number % 8 == 0 || restarts == 0 && number > 100;
        let before = looked_at.then(|| (fs::read(&path).expect("read"), fs::read(log_of(&path)).expect("read")));
        writer.write(&batch(SERIES, number)).expect("written");
        let Some((database, old)) = before else { continue };
        let new = fs::read(log_of(&path)).expect("read");
        restarts += u64::from(!old.is_empty() && new[..old.len().min(new.len())] != old[..]);
        for cut in [0, numbers.below(new.len() as u64) as usize, new.len()] {
            // The written part of the new log, on top of the old one.
            let mut log = new[..cut].to_vec();
            log.extend_from_slice(old.get(cut..).unwrap_or_default());
            let windows = windows_after_cut(directory.path(), &database, &log);
            let all = if cut == new.len() { number + 1 } else { number };
            assert!(
                (all..=number + 1).contains(&windows),
                "window {number} cut at {cut}: {windows} windows"
            );
        }
    }
    assert!(restarts > 0, "the log never started over, so that case was not seen");
}
