//! Why a set of streams is not possible.

/// Errors of a stream set: what is wrong, where, and what to do.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SetError {
    /// Not TOML, or a key or a value that cannot be.
    #[error("{file}: {problem}")]
    File {
        /// The file.
        file: String,
        /// Line, key, and what.
        problem: String,
    },
    /// Not a stream that can be published.
    #[error("stream {sv_id}: {problem}")]
    Stream {
        /// Its svID.
        sv_id: String,
        /// The problem, and what to do.
        problem: String,
    },
    /// Nothing in it.
    #[error("{0}")]
    Nothing(String),
}

impl SetError {
    /// Something in a file, which need not be on one line.
    pub(crate) fn of_file(file: &str, problem: String) -> Self {
        Self::File {
            file: file.to_owned(),
            problem,
        }
    }

    /// Something on a line of a file.
    pub(crate) fn on_line(file: &str, line: usize, problem: impl std::fmt::Display) -> Self {
        Self::File {
            file: file.to_owned(),
            problem: format!("line {line}: {problem}"),
        }
    }
}

/// The line on which an octet of a text is, from 1.
pub(crate) fn line_of(text: &str, offset: usize) -> usize {
    let before = &text.as_bytes()[..offset.min(text.len())];
    1 + before.iter().filter(|octet| **octet == b'\n').count()
}
