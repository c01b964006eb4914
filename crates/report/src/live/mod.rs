//! The page of a run that is still measured: a verdict so far, which is never a pass, and what a person looks for meanwhile.

mod page;
#[cfg(test)]
mod tests;

/// State of a run, as far as it can be seen from outside.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LiveState {
    /// It gets ready to measure.
    Starting,
    /// It measures.
    Measuring,
    /// It closes its file and writes its report.
    Finishing,
    /// Its process exists, and a part of it stands still.
    Stuck,
    /// It ran to its end.
    Complete,
    /// It was ended early.
    Interrupted,
    /// Its process is gone, and has not closed the file.
    Killed,
    /// Its file was not closed, and no process is known to write it.
    Unknown,
}

impl LiveState {
    /// Its word in a document.
    pub fn word(self) -> &'static str {
        match self {
            Self::Starting => "starting",
            Self::Measuring => "measuring",
            Self::Finishing => "finishing",
            Self::Stuck => "stuck",
            Self::Complete => "complete",
            Self::Interrupted => "interrupted",
            Self::Killed => "killed",
            Self::Unknown => "unknown",
        }
    }

    /// True while more samples may come.
    pub fn is_running(self) -> bool {
        matches!(self, Self::Starting | Self::Measuring | Self::Finishing | Self::Stuck)
    }

    /// True if the figures are no longer renewed although the run has not ended properly.
    fn is_trouble(self) -> bool {
        matches!(self, Self::Stuck | Self::Interrupted | Self::Killed | Self::Unknown)
    }
}

/// A run under way, beside what its file tells.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Live {
    /// Its state.
    pub state: LiveState,
    /// Explanation of the state, if it needs one; text of others.
    pub why: Option<String>,
    /// The step under way, in words; text of others.
    pub doing: Option<String>,
    /// How long it will still measure, in ns, if that is known.
    pub left_ns: Option<u64>,
    /// Time since the end of the last window in the file, in ns.
    pub age_ns: u64,
}

/// The script that renews the page without losing the place; it is served beside the page.
pub const SCRIPT: &str = include_str!("../../assets/live.js");
