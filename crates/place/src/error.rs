//! Why a place could not be had, or a command there came to nothing.

use std::path::PathBuf;
use sys::SysError;

/// Why a place could not be had, or a command there came to nothing.
#[derive(Debug, thiserror::Error)]
pub enum PlaceError {
    /// Something that the place needs is not here.
    #[error("{0}")]
    NotAvailable(String),
    /// The kernel.
    #[error(transparent)]
    Sys(#[from] SysError),
    /// A file.
    #[error("{path}: {error}", path = path.display())]
    Io {
        /// Its name.
        path: PathBuf,
        /// Why.
        error: std::io::Error,
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
