//! Kind of an interface, the interfaces below it, and those above it.

use super::macvlan::Macvlans;
use crate::facts::Subject;
use crate::value::{Known, Unknown, Value};
use host::error::HostError;
use host::nic::interface::{self, InterfaceKind, ROOT, driver};
use host::nic::{PARAVIRTUAL, interface::Interface};
use host::reader::Reader;

/// Flags of linux/if.h, as `/sys/class/net/NAME/flags` shows them, including those that other parts of the kernel requested.
const PROMISCUOUS: u32 = 0x100;
const ALL_MULTICAST: u32 = 0x200;

/// Interfaces of the network namespace whose `/sys` is read.
pub(super) struct Links(Result<Vec<Link>, HostError>);

/// An interface above another one, with the kind that `/sys` shows.
pub(super) type Upon = (String, InterfaceKind);

/// One interface.
pub(super) struct Link {
    pub(super) interface: Interface,
    /// Interfaces below it.
    pub(super) below: Vec<String>,
}

impl Links {
    pub(super) fn read(reader: &Reader) -> Self {
        let all = interface::all(reader).map(|all| {
            let with_below = all.into_iter().map(|interface| Link {
                below: below(reader, &interface.name),
                interface,
            });
            with_below.collect()
        });
        Self(all)
    }

    /// Without a list of interfaces, none is known to be absent.
    fn all(&self) -> Result<&[Link], Unknown> {
        let all = self.0.as_ref().map(Vec::as_slice);
        all.map_err(|error| Unknown::unclear(error.to_string()))
    }

    /// Interface called `name`.
    pub(super) fn find(&self, name: &str) -> Result<&Link, Unknown> {
        let all = self.all()?;
        let found = all.iter().find(|link| link.interface.name == name);
        found.ok_or_else(|| Unknown::unclear(format!("{ROOT} shows no interface {name}")))
    }

    /// Names of the interfaces below this one.
    pub(super) fn below(&self, name: &str) -> Vec<String> {
        self.find(name).map(|link| link.below.clone()).unwrap_or_default()
    }

    /// Interfaces of this namespace above this one.
    pub(super) fn upon(&self, name: &str) -> Result<Vec<Upon>, Unknown> {
        let is_on = |link: &&Link| link.below.iter().any(|below| below == name);
        let upon = self.all()?.iter().filter(is_on);
        Ok(upon
            .map(|link| (link.interface.name.clone(), link.interface.kind))
            .collect())
    }
}

fn below(reader: &Reader, name: &str) -> Vec<String> {
    let names = reader.names(&format!("{ROOT}/{name}"), |entry| entry.starts_with("lower_"));
    let names = names.unwrap_or_default().into_iter();
    names
        .filter_map(|name| name.strip_prefix("lower_").map(str::to_owned))
        .collect()
}

pub(super) fn gather(reader: &Reader, links: &Links, macvlans: &Macvlans, name: &str, part: &mut Subject) {
    let link = links.find(name);
    part.set("nic.kind", link.map(|link| kind(reader, macvlans, &link.interface)));
    let flags = links.find(name).and_then(|_| flags(reader, name));
    let flag = |bit: u32| flags.clone().map(|flags| flags & bit != 0);
    part.set("nic.promiscuous", flag(PROMISCUOUS));
    part.set("nic.all-multicast", flag(ALL_MULTICAST));
    let bridge = links.find(name).and_then(|link| bridge(reader, &link.interface));
    for (fact, file) in [
        ("nic.bridge-snooping", "multicast_snooping"),
        ("nic.bridge-stp", "stp_state"),
    ] {
        part.set_known(fact, of_bridge(reader, &bridge, file));
    }
    part.set("nic.bridge", bridge);
}

/// Kind: `device`, `paravirtual` for one that a hypervisor emulates, or the kernel's word.
fn kind(reader: &Reader, macvlans: &Macvlans, interface: &Interface) -> String {
    if macvlans.has(&interface.name) == Ok(true) {
        return InterfaceKind::Macvlan.word().to_owned();
    }
    if interface.kind != InterfaceKind::Device {
        return interface.kind.word().to_owned();
    }
    let made_up = driver(reader, &interface.name).is_ok_and(|driver| PARAVIRTUAL.contains(&driver.as_str()));
    if made_up { "paravirtual" } else { "device" }.to_owned()
}

fn flags(reader: &Reader, name: &str) -> Result<u32, Unknown> {
    let path = format!("{ROOT}/{name}/flags");
    let line = reader.line(&path)?;
    let digits = line.strip_prefix("0x").unwrap_or(&line);
    u32::from_str_radix(digits, 16).map_err(|_| Unknown::unclear(format!("{path}: {line} is not a number")))
}

/// Bridge that the interface is or belongs to.
fn bridge(reader: &Reader, interface: &Interface) -> Result<String, Unknown> {
    if interface.kind == InterfaceKind::Bridge {
        return Ok(interface.name.clone());
    }
    let path = format!("{ROOT}/{}/brport/bridge", interface.name);
    let target = reader.target(&path)?;
    let name = target.file_name().and_then(|name| name.to_str()).map(str::to_owned);
    name.ok_or_else(|| Unknown::unclear(format!("{path} leads nowhere")))
}

fn of_bridge(reader: &Reader, bridge: &Result<String, Unknown>, file: &str) -> Known {
    let path = format!("{ROOT}/{}/bridge/{file}", bridge.clone()?);
    Ok(Value::Text(reader.line(&path)?))
}
