//! Network interfaces: lists, makes, changes and removes them over rtnetlink.
//!
//! Every function acts in the calling thread's network namespace and returns once the kernel has finished.

mod address;
mod backlog;
mod carrier;
mod counters;
mod functions;
mod hsr;
mod macvlan;
mod macvtap;
mod made;
mod parse;
mod qdisc;
pub(crate) mod request;

pub use address::{Membership, add_address, ipv4_addresses, ipv4_addresses_of};
pub use carrier::CarrierChange;
pub use counters::{LinkCounters, LinkStatistics};
pub use functions::{VirtualFunction, virtual_functions};
pub use hsr::HsrLink;
pub use macvlan::{Macvlan, macvlans, set_queue_frames, set_queued_above};
pub use macvtap::{add_macvtap, open_macvtap, set_all_multicast};
pub(crate) use parse::text;
pub use qdisc::{Cbs, Etf, QDISC_ROOT, Qdisc, qdiscs};

use crate::error::SysError;
use crate::netns::NetNs;
use made::{BRIDGE, MACVLAN, Made, VETH};
use netlink_packet_core::{NLM_F_ACK, NLM_F_REQUEST};
use netlink_packet_route::RouteNetlinkMessage;
use netlink_packet_route::link::{
    BridgeStpState, InfoBridge, InfoData, InfoKind, InfoMacVlan, InfoVeth, LinkAttribute, LinkFlags,
    LinkInfo as InfoAttribute, LinkMessage, MacVlanMode,
};
use netlink_packet_route::nsid::{NsidAttribute, NsidMessage};
use request::{change, dump, exchange};
use rustix::io::Errno;
use std::os::fd::{AsFd, AsRawFd};

/// Longest name of an interface in bytes: `IFNAMSIZ` minus the terminating zero (linux/if.h).
const NAME_OCTETS: usize = 15;

/// An interface.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LinkInfo {
    /// Number in its namespace.
    pub index: u32,
    /// Name.
    pub name: String,
    /// Hardware address; zeros for `lo` and for interfaces without one of six octets.
    pub mac: [u8; 6],
    /// Largest payload, in octets, without the 14 of the Ethernet header.
    pub mtu: u32,
    /// True if it is administratively up.
    pub up: bool,
    /// True if the cable, or the peer, is connected, and frames pass. The kernel acts on the carrier of a new veth or bridge up to
    /// a second late before Linux 6.8, and drops frames sent earlier: this is false until it has acted.
    pub carrier: bool,
    /// How often it lost its carrier since it was created; `None` if the kernel does not report it.
    pub carrier_losses: Option<u32>,
    /// RFC 2863 state as iproute2 writes it: `up`, `down`, `lowerlayerdown`, `unknown` (drivers that report none, `lo`).
    pub operstate: &'static str,
    /// True if it carries Ethernet frames (`ARPHRD_ETHER`; `lo` counts, its frames have the same header).
    pub ethernet: bool,
    /// Kind of virtual interface: `veth`, `bridge`, `macvlan`; `None` for hardware and `lo`.
    pub kind: Option<String>,
    /// Index of the bridge or bond it belongs to.
    pub master: Option<u32>,
    /// Number of the XDP program attached to it; `None` if there is none, or more than one.
    pub xdp_program: Option<u32>,
    /// The interface it is made on (macvlan, VLAN) or paired with (veth).
    pub below: Below,
    /// Ports and protocol of a redundant device of the kernel; `None` for other interfaces.
    pub hsr: Option<HsrLink>,
}

/// The interface that another is made on or paired with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Below {
    /// There is none.
    Nothing,
    /// The interface with this index, in the same namespace.
    Here(u32),
    /// An interface in another network namespace, whose details are not visible from here.
    Elsewhere {
        /// Its index there.
        index: u32,
        /// This namespace's number for that namespace; see [`namespace_id`].
        namespace: i32,
    },
}

/// All interfaces, by index.
///
/// # Errors
/// Error of the netlink socket.
pub fn list() -> Result<Vec<LinkInfo>, SysError> {
    let mut links = Vec::new();
    let request = RouteNetlinkMessage::GetLink(LinkMessage::default());
    dump(&request, "the network interfaces", |payload| {
        links.extend(parse::link(payload));
    })?;
    links.sort_by_key(|link| link.index);
    Ok(links)
}

