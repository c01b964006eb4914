//! `kill -9` at any instant loses no acknowledged data.

use crate::support::{Numbers, WINDOW_NS, as_child, assert_holds, batch, child_path, create, integrity};
use model::RunState;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;
use store::{RunFile, StoreError};

const SERIES: u32 = 4;

/// So small that histograms are merged all the time, and some kills happen during a merge.
const BUDGET: u64 = 100_000;

/// The process to be killed: writes as fast as possible, and prints the number of each window that is safe.
fn write_until_killed(path: &Path) {
    let mut writer = create(path, SERIES, Some(BUDGET));
    let mut out = std::io::stdout();
    writeln!(out, "\nready").expect("a reader");
    for number in 0..u64::MAX {
        writer.write(&batch(SERIES, number)).expect("written");
        writeln!(out, "safe {number}").expect("a reader");
    }
}

/// Starts the writer, kills it `after` it is ready, and returns the number of windows it reported as safe.
fn kill_after(path: &Path, after: Duration) -> u64 {
    let mut child = as_child("killed::every_acknowledged_window_survives_sigkill", path)
        .stdout(Stdio::piped())
        .spawn()
        .expect("the test binary once more");
    let mut lines = BufReader::new(child.stdout.take().expect("piped")).lines();
    let ready = lines.by_ref().any(|line| line.expect("text") == "ready");
    assert!(ready, "the writer did not start");
    std::thread::sleep(after);
    child.kill().expect("killed");
    assert_eq!(child.wait().expect("waited for").signal(), Some(9));
    lines
        .map_while(Result::ok)
        .filter_map(|line| line.strip_prefix("safe ")?.parse::<u64>().ok())
        .last()
        .map_or(0, |last| last + 1)
}

#[test]
fn every_acknowledged_window_survives_sigkill() {
    if let Some(path) = child_path() {
        return write_until_killed(&path);
    }
    let mut numbers = Numbers::unforeseen();
    let mut most = 0;
    for round in 0..20 {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("killed.triptime");
        let safe = kill_after(&path, Duration::from_micros(numbers.below(600_000)));
        let run = RunFile::open(&path).expect("a killed run opens");
        assert_eq!(run.state(), RunState::Interrupted);
        let windows = run.events().expect("events").len() as u64;
        // The kill may happen between the commit and the report of it.
        assert!(
            windows == safe || windows == safe + 1,
            "round {round}: {safe} safe, {windows} in the file"
        );
        assert_eq!(run.duration_ns(), windows * WINDOW_NS);
        assert_holds(&run, SERIES, windows);
        drop(run);
        assert_eq!(integrity(&path), "ok");
        most = most.max(windows);
    }
    assert!(most >= 20, "the writer got nowhere: at most {most} windows");
}

/// Starts a process that creates a run file, and kills it as it enters the `at`-th system call of this name. Returns
/// false if it makes fewer such calls.
fn kill_at(call: &str, at: u32, path: &Path) -> bool {
    let maker = as_child(MADE, path);
    let mut traced = Command::new("strace");
    traced.args(["-f", "-o", "/dev/null", "-e", &format!("trace={call}"), "-e"]);
    traced.arg(format!("inject={call}:signal=KILL:when={at}"));
    traced.arg(maker.get_program()).args(maker.get_args());
    traced.envs(maker.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let ended = traced.stdout(Stdio::null()).stderr(Stdio::null()).status();
    !ended.expect("strace").success()
}

const MADE: &str = "killed::a_file_that_was_being_made_is_empty_or_a_run";

#[test]
fn a_file_that_was_being_made_is_empty_or_a_run() {
    if let Some(path) = child_path() {
        drop(create(&path, SERIES, None));
        return;
    }
    if Command::new("strace").arg("-V").output().is_err() {
        return testing::skip("a_file_that_was_being_made_is_empty_or_a_run", "no strace");
    }
    let directory = tempfile::tempdir().expect("a directory");
    let (mut empty, mut runs) = (0, 0);
    for call in ["pwrite64", "fsync", "unlink"] {
        for at in 1.. {
            let path = directory.path().join(format!("{call}-{at}.triptime"));
            if !kill_at(call, at, &path) {
                break;
            }
            match RunFile::open(&path) {
                Ok(run) => {
                    runs += 1;
                    assert_eq!(run.state(), RunState::Interrupted);
                }
                Err(StoreError::NotARunFile { why, .. }) if why == "it is empty" => empty += 1,
                Err(error) => panic!("killed at {call} {at}: {error}"),
            }
        }
    }
    assert!(empty > 0 && runs > 0, "{empty} empty, {runs} runs");
}
