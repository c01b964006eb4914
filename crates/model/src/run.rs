//! A run: what is known when it starts, and how it ended.

use units::Realtime;

/// The facts of a run when it starts.
#[derive(Debug, Clone, PartialEq)]
pub struct RunInfo {
    /// Unique name of the run: start time and random digits.
    pub id: String,
    /// The subcommand, such as `wakeup`.
    pub command: String,
    /// The command line as it was given.
    pub arguments: Vec<String>,
    /// Version of triptime that measured.
    pub tool_version: String,
    /// Wall-clock time of the run's start.
    pub started: Realtime,
    /// Length of a window.
    pub window_ns: u64,
}

/// How a run ended, as an opened file shows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunState {
    /// Ran to its end.
    Complete,
    /// Ended by a signal, a full disk, or never closed (killed, power cut): every closed window is there.
    Interrupted,
}
