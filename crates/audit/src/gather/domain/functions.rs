//! Virtual functions of network cards that a domain uses, and the card's treatment of their frames. Only the kernel's answer on the card's
//! own interface shows that: the guest cannot see it.

use sys::link::VirtualFunction;
use toml::{Table, Value as Toml};

use super::Scene;
use super::nics::{NETWORK, pools};
use crate::definition::devices::HostDevice;
use crate::definition::domain::Domain;
use crate::facts::Subject;
use crate::gather::network::only_live;
use crate::gather::shared::{Search, unclear};
use crate::value::Unknown;
use host::error::HostError;
use host::reader::Reader;

const DEVICES: &str = "/sys/bus/pci/devices";
/// Prefix of the link from a card to its virtual function, before the number (Linux: ABI/testing/sysfs-bus-pci).
const LINK: &str = "virtfn";

/// A virtual function that the domain uses.
struct Function<'a> {
    device: &'a HostDevice,
    /// Interface of its card.
    port: String,
    number: u32,
    said: Result<Table, Unknown>,
}

/// Findings on all functions of a domain.
#[derive(Default)]
struct Found {
    all: Search,
    untrusted: Search,
    spoof_checked: Search,
    held_back: Search,
    vlan_unasked: Search,
    vlan_asked: Search,
}

/// Stores the virtual functions, and those that do not pass the guest's frames unchanged.
pub(super) fn note(part: &mut Subject, scene: &Scene<'_>, domain: Result<&Domain, Unknown>) {
    let found = domain.map(|domain| find(scene, domain));
    let mut set = |name: &str, pick: fn(&Found) -> &Search| {
        let list = found
            .as_ref()
            .map_err(Unknown::clone)
            .and_then(|found| pick(found).clone().result());
        part.set(&format!("dom.{name}"), list);
    };
    set("vfs", |found| &found.all);
    set("vfs-untrusted", |found| &found.untrusted);
    set("vfs-spoof-checked", |found| &found.spoof_checked);
    set("vfs-held-back", |found| &found.held_back);
    set("vfs-vlan-unasked", |found| &found.vlan_unasked);
    set("vfs-vlan-asked", |found| &found.vlan_asked);
}

fn find(scene: &Scene<'_>, domain: &Domain) -> Found {
    let mut found = Found::default();
    for device in &domain.devices.host_devices {
        match function(scene.reader, device) {
            Ok(Some(function)) => found.add(&function, scene.named.running.is_some()),
            Ok(None) => {}
            Err(unknown) => found.missed(&unknown),
        }
    }
    match pools(scene.reader, domain) {
        Ok(pools) => pools.iter().for_each(|pool| {
            let text = format!("the virtual function from the network {pool} is chosen when the domain starts");
            found.missed(&Unknown::unclear(text));
        }),
        Err(unknown) => found.missed(&unknown),
    }
    found
}

impl Found {
    fn missed(&mut self, unknown: &Unknown) {
        let all = [
            &mut self.all,
            &mut self.untrusted,
            &mut self.spoof_checked,
            &mut self.held_back,
        ];
        let all = all.into_iter().chain([&mut self.vlan_unasked, &mut self.vlan_asked]);
        all.for_each(|search| search.missed(unknown.clone()));
    }

    fn add(&mut self, function: &Function<'_>, runs: bool) {
        let name = function.name();
        self.all.add(&name);
        judge(
            &mut self.untrusted,
            &name,
            function.flag("trusted").map(|trusted| !trusted),
        );
        judge(&mut self.spoof_checked, &name, function.flag("spoof-check"));
        judge(
            &mut self.held_back,
            &format!("{name} is switched off"),
            function.flag("switched-off"),
        );
        match function.number_of("most-mbit") {
            Ok(0) => {}
            Ok(most) => self.held_back.add(format!("{name} sends {most} Mbit/s at most")),
            Err(unknown) => self.held_back.missed(unknown),
        }
        self.vlan(function, runs);
    }

    /// Before a start, the definition shows the later VLAN of an `<interface>`.
    fn vlan(&mut self, function: &Function<'_>, runs: bool) {
        let name = function.name();
        let asked = function.device.own_vlan;
        let vlan = match asked {
            Some(asked) if !runs => Ok(asked),
            _ => function.number_of("vlan"),
        };
        match vlan {
            Ok(vlan) if vlan != asked.unwrap_or(0) => {
                let asked = asked.map_or_else(String::new, |asked| format!(", by the definition {asked}"));
                self.vlan_unasked.add(format!("{name} is in VLAN {vlan}{asked}"));
            }
            Ok(0) => {}
            Ok(vlan) => self.vlan_asked.add(format!("{name} is in VLAN {vlan}")),
            Err(unknown) => {
                self.vlan_unasked.missed(unknown.clone());
                self.vlan_asked.missed(unknown);
            }
        }
    }
}

fn judge(search: &mut Search, text: &str, is_so: Result<bool, Unknown>) {
    match is_so {
        Ok(true) => search.add(text),
        Ok(false) => {}
        Err(unknown) => search.missed(unknown),
    }
}

