//! Why a probe could not start or go on.

use sys::SysError;

/// Why a probe could not start or go on.
#[derive(Debug, thiserror::Error)]
pub enum ProbeError {
    /// The kernel or the machine refused something.
    #[error(transparent)]
    Sys(#[from] SysError),
    /// A setting that cannot be, said with what would do.
    #[error("{0}")]
    Usage(String),
    /// Nothing to measure came.
    #[error("{0}")]
    NoTraffic(String),
    /// A clock relation was asked for that nothing here vouches for.
    #[error("{0}")]
    Unsynchronised(String),
    /// A measuring thread ended by a panic: a defect of ours.
    #[error("the measuring thread of {0} panicked; what was measured until then is kept")]
    Panicked(String),
}
