//! The networks that a plan compares.

use bed::Network;
use serde::Deserialize;

/// Networks that the round trip is measured over, in turn.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Networks {
    /// The networks; one that is not available here is left out, and the result says so. The first is what the others are held
    /// against.
    pub networks: Vec<Network>,
    /// How often each is measured: forwards, backwards, forwards, so that a drift of the machine touches all alike.
    #[serde(default = "one")]
    pub rounds: u32,
}

fn one() -> u32 {
    1
}

impl Networks {
    /// How many measurements a step over the bed is.
    pub(super) fn times(&self) -> u64 {
        u64::from(self.rounds) * self.networks.len() as u64
    }
}
