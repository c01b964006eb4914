//! Errors of making a relay, or of playing a file through it.

use capture::CaptureError;
use protection::SettingError;
use waveform::WaveformError;

/// An error in a relay file: the error, its place, and advice.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ConfigError {
    /// The file is not TOML, or a key or value is not allowed. The text has line, column and key.
    #[error("{file}: {problem}")]
    File {
        /// The file.
        file: String,
        /// The error and its place.
        problem: String,
    },
    /// A part of the file does not fit the rest of it.
    #[error("{file}: line {line}: {problem}")]
    Line {
        /// The file.
        file: String,
        /// The line, from 1.
        line: usize,
        /// The error, and what to do.
        problem: String,
    },
}

/// Reason why a file cannot be played through a relay.
#[derive(Debug, thiserror::Error)]
pub enum ReplayError {
    /// The COMTRADE record cannot be read, or its channels do not show their stream.
    #[error(transparent)]
    Waveform(#[from] WaveformError),
    /// The capture cannot be read.
    #[error(transparent)]
    Capture(#[from] CaptureError),
    /// The relay's settings do not allow the rate of the record.
    #[error(transparent)]
    Setting(#[from] SettingError),
    /// The requested channels are not possible.
    #[error("{0}")]
    Channels(String),
    /// The file has no samples for this relay.
    #[error("{0}")]
    Nothing(String),
}
