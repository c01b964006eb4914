//! Full disks and read-only media, on a separate file system in a mount namespace that ends with the process.

use crate::support::{WINDOW_NS, as_child, assert_holds, batch, child_path, create, info, say};
use model::RunState;
use std::fs;
use std::path::Path;
use std::process::Command;
use store::{RunFile, RunWriter, StoreError};

const SERIES: u32 = 4;

/// Runs the test `name` again in its own mount namespace. Reports a skip if that is not permitted and skips are
/// allowed.
fn in_mount_namespace(name: &str) {
    let directory = tempfile::tempdir().expect("a directory");
    let trial = Command::new("unshare")
        .args([
            "--mount",
            "--propagation",
            "private",
            "mount",
            "-t",
            "tmpfs",
            "-o",
            "size=64k",
            "tmpfs",
        ])
        .arg(directory.path())
        .output();
    let refusal = match trial {
        Ok(trial) if trial.status.success() => None,
        Ok(trial) => Some(String::from_utf8_lossy(&trial.stderr).trim().to_owned()),
        Err(error) => Some(format!("unshare: {error}")),
    };
    if let Some(reason) = refusal {
        testing::skip(name, &format!("cannot mount a file system to test with: {reason}"));
        return;
    }
    let again = as_child(name, directory.path());
    let status = Command::new("unshare")
        .args(["--mount", "--propagation", "private"])
        .arg(again.get_program())
        .args(again.get_args())
        .env(crate::support::CHILD, directory.path())
        .status()
        .expect("the test binary once more");
    assert!(status.success(), "{name} failed in its mount namespace");
}

fn mount(directory: &Path, options: &str) {
    let status = Command::new("mount")
        .args(["-t", "tmpfs", "-o", options, "tmpfs"])
        .arg(directory)
        .status();
    assert!(status.expect("mount").success(), "mount {options}");
}

/// Writes until there is no space; returns the number of acknowledged windows.
fn fill(writer: &mut RunWriter) -> u64 {
    for number in 0..100_000 {
        match writer.write(&batch(SERIES, number)) {
            Ok(()) => {}
            Err(error @ StoreError::DiskFull { .. }) => {
                assert!(error.to_string().contains("the disk is full"), "{error}");
                return number;
            }
            Err(other) => panic!("window {number}: {other:?}"),
        }
    }
    panic!("the disk never filled up");
}

#[test]
fn a_full_disk_keeps_every_acknowledged_window() {
    const NAME: &str = "full_disk::a_full_disk_keeps_every_acknowledged_window";
    let Some(directory) = child_path() else {
        return in_mount_namespace(NAME);
    };
    for size in ["512k", "1m", "3m", "5m"] {
        mount(&directory, &format!("size={size}"));
        let path = directory.join("full.triptime");
        let mut writer = create(&path, SERIES, None);
        let safe = fill(&mut writer);
        assert!(safe > 3, "{size}: only {safe} windows");
        let again = writer.write(&batch(SERIES, safe)).expect_err("still no room");
        assert!(matches!(again, StoreError::DiskFull { .. }), "{again:?}");
        assert_holds(
            &RunFile::open(&path).expect("opens while the writer is there"),
            SERIES,
            safe,
        );
        let finished = writer.finish(RunState::Interrupted, 77);
        say(&format!(
            "{size}: {safe} windows, then finish gave {:?}",
            finished.as_ref().err().map(ToString::to_string)
        ));
        assert!(
            matches!(finished, Ok(()) | Err(StoreError::DiskFull { .. })),
            "{finished:?}"
        );
        let run = RunFile::open(&path).expect("opens on the full disk");
        assert_eq!(run.state(), RunState::Interrupted);
        let expected_ns = if finished.is_ok() { 77 } else { safe * WINDOW_NS };
        assert_eq!(run.duration_ns(), expected_ns);
        assert_holds(&run, SERIES, safe);
        drop(run);
        let status = Command::new("umount").arg(&directory).status().expect("umount");
        assert!(status.success(), "nothing keeps the file open");
    }
}

#[test]
fn room_made_in_time_lets_the_run_go_on() {
    const NAME: &str = "full_disk::room_made_in_time_lets_the_run_go_on";
    let Some(directory) = child_path() else {
        return in_mount_namespace(NAME);
    };
    mount(&directory, "size=2m");
    let ballast = directory.join("ballast");
    fs::write(&ballast, vec![7; 900_000]).expect("written");
    let path = directory.join("run.triptime");
    let mut writer = create(&path, SERIES, None);
    let safe = fill(&mut writer);
    fs::remove_file(&ballast).expect("removed");
    for number in safe..safe + 5 {
        writer.write(&batch(SERIES, number)).expect("there is room again");
    }
    writer.finish(RunState::Complete, 1).expect("finished");
    let run = RunFile::open(&path).expect("a run");
    assert_eq!(run.state(), RunState::Complete);
    assert_holds(&run, SERIES, safe + 5);
}

#[test]
fn a_run_that_cannot_begin_leaves_nothing() {
    const NAME: &str = "full_disk::a_run_that_cannot_begin_leaves_nothing";
    let Some(directory) = child_path() else {
        return in_mount_namespace(NAME);
    };
    mount(&directory, "size=40k");
    let path = directory.join("run.triptime");
    let error = RunWriter::create(&path, &info(), None).expect_err("no room for the tables");
    assert!(matches!(error, StoreError::DiskFull { .. }), "{error:?}");
    assert_eq!(
        fs::read_dir(&directory).expect("readable").count(),
        0,
        "the begun file is removed"
    );
}

#[test]
fn read_only_media() {
    const NAME: &str = "full_disk::read_only_media";
    let Some(directory) = child_path() else {
        return in_mount_namespace(NAME);
    };
    mount(&directory, "size=8m");
    let at = |name: &str| directory.join(name);
    for name in ["whole", "open", "moved"] {
        let mut writer = create(&at(name), SERIES, None);
        for number in 0..10 {
            writer.write(&batch(SERIES, number)).expect("written");
        }
        match name {
            "whole" => writer.finish(RunState::Complete, 1).expect("finished"),
            // As a killed process leaves the run: the file and its log.
            "open" => {
                for suffix in ["", "-wal"] {
                    fs::copy(at(&format!("open{suffix}")), at(&format!("killed{suffix}"))).expect("copied");
                }
            }
            // Dropped: the log is moved into the file, which is still marked as having one.
            _ => drop(writer),
        }
    }
    let status = Command::new("mount")
        .args(["-o", "remount,ro"])
        .arg(&directory)
        .status();
    assert!(status.expect("mount").success());
    let whole = RunFile::open(&at("whole")).expect("a closed run opens anywhere");
    assert_holds(&whole, SERIES, 10);
    let moved = RunFile::open(&at("moved")).expect("a run without a log opens anywhere");
    assert_eq!(moved.state(), RunState::Interrupted);
    assert_holds(&moved, SERIES, 10);
    let error = RunFile::open(&at("killed")).expect_err("the log cannot be read here");
    assert!(error.to_string().contains("copy the file, and the -wal"), "{error}");
    let elsewhere = tempfile::tempdir().expect("a directory");
    for suffix in ["", "-wal"] {
        let name = format!("killed{suffix}");
        fs::copy(at(&name), elsewhere.path().join(&name)).expect("copied");
    }
    assert_holds(
        &RunFile::open(&elsewhere.path().join("killed")).expect("as the message said"),
        SERIES,
        10,
    );
}
