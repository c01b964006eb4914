//! IPv4 addresses of interfaces.

use super::request::{change, dump};
use super::{find, list};
use crate::error::SysError;
use netlink_packet_core::{NLM_F_CREATE, NLM_F_EXCL};
use netlink_packet_route::address::{AddressAttribute, AddressMessage};
use netlink_packet_route::{AddressFamily, RouteNetlinkMessage};
use rustix::net;
use std::net::{IpAddr, Ipv4Addr};
use std::os::fd::OwnedFd;

/// Gives `name` an IPv4 address, in a network with `prefix` leading bits. From then on the kernel answers for it without help: ARP,
/// and ICMP echo.
///
/// # Errors
/// The interface does not exist or has this address already, `CAP_NET_ADMIN` is missing, or the kernel refused for another reason
/// (`EOPNOTSUPP`: it was built without `CONFIG_INET`).
pub fn add_address(name: &str, address: Ipv4Addr, prefix: u8) -> Result<(), SysError> {
    let mut message = AddressMessage::default();
    message.header.family = AddressFamily::Inet;
    message.header.prefix_len = prefix;
    message.header.index = find(name)?.index;
    let address = IpAddr::V4(address);
    message.attributes = vec![AddressAttribute::Local(address), AddressAttribute::Address(address)];
    let message = RouteNetlinkMessage::NewAddress(message);
    change("give an address to", name, message, NLM_F_CREATE | NLM_F_EXCL)
}

/// The interfaces of the calling thread's network namespace, each with the number of its IPv4 addresses.
///
/// # Errors
/// Error of the netlink socket.
pub fn ipv4_addresses() -> Result<Vec<(String, usize)>, SysError> {
    let mut message = AddressMessage::default();
    message.header.family = AddressFamily::Inet;
    let mut indices = Vec::new();
    dump(
        &RouteNetlinkMessage::GetAddress(message),
        "the IPv4 addresses",
        |payload| {
            // `struct ifaddrmsg` (linux/if_addr.h): four bytes before the index.
            let index = payload.get(4..8).and_then(|octets| octets.try_into().ok());
            indices.extend(index.map(u32::from_ne_bytes));
        },
    )?;
    let count = |index: u32| indices.iter().filter(|other| **other == index).count();
    Ok(list()?.into_iter().map(|link| (link.name, count(link.index))).collect())
}

/// The IPv4 addresses of the interface `name`, in the order of the kernel.
///
/// # Errors
/// The interface does not exist, or error of the netlink socket.
pub fn ipv4_addresses_of(name: &str) -> Result<Vec<Ipv4Addr>, SysError> {
    let wanted = find(name)?.index;
    let mut message = AddressMessage::default();
    message.header.family = AddressFamily::Inet;
    let mut addresses = Vec::new();
    dump(
        &RouteNetlinkMessage::GetAddress(message),
        "the IPv4 addresses",
        |payload| {
            // `struct ifaddrmsg` (linux/if_addr.h): four bytes before the index, then attributes.
            let index = payload.get(4..8).and_then(|octets| octets.try_into().ok());
            if index.map(u32::from_ne_bytes) == Some(wanted) {
                addresses.extend(local_of(payload.get(8..).unwrap_or_default()));
            }
        },
    )?;
    Ok(addresses)
}

/// The value of the attribute `IFA_LOCAL` of an IPv4 address.
fn local_of(mut attributes: &[u8]) -> Option<Ipv4Addr> {
    const LOCAL: u16 = 2;
    loop {
        let head = attributes.first_chunk::<4>()?;
        let [length, kind] = [[head[0], head[1]], [head[2], head[3]]].map(u16::from_ne_bytes);
        if kind == LOCAL {
            return attributes
                .get(4..8)?
                .first_chunk::<4>()
                .map(|octets| Ipv4Addr::from(*octets));
        }
        let length = usize::from(length).max(4).next_multiple_of(4);
        attributes = attributes.get(length..)?;
    }
}

/// Membership of an interface in a multicast group: switches and routers forward the group to it until this is dropped. No datagram is
/// received through it.
#[derive(Debug)]
pub struct Membership(#[expect(dead_code, reason = "the membership ends with its socket")] OwnedFd);

impl Membership {
    /// Joins `group` on the interface `name`; the kernel reports the membership by IGMP.
    ///
    /// # Errors
    /// The interface does not exist, the address is no multicast group, or the kernel refused for another reason.
    pub fn join(name: &str, group: Ipv4Addr) -> Result<Self, SysError> {
        let index = find(name)?.index;
        let refused = |errno| SysError::refused("join a multicast group on", format!("{name}: {group}"), errno);
        let socket = net::socket(net::AddressFamily::INET, net::SocketType::DGRAM, None).map_err(refused)?;
        net::sockopt::set_ip_add_membership_with_ifindex(&socket, &group, &Ipv4Addr::UNSPECIFIED, index)
            .map_err(refused)?;
        Ok(Self(socket))
    }
}

#[cfg(test)]
mod tests {
    use super::{Membership, ipv4_addresses, ipv4_addresses_of};

    #[test]
    fn the_loopback_has_its_address_and_joins_groups_only() {
        let own = ipv4_addresses_of("lo").expect("netlink");
        assert!(own.is_empty() || own.contains(&[127, 0, 0, 1].into()), "{own:?}");
        assert!(ipv4_addresses_of("nowhere0").is_err());
        let refused = Membership::join("lo", [10, 0, 0, 1].into()).expect_err("no group");
        assert!(refused.to_string().contains("10.0.0.1"), "{refused}");
        drop(Membership::join("lo", [239, 192, 0, 7].into()).expect("a membership"));
    }

    #[test]
    fn every_interface_is_listed_with_a_number() {
        let all = ipv4_addresses().expect("netlink");
        let names: Vec<String> = super::list()
            .expect("netlink")
            .into_iter()
            .map(|link| link.name)
            .collect();
        assert_eq!(all.iter().map(|(name, _)| name.clone()).collect::<Vec<_>>(), names);
        // `/proc/net/fib_trie` lists each local address once in each of its two tables.
        let local = std::fs::read_to_string("/proc/net/fib_trie").unwrap_or_default();
        let count: usize = all.iter().map(|(_, count)| count).sum();
        assert_eq!(count > 0, local.contains("host LOCAL"), "{all:?}");
    }
}
