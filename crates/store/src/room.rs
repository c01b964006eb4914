//! Space on the file system of a run file.

use std::io;
use std::path::Path;

/// Bytes that stay free when a run ends for lack of space: they are used for its last windows, SQLite's log and the report.
const RESERVE: u64 = 16 << 20;

/// On a small file system the reserve is at most its size divided by this number.
const RESERVE_PART: u64 = 20;

/// Space on a file system, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Room {
    /// Bytes that this user can still write.
    pub free: u64,
    /// Size of the file system in bytes.
    pub size: u64,
}

impl Room {
    /// Reads the space of the file system with this folder.
    ///
    /// # Errors
    /// There is no such folder, or the kernel does not report it.
    pub fn of(folder: &Path) -> io::Result<Self> {
        let has = rustix::fs::statvfs(folder)?;
        Ok(Self {
            free: has.f_bavail.saturating_mul(has.f_frsize),
            size: has.f_blocks.saturating_mul(has.f_frsize),
        })
    }

    /// Bytes that a run leaves free.
    pub fn reserve(self) -> u64 {
        RESERVE.min(self.size / RESERVE_PART)
    }
}
