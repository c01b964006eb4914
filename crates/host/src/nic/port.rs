//! Describes a port in a few words.

use super::interface::{ROOT, driver};
use crate::reader::Reader;
use std::path::Path;
use sys::link::{Below, LinkInfo};

/// Describes a port, as far as the kernel shows it: `SR-IOV virtual function of eth0`, `macvlan over eth0`, `physical port (ice)`. `all`:
/// the interfaces of its network namespace, which is the one whose `/sys` is mounted.
pub fn port_name(port: &LinkInfo, all: &[LinkInfo]) -> String {
    name_by(&Reader::new(Path::new("/")), port, all)
}

fn name_by(reader: &Reader, port: &LinkInfo, all: &[LinkInfo]) -> String {
    let functions = reader.names(&format!("{ROOT}/{}/device/physfn/net", port.name), |_| true);
    if let Some(physical) = functions.ok().and_then(|all| all.into_iter().next()) {
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
        (None, _) => match driver(reader, &port.name) {
            Ok(driver) => format!("physical port ({driver})"),
            Err(_) => "port of an unknown driver".to_owned(),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::name_by;
    use crate::reader::Reader;
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
        let root = tempfile::tempdir().expect("tempdir");
        let of = |name: &str| root.path().join("sys/class/net").join(name).join("device");
        std::fs::create_dir_all(of("eth0v1").join("physfn/net/eth0")).expect("a tree");
        for (name, driver) in [("eth0v1", "iavf"), ("eth0", "ice")] {
            std::fs::create_dir_all(of(name)).expect("a tree");
            let drivers = format!("/sys/bus/pci/drivers/{driver}");
            std::fs::create_dir_all(root.path().join(&drivers[1..])).expect("a tree");
            symlink(drivers, of(name).join("driver")).expect("a link");
        }
        let reader = Reader::of_tree(root.path()).expect("a tree");
        let eth0 = port("eth0", None, Below::Nothing);
        let all = [eth0.clone()];
        let named = |port: &LinkInfo| name_by(&reader, port, &all);
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
