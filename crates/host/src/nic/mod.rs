//! Network interfaces on which a run measures: their facts, and the doubts that they cast on a measurement.
//!
//! The driver is asked as by `ethtool` ([`sys::ethtool`]), the kernel for the link and its queueing disciplines, and `/sys` and `/proc` for
//! the rest. An interface above others (macvlan, VLAN, bridge, bond) is examined together with them, because their cards handle its frames.
//! All questions are asked in the calling thread's network namespace, and nothing is changed.

pub(crate) mod device;
mod doubts;
mod facts;
pub(crate) mod files;
pub mod interface;
pub mod interrupts;
mod kind;
mod port;
mod settings;
#[cfg(test)]
mod tests;

pub use doubts::{Measurement, doubts};
pub use kind::PARAVIRTUAL;
pub use port::port_name;
pub use settings::{LONGEST_IN_MODE_US, is_mode};

use crate::Host;
use interface::Interface;
use interrupts::NicInterrupt;
use kind::NicKind;
use model::Fact;
use sys::SysError;
use sys::ethtool::Ethtool;
use sys::link::{Below, LinkInfo, Qdisc};

/// Maximum number of interfaces examined below one: a bridge can have hundreds of ports.
const MOST_BELOW: usize = 16;

/// Kinds that consist of their member interfaces.
const MADE_OF_PORTS: [&str; 3] = ["bridge", "bond", "team"];

/// Kinds that are above another interface.
const MADE_ON_ONE: [&str; 6] = ["macvlan", "macvtap", "vlan", "ipvlan", "ipvtap", "macsec"];

/// An interface, as it was when it was examined.
struct Nic {
    link: LinkInfo,
    kind: NicKind,
    said: Ethtool,
    qdiscs: Result<Vec<Qdisc>, String>,
    /// Facts from its files, or the reason that there are none, if `/sys` shows another namespace.
    files: Result<Files, String>,
}

struct Files {
    facts: Vec<Fact>,
    interrupts: Vec<NicInterrupt>,
}

impl Files {
    fn of(name: &str) -> Self {
        let host = Host::live();
        Self {
            facts: host.nic_facts(name),
            interrupts: host.nic_interrupts(name).unwrap_or_default(),
        }
    }
}

impl Nic {
    fn read(name: &str) -> Result<Self, SysError> {
        let said = sys::ethtool::read(name)?;
        let link = sys::link::find(name)?;
        let kind = NicKind::of(&link, &said, below(&link)?);
        Ok(Self {
            kind,
            said,
            qdiscs: sys::link::qdiscs(name).map_err(|error| error.to_string()),
            files: files(&link),
            link,
        })
    }

    fn name(&self) -> &str {
        &self.link.name
    }
}

/// Facts of the interface `name` and of those below it, each in a group `nic NAME`. An interface that cannot be examined is a fact without
/// a value.
pub fn facts(name: &str) -> Vec<Fact> {
    facts_of(&[name.to_owned()])
}

/// Facts of several interfaces, each once.
pub fn facts_of(names: &[String]) -> Vec<Fact> {
    let asked = with_below(names);
    asked
        .into_iter()
        .flat_map(|(name, nic)| facts::of(&name, nic.as_ref()))
        .collect()
}

/// Interfaces `names` and those below them, each once, as far as they can be examined.
fn with_below(names: &[String]) -> Vec<(String, Result<Nic, String>)> {
    let mut open: Vec<String> = names.to_vec();
    let mut asked: Vec<(String, Result<Nic, String>)> = Vec::new();
    let most = names.len() + MOST_BELOW;
    while asked.len() < most && !open.is_empty() {
        let name = open.remove(0);
        if asked.iter().any(|(known, _)| *known == name) {
            continue;
        }
        let nic = Nic::read(&name).map_err(|error| error.to_string());
        if let Ok(nic) = &nic {
            open.extend(nic.kind.below().iter().cloned());
        }
        asked.push((name, nic));
    }
    asked
}

/// Interfaces below an interface: names, or `None` for one in another namespace.
fn below(link: &LinkInfo) -> Result<Option<Vec<String>>, SysError> {
    let kind = link.kind.as_deref().unwrap_or_default();
    let of = |fits: &dyn Fn(&LinkInfo) -> bool| -> Result<Vec<String>, SysError> {
        let all = sys::link::list()?;
        Ok(all
            .into_iter()
            .filter(|other| fits(other))
            .map(|other| other.name)
            .collect())
    };
    if let Some(hsr) = link.hsr {
        // Its ports do not name it as their master. They come in the order of the LANs.
        let mut ports = Vec::new();
        for port in hsr.ports.into_iter().flatten() {
            ports.extend(of(&|other| other.index == port)?);
        }
        return Ok(Some(ports));
    }
    if MADE_OF_PORTS.contains(&kind) {
        return of(&|other| other.master == Some(link.index)).map(Some);
    }
    match link.below {
        Below::Here(index) if MADE_ON_ONE.contains(&kind) => of(&|other| other.index == index).map(Some),
        Below::Elsewhere { .. } if MADE_ON_ONE.contains(&kind) => Ok(None),
        _ => Ok(Some(Vec::new())),
    }
}

/// Reads the files. `/sys` may show another network namespace, with an interface of the same name in it: then the files are read again
/// through a `/sys` of this one.
fn files(link: &LinkInfo) -> Result<Files, String> {
    if shows(link) {
        return Ok(Files::of(&link.name));
    }
    let own = sys::netns::with_own_sys(|| shows(link).then(|| Files::of(&link.name)));
    match own {
        Ok(Some(files)) => Ok(files),
        Ok(None) => Err("/sys does not show it".to_owned()),
        Err(error) => Err(format!("/sys shows another network namespace ({error})")),
    }
}

/// True if `/sys` shows the same interface as netlink.
fn shows(link: &LinkInfo) -> bool {
    let mac = link.mac.map(|octet| format!("{octet:02x}")).join(":");
    let is_same = |other: &Interface| {
        other.name == link.name && other.index == Some(link.index) && other.mac.as_deref() == Some(mac.as_str())
    };
    Host::live().interfaces().is_ok_and(|all| all.iter().any(is_same))
}
