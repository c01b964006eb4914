//! Errors of waveforms.

use crate::comtrade::ComtradeError;

/// An error in a waveform: the problem, its place, and advice.
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
        /// The error of the system.
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
    /// An impossible setting.
    #[error("{0}")]
    Setting(String),
}

impl WaveformError {
    pub(crate) fn setting(problem: impl Into<String>) -> Self {
        Self::Setting(problem.into())
    }
}
