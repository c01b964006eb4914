//! Two ports of this machine as the ends of a bed, and what they are.

use super::entry::Entry;
use super::{Bed, Place};
use std::path::Path;
use sys::SysError;
use sys::link::{Below, LinkInfo, find, list};

/// Where the kernel shows interfaces of the namespace it was mounted in.
const CLASS_NET: &str = "/sys/class/net";

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
    let name = what_it_is(&far, &list()?, Path::new(CLASS_NET));
    let place = |interface: &str| Place {
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

/// What a port is, as far as the kernel tells: `class` is its /sys/class/net.
fn what_it_is(port: &LinkInfo, all: &[LinkInfo], class: &Path) -> String {
    let device = class.join(&port.name).join("device");
    if let Some(physical) = first_entry(&device.join("physfn/net")) {
        return format!("SR-IOV virtual function of {physical}");
    }
    let lower = match port.below {
        Below::Here(index) => all.iter().find(|link| link.index == index),
        Below::Nothing | Below::Elsewhere { .. } => None,
    };
    match (port.kind.as_deref(), lower) {
        (Some(kind @ ("macvlan" | "macvtap" | "ipvlan" | "vlan")), Some(lower)) => {
            format!("{kind} over {}", lower.name)
        }
        (Some(kind), _) => format!("{kind} interface"),
        (None, _) => match std::fs::read_link(device.join("driver")) {
            Ok(driver) => {
                let driver = driver.file_name().unwrap_or_default();
                format!("physical port ({})", driver.to_string_lossy())
            }
            Err(_) => "port of an unknown driver".to_owned(),
        },
    }
}

fn first_entry(directory: &Path) -> Option<String> {
    let entry = std::fs::read_dir(directory).ok()?.next()?.ok()?;
    Some(entry.file_name().to_string_lossy().into_owned())
}

#[cfg(test)]
mod tests {
    use super::what_it_is;
    use std::os::unix::fs::symlink;
    use sys::link::{Below, LinkInfo, find};

    fn port(name: &str, kind: Option<&str>, below: Below) -> LinkInfo {
        LinkInfo {
            index: 7,
            name: name.to_owned(),
            kind: kind.map(str::to_owned),
            below,
            ..find("lo").expect("every namespace has lo")
        }
    }

    #[test]
    fn ports_are_named_after_what_the_kernel_shows_of_them() {
        let class = tempfile::tempdir().expect("tempdir");
        let of = |name: &str| class.path().join(name).join("device");
        std::fs::create_dir_all(of("eth0v1").join("physfn/net/eth0")).expect("a tree");
        for (name, driver) in [("eth0v1", "iavf"), ("eth0", "ice")] {
            std::fs::create_dir_all(of(name)).expect("a tree");
            symlink(format!("../../bus/pci/drivers/{driver}"), of(name).join("driver")).expect("a link");
        }
        let eth0 = port("eth0", None, Below::Nothing);
        let all = [eth0.clone()];
        let named = |port: &LinkInfo| what_it_is(port, &all, class.path());
        assert_eq!(named(&eth0), "physical port (ice)");
        assert_eq!(
            named(&port("eth0v1", None, Below::Nothing)),
            "SR-IOV virtual function of eth0"
        );
        assert_eq!(named(&port("m0", Some("macvlan"), Below::Here(7))), "macvlan over eth0");
        assert_eq!(named(&port("m0", Some("macvlan"), Below::Here(8))), "macvlan interface");
        assert_eq!(named(&port("v0", Some("veth"), Below::Here(7))), "veth interface");
        assert_eq!(named(&port("x0", None, Below::Nothing)), "port of an unknown driver");
    }
}
