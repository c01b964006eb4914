//! Cache and memory bandwidth during the run, in the result document.

use super::{Row, rows};
use model::RunView;
use serde::Serialize;

#[derive(Debug, Clone, Serialize)]
pub(super) struct ReadingEntry {
    name: String,
    unit: &'static str,
    windows: usize,
    samples: u64,
    min: Option<f64>,
    mean: Option<f64>,
    max: Option<f64>,
    unknown: u64,
    unknown_because: Option<String>,
}

/// Each reading over the whole run.
pub(super) fn readings(run: &RunView) -> Vec<ReadingEntry> {
    let entry = |row: Row<'_>| ReadingEntry {
        name: row.name().to_owned(),
        unit: row.windows[0].unit.word(),
        windows: row.windows.len(),
        samples: row.sum.samples,
        min: row.sum.min,
        mean: row.sum.mean,
        max: row.sum.max,
        unknown: row.sum.unknown,
        unknown_because: row.sum.why,
    };
    rows(&run.readings).into_iter().map(entry).collect()
}