impl Function<'_> {
    fn name(&self) -> String {
        format!("{} VF {}", self.port, self.number)
    }

    fn value(&self, key: &str) -> Result<&Toml, Unknown> {
        let said = self.said.as_ref().map_err(Unknown::clone)?;
        let value = said.get(key);
        value.ok_or_else(|| Unknown::unclear(format!("{}: its driver does not report {key}", self.name())))
    }

    fn flag(&self, key: &str) -> Result<bool, Unknown> {
        let flag = self.value(key)?.as_bool();
        flag.ok_or_else(|| Unknown::unclear(format!("{}: {key} is neither true nor false", self.name())))
    }

    fn number_of(&self, key: &str) -> Result<u32, Unknown> {
        let number = self
            .value(key)?
            .as_integer()
            .and_then(|number| u32::try_from(number).ok());
        number.ok_or_else(|| Unknown::unclear(format!("{}: {key} is not a number", self.name())))
    }
}

/// Returns `None` if it is not a network card, or if it is a whole one.
fn function<'a>(reader: &Reader, device: &'a HostDevice) -> Result<Option<Function<'a>>, Unknown> {
    let place = format!("{DEVICES}/{}", device.address);
    let class = reader.line(&format!("{place}/class")).map_err(|error| {
        Unknown::unclear(format!(
            "{} cannot be identified on this machine: {error}",
            device.address
        ))
    })?;
    if !class.starts_with(NETWORK) {
        return Ok(None);
    }
    let Some((card, number)) = card(reader, &device.address)? else {
        return match reader.exists(&format!("{place}/physfn"))? {
            true => Err(Unknown::unclear(format!(
                "{place}/physfn: no card lists this as one of its functions"
            ))),
            false => Ok(None),
        };
    };
    let ports = reader
        .names(&format!("{DEVICES}/{card}/net"), |_| true)
        .map_err(unclear)?;
    let port = ports.into_iter().next();
    let port = port.ok_or_else(|| Unknown::unclear(format!("the card {card} shows no interface")))?;
    let said = settings(reader, &port, number);
    Ok(Some(Function {
        device,
        port,
        number,
        said,
    }))
}

/// Card of a virtual function, and the function's number there.
fn card(reader: &Reader, address: &str) -> Result<Option<(String, u32)>, Unknown> {
    for card in reader.names(DEVICES, |_| true).map_err(unclear)? {
        let folder = format!("{DEVICES}/{card}");
        for link in reader.names(&folder, |name| name.starts_with(LINK)).map_err(unclear)? {
            let target = reader.target(&format!("{folder}/{link}")).map_err(unclear)?;
            if target.file_name().is_some_and(|name| name == address) {
                let number = link[LINK.len()..].parse();
                let number = number.map_err(|_| Unknown::unclear(format!("{folder}/{link} has no number")))?;
                return Ok(Some((card, number)));
            }
        }
    }
    Ok(None)
}

/// Settings of one function of a card, from the card's driver.
fn settings(reader: &Reader, port: &str, number: u32) -> Result<Table, Unknown> {
    let text = reader.answer("virtual-functions", || {
        let all = sys::link::virtual_functions().map_err(|error| HostError::Undecided(error.to_string()))?;
        Ok(write(&all))
    });
    let all = text.map_err(only_live)?.parse::<Table>();
    let all = all.map_err(|error| Unknown::unclear(format!("the recorded answer on virtual functions: {error}")))?;
    let said = all.get(port).and_then(|port| port.get(number.to_string())?.as_table());
    said.cloned()
        .ok_or_else(|| Unknown::unclear(format!("the kernel reports nothing about VF {number} of {port}")))
}

fn write(all: &[VirtualFunction]) -> String {
    let mut ports = Table::new();
    for one in all {
        let number = |number: Option<u32>| number.map(|number| Toml::Integer(i64::from(number)));
        let entries = [
            ("trusted", one.trusted.map(Toml::Boolean)),
            ("spoof-check", one.spoof_check.map(Toml::Boolean)),
            ("switched-off", one.switched_off.map(Toml::Boolean)),
            ("vlan", number(one.vlan)),
            ("most-mbit", number(one.most_mbit)),
        ];
        let known = entries
            .into_iter()
            .filter_map(|(key, value)| Some((key.to_owned(), value?)));
        let port = ports
            .entry(one.port.clone())
            .or_insert_with(|| Toml::Table(Table::new()));
        if let Toml::Table(port) = port {
            port.insert(one.number.to_string(), Toml::Table(known.collect()));
        }
    }
    format!("# virtual functions\n{ports}")
}

#[cfg(test)]
mod tests {
    use super::{VirtualFunction, write};

    #[test]
    fn what_the_driver_does_not_tell_is_not_written() {
        let one = VirtualFunction {
            port: "eno1".to_owned(),
            number: 3,
            trusted: Some(true),
            vlan: Some(0),
            ..VirtualFunction::default()
        };
        let text = write(&[one]);
        assert!(
            text.contains("[eno1.3]") && text.contains("trusted = true") && text.contains("vlan = 0"),
            "{text}"
        );
        assert!(!text.contains("spoof-check") && !text.contains("most-mbit"), "{text}");
    }
}