/// Finds the interface called `name`.
///
/// # Errors
/// [`SysError::NoSuchInterface`], which lists the existing ones.
pub fn find(name: &str) -> Result<LinkInfo, SysError> {
    let found = if check_name(name).is_ok() { get(name)? } else { None };
    match found {
        Some(link) => Ok(link),
        None => Err(SysError::NoSuchInterface {
            name: name.to_owned(),
            have: list()?.into_iter().map(|link| link.name).collect(),
        }),
    }
}

/// Requests one interface. Unlike a list, this makes the kernel act on a new carrier (`rtnl_getlink`, Linux 6.8), so that there is
/// no wait for a new veth.
fn get(name: &str) -> Result<Option<LinkInfo>, SysError> {
    let mut message = LinkMessage::default();
    message.attributes = vec![LinkAttribute::IfName(name.to_owned())];
    let mut link = None;
    match exchange(
        RouteNetlinkMessage::GetLink(message),
        NLM_F_REQUEST | NLM_F_ACK,
        |payload| {
            link = parse::link(payload);
        },
    ) {
        Ok(_) => Ok(link),
        Err(Errno::NODEV) => Ok(None),
        Err(errno) => Err(SysError::refused("look up the interface", name, errno)),
    }
}

/// Finds the interface with this index, in the calling thread's namespace, or in the namespace with this number (see
/// [`namespace_id`]); `None` if there is none, or that namespace is gone. Nothing is kept open, so that a namespace ends with its
/// processes.
///
/// # Errors
/// An error of the netlink socket, such as a missing right to query another namespace.
pub fn find_index(index: u32, namespace: Option<i32>) -> Result<Option<LinkInfo>, SysError> {
    let mut message = LinkMessage::default();
    message.header.index = index;
    message.attributes = namespace.map(LinkAttribute::IfNetnsId).into_iter().collect();
    let mut link = None;
    let asked = exchange(
        RouteNetlinkMessage::GetLink(message),
        NLM_F_REQUEST | NLM_F_ACK,
        |payload| link = parse::link(payload),
    );
    match asked {
        Ok(_) => Ok(link),
        Err(Errno::NODEV) => Ok(None),
        // The error for a namespace that is gone.
        Err(Errno::INVAL) if namespace.is_some() => Ok(None),
        Err(errno) => Err(SysError::refused(
            "look up the interface with index",
            index.to_string(),
            errno,
        )),
    }
}

/// Number of another namespace in the calling thread's namespace, used to identify the place of a veth's peer; `None` if it has
/// none, because no interface here is connected with one there.
///
/// # Errors
/// Error of the netlink socket.
pub fn namespace_id(other: &NetNs) -> Result<Option<i32>, SysError> {
    let mut message = NsidMessage::default();
    let fd = u32::try_from(other.as_fd().as_raw_fd()).unwrap_or(u32::MAX);
    message.attributes = vec![NsidAttribute::Fd(fd)];
    let mut id = None;
    exchange(
        RouteNetlinkMessage::GetNsId(message),
        NLM_F_REQUEST | NLM_F_ACK,
        |payload| id = parse::namespace_id(payload),
    )
    .map_err(|errno| SysError::refused("ask for the number of", "a network namespace", errno))?;
    Ok(id)
}

/// Makes a veth pair: `name` here, its peer `peer_name` in `peer_ns`. Both are down.
///
/// Their MAC addresses are [`local_mac`] of their names, so that two runs of a bed see the same addresses.
///
/// # Errors
/// The name is invalid or taken, `CAP_NET_ADMIN` is missing, or the kernel refused for another reason.
pub fn add_veth(name: &str, peer_name: &str, peer_ns: &NetNs) -> Result<(), SysError> {
    check_name(name)?;
    check_name(peer_name)?;
    let mut peer = LinkMessage::default();
    peer.attributes = vec![
        LinkAttribute::IfName(peer_name.to_owned()),
        LinkAttribute::Address(local_mac(peer_name).to_vec()),
        LinkAttribute::NetNsFd(peer_ns.as_fd().as_raw_fd()),
    ];
    let data = InfoData::Veth(InfoVeth::Peer(peer));
    create(&VETH, name, InfoKind::Veth, data, Vec::new())
}

