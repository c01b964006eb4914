//! Reads spikes and their known causes. Run files from before the flight recorder do not have its columns and tables.

use super::rows;
use crate::columns::{optional_unsigned, unsigned};
use crate::error::Fault;
use model::{Cause, CauseTotal, Explanation, Flight, SeriesId, Spike};
use rusqlite::types::Type;
use rusqlite::{Connection, Row};

pub(super) fn spike_count(db: &Connection, id: SeriesId) -> Result<u64, Fault> {
    let counts = rows(db, "SELECT count(*) FROM spike WHERE series = ?1", [id.0], |row| {
        unsigned(row, 0)
    })?;
    Ok(counts.into_iter().sum())
}

/// The worst spikes, at most `most` of them, worst first.
pub(super) fn spikes(db: &Connection, id: SeriesId, most: u64) -> Result<Vec<Spike>, Fault> {
    let explanation = match has(
        db,
        "SELECT 1 FROM pragma_table_info('spike') WHERE name = 'explanation'",
    )? {
        true => "explanation",
        false => "NULL",
    };
    let sql = format!(
        "SELECT at_ns, value_ns, cpu, sequence, {explanation} FROM spike WHERE series = ?1 ORDER BY value_ns DESC, id \
         LIMIT ?2"
    );
    rows(db, &sql, (id.0, i64::try_from(most).unwrap_or(i64::MAX)), |row| {
        Ok(Spike {
            series: id,
            at_ns: unsigned(row, 0)?,
            value_ns: row.get(1)?,
            cpu: row.get(2)?,
            sequence: optional_unsigned(row, 3)?,
            explanation: explanation_of(row, 4)?,
        })
    })
}

pub(super) fn causes(db: &Connection, id: SeriesId) -> Result<Vec<CauseTotal>, Fault> {
    if !has_table(db, "cause")? {
        return Ok(Vec::new());
    }
    let sql = "SELECT cause, samples, total_ns, max_ns FROM cause WHERE series = ?1 ORDER BY total_ns DESC, cause";
    rows(db, sql, [id.0], |row| {
        let word: String = row.get(0)?;
        Ok(CauseTotal {
            // A cause unknown to this version counts as unexplained.
            cause: Cause::from_word(&word).unwrap_or(Cause::Unexplained),
            count: unsigned(row, 1)?,
            total_ns: unsigned(row, 2)?,
            max_ns: unsigned(row, 3)?,
        })
    })
}

pub(super) fn flights(db: &Connection, id: SeriesId) -> Result<Vec<Flight>, Fault> {
    if !has_table(db, "flight")? {
        return Ok(Vec::new());
    }
    let sql = "SELECT at_ns, events FROM flight WHERE series = ?1 ORDER BY at_ns";
    rows(db, sql, [id.0], |row| {
        Ok(Flight {
            series: id,
            at_ns: unsigned(row, 0)?,
            bytes: row.get(1)?,
        })
    })
}

fn explanation_of(row: &Row<'_>, column: usize) -> Result<Option<Explanation>, rusqlite::Error> {
    let text: Option<String> = row.get(column)?;
    text.map(|text| serde_json::from_str(&text))
        .transpose()
        .map_err(|error| rusqlite::Error::FromSqlConversionFailure(column, Type::Text, Box::new(error)))
}

fn has_table(db: &Connection, name: &str) -> Result<bool, Fault> {
    has(
        db,
        &format!("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = '{name}'"),
    )
}

/// True if a query returns a row.
pub(super) fn has(db: &Connection, sql: &str) -> Result<bool, Fault> {
    Ok(db.prepare(sql)?.exists([])?)
}
