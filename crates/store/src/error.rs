//! Why a run file cannot be written or read.

use crate::SCHEMA_VERSION;
use rusqlite::{ErrorCode, ffi};
use std::io;
use std::path::{Path, PathBuf};

/// Errors of a run file. Every message names the file.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// There is no such file.
    #[error("{}: no such file", path.display())]
    NotFound {
        /// The file asked for.
        path: PathBuf,
    },
    /// Something else than a run.
    #[error("{}: not a triptime run file: {why}", path.display())]
    NotARunFile {
        /// The file asked for.
        path: PathBuf,
        /// The kind of file that it is instead.
        why: String,
    },
    /// Written by a later version, in a form this one does not know.
    #[error(
        "{}: was written by a newer triptime (schema {found}, this one knows {known}): use that version or newer to read it",
        path.display()
    )]
    NewerSchema {
        /// The file asked for.
        path: PathBuf,
        /// Schema number of the file.
        found: i64,
        /// Highest schema number this version reads.
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
    /// A run is never written over another.
    #[error("{}: exists already: name another file with --out, or remove it first", path.display())]
    Exists {
        /// The file that is there.
        path: PathBuf,
    },
    /// No room, or a quota or the device refused the write. What was written before is safe.
    #[error("{}: the disk is full or refuses to be written ({detail}): what was written before is kept; make room", path.display())]
    DiskFull {
        /// The file being written.
        path: PathBuf,
        /// In SQLite's or the kernel's words.
        detail: String,
    },
    /// The given data cannot be part of the run. A mistake of the caller; nothing of the batch was written.
    #[error("{}: cannot store {what}", path.display())]
    Refused {
        /// The file being written.
        path: PathBuf,
        /// The data and the reason.
        what: String,
    },
    /// The file system refused.
    #[error("{}: cannot {doing}: {source}", path.display())]
    Io {
        /// The file or directory.
        path: PathBuf,
        /// The attempted action.
        doing: &'static str,
        /// The kernel's answer.
        source: io::Error,
    },
    /// SQLite refused, for a reason none of the others names.
    #[error("{}: cannot {doing}: {source}", path.display())]
    Sql {
        /// The file.
        path: PathBuf,
        /// The attempted action.
        doing: &'static str,
        /// SQLite's answer.
        source: rusqlite::Error,
    },
}

impl StoreError {
    /// The error for a fault met while `doing` something to `path`.
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

    /// The error for what SQLite said while `doing` something to `path`.
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

    /// The error for what the kernel said while `doing` something to `path`.
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

    /// A file whose schema number is `found`.
    pub(crate) fn newer(path: &Path, found: i64) -> Self {
        Self::NewerSchema {
            path: path.to_owned(),
            found,
            known: SCHEMA_VERSION,
        }
    }
}

/// Errors inside a transaction, before it is known to which file they belong.
#[derive(Debug)]
pub(crate) enum Fault {
    /// SQLite's answer.
    Sql(rusqlite::Error),
    /// The caller handed in what no run can hold.
    Refused(String),
    /// The file holds what no run can hold.
    Damaged(String),
}

impl From<rusqlite::Error> for Fault {
    fn from(error: rusqlite::Error) -> Self {
        Self::Sql(error)
    }
}

/// SQLite errors, by the action that a caller can take.
enum SqliteFault {
    Full,
    Damaged,
    /// Reading was given up.
    Endless,
    Other,
}

impl SqliteFault {
    fn of(error: &rusqlite::Error) -> Self {
        match error {
            rusqlite::Error::SqliteFailure(failure, _) => Self::of_code(failure),
            // A column of another type than the schema gives it, or a number out of its range.
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
            // EDQUOT and the like arrive as a failed write; a shared-memory file that cannot grow as a failed size.
            (ErrorCode::SystemIoFailure, ffi::SQLITE_IOERR_WRITE | ffi::SQLITE_IOERR_SHMSIZE) => Self::Full,
            (ErrorCode::OperationInterrupted, _) => Self::Endless,
            (ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase | ErrorCode::TooBig, _) => Self::Damaged,
            // A table or a column that the schema number promises is not there.
            (ErrorCode::Unknown, _) => Self::Damaged,
            (ErrorCode::SystemIoFailure, ffi::SQLITE_IOERR_SHORT_READ) => Self::Damaged,
            _ => Self::Other,
        }
    }
}
