//! Closes a run.

use super::{RunWriter, commit};
use crate::columns::{RUNNING, integer, state_word};
use crate::error::{Fault, StoreError};
use model::RunState;
use rusqlite::config::DbConfig;
use rusqlite::{Connection, params};

/// Trims the spikes, records the end, and leaves a single file.
pub(super) fn finish(mut writer: RunWriter, state: RunState, duration_ns: u64) -> Result<(), StoreError> {
    let closed = writer.transaction("close the run", |tx, kept| {
        for (series, keeper) in (0u32..).zip(&mut kept.spikes) {
            keeper.trim(tx, series)?;
            keeper.note_dropped(tx, series)?;
        }
        note_end(tx, state, duration_ns)
    });
    match closed {
        Ok(()) => {}
        Err(StoreError::DiskFull { .. }) => note_end_on_full_disk(&mut writer, state, duration_ns)?,
        Err(error) => return Err(error),
    }
    match writer.place.now().is_some_and(|now| now == writer.path) {
        true => leave_one_file(&writer.db),
        false => leave_names_alone(&writer.db),
    }
    Ok(())
}

fn note_end(db: &Connection, state: RunState, duration_ns: u64) -> Result<(), Fault> {
    db.execute(
        "UPDATE run SET state = ?1, duration_ns = ?2",
        params![state_word(state), integer(duration_ns, "a duration")?],
    )?;
    Ok(())
}

/// Records the end without trimming. Moving the log into the database makes the log start from its beginning, so the
/// one changed page may fit into the space that the log already has.
fn note_end_on_full_disk(writer: &mut RunWriter, state: RunState, duration_ns: u64) -> Result<(), StoreError> {
    let _ = checkpoint(&writer.db, "RESTART");
    commit(&mut writer.db, |tx| note_end(tx, state, duration_ns))
        .map_err(|fault| StoreError::from_fault(&writer.path, "note the end of the run", fault))
}

/// Frees unused pages and moves the log into the database. The run is already complete: if a reader or a full disk
/// prevents this, the log stays next to the file, and every reader reads both together.
fn leave_one_file(db: &Connection) {
    // Every step of this pragma frees one page, so all steps are executed.
    let vacuumed = db.prepare("PRAGMA incremental_vacuum").and_then(|mut statement| {
        let mut rows = statement.query([])?;
        while rows.next()?.is_some() {}
        Ok(())
    });
    let moved = checkpoint(db, "TRUNCATE");
    if vacuumed.is_ok() && moved.is_ok() {
        // Without a log, readers need to create nothing: the file can be read on read-only media.
        let _ = db.pragma_update_and_check(None, "journal_mode", "DELETE", |_| Ok(()));
    }
}

/// Moves the log into the database but removes no file: SQLite knows the file by its old name, where another run may be
/// now.
fn leave_names_alone(db: &Connection) {
    let _ = checkpoint(db, "TRUNCATE");
    let _ = db.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true);
}

/// Moves the log into the database as far as readers allow. The rest is safe in the log, and is moved the next time.
pub(super) fn fold_log(db: &Connection) {
    let _ = checkpoint(db, "PASSIVE");
}

/// Records that a run that was not closed was interrupted, if there is space for that.
pub(super) fn give_up(db: &Connection) {
    let interrupted = state_word(RunState::Interrupted);
    let _ = db.execute(
        "UPDATE run SET state = ?1 WHERE state = ?2",
        params![interrupted, RUNNING],
    );
}

fn checkpoint(db: &Connection, mode: &str) -> Result<(), rusqlite::Error> {
    db.query_row(&format!("PRAGMA wal_checkpoint({mode})"), [], |_| Ok(()))
}
