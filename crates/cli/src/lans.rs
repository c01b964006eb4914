//! Options of a doubly attached node: a second interface, in LAN B.

use probes::{Numbers, Pair, Port, ProbeError};
use sys::packet::{PacketPort, PortOptions};
use wire::redundancy::Protocol;

/// Protocol of a redundant network.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum RedundancyArg {
    /// Parallel Redundancy Protocol: two networks, a trailer at the end of each frame
    Prp,
    /// High-availability Seamless Redundancy: a ring, a tag before the EtherType
    Hsr,
}

/// Heading of the options.
pub(crate) const HEADING: &str = "Redundancy (IEC 62439-3)";

/// Options of every command that can be a doubly attached node.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct LanArgs {
    /// Interface in LAN B of a redundant network; the other one is in LAN A. Frames are sent on both, and copies are discarded as a
    /// doubly attached node does it
    #[arg(long, value_name = "INTERFACE", help_heading = HEADING)]
    pub(crate) lan_b: Option<String>,
    /// Protocol of the redundant network
    #[arg(long, value_enum, default_value = "prp", requires = "lan_b", help_heading = HEADING)]
    pub(crate) redundancy: RedundancyArg,
}

impl LanArgs {
    /// The ports of the node in both LANs; `None` without LAN B. `numbers` are those of the node, for all its ports.
    ///
    /// # Errors
    /// A port cannot be opened.
    pub(crate) fn open(&self, a: &str, options: &PortOptions, numbers: &Numbers) -> Result<Option<Port>, ProbeError> {
        let Some(b) = &self.lan_b else { return Ok(None) };
        let protocol = match self.redundancy {
            RedundancyArg::Prp => Protocol::Prp,
            RedundancyArg::Hsr => Protocol::Hsr,
        };
        let [a, b] = [a, b].map(|interface| PacketPort::open(interface, options));
        Ok(Some(Pair::new(a?, b?, protocol, numbers)?.into()))
    }
}