/// Makes a macvlan in bridge mode over `lower`, which is in the calling thread's namespace; the macvlan is in `namespace` from
/// the start. It is down. Its MAC address is [`local_mac`] of its name.
///
/// # Errors
/// The name is invalid or taken, there is no interface `lower`, `CAP_NET_ADMIN` is missing, or the kernel refused for another
/// reason ([`SysError::MissingFeature`]: it was built without `CONFIG_MACVLAN`).
pub fn add_macvlan(name: &str, lower: &str, namespace: &NetNs) -> Result<(), SysError> {
    check_name(name)?;
    let place = vec![
        LinkAttribute::Link(find(lower)?.index),
        LinkAttribute::NetNsFd(namespace.as_fd().as_raw_fd()),
    ];
    let data = InfoData::MacVlan(vec![InfoMacVlan::Mode(MacVlanMode::Bridge)]);
    create(&MACVLAN, name, InfoKind::MacVlan, data, place)
}

/// Makes a bridge that forwards at once: no spanning tree, no forward delay, and multicast flooded to every port as by a simple
/// switch (no snooping). It is down. Its MAC address is [`local_mac`] of its name.
///
/// # Errors
/// The name is invalid or taken, `CAP_NET_ADMIN` is missing, or the kernel refused for another reason.
pub fn add_bridge(name: &str) -> Result<(), SysError> {
    check_name(name)?;
    let data = InfoData::Bridge(vec![
        InfoBridge::StpState(BridgeStpState::Disabled),
        InfoBridge::ForwardDelay(0),
        InfoBridge::MulticastSnooping(false),
    ]);
    create(&BRIDGE, name, InfoKind::Bridge, data, Vec::new())
}

/// Makes `name` a port of `bridge`.
///
/// # Errors
/// One of them does not exist, `CAP_NET_ADMIN` is missing, or the kernel refused for another reason.
pub fn set_master(name: &str, bridge: &str) -> Result<(), SysError> {
    let bridge = find(bridge)?;
    set(
        "put into a bridge:",
        name,
        vec![LinkAttribute::Controller(bridge.index)],
    )
}

/// Finds one interface that carries Ethernet frames and is up.
///
/// # Errors
/// There is no such interface (the error lists the existing ones), it is not Ethernet, or it is down.
pub(crate) fn find_ready(name: &str) -> Result<LinkInfo, SysError> {
    let link = find(name)?;
    match link {
        LinkInfo {
            ethernet: false, name, ..
        } => Err(SysError::NotEthernet { name }),
        LinkInfo { up: false, name, .. } => Err(SysError::InterfaceDown { name: name.into() }),
        ready => Ok(ready),
    }
}

/// Brings `name` up. A veth has a carrier when both ends are up.
///
/// # Errors
/// The interface does not exist, `CAP_NET_ADMIN` is missing, or the kernel refused for another reason.
pub fn set_up(name: &str) -> Result<(), SysError> {
    set_flags("bring up", name, LinkFlags::Up)
}

/// Brings `name` down.
///
/// # Errors
/// The interface does not exist, `CAP_NET_ADMIN` is missing, or the kernel refused for another reason.
pub fn set_down(name: &str) -> Result<(), SysError> {
    set_flags("bring down", name, LinkFlags::empty())
}

/// Sets the largest payload of `name`, in octets.
///
/// # Errors
/// The interface does not exist, `CAP_NET_ADMIN` is missing, or the kernel refused for another reason (out of the driver's range).
pub fn set_mtu(name: &str, mtu: u32) -> Result<(), SysError> {
    set("set the MTU of", name, vec![LinkAttribute::Mtu(mtu)])
}

/// Sets the hardware address of `name`.
///
/// # Errors
/// The interface does not exist, `CAP_NET_ADMIN` is missing, or the kernel refused for another reason.
pub fn set_mac(name: &str, mac: [u8; 6]) -> Result<(), SysError> {
    set(
        "set the MAC address of",
        name,
        vec![LinkAttribute::Address(mac.to_vec())],
    )
}

/// Removes `name`; for a veth pair, both ends.
///
/// # Errors
/// The interface does not exist, `CAP_NET_ADMIN` is missing, or the kernel refused for another reason.
pub fn delete(name: &str) -> Result<(), SysError> {
    let link = find(name)?;
    let mut message = LinkMessage::default();
    message.header.index = link.index;
    change("delete", name, RouteNetlinkMessage::DelLink(message), 0)
}

