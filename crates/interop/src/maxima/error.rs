//! Errors in the log of an application that reports its own maxima.

/// Reasons why a log cannot be imported.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MaximaError {
    /// A line that is not as described.
    #[error("{file}: line {line}: {why}")]
    Wrong {
        /// The file.
        file: String,
        /// Number of the line, from 1.
        line: usize,
        /// The reason, and what is expected.
        why: String,
    },
    /// No report.
    #[error("{0}: no report after the line with the names")]
    Empty(String),
    /// The time that a report covers is not known.
    #[error("{0}: a single report does not show how long it covers: give it (--interval 20s)")]
    NoInterval(String),
}
