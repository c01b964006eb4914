//! A second device, played by the test set: its GOOSE blocks, permits or orders the relay's trip, and an attacker sends messages under its name.

mod attack;
mod hostile;
mod program;
mod sender;

pub use hostile::Hostile;
pub(super) use sender::{Order, Peer};

use crate::error::ProbeError;
use serde::Deserialize;
use std::fmt;
use streamset::goose::ControlBlock;
use wire::goose::Value;

/// Meaning of the peer's member for the relay.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PeerRole {
    /// While it is true, a fault must not trip the relay
    Block,
    /// A fault trips the relay only while it is true
    Permission,
    /// The relay trips when it becomes true, without a fault
    Transfer,
}

impl fmt::Display for PeerRole {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Block => "block",
            Self::Permission => "permission",
            Self::Transfer => "transfer",
        })
    }
}

impl PeerRole {
    /// Value with which the relay must trip.
    pub(super) fn trips_with(self) -> bool {
        self != Self::Block
    }

    /// True if the fault of a scenario is needed for a trip.
    pub(super) fn needs_fault(self) -> bool {
        self != Self::Transfer
    }
}

/// The second device.
#[derive(Debug, Clone)]
pub struct PeerConfig {
    /// Its control block. Changes by a schedule are not used.
    pub block: ControlBlock,
    /// Number of the member, a boolean, that the relay uses.
    pub member: usize,
    /// Meaning of this member.
    pub role: PeerRole,
    /// Attacks, each with shots of its own.
    pub hostile: Vec<Hostile>,
}

/// The peer's member all through a shot, and the attack meanwhile.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Course {
    /// Value before the instant of the fault.
    pub(super) before: bool,
    /// Value from then on, until some time after the disturbance. It is false after that.
    pub(super) during: bool,
    pub(super) hostile: Option<Hostile>,
}

impl Course {
    /// A permission all through a shot.
    pub(super) const PERMITTED: Self = Self {
        before: true,
        during: true,
        hostile: None,
    };
}

/// Shortest steady state in ns before a fault, so that the relay has taken the peer's change.
const SETTLE_NS: u64 = 200_000_000;

impl PeerConfig {
    /// True if the relay trips for a fault only while the peer permits it.
    pub(super) fn permits(&self) -> bool {
        self.role == PeerRole::Permission
    }

    /// Checks the settings against those of the test set.
    ///
    /// # Errors
    /// A member that is no boolean, an attack that these messages cannot carry, or too short a steady state.
    pub(super) fn check(&self, settle_ns: u64) -> Result<(), ProbeError> {
        let usage = |problem: String| Err(ProbeError::Usage(format!("trip: the peer's GOOSE: {problem}")));
        let values = &self.block.message.all_data;
        if !matches!(values.get(self.member), Some(Value::Boolean(_))) {
            return usage(format!(
                "member {} is not a boolean of its dataset: name another (--peer-member)",
                self.member
            ));
        }
        if let Some(case) = self.hostile.iter().find(|case| !case.fits(values)) {
            return usage(format!(
                "its dataset has no quality whose test bit could be set: leave out --hostile-goose {case}, or add a member of type quality"
            ));
        }
        let times = |case: &Hostile| self.hostile.iter().filter(|other| *other == case).count();
        if let Some(case) = self.hostile.iter().find(|case| times(case) > 1) {
            return usage(format!("--hostile-goose {case} is given twice"));
        }
        if settle_ns < SETTLE_NS {
            return usage(
                "--settle must be at least 200ms, so that the relay has taken its change before the fault".to_owned(),
            );
        }
        Ok(())
    }
}
