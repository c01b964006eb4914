//! The networks that a plan compares.

use bed::Network;
use serde::Deserialize;

/// Networks over which the round trip is measured, in turn.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Networks {
    /// The networks; the result lists those that are not available here and were left out. The others are compared with the first.
    pub networks: Vec<Network>,
    /// Number of rounds: forwards, backwards, forwards, so that a drift of the machine affects all networks alike.
    #[serde(default = "one")]
    pub rounds: u32,
}

fn one() -> u32 {
    1
}

impl Networks {
    /// Number of measurements of one step over the bed.
    pub(super) fn times(&self) -> u64 {
        u64::from(self.rounds) * self.networks.len() as u64
    }
}
