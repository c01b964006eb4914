//! Two ports of this machine as the ends of a bed.

use super::entry::FrameEntry;
use super::kernel::{bring_up, namespaces};
use super::names::device_if;
use super::{Bed, End, EndInterface};
use sys::SysError;
use sys::link::{LinkInfo, add_macvlan, find, list, local_mac, set_mac};

/// Devices at the device's port.
#[derive(Debug, Clone, Copy)]
pub enum Stands {
    /// This many devices in network namespaces; a single one uses the port itself.
    These(usize),
    /// This many guests.
    Guests(usize),
}

pub(super) fn take(test_set: &str, device: &str, stands: Stands) -> Result<Bed, SysError> {
    if test_set == device {
        return Err(SysError::Invalid {
            what: format!("{device} cannot be both ends: name two ports, the test set's and the device's"),
        });
    }
    that_is_up(test_set)?;
    let far = that_is_up(device)?;
    let name = host::nic::port_name(&far, &list()?);
    let devices = behind(device, stands)?;
    let on_port = match stands {
        Stands::These(1) => String::new(),
        Stands::These(count) => format!(", {count} side by side, each a macvlan in bridge mode on that port"),
        Stands::Guests(count) => format!(", {count} as guests, each with a macvtap in bridge mode on that port"),
    };
    Ok(Bed {
        what: format!(
            "ports of this machine: test set {test_set} - network - {device} ({name}) device under test{on_port}"
        ),
        name,
        forwards: Err("the network between the two ports is not part of this machine's configuration"),
        _forwarder: None,
        test_set: Some(as_it_is(test_set)),
        devices,
        entry: FrameEntry::Device,
        switch: None,
        lan_b: None,
    })
}

/// Makes the devices' interfaces at this port; dropping them removes them.
pub fn behind(device: &str, stands: Stands) -> Result<Vec<EndInterface>, SysError> {
    let port = that_is_up(device)?;
    match stands {
        Stands::These(1) => Ok(vec![as_it_is(device)]),
        Stands::These(count) => macvlans(&port, count),
        Stands::Guests(count) => super::guests::on_port(&port, count),
    }
}

/// A port of this namespace that can be an end.
pub fn that_is_up(name: &str) -> Result<LinkInfo, SysError> {
    let port = find(name)?;
    match port.up {
        true => Ok(port),
        false => Err(SysError::InterfaceDown { name: name.into() }),
    }
}

fn as_it_is(port: &str) -> EndInterface {
    EndInterface {
        namespace: None,
        interface: port.to_owned(),
        card: None,
    }
}

/// Takes one port as this end; `other` names the other end, which is not of this machine.
pub(super) fn take_one(end: End, interface: &str, stands: Stands, other: &str) -> Result<Bed, SysError> {
    let port = that_is_up(interface)?;
    let name = host::nic::port_name(&port, &list()?);
    let mut here = behind(interface, stands)?;
    let this = match end {
        End::TestSet => "test set",
        End::Device => "device under test",
    };
    let on_port = match stands {
        Stands::These(1) => "",
        Stands::These(_) => ", several side by side, each a macvlan in bridge mode on that port",
        Stands::Guests(1) => ", a guest with a macvtap in bridge mode on that port",
        Stands::Guests(_) => ", several as guests, each with a macvtap in bridge mode on that port",
    };
    Ok(Bed {
        what: format!("a port of this machine: {this} {interface} ({name}){on_port} - network - {other}"),
        name,
        forwards: Err("the network between the two ends is not part of this machine's configuration"),
        _forwarder: None,
        test_set: match end {
            End::TestSet => here.pop(),
            End::Device => None,
        },
        devices: here,
        entry: FrameEntry::Port(interface.to_owned()),
        switch: None,
        lan_b: None,
    })
}

/// This many devices on one port. Their addresses are derived from the port's, because another machine may have such devices on the same network.
fn macvlans(port: &LinkInfo, count: usize) -> Result<Vec<EndInterface>, SysError> {
    let mut devices = Vec::new();
    for (number, namespace) in namespaces(count)?.into_iter().enumerate() {
        let name = device_if(number);
        add_macvlan(&name, &port.name, &namespace)?;
        let address = mac_on(port, &name);
        namespace.run(|| set_mac(&name, address))??;
        devices.push(EndInterface::within(namespace, name));
    }
    bring_up(devices.iter())?;
    Ok(devices)
}

/// The address of the interface with this name on a port.
pub fn mac_on(port: &LinkInfo, name: &str) -> [u8; 6] {
    local_mac(&format!("{name} on {:02x?}", port.mac))
}
