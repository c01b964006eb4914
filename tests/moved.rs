//! A run whose file is moved or removed during the measurement keeps its verdict, and two commands in the same second make two runs.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};
use support::{binary, json, run, series, stderr};
use testing::Running;

/// A measurement that needs no rights, in `folder`.
fn wakeup(folder: &Path, more: &[&str]) -> Running {
    let mut command = Command::new(binary());
    command.current_dir(folder).args([
        "wakeup",
        "--cpus",
        "0",
        "--policy",
        "other",
        "--interval",
        "1ms",
        "--window",
        "200ms",
        "--quiet",
    ]);
    command.args(more);
    command
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped());
    Running::start(&mut command)
}

/// Waits until a window is in the run.
fn until_measured(file: &Path) {
    let begun = std::time::Instant::now();
    let has_windows = || {
        let run = store::RunFile::open(file).ok()?;
        let (id, _) = run.series().ok()?.into_iter().next()?;
        Some(run.windows(id).ok()?.len() > 1)
    };
    while has_windows() != Some(true) {
        assert!(
            begun.elapsed().as_secs() < 60,
            "{}: nothing is measured",
            file.display()
        );
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
}

/// The screen and the file have the verdict, and the file is complete without a log.
fn is_whole(ended: &Output, file: &Path, said: &str) {
    assert_eq!(ended.status.code(), Some(0), "{}", stderr(ended));
    assert!(stderr(ended).contains(said), "{}", stderr(ended));
    let shown = json(ended);
    assert_eq!(shown["run"]["state"], "complete");
    let reported = run(&["report", file.to_str().expect("UTF-8"), "--json"]);
    let reported = json(&reported);
    let received = |document| series(document, "wakeup/cpu0")["received"].as_u64();
    assert_eq!(received(&shown), received(&reported));
    assert!(received(&shown).is_some_and(|samples| samples > 1_000));
    for beside in ["-wal", "-shm"] {
        let name = format!("{}{beside}", file.display());
        assert!(!Path::new(&name).exists(), "{name}");
    }
}

#[test]
fn a_folder_that_is_renamed_or_removed_keeps_run_and_verdict() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = |name: &str| folder.path().join(name);
    let words = [
        "--duration",
        "5s",
        "--json",
        "--out",
        "out/r.triptime",
        "--html",
        "out/r.html",
    ];
    let measuring = wakeup(folder.path(), &words);
    until_measured(&at("out/r.triptime"));
    fs::rename(at("out"), at("moved")).expect("renamed");
    // It does not touch another run of the same name.
    fs::create_dir(at("out")).expect("made");
    fs::write(at("out/r.triptime-wal"), "of another").expect("written");
    let ended = measuring.output().expect("its end");
    is_whole(&ended, &at("moved/r.triptime"), "was moved while it was measured");
    assert!(at("moved/r.html").exists(), "the page is beside the run");
    assert_eq!(fs::read(at("out/r.triptime-wal")).expect("there"), b"of another");

    let words = ["--duration", "5s", "--json", "--out", "gone/r.triptime"];
    let measuring = wakeup(folder.path(), &words);
    until_measured(&at("gone/r.triptime"));
    fs::remove_dir_all(at("gone")).expect("removed");
    let ended = measuring.output().expect("its end");
    is_whole(&ended, &at("gone/r.triptime"), "was removed while it was measured");
}

#[test]
fn commands_of_one_second_have_a_run_each() {
    let folder = tempfile::tempdir().expect("a folder");
    let words = ["--duration", "1s", "--summary"];
    let measuring: Vec<Running> = (0..4).map(|_| wakeup(folder.path(), &words)).collect();
    for one in measuring {
        let ended = one.output().expect("its end");
        assert_eq!(ended.status.code(), Some(0), "{}", stderr(&ended));
    }
    let runs = fs::read_dir(folder.path().join("runs")).expect("runs").flatten();
    let runs: Vec<_> = runs.map(|entry| entry.file_name()).collect();
    assert_eq!(runs.len(), 4, "{runs:?}");
}

#[test]
fn a_limit_on_the_size_of_files_ends_a_run_as_a_full_disk_does() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("run.triptime");
    let script = "ulimit -f 500; exec \"$1\" wakeup --cpus 0 --policy other --interval 200us --window 100ms --duration 60s --quiet \
                  --json --out \"$2\"";
    let ended = Command::new("bash")
        .args(["-c", script, "bash"])
        .args([binary().as_path(), &file])
        .output()
        .expect("bash");
    assert_eq!(ended.status.code(), Some(3), "{}", stderr(&ended));
    assert!(stderr(&ended).contains("disk is full"), "{}", stderr(&ended));
    let document = json(&ended);
    assert_eq!(document["run"]["state"], "interrupted");
    assert!(
        series(&document, "wakeup/cpu0")["received"]
            .as_u64()
            .is_some_and(|samples| samples > 0)
    );
}
