//! Errors of playing a file through a relay.

use capture::CaptureError;
use protection::SettingError;
use waveform::WaveformError;

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
