//! A file that a kill or a power cut left where a new run is to be written.

use crate::StoreError;
use crate::reader::is_unended;
use rustix::fs::{FlockOperation, fcntl_lock};
use rustix::io::Errno;
use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use units::{Refusal, refusal};

/// Largest number of files that are kept beside one name.
const MOST: u32 = 1_000;

/// Renames the run file at `path` if a killed process or a power cut left it, together with its log, and returns its new name: `run.triptime`
/// becomes `run.killed.triptime`.
///
/// # Errors
/// [`StoreError::InTheWay`] if its run has ended or is still being written, or if it is no run file; it stays as it is.
pub fn move_aside(path: &Path) -> Result<PathBuf, StoreError> {
    let in_the_way = |why: Refusal| StoreError::InTheWay {
        path: path.to_owned(),
        why: why.into(),
    };
    // A process that is killed while it makes its file leaves it empty.
    let is_left = is_empty(path) || is_unended(path)?;
    if !is_left {
        return Err(in_the_way("its run has ended".into()));
    }
    let _held = held(path).map_err(in_the_way)?;
    let aside = (1..MOST)
        .map(|number| beside(path, number))
        .find(|name| !name.exists() && !with(name, "-wal").exists())
        .ok_or_else(|| in_the_way(refusal!("{MOST} others are beside it")))?;
    renamed(path, &aside).map_err(|error| StoreError::from_io(path, "move aside a file that a kill left", error))?;
    Ok(aside)
}

fn is_empty(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|file| file.is_file() && file.len() == 0)
}

/// Holds the lock that shows that no process has the run open.
///
/// SQLite keeps a lock on the shared memory of a log for as long as a connection is open, and the kernel releases it when the process dies, in
/// whichever namespace that is.
fn held(path: &Path) -> Result<Option<File>, Refusal> {
    match OpenOptions::new().read(true).write(true).open(with(path, "-shm")) {
        Ok(shared) => match fcntl_lock(&shared, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => Ok(Some(shared)),
            Err(Errno::AGAIN | Errno::ACCESS) => Err("another process has it open, and may be writing it".into()),
            Err(errno) => Err(refusal!("whether a process writes it is not known: {errno}")),
        },
        // A file system without shared memory, or a process that is making its file.
        Err(error) if error.kind() == io::ErrorKind::NotFound => match writer(path) {
            Some(pid) if Path::new(&format!("/proc/{pid}")).exists() => {
                Err(refusal!("process {pid} wrote it and has not ended"))
            }
            _ => Ok(None),
        },
        Err(error) => Err(refusal!("whether a process writes it is not known: {error}")),
    }
}

/// Number of the process that began the run, which the end of the run's ID names.
fn writer(path: &Path) -> Option<u32> {
    let run = crate::RunFile::open(path).ok()?;
    let (_, pid) = run.info().id.split_once('-')?;
    u32::from_str_radix(pid, 16).ok()
}

fn renamed(path: &Path, aside: &Path) -> io::Result<()> {
    let log = with(path, "-wal");
    fs::rename(path, aside)?;
    let moved = match fs::rename(&log, with(aside, "-wal")) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    };
    if moved.is_err() {
        // Without its log the run would lack its last windows.
        fs::rename(aside, path)?;
        return moved;
    }
    // It describes the log by its old name; SQLite makes it again.
    let _ = fs::remove_file(with(path, "-shm"));
    Ok(())
}

/// `run.triptime`: `run.killed.triptime`, `run.killed-2.triptime` and so on.
fn beside(path: &Path, number: u32) -> PathBuf {
    let killed = match number {
        1 => "killed".to_owned(),
        _ => format!("killed-{number}"),
    };
    match path.extension() {
        Some(extension) => path.with_extension(format!("{killed}.{}", extension.to_string_lossy())),
        None => path.with_extension(killed),
    }
}

/// SQLite's file next to `path` with this suffix.
fn with(path: &Path, suffix: &str) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(suffix);
    PathBuf::from(name)
}

#[cfg(test)]
mod tests {
    use super::{beside, move_aside, with};
    use crate::{RunFile, RunWriter, StoreError};
    use model::{RunInfo, RunState};
    use std::path::Path;
    use units::Realtime;

    fn writer(path: &Path) -> RunWriter {
        let info = RunInfo {
            // A number that no process has.
            id: "1-7fffffff".into(),
            command: "wakeup".into(),
            arguments: Vec::new(),
            tool_version: "0".into(),
            started: Realtime::from_ns(0),
            window_ns: 1_000_000_000,
        };
        RunWriter::create(path, &info, None).expect("made")
    }

    fn refused(path: &Path, part: &str) {
        let error = move_aside(path).expect_err("stays");
        assert!(error.to_string().contains(part), "{error}");
        assert!(path.exists());
    }

    #[test]
    fn a_run_that_has_ended_stays() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("run.triptime");
        writer(&path).finish(RunState::Interrupted, 1).expect("closed");
        refused(&path, "its run has ended");
    }

    #[test]
    fn a_file_of_another_program_stays() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("notes.txt");
        std::fs::write(&path, "notes").expect("written");
        let error = move_aside(&path).expect_err("stays");
        assert!(matches!(error, StoreError::NotARunFile { .. }), "{error}");
    }

    #[test]
    fn what_a_kill_left_gets_another_name_with_its_log() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("run.triptime");
        let mut names = Vec::new();
        for _ in 0..2 {
            // The files of a killed process: the log is as it was, and nobody holds a lock.
            let alive = folder.path().join("alive");
            let open = writer(&alive);
            for suffix in ["", "-wal", "-shm"] {
                std::fs::copy(with(&alive, suffix), with(&path, suffix)).expect("copied");
            }
            drop(open);
            std::fs::remove_file(&alive).expect("removed");
            let aside = move_aside(&path).expect("moved");
            assert!(!path.exists() && !with(&path, "-shm").exists() && !with(&path, "-wal").exists());
            assert_eq!(RunFile::open(&aside).expect("a run").info().command, "wakeup");
            names.push(aside);
        }
        assert_eq!(names, [beside(&path, 1), beside(&path, 2)]);
        assert_eq!(names[1].file_name().expect("a name"), "run.killed-2.triptime");
        std::fs::write(&path, "").expect("written");
        assert_eq!(move_aside(&path).expect("moved"), beside(&path, 3));
    }
}
