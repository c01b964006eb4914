//! The ends of a bed: an interface in a network namespace, or in the namespace of this process.

use super::names::device_end;
use probes::{Port, ProbeError};
use sys::SysError;
use sys::netns::NetNs;
use sys::packet::{PacketPort, PortOptions};

/// An end of a bed.
#[derive(Debug)]
pub struct EndInterface {
    /// `None`: the namespace of this process.
    pub(super) namespace: Option<NetNs>,
    pub(super) interface: String,
    /// Kind of interface for a guest's network card, and the card's address; `None`: not for a guest.
    pub(super) card: Option<(Card, [u8; 6])>,
}

/// Kinds of interfaces for a guest's network card.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Card {
    /// A tap, opened by its name.
    Tap,
    /// A macvtap, opened by its device file.
    Macvtap,
}

/// The end of a bed for a device under test.
#[derive(Debug, Clone, Copy)]
pub struct DeviceEnd<'a> {
    /// Its network namespace; `None`: that of this process.
    pub namespace: Option<&'a NetNs>,
    /// Its interface there.
    pub interface: &'a str,
    /// The interface's address; for a guest, the address of the guest's card.
    pub mac: [u8; 6],
    /// Kind of interface for the guest's card; `None`: not for a guest.
    pub card: Option<Card>,
}

impl EndInterface {
    /// An end in a namespace of the bed.
    pub(super) fn within(namespace: NetNs, interface: String) -> Self {
        Self {
            namespace: Some(namespace),
            interface,
            card: None,
        }
    }

    /// The end's description for a place.
    pub fn device(&self) -> Result<DeviceEnd<'_>, SysError> {
        Ok(DeviceEnd {
            namespace: self.namespace.as_ref(),
            interface: &self.interface,
            mac: self.mac()?,
            card: self.card.map(|(card, _)| card),
        })
    }

    pub(super) fn mac(&self) -> Result<[u8; 6], SysError> {
        match self.card {
            Some((_, mac)) => Ok(mac),
            None => self.run(|| sys::link::find(&self.interface).map(|link| link.mac)),
        }
    }

    pub(super) fn port(&self, options: &PortOptions) -> Result<PacketPort, SysError> {
        self.run(|| PacketPort::open(&self.interface, options))
    }

    pub(super) fn stamped_port(&self, options: &PortOptions) -> Result<Port, ProbeError> {
        self.run(|| Ok(Port::open(&self.interface, options)))?
    }

    pub(super) fn run<T: Send>(&self, work: impl FnOnce() -> Result<T, SysError> + Send) -> Result<T, SysError> {
        match &self.namespace {
            Some(namespace) => namespace.run(work)?,
            None => work(),
        }
    }
}

/// The namespaces of devices, with their names.
pub fn named(devices: &[EndInterface]) -> impl Iterator<Item = (String, &NetNs)> {
    let numbered = devices.iter().enumerate();
    numbered.filter_map(|(number, end)| Some((device_end(number), end.namespace.as_ref()?)))
}
