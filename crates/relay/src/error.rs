//! Why a relay cannot be made, or a file cannot be played through it.

use capture::CaptureError;
use protection::SettingError;
use waveform::WaveformError;

/// An error in a relay file: what is wrong, where, and what to do.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ConfigError {
    /// Not TOML, or a key or a value that cannot be. The text has line, column and key.
    #[error("{file}: {problem}")]
    File {
        /// The file.
        file: String,
        /// The error and its place.
        problem: String,
    },
    /// Something that does not fit to the rest of the file.
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

/// Why a file cannot be played through a relay.
#[derive(Debug, thiserror::Error)]
pub enum ReplayError {
    /// A COMTRADE record that cannot be read, or whose channels do not say which stream they are of.
    #[error(transparent)]
    Waveform(#[from] WaveformError),
    /// A capture that cannot be read.
    #[error(transparent)]
    Capture(#[from] CaptureError),
    /// The relay's settings do not go with the rate of the record.
    #[error(transparent)]
    Setting(#[from] SettingError),
    /// Channels were asked for that cannot be.
    #[error("{0}")]
    Channels(String),
    /// The file has nothing for this relay.
    #[error("{0}")]
    Nothing(String),
}
