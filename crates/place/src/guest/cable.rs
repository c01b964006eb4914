//! The network connection of a guest's card.

use super::qemu::line;
use super::{Cable, PlaceError};
use bed::{Card, DeviceEnd, SecondCard};
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::Path;
use sys::link::open_macvtap;
use sys::netns::NetNs;
use sys::tap::Tap;

/// The cable at an end of a bed.
pub(super) fn of(end: DeviceEnd<'_>) -> Result<Cable, PlaceError> {
    match (end.namespace, end.card) {
        (Some(namespace), Some(joined)) => Ok(Cable {
            namespace: NetNs::open(&namespace.path())?,
            interface: end.interface.to_owned(),
            joined,
            mac: end.mac,
        }),
        _ => Err(PlaceError::NotAvailable(format!(
            "a guest needs a tap or a macvtap for its network, and {} is neither",
            end.interface
        ))),
    }
}

/// Input for QEMU that belongs to cables.
#[derive(Debug)]
pub(super) struct Plugged {
    /// Cards for its command line, one for each cable.
    pub(super) cards: Vec<line::Card>,
    /// Files that QEMU inherits.
    pub(super) files: Vec<OwnedFd>,
    /// The namespace in which QEMU starts.
    pub(super) namespace: NetNs,
}

impl Plugged {
    /// Adds a second card whose tap is in another namespace.
    pub(super) fn and(mut self, second: &SecondCard<'_>, kvm: bool) -> Result<Self, PlaceError> {
        let file = second.namespace.run(|| Tap::for_hypervisor(second.tap))??;
        self.cards.push(line::Card {
            way: line::Way::File(file.as_raw_fd()),
            mac: second.mac,
            vhost: has_vhost(kvm),
        });
        self.files.push(file);
        Ok(self)
    }
}

/// True if a kernel thread can move a guest's frames.
fn has_vhost(kvm: bool) -> bool {
    kvm && Path::new("/dev/vhost-net").exists()
}

impl Cable {
    /// The card and its connection, as text.
    pub(super) fn describe(&self, kvm: bool) -> String {
        let joined = match self.joined {
            Card::Tap => "tap",
            Card::Macvtap => "macvtap",
        };
        let vhost = if has_vhost(kvm) { "vhost" } else { "QEMU" };
        format!("virtio over the {joined} {}, moved by {vhost}", self.interface)
    }

    /// Prepares the cable for one process of QEMU.
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
            cards: vec![line::Card {
                way,
                mac: self.mac,
                vhost: has_vhost(kvm),
            }],
            files: file.into_iter().collect(),
            namespace: NetNs::open(&self.namespace.path())?,
        })
    }
}
