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

/// Options of every command that sends as a doubly attached node.
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
        let protocol = match self.redundancy {
            RedundancyArg::Prp => Protocol::Prp,
            RedundancyArg::Hsr => Protocol::Hsr,
        };
        let pair = |b: &String| pair([a, b], options, protocol, numbers);
        self.lan_b.as_ref().map(pair).transpose()
    }
}

/// The option of a command that only receives: each frame shows its protocol.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct ReceivingLanArgs {
    /// Interface in LAN B of a redundant network (PRP, HSR); the other one is in LAN A. Copies are discarded as a doubly attached node does it
    #[arg(long, value_name = "INTERFACE", help_heading = HEADING)]
    pub(crate) lan_b: Option<String>,
}

impl ReceivingLanArgs {
    /// The ports in both LANs; `None` without LAN B.
    ///
    /// # Errors
    /// A port cannot be opened.
    pub(crate) fn open(&self, a: &str, options: &PortOptions) -> Result<Option<Port>, ProbeError> {
        // Nothing is sent, so the protocol does not matter.
        let pair = |b: &String| pair([a, b], options, Protocol::Prp, &Numbers::default());
        self.lan_b.as_ref().map(pair).transpose()
    }
}

fn pair(
    interfaces: [&str; 2],
    options: &PortOptions,
    protocol: Protocol,
    numbers: &Numbers,
) -> Result<Port, ProbeError> {
    let [a, b] = interfaces.map(|interface| PacketPort::open(interface, options));
    Ok(Pair::new(a?, b?, protocol, numbers)?.into())
}
