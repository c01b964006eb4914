//! Instant at which a frame of a capture came.

use wire::sequence::Quiet;

/// Instant at which a frame came, and its number.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Arrival {
    pub(crate) frame: u64,
    pub(crate) time_ns: Option<i64>,
    /// Instant in ns from the first stamp of the capture.
    pub(crate) at_ns: u64,
    /// Times in which no frame of any stream came.
    pub(crate) quiet: Quiet,
}
