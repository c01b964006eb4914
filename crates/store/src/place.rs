//! Where an open run file is, wherever its folder was moved while it was written.

use rusqlite::{Connection, OpenFlags};
use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// `O_PATH` (open(2)), the same number on every machine that this runs on: closing such a descriptor releases no lock that SQLite holds on
/// the file, as closing any other would.
const O_PATH: i32 = 0o10_000_000;

/// The place of a run file that is being written.
#[derive(Debug)]
pub struct FilePlace {
    path: PathBuf,
    file: File,
}

impl FilePlace {
    /// Of the file that is at `path` now.
    pub(crate) fn of(path: &Path) -> io::Result<Self> {
        let file = OpenOptions::new().read(true).custom_flags(O_PATH).open(path)?;
        let path = path.to_owned();
        Ok(Self { path, file })
    }

    /// Where it was made.
    pub fn made(&self) -> &Path {
        &self.path
    }

    /// Where it is now; `None`: it was removed.
    pub fn now(&self) -> Option<PathBuf> {
        let moved = || fs::read_link(self.link()).ok();
        if self.is_at(&self.path) {
            return Some(self.path.clone());
        }
        moved().filter(|path| self.is_at(path))
    }

    /// Writes one that was removed to a file again: where it was, or beside it where another is there by now.
    ///
    /// # Errors
    /// There is no room, or no right.
    pub fn restore(&self) -> io::Result<PathBuf> {
        if let Some(folder) = self.path.parent() {
            fs::create_dir_all(folder)?;
        }
        let others = (2..100).map(|number| self.path.with_extension(format!("{number}.triptime")));
        for path in std::iter::once(self.path.clone()).chain(others) {
            match File::create_new(&path) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
                Ok(mut to) => {
                    return File::open(self.link())
                        .and_then(|mut from| io::copy(&mut from, &mut to))
                        .map(|_| path);
                }
            }
        }
        Err(io::ErrorKind::AlreadyExists.into())
    }

    /// Leaves one single file where a closed run is now: SQLite knew it by another name while it was written.
    pub fn settle(now: &Path) {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        // It is whole as it is: where that cannot be, an empty log stays beside it.
        let _ = Connection::open_with_flags(now, flags)
            .and_then(|db| db.pragma_update_and_check(None, "journal_mode", "DELETE", |_| Ok(())));
    }

    /// By which the kernel tells where it is, and opens it wherever that is.
    fn link(&self) -> PathBuf {
        PathBuf::from(format!("/proc/self/fd/{}", self.file.as_raw_fd()))
    }

    fn is_at(&self, path: &Path) -> bool {
        let of = |file: fs::Metadata| (file.dev(), file.ino());
        let own = self.file.metadata().map(of);
        fs::symlink_metadata(path)
            .map(of)
            .is_ok_and(|there| own.is_ok_and(|own| own == there))
    }
}