/// A locally administered unicast address made from `label` (FNV-1a, 40 bits after the octet 02): the same label gives the same
/// address.
pub fn local_mac(label: &str) -> [u8; 6] {
    // Offset basis and prime of 64-bit FNV-1a (draft-eastlake-fnv).
    let hash = label.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, octet| {
        (hash ^ u64::from(octet)).wrapping_mul(0x0000_0100_0000_01b3)
    });
    let [_, _, _, a, b, c, d, e] = hash.to_be_bytes();
    [0x02, a, b, c, d, e]
}

/// Creates an interface. `place` holds the attributes for its place: namespace, master or lower interface.
fn create(made: &Made, name: &str, kind: InfoKind, data: InfoData, place: Vec<LinkAttribute>) -> Result<(), SysError> {
    let mut message = LinkMessage::default();
    message.attributes = vec![
        LinkAttribute::IfName(name.to_owned()),
        LinkAttribute::Address(local_mac(name).to_vec()),
        LinkAttribute::LinkInfo(vec![InfoAttribute::Kind(kind), InfoAttribute::Data(data)]),
    ];
    message.attributes.extend(place);
    made.ask(name, message)
}

fn set(operation: &'static str, name: &str, attributes: Vec<LinkAttribute>) -> Result<(), SysError> {
    let mut message = LinkMessage::default();
    message.header.index = find(name)?.index;
    message.attributes = attributes;
    change(operation, name, RouteNetlinkMessage::SetLink(message), 0)
}

fn set_flags(operation: &'static str, name: &str, flags: LinkFlags) -> Result<(), SysError> {
    let mut message = LinkMessage::default();
    message.header.index = find(name)?.index;
    message.header.flags = flags;
    message.header.change_mask = LinkFlags::Up;
    change(operation, name, RouteNetlinkMessage::SetLink(message), 0)
}

/// Makes the same checks as the kernel's `dev_valid_name`, with the result in words.
pub(crate) fn check_name(name: &str) -> Result<(), SysError> {
    let sound = (1..=NAME_OCTETS).contains(&name.len())
        && name != "."
        && name != ".."
        && !name
            .chars()
            .any(|c| c == '/' || c == ':' || c.is_whitespace() || c == '\0');
    match sound {
        true => Ok(()),
        false => Err(SysError::Invalid {
            what: format!("\"{name}\" cannot be an interface name: 1 to {NAME_OCTETS} bytes without space, / and :"),
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::{check_name, find, find_index, list, local_mac};
    use crate::{ErrorKind, SysError};

    #[test]
    fn loopback_is_there_and_looks_like_it() {
        let lo = find("lo").expect("every namespace has lo");
        assert_eq!((lo.mac, lo.ethernet, lo.kind, lo.master), ([0; 6], true, None, None));
        let names: Vec<String> = list().expect("a list").into_iter().map(|link| link.name).collect();
        let of_proc = std::fs::read_to_string("/proc/net/dev").expect("proc");
        let mut expected: Vec<&str> = of_proc
            .lines()
            .filter_map(|line| Some(line.split_once(':')?.0.trim()))
            .collect();
        let mut names: Vec<&str> = names.iter().map(String::as_str).collect();
        names.sort_unstable();
        expected.sort_unstable();
        assert_eq!(names, expected);
    }

    #[test]
    fn an_interface_is_found_by_its_index() {
        let lo = find("lo").expect("every namespace has lo");
        assert_eq!(find_index(lo.index, None).expect("netlink"), Some(lo));
        assert_eq!(find_index(i32::MAX as u32, None).expect("netlink"), None);
    }

    #[test]
    fn a_missing_interface_lists_those_there_are() {
        let error = find("eth99").expect_err("no such interface");
        assert!(matches!(error, SysError::NoSuchInterface { .. }));
        assert_eq!(error.kind(), ErrorKind::Usage);
        let text = error.to_string();
        assert!(
            text.starts_with("eth99: no such interface (have: ") && text.contains("lo"),
            "{text}"
        );
    }

    #[test]
    fn names_the_kernel_would_refuse_are_refused_with_the_rule() {
        for name in ["", ".", "..", "a b", "a/b", "a:b", "sixteen-octets-x"] {
            assert!(check_name(name).expect_err(name).to_string().contains("1 to 15 bytes"));
        }
        assert!(check_name("fifteen-octets1").is_ok());
    }

    #[test]
    fn addresses_are_unicast_local_and_differ() {
        let (a, b) = (local_mac("ts0"), local_mac("dut0"));
        assert_eq!((a[0], b[0]), (2, 2));
        assert_ne!(a, b);
        assert_eq!(a, local_mac("ts0"));
    }
}
