//! Determines the kind of a file, and opens it without changing it.

use super::{RunFile, guard, rows};
use crate::columns::{RUNNING, state_from_word, unsigned};
use crate::error::{Fault, StoreError};
use crate::schema::{APPLICATION_ID, SCHEMA_VERSION};
use model::{RunInfo, RunState};
use rusqlite::{Connection, ErrorCode, OpenFlags};
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::Duration;
use units::Realtime;

/// First bytes of every SQLite database (<https://sqlite.org/fileformat2.html>, section 1.3).
const MAGIC: &[u8; 16] = b"SQLite format 3\0";

/// Length of the database header, and the offsets of the two numbers in it that identify a run file.
const HEADER_BYTES: u64 = 100;
const USER_VERSION_AT: usize = 60;
const PAGE_SIZE_AT: usize = 16;
const WRITE_VERSION_AT: usize = 18;
const PAGES_AT: usize = 28;
const APPLICATION_ID_AT: usize = 68;

/// Reason for refusing an empty file. A program that is killed during the creation of its run file leaves one.
const EMPTY: &str = "it is empty";

/// Write version of a database whose last transactions may be in a log next to it.
const WITH_LOG: u8 = 2;

/// Longest wait for a writer that is closing the file.
const BUSY: Duration = Duration::from_secs(10);

/// The row of the `run` table.
struct Run {
    info: RunInfo,
    state: RunState,
    /// True if the end of the run was not recorded.
    is_open: bool,
    duration_ns: u64,
}

/// Opens the run at `path` as it is now: what is written later is not seen.
pub(super) fn open_as_it_is(path: &Path) -> Result<RunFile, StoreError> {
    let mut run = open(path)?;
    let now = run.read("read the run as it is", |db| {
        // A log keeps what a reader has begun to read, and the writer goes on.
        db.execute_batch("BEGIN")?;
        read_run(db)
    })?;
    run.state = now.state;
    run.duration_ns = now.duration_ns;
    run.is_open = now.is_open;
    Ok(run)
}

/// Opens the run at `path`.
pub(super) fn open(path: &Path) -> Result<RunFile, StoreError> {
    let has_log = has_content(path, "-wal");
    let keeps_log = check_header(path)?;
    let (db, run) = connect(path)?;
    let Run {
        info,
        state,
        is_open,
        duration_ns,
    } = run;
    // If the run was closed after our check of its log and before reading its row, it does not count as open. A run
    // that is opened between the two steps of its creation contains nothing.
    let lacks_log = is_open && keeps_log && !has_log && !has_content(path, "-wal");
    Ok(RunFile {
        path: path.to_owned(),
        db,
        info,
        state,
        duration_ns,
        is_open,
        lacks_log,
    })
}

/// True if the end of the run at `path` was not recorded.
pub(crate) fn is_unended(path: &Path) -> Result<bool, StoreError> {
    check_header(path)?;
    Ok(connect(path)?.1.is_open)
}

/// Refuses a file that is not a run, based on its first hundred bytes. They never change after the creation of a run,
/// so a log next to the file cannot replace them. Returns true if the file has a log next to it until the run is
/// closed.
fn check_header(path: &Path) -> Result<bool, StoreError> {
    let refused = |error| StoreError::from_io(path, "open the run file", error);
    let not_ours = |why: &str| not_ours(path, why);
    let metadata = fs::metadata(path).map_err(refused)?;
    if !metadata.is_file() {
        return Err(not_ours(if metadata.is_dir() {
            "it is a directory"
        } else {
            "it is not a regular file"
        }));
    }
    let mut header = Vec::new();
    File::open(path)
        .map_err(refused)?
        .take(HEADER_BYTES)
        .read_to_end(&mut header)
        .map_err(refused)?;
    if header.is_empty() {
        return Err(not_ours(EMPTY));
    }
    if !header.starts_with(MAGIC) || header.len() < HEADER_BYTES as usize {
        return Err(not_ours("it is not an SQLite database"));
    }
    if number_at(&header, APPLICATION_ID_AT) != APPLICATION_ID {
        return Err(not_ours("it is an SQLite database of another program"));
    }
    match number_at(&header, USER_VERSION_AT) {
        SCHEMA_VERSION => {
            check_length(path, &header, metadata.len())?;
            Ok(header[WRITE_VERSION_AT] == WITH_LOG)
        }
        found if found > SCHEMA_VERSION => Err(StoreError::newer(path, found)),
        found => Err(not_ours(&format!(
            "its schema number is {found}, which no version has used"
        ))),
    }
}

fn not_ours(path: &Path, why: &str) -> StoreError {
    StoreError::NotARunFile {
        path: path.to_owned(),
        why: why.to_owned(),
    }
}

/// Refuses a truncated file, such as an incomplete copy: SQLite would notice only on reading the missing part. If there
/// is a log next to the file, the rest may be in it.
fn check_length(path: &Path, header: &[u8], length: u64) -> Result<(), StoreError> {
    let page_bytes = u64::from(u16::from_be_bytes([header[PAGE_SIZE_AT], header[PAGE_SIZE_AT + 1]]));
    let whole = u64::try_from(number_at(header, PAGES_AT)).unwrap_or(0) * page_bytes;
    if length < whole && !has_content(path, "-wal") && !has_content(path, "-journal") {
        let what = format!("it was cut short: {length} bytes of {whole}");
        return Err(StoreError::Damaged {
            path: path.to_owned(),
            what,
        });
    }
    Ok(())
}

