//! Why a run file cannot be written or read.

use crate::SCHEMA_VERSION;
use rusqlite::{ErrorCode, ffi};
use std::io;
use std::path::{Path, PathBuf};

/// Errors of a run file. Every message names the file.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The file does not exist.
    #[error("{}: no such file", path.display())]
    NotFound {
        /// Path of the requested file.
        path: PathBuf,
    },
    /// The file is not a run file.
    #[error("{}: not a triptime run file: {why}", path.display())]
    NotARunFile {
        /// Path of the requested file.
        path: PathBuf,
        /// Kind of the file.
        why: String,
    },
    /// The file was written by a later version in a form that this version does not know.
    #[error(
        "{}: was written by a newer triptime (schema {found}, this one knows {known}): use that version or newer to read it",
        path.display()
    )]
    NewerSchema {
        /// Path of the requested file.
        path: PathBuf,
        /// Schema number of the file.
        found: i64,
        /// Highest schema number that this version reads.
        known: i64,
    },
    /// A run whose content contradicts itself or cannot be read.
    #[error("{}: the run file is damaged: {what}", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// The damage and its place.
        what: String,
    },
    /// The file exists already; a run never overwrites another file.
    #[error("{}: exists already: name another file with --out, or remove it first", path.display())]
    Exists {
        /// Path of the existing file.
        path: PathBuf,
    },
    /// The file stays where it is, because it is not one that a kill left.
    #[error("{}: exists already, and {why}: --force renames only a file that a kill left; name another file with --out", path.display())]
    InTheWay {
        /// Path of the existing file.
        path: PathBuf,
        /// Why it stays.
        why: String,
    },
    /// The disk is full, or a quota or the device refused the write. Everything written before is safe.
    #[error("{}: the disk is full or refuses writing ({detail}): earlier data is kept; free some space", path.display())]
    DiskFull {
        /// The file being written.
        path: PathBuf,
        /// The message of SQLite or the kernel.
        detail: String,
    },
    /// The given data cannot be part of the run, because of an error in the caller; nothing of the batch was written.
    #[error("{}: cannot store {what}", path.display())]
    Refused {
        /// The file being written.
        path: PathBuf,
        /// The refused data and the reason.
        what: String,
    },
    /// The file system reported an error.
    #[error("{}: cannot {doing}: {source}", path.display())]
    Io {
        /// The file or directory.
        path: PathBuf,
        /// The attempted action.
        doing: &'static str,
        /// The kernel's error.
        source: io::Error,
    },
    /// SQLite reported an error of another kind.
    #[error("{}: cannot {doing}: {source}", path.display())]
    Sql {
        /// The file.
        path: PathBuf,
        /// The attempted action.
        doing: &'static str,
        /// SQLite's error.
        source: rusqlite::Error,
    },
}

impl StoreError {
    /// The error for a fault that occurred while `doing` something to `path`.
    pub(crate) fn from_fault(path: &Path, doing: &'static str, fault: Fault) -> Self {
        match fault {
            Fault::Sql(source) => Self::from_sql(path, doing, source),
            Fault::Refused(what) => Self::Refused {
                path: path.to_owned(),
                what,
            },
            Fault::Damaged(what) => Self::Damaged {
                path: path.to_owned(),
                what,
            },
        }
    }

    /// The error for an SQLite error while `doing` something to `path`.
    pub(crate) fn from_sql(path: &Path, doing: &'static str, source: rusqlite::Error) -> Self {
        let path = path.to_owned();
        match SqliteFault::of(&source) {
            SqliteFault::Full => Self::DiskFull {
                path,
                detail: source.to_string(),
            },
            SqliteFault::Damaged => Self::Damaged {
                path,
                what: format!("cannot {doing}: {source}"),
            },
            SqliteFault::Endless => Self::Damaged {
                path,
                what: format!("cannot {doing}: it takes more steps than a good file of its size"),
            },
            SqliteFault::Other => Self::Sql { path, doing, source },
        }
    }

    /// The error for an I/O error while `doing` something to `path`.
    pub(crate) fn from_io(path: &Path, doing: &'static str, source: io::Error) -> Self {
        let path = path.to_owned();
        match source.kind() {
            io::ErrorKind::NotFound => Self::NotFound { path },
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge => Self::DiskFull {
                path,
                detail: source.to_string(),
            },
            _ => Self::Io { path, doing, source },
        }
    }

    /// The error for a file with the newer schema number `found`.
    pub(crate) fn newer(path: &Path, found: i64) -> Self {
        Self::NewerSchema {
            path: path.to_owned(),
            found,
            known: SCHEMA_VERSION,
        }
    }
}

/// Errors inside a transaction, where the path of the file is not known.
#[derive(Debug)]
pub(crate) enum Fault {
    /// SQLite's error.
    Sql(rusqlite::Error),
    /// The caller passed data that a run cannot hold.
    Refused(String),
    /// The file holds data that a run cannot hold.
    Damaged(String),
}

impl From<rusqlite::Error> for Fault {
    fn from(error: rusqlite::Error) -> Self {
        Self::Sql(error)
    }
}

/// Classes of SQLite errors, by what the caller can do about them.
enum SqliteFault {
    Full,
    Damaged,
    /// Reading was stopped because it took too many steps.
    Endless,
    Other,
}

impl SqliteFault {
    fn of(error: &rusqlite::Error) -> Self {
        match error {
            rusqlite::Error::SqliteFailure(failure, _) => Self::of_code(failure),
            // The column has another type than in the schema, or the number is out of range.
            rusqlite::Error::FromSqlConversionFailure(..)
            | rusqlite::Error::IntegralValueOutOfRange(..)
            | rusqlite::Error::InvalidColumnType(..)
            | rusqlite::Error::Utf8Error(..)
            | rusqlite::Error::SqlInputError { .. }
            | rusqlite::Error::QueryReturnedNoRows => Self::Damaged,
            _ => Self::Other,
        }
    }

    fn of_code(failure: &ffi::Error) -> Self {
        match (failure.code, failure.extended_code) {
            (ErrorCode::DiskFull, _) => Self::Full,
            // EDQUOT and similar errors arrive as a failed write; a shared-memory file that cannot grow, as a failed
            // change of size.
            (ErrorCode::SystemIoFailure, ffi::SQLITE_IOERR_WRITE | ffi::SQLITE_IOERR_SHMSIZE) => Self::Full,
            (ErrorCode::OperationInterrupted, _) => Self::Endless,
            (ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase | ErrorCode::TooBig, _) => Self::Damaged,
            // A table or column that belongs to the schema number is missing.
            (ErrorCode::Unknown, _) => Self::Damaged,
            (ErrorCode::SystemIoFailure, ffi::SQLITE_IOERR_SHORT_READ) => Self::Damaged,
            _ => Self::Other,
        }
    }
}
