//! Windows, spikes, days, facts and changes of runs as Parquet files, for DuckDB, ClickHouse, pandas and similar programs.
//!
//! Columns and metadata are described in `docs/formats/parquet.md`. A Parquet file without its end cannot be read, so a
//! file is written from an existing run and never during a measurement. The caller chooses the place of the file, and
//! makes it appear only when it is complete.

#![forbid(unsafe_code)]

mod changes;
mod counted;
mod days;
mod facts;
mod fleet;
mod origin;
mod spikes;
mod table;
#[cfg(test)]
mod tests;
mod windows;

pub use fleet::{FleetFile, fleet};

use parquet::errors::ParquetError;
use std::io::Write;
use store::{RunFile, StoreError};

/// Schema of the files of [`windows`], stored in their metadata under `triptime.schema`. A schema with the same number
/// may gain columns; none is renamed, dropped or given another meaning.
pub const WINDOWS_SCHEMA: &str = "triptime.windows/1";

/// Schema of the files of [`spikes`]; the rules of [`WINDOWS_SCHEMA`] apply.
pub const SPIKES_SCHEMA: &str = "triptime.spikes/1";

/// Schema of the days of [`fleet`]; the rules of [`WINDOWS_SCHEMA`] apply.
pub const DAYS_SCHEMA: &str = "triptime.days/1";

/// Schema of the facts of [`fleet`]; the rules of [`WINDOWS_SCHEMA`] apply.
pub const FACTS_SCHEMA: &str = "triptime.facts/1";

/// Schema of the changes of [`fleet`]; the rules of [`WINDOWS_SCHEMA`] apply.
pub const CHANGES_SCHEMA: &str = "triptime.changes/1";

/// Why a run could not be written.
#[derive(Debug, thiserror::Error)]
pub enum ColumnarError {
    /// The run file cannot be read.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The output cannot be written.
    #[error("the Parquet file cannot be written: {0}")]
    Parquet(#[from] ParquetError),
    /// The output cannot be written.
    #[error("the Parquet file cannot be written: {0}")]
    Write(#[from] std::io::Error),
}

/// Writes a row for each window of each series: its counters, extremes, mean and quantiles.
///
/// # Errors
/// The run cannot be read, or `out` cannot be written.
pub fn windows(run: &RunFile, out: impl Write + Send) -> Result<(), ColumnarError> {
    fleet::windows_of(run, None, out)
}

/// Writes a row for each spike in the run: its time, its size, and its cause.
///
/// # Errors
/// The run cannot be read, or `out` cannot be written.
pub fn spikes(run: &RunFile, out: impl Write + Send) -> Result<(), ColumnarError> {
    fleet::spikes_of(run, None, out)
}
