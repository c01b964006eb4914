//! The networks that a plan compares, or the two LANs of doubly attached nodes.

use bed::Network;
use serde::Deserialize;
use wire::redundancy::Protocol;

/// Networks over which the round trip is measured, in turn; or the network of which two are LAN A and LAN B.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Networks {
    /// The networks; the result lists those that are not available here and were left out. The others are compared with the first.
    #[serde(default)]
    pub networks: Vec<Network>,
    /// Number of rounds: forwards, backwards, forwards, so that a drift of the machine affects all networks alike.
    #[serde(default = "one")]
    pub rounds: u32,
    /// The nodes are doubly attached, and use this protocol; `None`: each has one interface.
    #[serde(default)]
    pub lans: Option<Lans>,
}

/// Protocol of the nodes in two LANs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Lans {
    /// Parallel Redundancy Protocol.
    Prp,
    /// High-availability Seamless Redundancy.
    Hsr,
}

impl From<Lans> for Protocol {
    fn from(lans: Lans) -> Self {
        match lans {
            Lans::Prp => Self::Prp,
            Lans::Hsr => Self::Hsr,
        }
    }
}

fn one() -> u32 {
    1
}

impl Networks {
    /// Number of measurements of one step over the bed.
    pub(super) fn times(&self) -> u64 {
        u64::from(self.rounds) * self.networks.len().max(1) as u64
    }

    /// The network of which two are the LANs.
    pub(super) fn of_lans(&self) -> Network {
        self.networks.first().copied().unwrap_or(Network::Bridge)
    }
}
