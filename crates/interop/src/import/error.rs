//! Errors when converting files to a run.

use units::Ns;

/// Reasons why files cannot be converted to a run.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ImportError {
    /// There is no file.
    #[error("no file was given")]
    Nothing,
    /// The interval is neither in the file nor given.
    #[error("{file}: does not state the interval of thread {thread}: give it (--interval 200us)")]
    NoInterval {
        /// The file.
        file: String,
        /// Number of the thread.
        thread: u32,
    },
    /// The interval in the file differs from the given one.
    #[error(
        "{file}: thread {thread} was measured every {}, not every {}: leave the interval out",
        Ns(*found), Ns(*given)
    )]
    OtherInterval {
        /// The file.
        file: String,
        /// Number of the thread.
        thread: u32,
        /// Interval in the file, in ns.
        found: u64,
        /// Given interval, in ns.
        given: u64,
    },
    /// More activations than fit into the run.
    #[error(
        "{file}: {activations} activations of thread {thread} every {} take {}, but the file says that all took {}: the interval \
         must be shorter",
        Ns(*interval_ns), Ns(*needed_ns), Ns(*lasted_ns)
    )]
    TooLong {
        /// The file.
        file: String,
        /// Number of the thread.
        thread: u32,
        /// Cycles, plus the periods that were certainly skipped.
        activations: u64,
        /// Interval in ns.
        interval_ns: u64,
        /// Duration of the activations in ns.
        needed_ns: u64,
        /// Time from start to end, as the file states, in ns.
        lasted_ns: u64,
    },
    /// Two files of different machines.
    #[error("{file}: measured on \"{other}\", but {first} on \"{host}\": import it into a run of its own")]
    OtherMachine {
        /// The file.
        file: String,
        /// Its host.
        other: String,
        /// The first file.
        first: String,
        /// Its host.
        host: String,
    },
    /// One CPU or thread, measured with two different intervals.
    #[error(
        "{file}: {series} was measured every {}, in a file before every {}: import it into a run of its own",
        Ns(*interval_ns), Ns(*before_ns)
    )]
    TwoIntervals {
        /// The file.
        file: String,
        /// Name of the series.
        series: String,
        /// Interval in this file, in ns.
        interval_ns: u64,
        /// Interval in an earlier file, in ns.
        before_ns: u64,
    },
    /// Impossibly large counts.
    #[error("{file}: thread {thread}: its counts are beyond what a run can hold")]
    TooMuch {
        /// The file.
        file: String,
        /// Number of the thread.
        thread: u32,
    },
    /// The input files cannot be stored in the run.
    #[error("the run cannot keep what was read: {0}")]
    NotKept(String),
}
