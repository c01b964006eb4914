//! Errors of a probe that cannot start or continue.

use sys::SysError;

/// Reason why a probe cannot start or continue.
#[derive(Debug, thiserror::Error)]
pub enum ProbeError {
    /// Refusal by the kernel or the machine.
    #[error(transparent)]
    Sys(#[from] SysError),
    /// Error of the tracing programs in the kernel.
    #[error(transparent)]
    Trace(#[from] ::trace::TraceError),
    /// An impossible setting; the text names a possible one.
    #[error("{0}")]
    Usage(String),
    /// No frame or event to measure arrived.
    #[error("{0}")]
    NoTraffic(String),
    /// A relation between two clocks was requested, but no clock synchronisation is known to keep it.
    #[error("{0}")]
    Unsynchronised(String),
    /// A measuring thread panicked, which is a defect of this program.
    #[error("the measuring thread of {0} panicked; all samples until then are kept")]
    Panicked(String),
}
