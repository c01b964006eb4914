//! Why a signal cannot be made.

use crate::comtrade::ComtradeError;

/// An error in a waveform: what cannot be, where, and what to do instead.
#[derive(Debug, thiserror::Error)]
pub enum WaveformError {
    /// A COMTRADE record cannot be read.
    #[error(transparent)]
    Comtrade(#[from] ComtradeError),
    /// A file cannot be read.
    #[error("{path}: {source}")]
    Unreadable {
        /// The file.
        path: String,
        /// Why.
        source: std::io::Error,
    },
    /// A waveform file with a wrong key or value. The text has line, column and key.
    #[error("{path}: {problem}")]
    File {
        /// The file.
        path: String,
        /// The error and its place.
        problem: String,
    },
    /// A setting that cannot be.
    #[error("{0}")]
    Setting(String),
}

impl WaveformError {
    pub(crate) fn setting(problem: impl Into<String>) -> Self {
        Self::Setting(problem.into())
    }
}
