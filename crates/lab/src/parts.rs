//! The interfaces of a lab when it was made, and how they differ now.
//!
//! A matching name is not enough: a namespace with the right name may be a different one, or cut off from the rest.

use super::names::{LabName, end_of, namespaces_of, path_of};
use super::record::Asked;
use super::{LabError, NAMESPACES};
use serde::{Deserialize, Serialize};
use std::path::Path;
use std::time::{Duration, Instant};
use sys::SysError;
use sys::link::{Below, LinkInfo, list};
use sys::netns::NetNs;

/// Time that an interface that is up may take to get its carrier; it usually takes milliseconds.
const CARRIER_PATIENCE: Duration = Duration::from_secs(5);
const LOOK: Duration = Duration::from_millis(10);

/// The interfaces of a lab.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Parts {
    namespaces: Vec<Namespace>,
    /// Ports of this machine that are its ends.
    ports: Vec<Interface>,
}

/// A network namespace of a lab.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Namespace {
    /// The name of the end: `ts`, `sw`, `dut` and so on.
    end: String,
    inode: u32,
    interfaces: Vec<Interface>,
}

/// The properties of an interface that decide whether frames pass.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Interface {
    name: String,
    index: u32,
    up: bool,
    carrier: bool,
    /// Index of the bridge that it is a port of.
    master: Option<u32>,
    /// The paired or underlying interface: its index, and the number of its namespace if that is a different one.
    below: Option<(u32, Option<i32>)>,
}

/// A fault of an interface. Earlier variants explain later ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Wrong {
    Gone,
    Another,
    Down,
    OffTheBridge,
    JoinedToAnother,
    NoCarrier,
}

impl Wrong {
    fn words(self) -> &'static str {
        match self {
            Self::Gone => "is gone",
            Self::Another => "is not the one that was made",
            Self::Down => "is down",
            Self::OffTheBridge => "is not in its bridge",
            Self::JoinedToAnother => "is joined to something else",
            Self::NoCarrier => "has no carrier",
        }
    }
}

impl Parts {
    /// Reads the interfaces of a newly made lab. Waits until each interface that is up has a carrier.
    ///
    /// # Errors
    /// An interface gets no carrier, or the kernel refused a request.
    pub(super) fn of(name: &LabName, asked: &Asked) -> Result<Self, LabError> {
        let begun = Instant::now();
        loop {
            let parts = Self::look(name, asked)?;
            match parts.without_carrier() {
                None => return Ok(parts),
                Some(interface) if begun.elapsed() > CARRIER_PATIENCE => {
                    let (interface, seconds) = (interface.to_owned(), CARRIER_PATIENCE.as_secs());
                    return Err(SysError::NoCarrier { interface, seconds }.into());
                }
                Some(_) => std::thread::sleep(LOOK),
            }
        }
    }

    fn look(name: &LabName, asked: &Asked) -> Result<Self, LabError> {
        let mut namespaces = Vec::new();
        for path in namespaces_of(Path::new(NAMESPACES), name) {
            let end = end_of(name, &path);
            let namespace = NetNs::open(&path)?;
            namespaces.push(Namespace {
                end,
                inode: namespace.inode()?,
                interfaces: namespace.run(list)??.iter().map(Interface::of).collect(),
            });
        }
        namespaces.sort_by(|one, other| one.end.cmp(&other.end));
        let is_port = |link: &&LinkInfo| asked.nic.contains(&link.name);
        let ports = list()?.iter().filter(is_port).map(Interface::of).collect();
        Ok(Self { namespaces, ports })
    }

    fn without_carrier(&self) -> Option<&str> {
        let of_namespaces = self.namespaces.iter().flat_map(|namespace| &namespace.interfaces);
        let mut all = of_namespaces.chain(&self.ports);
        let found = all.find(|interface| interface.up && !interface.carrier);
        found.map(|interface| interface.name.as_str())
    }

