//! Why a text is not a result of cyclictest.

use super::Bucket;

/// Why a file cannot be taken as cyclictest's. The messages name the line, or the place in the JSON; who calls knows the file.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CyclictestError {
    /// Nothing in it.
    #[error("the file is empty")]
    Empty,
    /// Another kind of file.
    #[error(
        "neither a histogram of cyclictest (\"# Histogram\"), nor its status lines (\"T: 0 (…\"), nor its JSON \
         (\"file_version\")"
    )]
    NotCyclictest,
    /// A line that contradicts the form or another line.
    #[error("line {line}: {what}")]
    Line {
        /// Number of the line, from 1.
        line: usize,
        /// Error in the line.
        what: String,
    },
    /// A histogram that stops before its end.
    #[error("the histogram that begins in line {from} is cut: there is no \"{missing}\" line after it")]
    Cut {
        /// Line of `# Histogram`.
        from: usize,
        /// The first line that is missing.
        missing: &'static str,
    },
    /// No JSON, or another kind of JSON.
    #[error("the JSON is not cyclictest's: {0}")]
    Json(String),
    /// A figure that contradicts another of the same thread.
    #[error("thread {thread}: {what}")]
    Thread {
        /// Number of the thread.
        thread: u32,
        /// Error in the figures.
        what: String,
    },
    /// The file says its unit, and the caller says another.
    #[error("the file says that its buckets are {} ns wide, not {} ns: leave the bucket's width out", found.ns(), asked.ns())]
    OtherBucket {
        /// As the file says.
        found: Bucket,
        /// As the caller says.
        asked: Bucket,
    },
    /// Two measurements that cannot be added up.
    #[error("the measurements cannot be combined: {0}")]
    Apart(String),
}
