//! A run in other programs' formats: the result document as JSON, windows and recorded frames as CSV, histograms as an HdrHistogram interval log,
//! values as OpenMetrics.

mod csv;
pub mod cyclictest;
mod frames;
mod hlog;
mod openmetrics;
mod place;
mod readings;
#[cfg(test)]
mod tests;

pub use csv::csv;
pub use frames::{LeftOut, frames};
pub use hlog::hlog;
pub use openmetrics::{openmetrics, openmetrics_of_live};
pub use place::place;
pub use readings::readings;

use store::StoreError;

/// Reasons why a run could not be exported.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    /// The run file cannot be read.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The run has no recording.
    #[error("the run has no recording that can be read (trace --record, subscribe --record)")]
    NoRecording,
    /// The output cannot be written.
    #[error("the export cannot be written: {0}")]
    Write(#[from] std::io::Error),
}
