//! Errors when starting a load.

use sys::{ErrorKind, SysError};

/// An amount outside a load's range.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{load} load: {key} is {value}: {rule}")]
pub struct AmountError {
    /// The kind of load.
    pub load: &'static str,
    /// Key of the amount.
    pub key: &'static str,
    /// Value that was given.
    pub value: String,
    /// The allowed values.
    pub rule: String,
}

/// Reasons why a load does not start.
#[derive(Debug, Clone, thiserror::Error)]
pub enum LoadError {
    /// No CPU to run on.
    #[error("{load}: no CPU to run on: name at least one")]
    NoCpu {
        /// The load.
        load: String,
    },
    /// An impossible amount.
    #[error(transparent)]
    Amount(#[from] AmountError),
    /// Not enough memory.
    #[error("{load} load: not enough memory for {buffers} buffers of {bytes} bytes: use smaller or fewer ones")]
    NoMemory {
        /// The kind of load.
        load: &'static str,
        /// Buffers, one per thread.
        buffers: usize,
        /// Bytes of one buffer.
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
    /// A thread, socket or pipe that the system could not provide.
    #[error("{load}: {operation}: {why}")]
    System {
        /// The load.
        load: String,
        /// Operation that failed.
        operation: &'static str,
        /// The reason.
        why: String,
    },
    /// A CPU, namespace or packet socket that cannot be used.
    #[error("{load}: {source}")]
    Refused {
        /// The load.
        load: String,
        /// The error of the kernel.
        source: SysError,
    },
}

impl LoadError {
    /// Distinguishes an invalid request from missing resources of the machine.
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::NoCpu { .. } | Self::Amount(_) | Self::Words { .. } | Self::Program { .. } => ErrorKind::Usage,
            Self::NoMemory { .. } | Self::System { .. } => ErrorKind::CouldNotMeasure,
            Self::Refused { source, .. } => source.kind(),
        }
    }
}
