//! Ports of this machine as the ends of a lab. Their settings stay unchanged; interfaces made on the device's port are removed with the lab.

use super::LabError;
use super::names::{LabName, path_of};
use super::record::Asked;
use bed::disturb::leave_connection;
use bed::{EndInterface, Stands, behind, mac_on, that_is_up};
use bed::{device_end, device_if};
use place::PlaceKind;
use place::processes;
use std::collections::HashSet;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use sys::SysError;
use sys::link::{Below, LinkInfo, delete, find};
use sys::netns::NetNs;

/// Checks that these ports can be the ends.
///
/// # Errors
/// A port is missing, is down, is named twice, or carries a user's connection to this machine.
pub(super) fn check(nic: &[String]) -> Result<(), LabError> {
    if let [test_set, device] = nic
        && test_set == device
    {
        return Err(LabError::Refused(format!(
            "{device} cannot be both ends: name two ports, the test set's and the device's"
        )));
    }
    for name in nic {
        that_is_up(name)?;
    }
    leave_connection(nic).map_err(|error| LabError::Refused(error.to_string()))
}

/// Makes the devices' interfaces on the device's port.
pub(super) fn devices(asked: &Asked, port: &str) -> Result<Vec<EndInterface>, SysError> {
    let stands = match asked.place {
        PlaceKind::Vm => Stands::Guests(asked.devices),
        _ => Stands::These(asked.devices),
    };
    behind(port, stands)
}

/// Describes a port that is missing or down.
pub(super) fn missing(asked: &Asked) -> Option<String> {
    let wrong = |name: &String| that_is_up(name).err().map(|error| error.to_string());
    asked.nic.iter().find_map(wrong)
}

/// Removes the interfaces on the device's port, even if their namespace has lost its name and a process is still in it. The kernel would remove them
/// as well, but only at some time after the last process has left the namespace.
pub(super) fn free(name: &LabName, asked: &Asked) {
    // If the port is gone, its interfaces are gone, too.
    let port = asked.device_port().and_then(|port| find(port).ok());
    let Some(port) = port.filter(|_| !asked.is_on_port()) else {
        return;
    };
    let named = (0..asked.devices).map(|number| path_of(name, &device_end(number)));
    for path in named.filter(|path| NetNs::is_pinned(path)).chain(namespaces()) {
        // If the namespace is gone, its interfaces are gone, too.
        let _ = NetNs::open(&path).and_then(|namespace| namespace.run(|| free_here(&port, asked.devices)));
    }
}

/// The namespaces that processes are in, except the namespace of this process.
fn namespaces() -> impl Iterator<Item = PathBuf> {
    let inode = |path: &Path| std::fs::metadata(path).ok().map(|found| found.ino());
    let mut seen: HashSet<u64> = inode(Path::new("/proc/self/ns/net")).into_iter().collect();
    let paths = processes::numbered(Path::new("/proc")).map(|(_, path)| path.join("ns/net"));
    paths.filter(move |path| inode(path).is_some_and(|inode| seen.insert(inode)))
}

/// Removes the same interfaces in the namespace of the calling thread.
fn free_here(port: &LinkInfo, devices: usize) {
    for name in (0..devices).map(device_if) {
        let ours = find(&name).is_ok_and(|link| {
            let is_kind = matches!(link.kind.as_deref(), Some("macvlan" | "macvtap"));
            let is_on_it = matches!(link.below, Below::Elsewhere { index, .. } if index == port.index);
            is_kind && is_on_it && link.mac == mac_on(port, &name)
        });
        if ours {
            let _ = delete(&name);
        }
    }
}
