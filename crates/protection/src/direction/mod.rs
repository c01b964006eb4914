//! Direction of a fault (RDIR): of each phase, and of the residual current.

mod earth;
mod memory;
mod phase;

pub use earth::{EarthDirection, EarthDirectionSettings, EarthFound, EarthMode};
pub use memory::VoltageMemory;
pub use phase::{PhaseDirection, PhaseDirectionSettings, Polarising, Undecided};

use serde::Deserialize;

/// The direction that a function operates in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mode {
    /// Into the protected object.
    #[default]
    Forward,
    /// Behind the relay.
    Reverse,
}
