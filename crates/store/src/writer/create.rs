//! Creates an empty run file.

use super::commit;
use crate::columns::{RUNNING, integer};
use crate::error::{Fault, StoreError};
use crate::schema::{APPLICATION_ID, BEFORE_TABLES, SCHEMA_VERSION, TABLES};
use model::RunInfo;
use rusqlite::{Connection, OpenFlags, params};
use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Longest wait for a reader that is replaying the log.
const BUSY: Duration = Duration::from_secs(10);

/// Bytes that the write-ahead log keeps on the disk after a burst.
const LOG_BYTES: i64 = 8 << 20;

/// Creates the file with its tables and the run's row.
pub(super) fn create(path: &Path, info: &RunInfo) -> Result<Connection, StoreError> {
    let directory = directory_of(path);
    fs::create_dir_all(&directory).map_err(|error| StoreError::from_io(&directory, "make the directory", error))?;
    // SQLite alone would open an existing file. With `create_new`, only one of two processes that create the same file
    // succeeds.
    match OpenOptions::new().write(true).create_new(true).open(path) {
        Ok(_) => {}
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            return Err(StoreError::Exists { path: path.to_owned() });
        }
        Err(error) => return Err(StoreError::from_io(path, "create the run file", error)),
    }
    let made = fill(path, info)
        .map_err(|fault| StoreError::from_fault(path, "create the run file", fault))
        .and_then(|db| {
            sync_directory(&directory).map_err(|error| StoreError::from_io(&directory, "sync the directory", error))?;
            Ok(db)
        });
    if made.is_err() {
        remove(path);
    }
    made
}

/// Creates the contents of the empty file.
fn fill(path: &Path, info: &RunInfo) -> Result<Connection, Fault> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut db = Connection::open_with_flags(path, flags)?;
    db.busy_timeout(BUSY)?;
    db.pragma_update(None, "synchronous", "FULL")?;
    db.pragma_update(None, "foreign_keys", true)?;
    // Keeps temporary data out of /tmp, which may be on the full disk.
    db.pragma_update(None, "temp_store", "MEMORY")?;
    commit(&mut db, |tx| {
        // Setting the reuse of freed pages writes the header. Inside the transaction, a kill cannot leave a database
        // without an application id.
        tx.execute_batch(BEFORE_TABLES)?;
        tx.pragma_update(None, "application_id", APPLICATION_ID)?;
        tx.pragma_update(None, "user_version", SCHEMA_VERSION)?;
        tx.execute_batch(TABLES)?;
        insert_run(tx, info)
    })?;
    // If the file system has no shared memory (some network file systems), SQLite keeps its rollback journal: this is
    // equally safe, but readers and the writer then wait for each other.
    db.pragma_update_and_check(None, "journal_mode", "WAL", |_| Ok(()))?;
    db.pragma_update_and_check(None, "journal_size_limit", LOG_BYTES, |_| Ok(()))?;
    // Creates the log from the beginning: a file without its log would look like an incomplete copy.
    commit(&mut db, |tx| {
        Ok(tx.pragma_update(None, "user_version", SCHEMA_VERSION)?)
    })?;
    Ok(db)
}

fn insert_run(tx: &Connection, info: &RunInfo) -> Result<(), Fault> {
    tx.execute(
        "INSERT INTO run (one, id, command, tool_version, started_ns, window_ns, state) VALUES (1, ?1, ?2, ?3, ?4, ?5, ?6)",
        params![
            info.id,
            info.command,
            info.tool_version,
            info.started.as_ns(),
            integer(info.window_ns, "a window length")?,
            RUNNING
        ],
    )?;
    for (position, text) in info.arguments.iter().enumerate() {
        tx.execute(
            "INSERT INTO argument (position, text) VALUES (?1, ?2)",
            params![position as i64, text],
        )?;
    }
    Ok(())
}

/// The directory of a file.
fn directory_of(path: &Path) -> PathBuf {
    match path.parent() {
        Some(directory) if !directory.as_os_str().is_empty() => directory.to_owned(),
        _ => PathBuf::from("."),
    }
}

/// Makes new names in a directory survive a power cut.
fn sync_directory(directory: &Path) -> io::Result<()> {
    File::open(directory)?.sync_all()
}

/// Removes a file that could not be filled, and SQLite's files next to it. It was created by this process and holds no
/// data.
fn remove(path: &Path) {
    for suffix in ["", "-wal", "-shm", "-journal"] {
        let mut name = path.as_os_str().to_owned();
        name.push(suffix);
        let _ = fs::remove_file(name);
    }
}
