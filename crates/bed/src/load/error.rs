//! Why a load does not start.

use sys::{ErrorKind, SysError};

/// An amount outside what a load takes.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{load} load: {key} is {value}: {rule}")]
pub struct AmountError {
    /// The kind of load.
    pub load: &'static str,
    /// Key of the amount.
    pub key: &'static str,
    /// Value that was given.
    pub value: String,
    /// Values that would do.
    pub rule: String,
}

/// Why a load does not start.
#[derive(Debug, Clone, thiserror::Error)]
pub enum LoadError {
    /// No CPU to run on.
    #[error("{load}: no CPU to run on: name at least one")]
    NoCpu {
        /// The load.
        load: String,
    },
    /// An amount that cannot be.
    #[error(transparent)]
    Amount(#[from] AmountError),
    /// More memory than there is.
    #[error("{load} load: no room in memory for {bytes} octets, {buffers} times: ask for less")]
    NoMemory {
        /// The kind of load.
        load: &'static str,
        /// Buffers, one per thread.
        buffers: usize,
        /// Octets of one buffer.
        bytes: u64,
    },
    /// A command that cannot be split into words.
    #[error("load command {line}: {why}")]
    Words {
        /// The command line.
        line: String,
        /// Error in the command line.
        why: &'static str,
    },
    /// A program that does not start.
    #[error("load command {program}: {why}")]
    Program {
        /// The program.
        program: String,
        /// Why, and what to do.
        why: String,
    },
    /// A thread, socket or pipe the system does not give.
    #[error("{load}: {operation}: {why}")]
    System {
        /// The load.
        load: String,
        /// Operation that failed.
        operation: &'static str,
        /// Why not.
        why: String,
    },
    /// A CPU, namespace or packet socket that cannot be used.
    #[error("{load}: {source}")]
    Refused {
        /// The load.
        load: String,
        /// Why not.
        source: SysError,
    },
}

impl LoadError {
    /// Distinguishes a wrong request from a machine that does not give what the request needs.
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::NoCpu { .. } | Self::Amount(_) | Self::Words { .. } | Self::Program { .. } => ErrorKind::Usage,
            Self::NoMemory { .. } | Self::System { .. } => ErrorKind::CouldNotMeasure,
            Self::Refused { source, .. } => source.kind(),
        }
    }
}
