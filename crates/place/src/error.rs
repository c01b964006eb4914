//! Errors of places and of commands in them.

use std::path::PathBuf;
use sys::SysError;

/// Reasons why a place could not be made, or a command in it failed.
#[derive(Debug, thiserror::Error)]
pub enum PlaceError {
    /// A requirement of the place is missing on this machine.
    #[error("{0}")]
    NotAvailable(String),
    /// Others use a requirement of the place up; they may free it at any time.
    #[error("{0}")]
    Busy(String),
    /// Error of the kernel.
    #[error(transparent)]
    Sys(#[from] SysError),
    /// Error of a file.
    #[error("{path}: {error}", path = path.display())]
    Io {
        /// Name of the file.
        path: PathBuf,
        /// The error of the system.
        error: std::io::Error,
    },
    /// The place does not answer, or the connection to it is broken.
    #[error("in the {place}: {said}")]
    Lost {
        /// `container`, `guest`.
        place: &'static str,
        /// Time that was waited, and what is known of it.
        said: String,
    },
    /// The command there ended with an error, or too early.
    #[error("in the {place}: {said}")]
    Failed {
        /// `container`, `guest`.
        place: &'static str,
        /// Its error message.
        said: String,
    },
}
