//! Errors of a segment.

/// Reason why bytes are not a readable segment.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SegmentError {
    /// Not a segment.
    #[error("its beginning is not that of a segment")]
    NotASegment,
    /// A format of a later version of this program.
    #[error("it has format {0}, which this version does not know")]
    Newer(u16),
    /// The end is missing.
    #[error("it was cut short: {found} of {whole} bytes")]
    Torn {
        /// Number of existing bytes.
        found: usize,
        /// Number of bytes in its header.
        whole: usize,
    },
    /// At least one byte differs from the written one.
    #[error("its checksum is wrong: it was damaged after it was written")]
    Damaged,
    /// The checksum is right, but the contents are impossible.
    #[error("it contradicts itself: {0}")]
    Contradiction(&'static str),
    /// A column that cannot be packed.
    #[error("it cannot be packed: {0}")]
    NotPacked(String),
}
