//! The folder of a matrix that is being measured; it may be moved.

use super::StateError;
use rustix::fs::{FlockOperation, flock};
use std::fs::{self, File};
use std::os::fd::AsRawFd;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// The folder of a matrix, made if it does not exist. It is locked as long as this value lives.
#[derive(Debug)]
pub struct Folder {
    path: PathBuf,
    /// Has the lock, and the present path of the folder.
    open: File,
}

impl Folder {
    /// Makes and locks the folder.
    ///
    /// # Errors
    /// Another process has the lock, or an error of the file system.
    pub fn take(folder: &Path) -> Result<Self, StateError> {
        let io = |error: std::io::Error| StateError::Io {
            path: folder.to_owned(),
            error,
        };
        fs::create_dir_all(folder).map_err(io)?;
        let open = File::open(folder).map_err(io)?;
        match flock(&open, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => Ok(Self {
                path: folder.to_owned(),
                open,
            }),
            Err(rustix::io::Errno::WOULDBLOCK) => Err(StateError::Busy(folder.to_owned())),
            Err(errno) => Err(io(errno.into())),
        }
    }

    /// Its path when it was locked.
    pub fn made(&self) -> &Path {
        &self.path
    }

    /// Its present path.
    ///
    /// # Errors
    /// The folder was removed.
    pub fn now(&self) -> Result<PathBuf, StateError> {
        if self.is_at(&self.path) {
            return Ok(self.path.clone());
        }
        let link = format!("/proc/self/fd/{}", self.open.as_raw_fd());
        let moved = fs::read_link(link).ok().filter(|path| self.is_at(path));
        moved.ok_or_else(|| StateError::Removed(self.path.clone()))
    }

    fn is_at(&self, path: &Path) -> bool {
        let of = |folder: fs::Metadata| (folder.dev(), folder.ino());
        let own = self.open.metadata().map(of);
        fs::metadata(path)
            .map(of)
            .is_ok_and(|there| own.is_ok_and(|own| own == there))
    }
}

#[cfg(test)]
mod tests {
    use super::Folder;
    use crate::StateError;
    use std::fs;

    #[test]
    fn a_folder_is_found_where_it_was_moved_and_not_where_another_has_its_name() {
        let home = tempfile::tempdir().expect("a folder");
        let at = |name: &str| home.path().join(name);
        let folder = Folder::take(&at("out")).expect("taken");
        assert_eq!(folder.now().expect("there"), at("out"));
        fs::rename(at("out"), at("moved")).expect("renamed");
        fs::create_dir(at("out")).expect("made");
        let now = fs::canonicalize(at("moved")).expect("there");
        assert_eq!(folder.now().expect("there"), now);
        fs::remove_dir(at("moved")).expect("removed");
        assert!(matches!(folder.now(), Err(StateError::Removed(path)) if path == at("out")));
    }
}
