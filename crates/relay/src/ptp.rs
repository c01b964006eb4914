//! The synchronisation of the host's clock by PTP, as the relay sees it.
//!
//! The driver tells the engine its state once a task; the engine itself reads no clock.

use protection::measure::Blocks;
use serde::Deserialize;

/// State of the host's PTP. Without any word from `ptp4l` it is unknown, never synchronised.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum PtpState {
    /// Nothing tells: no `ptp4l` answers, or the last reading is too old.
    #[default]
    Unknown,
    /// The clock follows its master.
    Synchronised,
    /// The clock follows no master, or not closely enough.
    Lost,
}

impl PtpState {
    /// Every state, by number.
    pub const ALL: [Self; 3] = [Self::Unknown, Self::Synchronised, Self::Lost];

    /// The state as a word.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Unknown => "unknown",
            Self::Synchronised => "synchronised",
            Self::Lost => "lost",
        }
    }
}

/// Response of the relay when its host's PTP is lost, or its state is unknown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PtpLoss {
    /// All functions are blocked, and the health is an alarm.
    Block,
    /// The health is a warning; the functions go on.
    Warn,
    /// The relay does not look at it.
    #[default]
    Ignore,
}

impl PtpLoss {
    /// The response as a word, as in the file.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Block => "block",
            Self::Warn => "warn",
            Self::Ignore => "ignore",
        }
    }

    /// True if the relay looks at its host's PTP.
    #[must_use]
    pub fn looks(self) -> bool {
        self != Self::Ignore
    }

    /// Reasons that this state adds to those of every stream.
    pub(crate) fn blocks(self, state: PtpState) -> Blocks {
        Blocks::HOST_CLOCK.when(self == Self::Block && state != PtpState::Synchronised)
    }

    /// True if this state makes the health a warning.
    pub(crate) fn warns(self, state: PtpState) -> bool {
        self == Self::Warn && state != PtpState::Synchronised
    }
}
