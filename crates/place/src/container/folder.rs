//! Temporary folders of places. A folder left by a process that is gone is removed by the next process.
//!
//! A lock marks the owner of a folder; the kernel releases the lock when the owner ends. A process number would not suffice: it is only valid in one
//! PID namespace, and several of these can share the folder for temporary files.

use rustix::fs::{FlockOperation, flock};
use std::fs::File;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use tempfile::TempDir;

/// A folder that other processes keep as long as this value exists; dropping it removes the folder.
#[derive(Debug)]
pub(crate) struct Folder {
    folder: TempDir,
    _lock: File,
}

impl Folder {
    /// Path of the folder.
    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }
}

/// Makes a folder for this process and places of this kind: its name has `kind`, the process number, and an unpredictable suffix.
pub(crate) fn make(kind: &str) -> io::Result<Folder> {
    let parent = std::env::temp_dir();
    let prefix = prefix(kind);
    sweep(&parent, &prefix);
    loop {
        let name = format!("{prefix}{}-", std::process::id());
        let folder = tempfile::Builder::new().prefix(&name).tempdir_in(&parent)?;
        // If another process got the lock between the two steps while it was cleaning up, makes another folder.
        if let Some(lock) = lock(folder.path())? {
            return Ok(Folder { folder, _lock: lock });
        }
    }
}

/// True if some process with this number, in any PID namespace, owns a folder of this kind.
pub(crate) fn is_held_by(kind: &str, process: u32) -> bool {
    let prefix = format!("{}{process}-", prefix(kind));
    called(&std::env::temp_dir(), &prefix).any(|folder| lock(&folder).is_ok_and(|lock| lock.is_none()))
}

fn prefix(kind: &str) -> String {
    format!("triptime-{kind}-")
}

/// Removes the folders without an owner. Errors are ignored: other processes may do the same at the same time, or have other owners' rights.
fn sweep(parent: &Path, prefix: &str) {
    let made_here = |folder: &Path| {
        let name = folder.file_name().and_then(|name| name.to_str());
        name.is_some_and(|name| owner(name, prefix).is_some())
    };
    for folder in called(parent, prefix).filter(|folder| made_here(folder)) {
        // The lock is held until the folder is removed, so that a process that just made it notices.
        if let Ok(Some(_lock)) = lock(&folder) {
            let _ = std::fs::remove_dir_all(&folder);
        }
    }
}

/// The entries of a folder with this prefix.
fn called(parent: &Path, prefix: &str) -> impl Iterator<Item = std::path::PathBuf> {
    let entries = std::fs::read_dir(parent).into_iter().flatten().flatten();
    let ours = entries.filter(move |entry| entry.file_name().to_string_lossy().starts_with(prefix));
    ours.map(|entry| entry.path())
}

/// The lock of an existing folder; `None` if another process has it, or has removed the folder.
fn lock(folder: &Path) -> io::Result<Option<File>> {
    let file = File::open(folder)?;
    match flock(&file, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => {}
        Err(rustix::io::Errno::WOULDBLOCK) => return Ok(None),
        Err(errno) => return Err(errno.into()),
    }
    let own = file.metadata()?;
    let is_there = std::fs::metadata(folder).is_ok_and(|there| (there.dev(), there.ino()) == (own.dev(), own.ino()));
    Ok(is_there.then_some(file))
}

fn owner(name: &str, prefix: &str) -> Option<u32> {
    name.strip_prefix(prefix)?.split_once('-')?.0.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::{is_held_by, lock, make, owner, sweep};

    #[test]
    fn folders_that_nobody_holds_are_taken_away_whatever_processes_there_are() {
        let parent = tempfile::tempdir().expect("a directory");
        let made = |name: &str| {
            let path = parent.path().join(name);
            std::fs::create_dir(&path).expect("made");
            path
        };
        // A process number that no process here can have (PID_MAX_LIMIT), and the number of a process that exists here.
        let held = made("triptime-container-99999999-x");
        let gone = made(&format!("triptime-container-{}-x", std::process::id()));
        let others = [made("triptime-container-x"), made("other")];
        let lock_of_another = lock(&held).expect("opened").expect("free");
        sweep(parent.path(), "triptime-container-");
        assert!(held.exists() && !gone.exists());
        assert!(others.iter().all(|path| path.exists()));
        drop(lock_of_another);
        sweep(parent.path(), "triptime-container-");
        assert!(!held.exists(), "its holder is gone");
        assert_eq!(owner("triptime-container-12-ab", "triptime-container-"), Some(12));
    }

    #[test]
    fn a_folder_is_held_as_long_as_it_is_used() {
        let own = std::process::id();
        let folder = make("unit-test").expect("made");
        let path = folder.path().to_owned();
        assert!(is_held_by("unit-test", own));
        let _other = make("unit-test").expect("made, and sweeps");
        assert!(path.exists());
        drop(folder);
        assert!(!path.exists());
        assert!(!is_held_by("unit-test", 99_999_999));
    }
}
