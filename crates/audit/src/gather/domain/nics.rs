//! How a domain is connected to the network.

use crate::definition::devices::Interface;
use crate::definition::domain::Domain;
use crate::definition::element::{Element, document};
use crate::facts::IntoKnown;
use crate::value::{Known, Unknown};
use host::reader::Reader;

/// Queue size that holds a burst of sampled values while the guest does not run.
const ENOUGH_SLOTS: u32 = 1024;
/// PCI class of network controllers (PCI Code and ID Assignment Specification).
pub(super) const NETWORK: &str = "0x02";

enum CardAttachment {
    /// A PCI device of the host.
    Passed,
    /// virtio, with a sufficiently long queue and a worker that wakes at once.
    Tuned,
    /// virtio with default settings.
    Plain,
    /// A model that exits to the emulator at each access.
    Emulated,
}

/// Interfaces that are PCI devices of the host. A device that this machine shows to be of another class is excluded.
pub(super) fn passed(reader: &Reader, domain: &Domain) -> Known {
    let devices = domain.devices.host_devices.iter().map(|device| device.address.clone());
    let devices = devices.filter(|address| {
        let class = reader.line(&format!("/sys/bus/pci/devices/{address}/class"));
        class.is_ok_and(|class| class.starts_with(NETWORK)) || !is_here(reader, address)
    });
    let mut passed: Vec<String> = devices.collect();
    passed.extend(of_way(reader, domain, |way| matches!(way, CardAttachment::Passed))?);
    passed.into_known()
}

/// Virtual networks that give the domain a virtual function at its start.
pub(super) fn pools(reader: &Reader, domain: &Domain) -> Result<Vec<String>, Unknown> {
    let mut pools = Vec::new();
    for interface in domain.devices.interfaces.iter().filter(|one| one.kind == "network") {
        if is_pool(reader, interface)? {
            pools.extend(interface.network.clone());
        }
    }
    Ok(pools)
}

fn is_here(reader: &Reader, address: &str) -> bool {
    reader
        .exists(&format!("/sys/bus/pci/devices/{address}"))
        .unwrap_or(true)
}

pub(super) fn emulated(reader: &Reader, domain: &Domain) -> Known {
    of_way(reader, domain, |way| matches!(way, CardAttachment::Emulated)).into_known()
}

pub(super) fn tuned(reader: &Reader, domain: &Domain) -> Known {
    of_way(reader, domain, |way| matches!(way, CardAttachment::Tuned)).into_known()
}

fn of_way(reader: &Reader, domain: &Domain, wanted: impl Fn(&CardAttachment) -> bool) -> Result<Vec<String>, Unknown> {
    let mut found = Vec::new();
    for interface in &domain.devices.interfaces {
        if wanted(&way(reader, domain, interface)?) {
            let model = interface.model.as_deref().unwrap_or("default model");
            found.push(format!("{} ({model})", interface.kind));
        }
    }
    Ok(found)
}

fn way(reader: &Reader, domain: &Domain, interface: &Interface) -> Result<CardAttachment, Unknown> {
    if interface.kind == "network" && is_pool(reader, interface)? {
        return Ok(CardAttachment::Passed);
    }
    let is_virtio = match &interface.model {
        Some(model) => model.starts_with("virtio"),
        None => domain.defaults_to_virtio(),
    };
    if !is_virtio {
        return Ok(CardAttachment::Emulated);
    }
    let kernel = matches!(interface.driver.as_deref(), None | Some("vhost"));
    let long = interface.rx_queue.is_some_and(|slots| slots >= ENOUGH_SLOTS);
    let prompt = interface.tx_mode.as_deref() != Some("timer");
    Ok(if kernel && long && prompt {
        CardAttachment::Tuned
    } else {
        CardAttachment::Plain
    })
}

/// True if a virtual network hands out virtual functions of a card. If its definition is missing, a model shows that it does not.
fn is_pool(reader: &Reader, interface: &Interface) -> Result<bool, Unknown> {
    let name = interface.network.as_deref().unwrap_or_default();
    let path = format!("/etc/libvirt/qemu/networks/{name}.xml");
    match reader.text(&path) {
        Ok(text) => {
            let tree = document(&text).map_err(|error| Unknown::unclear(format!("{path}: {error}")))?;
            let mode = Element::root(&tree).attribute_at("forward", "mode");
            Ok(mode.as_deref() == Some("hostdev"))
        }
        Err(_) if interface.model.is_some() => Ok(false),
        Err(error) => Err(Unknown::unclear(format!("cannot identify the network {name}: {error}"))),
    }
}
