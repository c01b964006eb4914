//! The run file: one SQLite database per run. Only this crate contains SQL.
//!
//! [`RunWriter`] writes a run during the measurement; everything passed to [`RunWriter::write`] is on the disk when it
//! returns. [`RunFile`] reads a run that is complete, still being written, or left by a killed process. The tables are
//! described in `docs/formats/run-file.md`.

#![forbid(unsafe_code)]

mod actions;
mod aside;
mod changes;
mod columns;
mod error;
mod merge;
mod place;
mod reader;
mod readings;
mod room;
mod schema;
mod segments;
mod shots;
mod slices;
mod spikes;
mod writer;

pub use aside::move_aside;
pub use error::StoreError;
pub use place::FilePlace;
pub use reader::{HistogramSpan, RunFile, SeriesTotals};
pub use room::Room;
pub use schema::{APPLICATION_ID, SCHEMA_VERSION};
pub use segments::{SealedSegment, SegmentPlace, SegmentTotals};
pub use spikes::{MOST_FLIGHTS, MOST_SPIKES, WORST_SPIKES};
pub use writer::{Batch, DEFAULT_FILE_BUDGET, RunWriter};
