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

/// Options of every command that can send as a doubly attached node.
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

/// Refusal of other stamps than those of the kernel.
pub(crate) const STAMPED_BY_KERNEL: &str =
    "in two LANs frames are stamped by the kernel: leave out --stamps, or --lan-b";

impl LanArgs {
    /// The ports in both LANs, or the one port.
    ///
    /// # Errors
    /// A port cannot be opened.
    pub(crate) fn open_any(&self, a: &str, options: &PortOptions, numbers: &Numbers) -> Result<Port, ProbeError> {
        match self.open(a, options, numbers)? {
            Some(port) => Ok(port),
            None => Ok(PacketPort::open(a, options)?.into()),
        }
    }

    /// The same for a measure that only receives: each frame shows its protocol, so `--redundancy` has no effect.
    ///
    /// # Errors
    /// A port cannot be opened.
    pub(crate) fn receiving(&self, a: &str, options: &PortOptions) -> Result<Port, ProbeError> {
        self.open_any(a, options, &Numbers::default())
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
    DeviceOfKernel::refuse_as_lan(interfaces)?;
    let [a, b] = interfaces.map(|interface| PacketPort::open(interface, options));
    Ok(Pair::new(a?, b?, protocol, numbers)?.into())
}

/// Ports of a redundant device of the kernel (`ip link add type hsr`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct DeviceOfKernel {
    name: String,
    protocol: Protocol,
    /// The two in LAN A and LAN B; `None` for one that is gone, or in another network namespace.
    ports: [Option<String>; 2],
}

impl DeviceOfKernel {
    /// The device called `name`; `None` for another interface, or for one that cannot be looked up.
    pub(crate) fn of(name: &str) -> Option<Self> {
        let hsr = sys::link::find(name).ok()?.hsr?;
        let port = |index: u32| sys::link::find_index(index, None).ok()?.map(|link| link.name);
        Some(Self {
            name: name.to_owned(),
            protocol: match hsr.is_prp {
                true => Protocol::Prp,
                false => Protocol::Hsr,
            },
            ports: hsr.ports.map(|index| index.and_then(port)),
        })
    }

    /// Its ports, if both are there.
    pub(crate) fn both(&self) -> Option<[&str; 2]> {
        let [a, b] = &self.ports;
        a.as_deref().zip(b.as_deref()).map(|(a, b)| [a, b])
    }

    /// Protocol and ports, in words.
    pub(crate) fn words(&self) -> String {
        let [a, b] = self.ports.each_ref().map(|port| port.as_deref().unwrap_or("no port"));
        format!(
            "{} is a device of this kernel for {}: {a} (LAN A) and {b} (LAN B)",
            self.name,
            self.protocol.word()
        )
    }

    /// Note for a command that sends and receives through it.
    pub(crate) fn through(&self) -> String {
        format!(
            "{}; the kernel adds and removes the marks and discards the copies, so nothing is known about each LAN: name its ports to count there",
            self.words()
        )
    }

    /// Refuses it as the interface of one LAN.
    ///
    /// # Errors
    /// It is such a device.
    pub(crate) fn refuse_as_lan(interfaces: [&str; 2]) -> Result<(), ProbeError> {
        match interfaces.into_iter().find_map(Self::of) {
            Some(device) => Err(ProbeError::Usage(format!(
                "{}, and --lan-b needs an interface of one LAN: name these ports, or leave --lan-b out",
                device.words()
            ))),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::DeviceOfKernel;
    use wire::redundancy::Protocol;

    #[test]
    fn a_device_of_the_kernel_is_named_with_its_ports() {
        let device = |b: Option<&str>| DeviceOfKernel {
            name: "prp0".to_owned(),
            protocol: Protocol::Prp,
            ports: [Some("eth1".to_owned()), b.map(str::to_owned)],
        };
        let whole = device(Some("eth2"));
        assert_eq!(whole.both(), Some(["eth1", "eth2"]));
        assert_eq!(
            whole.words(),
            "prp0 is a device of this kernel for PRP: eth1 (LAN A) and eth2 (LAN B)"
        );
        assert_eq!(device(None).both(), None);
        assert!(device(None).through().contains("no port (LAN B); the kernel adds"));
    }

    #[test]
    fn other_interfaces_are_no_such_device() {
        assert_eq!(DeviceOfKernel::of("lo"), None);
        assert!(DeviceOfKernel::refuse_as_lan(["lo", "nowhere"]).is_ok());
    }
}