    /// Describes the change that explains most, in a lab whose namespaces all have their names. `None` if nothing changed.
    pub(super) fn missing(&self, name: &LabName, asked: &Asked) -> Option<String> {
        let now = match Self::look(name, asked) {
            Ok(now) => now,
            Err(error) => return Some(format!("its parts cannot be inspected: {error}")),
        };
        let mut wrong: Vec<(Wrong, String)> = changed(&self.ports, &now.ports, "of this machine").collect();
        for namespace in &self.namespaces {
            let path = path_of(name, &namespace.end);
            let Some(there) = now.namespaces.iter().find(|there| there.end == namespace.end) else {
                return Some(format!("{} is not a network namespace", path.display()));
            };
            if there.inode != namespace.inode {
                return Some(format!("{} is not the network namespace that was made", path.display()));
            }
            let place = format!("in {}", path.display());
            wrong.extend(changed(&namespace.interfaces, &there.interfaces, &place));
        }
        wrong.into_iter().min_by_key(|(wrong, _)| *wrong).map(|(_, text)| text)
    }
}

/// Describes the changes in one place.
fn changed(was: &[Interface], now: &[Interface], place: &str) -> impl Iterator<Item = (Wrong, String)> {
    was.iter().filter_map(move |was| {
        let wrong = was.wrong(now.iter().find(|now| now.name == was.name))?;
        Some((wrong, format!("{} {place} {}", was.name, wrong.words())))
    })
}

impl Interface {
    fn of(link: &LinkInfo) -> Self {
        Self {
            name: link.name.clone(),
            index: link.index,
            up: link.up,
            carrier: link.carrier,
            master: link.master,
            below: match link.below {
                Below::Nothing => None,
                Below::Here(index) => Some((index, None)),
                Below::Elsewhere { index, namespace } => Some((index, Some(namespace))),
            },
        }
    }

    /// The fault that now keeps frames off the interface and did not exist when the lab was made.
    fn wrong(&self, now: Option<&Self>) -> Option<Wrong> {
        let Some(now) = now else { return Some(Wrong::Gone) };
        let all = [
            (now.index != self.index, Wrong::Another),
            (self.up && !now.up, Wrong::Down),
            (now.master != self.master, Wrong::OffTheBridge),
            (now.below != self.below, Wrong::JoinedToAnother),
            (self.carrier && !now.carrier, Wrong::NoCarrier),
        ];
        all.into_iter().find_map(|(is_so, wrong)| is_so.then_some(wrong))
    }
}

#[cfg(test)]
mod tests {
    use super::{Interface, Wrong, changed};

    fn port() -> Interface {
        Interface {
            name: "p-dut".to_owned(),
            index: 4,
            up: true,
            carrier: true,
            master: Some(2),
            below: Some((2, Some(0))),
        }
    }

    #[test]
    fn an_interface_is_looked_at_in_all_that_lets_frames_pass() {
        let wrong = |now: Interface| port().wrong(Some(&now));
        assert_eq!(wrong(port()), None);
        assert_eq!(port().wrong(None), Some(Wrong::Gone));
        assert_eq!(wrong(Interface { index: 5, ..port() }), Some(Wrong::Another));
        let down = Interface {
            up: false,
            carrier: false,
            ..port()
        };
        assert_eq!(wrong(down.clone()), Some(Wrong::Down));
        assert_eq!(wrong(Interface { master: None, ..port() }), Some(Wrong::OffTheBridge));
        let other = Interface {
            below: Some((9, Some(0))),
            ..port()
        };
        assert_eq!(wrong(other), Some(Wrong::JoinedToAnother));
        let cut = Interface {
            carrier: false,
            ..port()
        };
        assert_eq!(wrong(cut), Some(Wrong::NoCarrier));
        // An interface that was down when the lab was made may stay down, or come up.
        assert_eq!(down.wrong(Some(&down)), None);
        assert_eq!(down.wrong(Some(&port())), None);
    }

    #[test]
    fn what_comes_beside_is_no_fault_and_what_is_missing_is_named_with_its_place() {
        let more = Interface {
            name: "more".to_owned(),
            ..port()
        };
        let texts = |now: &[Interface]| {
            changed(&[port()], now, "in /run/netns/x")
                .map(|(_, text)| text)
                .collect::<Vec<_>>()
        };
        assert!(texts(&[more.clone(), port()]).is_empty());
        assert_eq!(texts(&[more]), ["p-dut in /run/netns/x is gone"]);
    }
}
