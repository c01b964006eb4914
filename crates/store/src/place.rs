//! Finds an open run file, even if its folder was moved during writing.

use rusqlite::{Connection, OpenFlags};
use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// `O_PATH` (open(2)), the same number on every supported architecture. Closing such a descriptor does not release the
/// locks that SQLite holds on the file; closing any other descriptor would.
const O_PATH: i32 = 0o10_000_000;

/// The place of a run file that is being written.
#[derive(Debug)]
pub struct FilePlace {
    path: PathBuf,
    file: File,
}

impl FilePlace {
    /// The place of the file that is now at `path`.
    pub(crate) fn of(path: &Path) -> io::Result<Self> {
        let file = OpenOptions::new().read(true).custom_flags(O_PATH).open(path)?;
        let path = path.to_owned();
        Ok(Self { path, file })
    }

    /// The path where the file was created.
    pub fn made(&self) -> &Path {
        &self.path
    }

    /// The current path of the file; `None` if it was removed.
    pub fn now(&self) -> Option<PathBuf> {
        let moved = || fs::read_link(self.link()).ok();
        if self.is_at(&self.path) {
            return Some(self.path.clone());
        }
        moved().filter(|path| self.is_at(path))
    }

    /// Writes a removed run to a file again: at its old path, or next to it if another file is there now.
    ///
    /// # Errors
    /// There is no space, or no permission.
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

    /// Reduces a closed run to a single file at its current path: while it was written, SQLite knew it under another
    /// name.
    pub fn settle(now: &Path) {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        // The run is complete in any case: if this fails, an empty log remains next to it.
        let _ = Connection::open_with_flags(now, flags)
            .and_then(|db| db.pragma_update_and_check(None, "journal_mode", "DELETE", |_| Ok(())));
    }

    /// Path through which the kernel shows where the file is, and opens it there.
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
