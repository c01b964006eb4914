//! A run: the facts known when it starts, and how it ended.

use units::Realtime;

/// The facts of a run when it starts.
#[derive(Debug, Clone, PartialEq)]
pub struct RunInfo {
    /// Unique name of the run: start time and random digits.
    pub id: String,
    /// The subcommand, such as `wakeup`.
    pub command: String,
    /// The command line as the user gave it.
    pub arguments: Vec<String>,
    /// Version of triptime that measured the run.
    pub tool_version: String,
    /// Wall-clock time of the run's start.
    pub started: Realtime,
    /// Length of a window in ns.
    pub window_ns: u64,
}

/// How a run ended, as found in its file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunState {
    /// Ran to its end.
    Complete,
    /// Ended by a signal or a full disk, or was never closed (killed, power cut). Every closed window is there.
    Interrupted,
    /// Still being written, by a process that is known to exist.
    Running,
}
