//! Where a guest's network card leads to.

use super::qemu::line;
use super::{Cable, PlaceError};
use crate::bed::{Card, DeviceEnd};
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::Path;
use sys::link::open_macvtap;
use sys::netns::NetNs;

/// Of an end of a bed.
pub(super) fn of(end: DeviceEnd<'_>) -> Result<Cable, PlaceError> {
    match (end.namespace, end.card) {
        (Some(namespace), Some(joined)) => Ok(Cable {
            namespace: NetNs::open(&namespace.path())?,
            interface: end.interface.to_owned(),
            joined,
            mac: end.mac,
        }),
        _ => Err(PlaceError::NotAvailable(format!(
            "a guest is joined to a network by a tap or a macvtap, and {} is none",
            end.interface
        ))),
    }
}

/// What QEMU is given of a cable.
#[derive(Debug)]
pub(super) struct Plugged {
    /// What its command line says.
    pub(super) card: line::Card,
    /// The file that it is left, if it is left one.
    pub(super) file: Option<OwnedFd>,
    /// Where it is started.
    pub(super) namespace: NetNs,
}

impl Cable {
    /// For one process of QEMU.
    pub(super) fn plug(&self, kvm: bool) -> Result<Plugged, PlaceError> {
        let file: Option<OwnedFd> = match self.joined {
            Card::Tap => None,
            Card::Macvtap => Some(self.namespace.run(|| open_macvtap(&self.interface))??.into()),
        };
        let way = match &file {
            None => line::Way::Tap(self.interface.clone()),
            Some(file) => line::Way::File(file.as_raw_fd()),
        };
        Ok(Plugged {
            card: line::Card {
                way,
                mac: self.mac,
                vhost: kvm && Path::new("/dev/vhost-net").exists(),
            },
            file,
            namespace: NetNs::open(&self.namespace.path())?,
        })
    }
}
