//! Samples worth examining one by one.

use crate::explanation::Explanation;
use crate::series::SeriesId;

/// One sample worth examining: among the worst of its series, or above its threshold.
#[derive(Debug, Clone, PartialEq)]
pub struct Spike {
    /// Series it belongs to.
    pub series: SeriesId,
    /// When it was measured.
    pub at_ns: u64,
    /// The sample, in ns.
    pub value_ns: i64,
    /// CPU it was measured on.
    pub cpu: Option<u32>,
    /// Cycle, frame or sample number.
    pub sequence: Option<u64>,
    /// How its time was spent, if the flight recorder ran.
    pub explanation: Option<Explanation>,
}

/// The kernel's events around one spike, as the crate `trace` encodes them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Flight {
    /// Series of the spike.
    pub series: SeriesId,
    /// Instant of the spike.
    pub at_ns: u64,
    /// The events; see `docs/formats/flight.md`.
    pub bytes: Vec<u8>,
}
