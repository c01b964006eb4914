//! IPv4 addresses of interfaces.

use super::request::{change, dump};
use super::{find, list};
use crate::error::SysError;
use netlink_packet_core::{NLM_F_CREATE, NLM_F_EXCL};
use netlink_packet_route::address::{AddressAttribute, AddressMessage};
use netlink_packet_route::{AddressFamily, RouteNetlinkMessage};
use std::net::{IpAddr, Ipv4Addr};

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

#[cfg(test)]
mod tests {
    use super::ipv4_addresses;

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
