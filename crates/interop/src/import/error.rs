//! Why files cannot be made a run.

use units::Ns;

/// Why files cannot be made a run.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ImportError {
    /// No file.
    #[error("no file was given")]
    Nothing,
    /// The file does not say the interval, nor was it given.
    #[error("{file}: does not state the interval of thread {thread}: give it (--interval 200us)")]
    NoInterval {
        /// The file.
        file: String,
        /// Number of the thread.
        thread: u32,
    },
    /// The file says another interval than the one given.
    #[error(
        "{file}: thread {thread} was measured every {}, not every {}: leave the interval out",
        Ns(*found), Ns(*given)
    )]
    OtherInterval {
        /// The file.
        file: String,
        /// Number of the thread.
        thread: u32,
        /// As the file says, in ns.
        found: u64,
        /// As it was given, in ns.
        given: u64,
    },
    /// More activations than the run had time for.
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
        /// Cycles, and periods skipped for certain.
        activations: u64,
        /// Interval in ns.
        interval_ns: u64,
        /// How long they take, in ns.
        needed_ns: u64,
        /// Start to end as the file says, in ns.
        lasted_ns: u64,
    },
    /// Two files that are not of one machine.
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
    /// One CPU or thread, measured with two intervals.
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
        /// Interval in a file before, in ns.
        before_ns: u64,
    },
    /// Counts that no measurement can reach.
    #[error("{file}: thread {thread}: its counts are beyond what a run can hold")]
    TooMuch {
        /// The file.
        file: String,
        /// Number of the thread.
        thread: u32,
    },
    /// The files as they were read cannot be kept in the run.
    #[error("the run cannot keep what was read: {0}")]
    NotKept(String),
}
