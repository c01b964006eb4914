//! Two ports of this machine as the ends of a bed.

use super::entry::Entry;
use super::{Bed, EndInterface};
use sys::SysError;
use sys::link::{find, list};

pub(super) fn take(test_set: &str, device: &str) -> Result<Bed, SysError> {
    if test_set == device {
        return Err(SysError::Invalid {
            what: format!("{device} cannot be both ends: name two ports, the test set's and the device's"),
        });
    }
    for name in [test_set, device] {
        if !find(name)?.up {
            return Err(SysError::InterfaceDown { name: name.into() });
        }
    }
    let far = find(device)?;
    let name = host::nic::port_name(&far, &list()?);
    let place = |interface: &str| EndInterface {
        namespace: None,
        interface: interface.to_owned(),
    };
    Ok(Bed {
        what: format!("ports of this machine: test set {test_set} - network - {device} ({name}) device under test"),
        name,
        _forwarder: None,
        test_set: place(test_set),
        device: place(device),
        entry: Entry::Device,
        switch: None,
    })
}
