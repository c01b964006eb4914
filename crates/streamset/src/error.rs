//! Reasons why a set of streams is not possible.

/// Errors of a stream set: what is wrong, where, and what to do.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SetError {
    /// Not TOML, or an impossible key or value.
    #[error("{file}: {problem}")]
    File {
        /// The file.
        file: String,
        /// Line, key, and the error.
        problem: String,
    },
    /// A stream that cannot be published.
    #[error("stream {sv_id}: {problem}")]
    Stream {
        /// Its svID.
        sv_id: String,
        /// The problem, and what to do.
        problem: String,
    },
    /// An empty file.
    #[error("{0}")]
    Nothing(String),
}

impl SetError {
    /// An error in a file that does not belong to a single line.
    pub(crate) fn of_file(file: &str, problem: String) -> Self {
        Self::File {
            file: file.to_owned(),
            problem,
        }
    }

    /// An error on a line of a file.
    pub(crate) fn on_line(file: &str, line: usize, problem: impl std::fmt::Display) -> Self {
        Self::File {
            file: file.to_owned(),
            problem: format!("line {line}: {problem}"),
        }
    }
}

/// The line of a byte of a text, from 1.
pub(crate) fn line_of(text: &str, offset: usize) -> usize {
    let before = &text.as_bytes()[..offset.min(text.len())];
    1 + before.iter().filter(|octet| **octet == b'\n').count()
}
