//! Errors of a segment.

/// Why octets are not a segment that can be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SegmentError {
    /// Something else.
    #[error("it does not begin as a segment does")]
    NotASegment,
    /// Of a later version of this program.
    #[error("it has format {0}, which this version does not know")]
    Newer(u16),
    /// The end is missing.
    #[error("it was cut short: {found} octets of {whole}")]
    Torn {
        /// Octets there are.
        found: usize,
        /// Octets it says it has.
        whole: usize,
    },
    /// At least one octet is not what was written.
    #[error("its checksum is wrong: it was damaged after it was written")]
    Damaged,
    /// The checksum is right, and what is in it cannot be.
    #[error("it contradicts itself: {0}")]
    Contradiction(&'static str),
    /// A column that cannot be packed.
    #[error("it cannot be packed: {0}")]
    NotPacked(String),
}
