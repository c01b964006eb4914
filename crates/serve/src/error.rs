//! Errors of a server.

use std::io;

/// Reason why documents cannot be served.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The address is not one, or it needs a token.
    #[error("{0}")]
    Wrong(String),
    /// The system refuses.
    #[error("{what}: {error}")]
    Io {
        /// The address or file.
        what: String,
        /// The system's answer.
        error: io::Error,
    },
}

impl ServeError {
    /// Names what the system refused.
    pub(crate) fn io(what: &impl ToString) -> impl FnOnce(io::Error) -> Self {
        let what = what.to_string();
        |error| Self::Io { what, error }
    }
}
