//! The frames and the handshake that both ends of a round trip use.

use super::{ReflectConfig, Role};
use crate::error::ProbeError;
use crate::nic::Stamps;

/// Frames and handshake of the two ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Dialect {
    /// triptime's own: paced or not, with sequence numbers, at the other end triptime
    Triptime,
    /// DPDK's l2reflect, at the other end l2reflect or triptime: one frame goes back and forth, and both ends measure
    L2reflect,
}

impl Dialect {
    /// The word on the command line.
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Triptime => "triptime",
            Self::L2reflect => "l2reflect",
        }
    }

    /// Refuses settings that the dialect cannot express.
    pub(super) fn check(self, config: &ReflectConfig) -> Result<(), ProbeError> {
        if self == Self::Triptime {
            return Ok(());
        }
        let refusal = if config.role != Role::Auto {
            "has no roles to choose: both ends measure, and the one with the larger MAC address serves; leave out --role"
        } else if config.interval_ns != 0 {
            "is not paced: leave out --interval, or give --interval 0"
        } else if config.frames != 1 {
            "keeps one frame under way: leave out --frames"
        } else if config.vlan.is_some() {
            "has no VLAN tags: leave out --vlan"
        } else if config.stamps != Stamps::Off {
            "numbers no frames, so stamps cannot be assigned to them: leave out --stamps"
        } else {
            return Ok(());
        };
        Err(ProbeError::Usage(format!("reflect: --dialect l2reflect {refusal}")))
    }
}
