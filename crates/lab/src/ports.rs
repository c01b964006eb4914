//! Ports of this machine as the ends of a lab. They are used as they are; what stands on the device's port goes with the lab.

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

/// Checks that these can be the ends.
///
/// # Errors
/// One that is missing, down, both ends, or how somebody is connected to this machine.
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

/// Makes the devices' interfaces at the device's port.
pub(super) fn devices(asked: &Asked, port: &str) -> Result<Vec<EndInterface>, SysError> {
    let stands = match asked.place {
        PlaceKind::Vm => Stands::Guests(asked.devices),
        _ => Stands::These(asked.devices),
    };
    behind(port, stands)
}

/// Finds a port that is not there, or not up.
pub(super) fn missing(asked: &Asked) -> Option<String> {
    let wrong = |name: &String| that_is_up(name).err().map(|error| error.to_string());
    asked.nic.iter().find_map(wrong)
}

/// Takes away what stands on the device's port, also where its namespace has no name any more and a process is in it. The kernel would do
/// so, too, when the last process has left the namespace, and in its own time.
pub(super) fn free(name: &LabName, asked: &Asked) {
    // A port that is gone took all of it along.
    let port = asked.device_port().and_then(|port| find(port).ok());
    let Some(port) = port.filter(|_| !asked.is_on_port()) else {
        return;
    };
    let named = (0..asked.devices).map(|number| path_of(name, &device_end(number)));
    for path in named.filter(|path| NetNs::is_pinned(path)).chain(namespaces()) {
        // A namespace that is gone meanwhile took its interfaces along.
        let _ = NetNs::open(&path).and_then(|namespace| namespace.run(|| free_here(&port, asked.devices)));
    }
}

/// The namespaces that processes are in, but for that of this one.
fn namespaces() -> impl Iterator<Item = PathBuf> {
    let inode = |path: &Path| std::fs::metadata(path).ok().map(|found| found.ino());
    let mut seen: HashSet<u64> = inode(Path::new("/proc/self/ns/net")).into_iter().collect();
    let paths = processes::numbered(Path::new("/proc")).map(|(_, path)| path.join("ns/net"));
    paths.filter(move |path| inode(path).is_some_and(|inode| seen.insert(inode)))
}

/// The same in the namespace of the calling thread.
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
