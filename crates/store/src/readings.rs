//! Readings of a run in units other than ns.

use crate::columns::{integer, unsigned};
use crate::error::{Fault, StoreError};
use crate::reader::{RunFile, rows};
use model::{Reading, ReadingUnit, Readings};
use rusqlite::types::Type;
use rusqlite::{Connection, OptionalExtension, Row, params};

/// Inserts a window of a reading after the existing ones.
pub(crate) fn insert(tx: &Connection, reading: &Reading) -> Result<(), Fault> {
    let values = &reading.values;
    tx.prepare_cached(
        "INSERT INTO reading (name, unit, start_ns, end_ns, samples, min, mean, max, unknown, why)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
    )?
    .execute(params![
        reading.name,
        reading.unit.word(),
        integer(reading.start_ns, "the start of a reading")?,
        integer(reading.end_ns, "the end of a reading")?,
        integer(values.samples, "a number of values")?,
        values.min,
        values.mean,
        values.max,
        integer(values.unknown, "a number of unknown values")?,
        values.why,
    ])?;
    Ok(())
}

impl RunFile {
    /// The readings of the run in units other than ns, in order of time. Empty for files from before this table.
    ///
    /// # Errors
    /// [`StoreError::Damaged`] if the file cannot be read.
    pub fn readings(&self) -> Result<Vec<Reading>, StoreError> {
        self.read("read the readings", |db| {
            let there = "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'reading'";
            if db.query_row(there, [], |_| Ok(())).optional()?.is_none() {
                return Ok(Vec::new());
            }
            let sql = "SELECT name, unit, start_ns, end_ns, samples, min, mean, max, unknown, why
                       FROM reading ORDER BY start_ns, id";
            rows(db, sql, [], reading_of)
        })
    }
}

fn reading_of(row: &Row<'_>) -> Result<Reading, rusqlite::Error> {
    let word: String = row.get(1)?;
    let unknown = || rusqlite::Error::InvalidColumnType(1, word.clone(), Type::Text);
    Ok(Reading {
        name: row.get(0)?,
        unit: ReadingUnit::from_word(&word).ok_or_else(unknown)?,
        start_ns: unsigned(row, 2)?,
        end_ns: unsigned(row, 3)?,
        values: Readings {
            samples: unsigned(row, 4)?,
            min: row.get(5)?,
            mean: row.get(6)?,
            max: row.get(7)?,
            unknown: unsigned(row, 8)?,
            why: row.get(9)?,
        },
    })
}

#[cfg(test)]
mod tests {
    use crate::{Batch, RunFile, RunWriter};
    use model::{Reading, ReadingUnit, Readings, RunInfo, RunState};
    use units::Realtime;

    #[test]
    fn readings_come_back_as_they_were_and_files_without_them_have_none() {
        let directory = tempfile::tempdir().expect("tempdir");
        let path = directory.path().join("readings.triptime");
        let info = RunInfo {
            id: "x".to_owned(),
            command: "wakeup".to_owned(),
            arguments: Vec::new(),
            tool_version: "0".to_owned(),
            started: Realtime::from_ns(1),
            window_ns: 1_000_000_000,
        };
        let reading = |start_ns, values| Reading {
            name: "cache/rt/L3:0/occupancy".to_owned(),
            unit: ReadingUnit::Octets,
            start_ns,
            end_ns: start_ns + 1_000,
            values,
        };
        let mut some = Readings::default();
        some.value(3e6);
        some.value(1e6);
        let mut none = Readings::default();
        none.unknown("Unavailable".to_owned());
        let readings = vec![reading(0, some), reading(1_000, none)];
        let mut writer = RunWriter::create(&path, &info, None).expect("a file");
        let batch = Batch {
            readings: readings.clone(),
            ..Batch::default()
        };
        writer.write(&batch).expect("written");
        writer.finish(RunState::Complete, 5).expect("closed");
        assert_eq!(
            RunFile::open(&path).expect("opened").readings().expect("read"),
            readings
        );
        let db = rusqlite::Connection::open(&path).expect("a database");
        db.execute_batch("DROP TABLE reading")
            .expect("as an older version made it");
        drop(db);
        assert_eq!(RunFile::open(&path).expect("opened").readings().expect("read"), []);
    }
}
