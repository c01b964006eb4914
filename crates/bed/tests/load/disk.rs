//! The disk load: octets, syncs, rate, and file systems that refuse.

use std::path::PathBuf;
use std::time::Instant;

use bed::load::{DiskLoad, DiskMode, Load, LoadError, LoadKind};

use crate::support::{alone, descriptors, last_cpu, load_threads, no_threads, on, wait_until};

/// On a disk, as `/tmp` may not be.
fn directory() -> tempfile::TempDir {
    tempfile::tempdir_in("/var/tmp").expect("a directory")
}

fn start(load: DiskLoad) -> Result<Load, LoadError> {
    Load::start(&on(last_cpu(), LoadKind::Disk(load)))
}

fn entries(dir: &tempfile::TempDir) -> usize {
    std::fs::read_dir(dir.path()).expect("the directory").count()
}

#[test]
fn what_is_counted_reached_the_disk_and_no_file_is_seen() {
    let _alone = alone();
    for (mode, rate) in [
        (DiskMode::Direct, None),
        (DiskMode::Sync, None),
        (DiskMode::Direct, Some(64 << 20)),
    ] {
        let dir = directory();
        let load = DiskLoad {
            dir: dir.path().to_owned(),
            size: 1 << 20,
            bytes: 64 << 10,
            mode,
            rate,
            threads: Some(2),
        };
        let load = start(load).expect("load");
        wait_until("two laps of both", || load.work_done() >= 4 << 20);
        assert_eq!(entries(&dir), 0);
        let counted = load.work_done();
        let written: u64 = load_threads().values().map(|thread| thread.written).sum();
        assert!(written >= counted, "{counted} octets counted, {written} by the kernel");
        let report = load.stop();
        let (syncs, unit) = report.extra.expect("a second count");
        assert_eq!((report.unit, unit, report.note.as_str()), ("octets", "syncs", ""));
        let blocks = report.work / (64 << 10);
        let (least, most) = match mode {
            DiskMode::Sync => (blocks, blocks),
            // 16 blocks a lap; the last lap of each thread is not whole.
            DiskMode::Direct => (blocks / 16 - 1, blocks / 16),
        };
        assert!((least..=most).contains(&syncs), "{report}");
        assert_eq!(entries(&dir), 0);
    }
}

#[test]
fn it_keeps_to_its_rate() {
    let _alone = alone();
    let load = DiskLoad {
        size: 1 << 20,
        bytes: 16 << 10,
        rate: Some(2 << 20),
        ..DiskLoad::default()
    };
    let started = Instant::now();
    let load = start(load).expect("load");
    wait_until("1 MiB", || load.work_done() >= 1 << 20);
    let report = load.stop();
    let octets = started.elapsed().as_secs_f64() * f64::from(2 << 20);
    // Each block is written at the beginning of its share of the time.
    assert!(
        report.work as f64 <= octets + f64::from(16 << 10),
        "{report}, at most {octets}"
    );
}

fn refusal(load: DiskLoad) -> String {
    let before = descriptors();
    let message = start(load)
        .map(|load| load.describe())
        .expect_err("no load")
        .to_string();
    assert_eq!(descriptors(), before);
    message
}

fn into(dir: &str) -> DiskLoad {
    DiskLoad {
        dir: PathBuf::from(dir),
        ..DiskLoad::default()
    }
}

#[test]
fn file_systems_that_cannot_be_loaded_are_refused_with_the_reason() {
    let _alone = alone();
    let message = refusal(into("/dev/shm"));
    assert_eq!(
        message,
        "disk load: /dev/shm: this file system is in memory: give a directory that is on a disk"
    );
    let message = refusal(into("/no/such/place"));
    assert!(
        message.starts_with("disk load: /no/such/place: No such file or directory"),
        "{message}"
    );
    let message = refusal(into("/proc"));
    assert!(message.starts_with("disk load: /proc: "), "{message}");
    no_threads("the load");
}
