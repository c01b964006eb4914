//! Settings of a logbook, its time and its errors.

use std::io;
use std::path::PathBuf;
use store::StoreError;

/// An instant on both clocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Now {
    /// On the watch's clock, which is never stepped, in ns.
    pub at_ns: i64,
    /// On the wall clock, in ns since 1970 UTC.
    pub wall_ns: i64,
}

/// Settings of a logbook.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Name of the sentinel.
    pub name: String,
    /// Folder of run files, captures and ledger.
    pub folder: PathBuf,
    /// Name of the interface, for the captures.
    pub interface: String,
    /// Time before a problem of which frames are kept, in ns.
    pub before_ns: u64,
    /// Time after it, in ns.
    pub after_ns: u64,
    /// Octets on disk for captures.
    pub captures_octets: u64,
    /// Octets on disk for run files.
    pub runs_octets: u64,
    /// Octets for histograms in one run file.
    pub file_budget: u64,
    /// Length of a window, in ns.
    pub window_ns: u64,
    /// Texts kept in each run file: limits.
    pub documents: Vec<(String, String)>,
    /// The command line.
    pub arguments: Vec<String>,
    /// Version of the program.
    pub tool_version: String,
    /// File of metrics.
    pub metrics: Option<PathBuf>,
}

/// The logbook cannot be kept.
#[derive(Debug, thiserror::Error)]
pub enum BookError {
    /// A run file.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// Another file.
    #[error("{0}")]
    Io(#[from] io::Error),
}