fn number_at(header: &[u8], at: usize) -> i64 {
    let mut octets = [0; 4];
    octets.copy_from_slice(&header[at..at + 4]);
    i64::from(i32::from_be_bytes(octets))
}

/// Opens the database in the least intrusive way that works, and reads the run's row.
///
/// Read-only works for a closed run anywhere, and for a run with a log if the directory is writable (SQLite needs a
/// shared-memory file there to read the log).
fn connect(path: &Path) -> Result<(Connection, Run), StoreError> {
    let octets = length(path, "") + length(path, "-wal");
    let read_only = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let fault = match try_open(path, octets, read_only) {
        Ok(opened) => return Ok(opened),
        Err(fault) => fault,
    };
    if !needs_another_way(&fault) {
        return Err(StoreError::from_fault(path, "open the run file", fault));
    }
    if has_content(path, "-wal") || has_content(path, "-journal") {
        // The last transaction was interrupted, and SQLite must be allowed to repair the file.
        let read_write = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let doing = "open an interrupted run in a read-only directory (copy the file, and the -wal or -journal \
                     file next to it, to a writable directory)";
        return try_open(path, octets, read_write).map_err(|fault| {
            // SQLite has restored the state from before the first transaction.
            if fs::metadata(path).is_ok_and(|file| file.len() == 0) {
                not_ours(path, EMPTY)
            } else {
                StoreError::from_fault(path, doing, fault)
            }
        });
    }
    // A run without a log in a read-only directory: nothing can change it.
    let immutable = read_only | OpenFlags::SQLITE_OPEN_URI;
    try_open(&immutable_uri(path), octets, immutable)
        .map_err(|fault| StoreError::from_fault(path, "open the run file", fault))
}

/// Opens the database with `flags` and reads the run's row.
fn try_open(path: &Path, octets: u64, flags: OpenFlags) -> Result<(Connection, Run), Fault> {
    let mut db = Connection::open_with_flags(path, flags)?;
    db.busy_timeout(BUSY)?;
    guard::bound(&mut db, octets)?;
    // A damaged or malicious file must not make SQLite run code from the file.
    db.pragma_update(None, "trusted_schema", false)?;
    db.pragma_update(None, "cell_size_check", true)?;
    db.pragma_update(None, "query_only", true)?;
    guard::check_tables(&db)?;
    let run = read_run(&db)?;
    Ok((db, run))
}

/// True if opening failed because of missing write permission in the directory, and not because of the file's contents.
fn needs_another_way(fault: &Fault) -> bool {
    let Fault::Sql(error) = fault else { return false };
    matches!(
        error.sqlite_error_code(),
        Some(ErrorCode::CannotOpen | ErrorCode::ReadOnly | ErrorCode::SystemIoFailure)
    )
}

/// True if SQLite's file next to `path` with this suffix exists and is not empty.
fn has_content(path: &Path, suffix: &str) -> bool {
    length(path, suffix) > 0
}

/// Bytes of SQLite's file next to `path` with this suffix; 0 if it does not exist.
fn length(path: &Path, suffix: &str) -> u64 {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    fs::metadata(name).map_or(0, |metadata| metadata.len())
}

/// The path as an SQLite URI that states that the file will not change.
fn immutable_uri(path: &Path) -> PathBuf {
    let mut uri = OsString::from("file:");
    for octet in path.as_os_str().as_bytes() {
        match octet {
            b'/' | b'.' | b'-' | b'_' | b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z' => {
                uri.push(char::from(*octet).to_string());
            }
            _ => uri.push(format!("%{octet:02X}")),
        }
    }
    uri.push("?immutable=1");
    PathBuf::from(uri)
}

fn read_run(db: &Connection) -> Result<Run, Fault> {
    // Windows of a series do not overlap, so the last one to start is the last one to end. The index finds it quickly
    // even after months.
    let sql = "SELECT id, command, tool_version, started_ns, window_ns, state,
                      coalesce(duration_ns, (SELECT max((SELECT end_ns FROM window WHERE window.series = series.id
                                                         ORDER BY start_ns DESC LIMIT 1)) FROM series), 0)
               FROM run";
    let mut runs = rows(db, sql, [], |row| {
        let state: String = row.get(5)?;
        let info = RunInfo {
            id: row.get(0)?,
            command: row.get(1)?,
            arguments: Vec::new(),
            tool_version: row.get(2)?,
            started: Realtime::from_ns(row.get(3)?),
            window_ns: unsigned(row, 4)?,
        };
        Ok(Run {
            info,
            state: state_from_word(&state),
            is_open: state == RUNNING,
            duration_ns: unsigned(row, 6)?,
        })
    })?;
    let none = || Fault::Damaged("its table \"run\" is empty".to_owned());
    let mut run = runs.pop().ok_or_else(none)?;
    run.info.arguments = rows(db, "SELECT text FROM argument ORDER BY position", [], |row| row.get(0))?;
    Ok(run)
}
