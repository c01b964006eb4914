//! Kinds of interfaces, and the settings that each can have: a veth has no interrupt to hold back.

use model::NOT_APPLICABLE;
use sys::ethtool::{Ethtool, Silence};
use sys::link::LinkInfo;

/// Drivers of devices that a hypervisor makes up. They interrupt, but no cable ends in them.
pub const PARAVIRTUAL: [&str; 6] = ["virtio_net", "vmxnet3", "vif", "hv_netvsc", "ena", "gve"];

/// Kinds that rtnetlink names although a cable ends in them: ports of a switch on the board.
const WITH_A_CABLE: [&str; 1] = ["dsa"];

/// Part of an interface that a setting needs.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Needs {
    /// The end of a cable.
    Phy,
    /// A device that interrupts.
    Interrupts,
}

/// Kinds of interfaces.
pub(super) enum NicKind {
    /// A device with a cable: a card, or a function of one.
    Card,
    /// A device that a hypervisor makes up, by its driver.
    Paravirtual(String),
    /// Made on others of this namespace.
    Upon {
        /// `macvlan`, `bridge`.
        word: String,
        /// Their names.
        below: Vec<String>,
    },
    /// Made on one of another namespace.
    UponUnseen(String),
    /// Nothing but software: `veth`, `tun`, `loopback`.
    Software(String),
}

impl NicKind {
    /// `below`: what it is made on; `None` for an interface in another namespace.
    pub(super) fn of(link: &LinkInfo, said: &Ethtool, below: Option<Vec<String>>) -> Self {
        let driver = said
            .driver
            .as_ref()
            .map(|driver| driver.name.as_str())
            .unwrap_or_default();
        match (&link.kind, below) {
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

    /// The interfaces it is made on.
    pub(super) fn below(&self) -> &[String] {
        match self {
            Self::Upon { below, .. } => below,
            _ => &[],
        }
    }

    /// For a reader.
    pub(super) fn text(&self) -> String {
        match self {
            Self::Card => "device".to_owned(),
            Self::Paravirtual(driver) => format!("device of a hypervisor ({driver})"),
            Self::Upon { word, below } => format!("{word} on {}", below.join(", ")),
            Self::UponUnseen(word) => format!("{word} on an interface in another network namespace"),
            Self::Software(word) => word.clone(),
        }
    }

    /// Meaning of an answer that the driver does not give: cannot be, or not known.
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
                "{word} has no such thing, and what it is made on is in another network namespace"
            )),
            (Self::Card | Self::Paravirtual(_), _) => Err(silence.to_string()),
        }
    }
}
