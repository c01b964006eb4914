//! Limits for reading a damaged or malicious file: it may take no more time and memory than a valid one of its size.

use crate::error::Fault;
use rusqlite::limits::Limit;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, Row};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Longest cell that SQLite reads. The longest in a valid file is the segment of a recording.
const LONGEST_CELL: i32 = 128 << 20;

/// Longest document. Imported files are the longest, because they keep their original text.
pub(crate) const LONGEST_DOCUMENT: usize = 16 << 20;

/// Longest text of any other table, and longest histogram or flight.
const LONGEST_TEXT: usize = 1 << 20;

/// Maximum bytes of text in one list, such as all events: enough for some hundred thousand events.
const MOST_TEXT: usize = 128 << 20;

/// Number of SQLite steps between two checks of the limit.
const STRIDE: u32 = 10_000;

/// Number of steps that reading any file may take.
const FREE_STEPS: u64 = 20_000_000;

/// Additional steps for each byte of a file. Reading a whole valid file takes a tenth of a step per byte.
const STEPS_PER_OCTET: u64 = 8;

/// Limits all reading through `db`, a file of `octets` bytes.
pub(super) fn bound(db: &mut Connection, octets: u64) -> Result<(), rusqlite::Error> {
    db.set_limit(Limit::SQLITE_LIMIT_LENGTH, LONGEST_CELL)?;
    let most = FREE_STEPS.saturating_add(octets.saturating_mul(STEPS_PER_OCTET));
    let taken = AtomicU64::new(0);
    let is_too_many = move || taken.fetch_add(STRIDE.into(), Relaxed) > most;
    db.progress_handler(STRIDE.cast_signed(), Some(is_too_many))
}

/// Refuses a file if one of our tables is not a plain table: a view, a virtual table or a computed column would run
/// code of the file's author.
pub(super) fn check_tables(db: &Connection) -> Result<(), Fault> {
    let sql = "SELECT name, type = 'table' AND rootpage > 0 AND sql LIKE 'CREATE TABLE %' FROM sqlite_schema
               WHERE type IN ('table', 'view')";
    let named = |row: &Row<'_>| Ok((row.get::<_, String>(0)?, row.get::<_, bool>(1)?));
    for (name, is_table) in super::rows(db, sql, [], named)? {
        if is_ours(&name) && (!is_table || is_computed(db, &name)?) {
            return Err(Fault::Damaged(format!("its \"{name}\" is not a plain table")));
        }
    }
    Ok(())
}

/// True if triptime reads a table of this name. The views of a run file are only for people.
fn is_ours(name: &str) -> bool {
    crate::schema::TABLES.contains(&format!("CREATE TABLE {} (", name.to_ascii_lowercase()))
}

/// True where a column of the table is hidden or generated.
fn is_computed(db: &Connection, table: &str) -> Result<bool, Fault> {
    let sql = "SELECT 1 FROM pragma_table_xinfo(?1) WHERE hidden <> 0";
    Ok(db.prepare(sql)?.exists([table])?)
}

/// Counts the bytes of text in one list.
#[derive(Default)]
pub(super) struct Text(usize);

impl Text {
    /// Refuses a row if the list then exceeds the limit for a run.
    pub(super) fn take(&mut self, row: &Row<'_>) -> Result<(), Fault> {
        for column in 0..row.as_ref().column_count() {
            let (ValueRef::Text(octets) | ValueRef::Blob(octets)) = row.get_ref(column)? else {
                continue;
            };
            check_length(octets.len(), LONGEST_TEXT, row.as_ref().column_name(column)?)?;
            self.0 = self.0.saturating_add(octets.len());
        }
        check_length(self.0, MOST_TEXT, "all rows together")
    }
}

/// Refuses data longer than `most` bytes.
pub(super) fn check_length(octets: usize, most: usize, what: &str) -> Result<(), Fault> {
    match octets > most {
        true => Err(Fault::Damaged(format!(
            "{what}: {octets} bytes, but no run has more than {most}"
        ))),
        false => Ok(()),
    }
}
