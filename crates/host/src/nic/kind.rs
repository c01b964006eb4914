//! Kinds of interfaces, and the settings that each can have: a veth has no interrupt to hold back.

use model::NOT_APPLICABLE;
use sys::ethtool::{Ethtool, Silence};
use sys::link::LinkInfo;

/// Drivers of devices that a hypervisor provides. They raise interrupts, but have no cable.
pub const PARAVIRTUAL: [&str; 6] = ["virtio_net", "vmxnet3", "vif", "hv_netvsc", "ena", "gve"];

/// Kinds that rtnetlink names but that have a cable: ports of a switch on the board.
const WITH_A_CABLE: [&str; 1] = ["dsa"];

/// Part of an interface that a setting needs.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Needs {
    /// The end of a cable.
    Phy,
    /// A device that raises interrupts.
    Interrupts,
}

/// Kinds of interfaces.
pub(super) enum NicKind {
    /// A device with a cable: a card, or a function of one.
    Card,
    /// A device that a hypervisor provides, by its driver.
    Paravirtual(String),
    /// An interface above others of this namespace.
    Upon {
        /// Kind, such as `macvlan`, `bridge`.
        word: String,
        /// Names of the interfaces below.
        below: Vec<String>,
    },
    /// An interface above one of another namespace.
    UponUnseen(String),
    /// Software only: `veth`, `tun`, `loopback`.
    Software(String),
}

impl NicKind {
    /// `below`: the interfaces below this one; `None` for an interface in another namespace.
    pub(super) fn of(link: &LinkInfo, said: &Ethtool, below: Option<Vec<String>>) -> Self {
        let driver = said
            .driver
            .as_ref()
            .map(|driver| driver.name.as_str())
            .unwrap_or_default();
        // The kernel has one kind of device for both protocols.
        let kind = match link.hsr {
            Some(hsr) if hsr.is_prp => Some("hsr (PRP)".to_owned()),
            Some(_) => Some("hsr (HSR)".to_owned()),
            None => link.kind.clone(),
        };
        match (&kind, below) {
            (Some(kind), None) => Self::UponUnseen(kind.clone()),
            (Some(kind), Some(below)) if !below.is_empty() => Self::Upon {
                word: kind.clone(),
                below,
            },
            (Some(kind), _) if !WITH_A_CABLE.contains(&kind.as_str()) => Self::Software(kind.clone()),
            (None, _) if link.name == "lo" => Self::Software("loopback".to_owned()),
            _ if PARAVIRTUAL.contains(&driver) => Self::Paravirtual(driver.to_owned()),
            _ => Self::Card,
        }
    }

    /// Names of the interfaces below this one.
    pub(super) fn below(&self) -> &[String] {
        match self {
            Self::Upon { below, .. } => below,
            _ => &[],
        }
    }

    /// Text for a reader.
    pub(super) fn text(&self) -> String {
        match self {
            Self::Card => "device".to_owned(),
            Self::Paravirtual(driver) => format!("device of a hypervisor ({driver})"),
            Self::Upon { word, below } => format!("{word} on {}", below.join(", ")),
            Self::UponUnseen(word) => format!("{word} on an interface in another network namespace"),
            Self::Software(word) => word.clone(),
        }
    }

    /// Meaning of a missing answer: not applicable, or unknown.
    pub(super) fn without(&self, needs: Needs, silence: &Silence) -> Result<String, String> {
        if *silence != Silence::Unsupported {
            return Err(silence.to_string());
        }
        match (self, needs) {
            (Self::Software(word), _) => Ok(format!("{NOT_APPLICABLE}: {word} has no such thing")),
            (Self::Upon { word, below }, _) => Ok(format!(
                "{NOT_APPLICABLE}: {word} has no such thing; see {}",
                below.join(", ")
            )),
            (Self::Paravirtual(driver), Needs::Phy) => Ok(format!(
                "{NOT_APPLICABLE}: {driver} is made by the hypervisor, and no cable ends in it; see the host's card"
            )),
            (Self::UponUnseen(word), _) => Err(format!(
                "{word} has no such thing, and the interface below it is in another network namespace"
            )),
            (Self::Card | Self::Paravirtual(_), _) => Err(silence.to_string()),
        }
    }
}
