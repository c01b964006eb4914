//! Errors for texts that are not a result of cyclictest.

use super::Bucket;

/// Reasons why a file cannot be read as cyclictest's. The messages have the line, or the position in the JSON; the caller adds the file.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CyclictestError {
    /// The file is empty.
    #[error("the file is empty")]
    Empty,
    /// Another kind of file.
    #[error(
        "neither a histogram of cyclictest (\"# Histogram\"), nor its status lines (\"T: 0 (…\"), nor its JSON \
         (\"file_version\")"
    )]
    NotCyclictest,
    /// A line that is malformed or contradicts another line.
    #[error("line {line}: {what}")]
    Line {
        /// Number of the line, from 1.
        line: usize,
        /// Error in the line.
        what: String,
    },
    /// A histogram that is cut off.
    #[error("the histogram that begins in line {from} is cut: there is no \"{missing}\" line after it")]
    Cut {
        /// Line of `# Histogram`.
        from: usize,
        /// The first line that is missing.
        missing: &'static str,
    },
    /// Not JSON, or another kind of JSON.
    #[error("the JSON is not cyclictest's: {0}")]
    Json(String),
    /// A value that contradicts another one of the same thread.
    #[error("thread {thread}: {what}")]
    Thread {
        /// Number of the thread.
        thread: u32,
        /// Error in the figures.
        what: String,
    },
    /// The file states a unit other than the caller's.
    #[error("the file says that its buckets are {} ns wide, not {} ns: leave the bucket's width out", found.ns(), asked.ns())]
    OtherBucket {
        /// Unit in the file.
        found: Bucket,
        /// Unit given by the caller.
        asked: Bucket,
    },
    /// Two measurements that cannot be combined.
    #[error("the measurements cannot be combined: {0}")]
    Apart(String),
}
