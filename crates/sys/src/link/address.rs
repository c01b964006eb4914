//! IPv4 addresses of interfaces.

use super::find;
use super::request::change;
use crate::error::SysError;
use netlink_packet_core::{NLM_F_CREATE, NLM_F_EXCL};
use netlink_packet_route::address::{AddressAttribute, AddressMessage};
use netlink_packet_route::{AddressFamily, RouteNetlinkMessage};
use std::net::{IpAddr, Ipv4Addr};

/// Gives `name` an IPv4 address, in a network with so many leading bits. From then on the kernel answers for it by itself: ARP, and ICMP
/// echo.
///
/// # Errors
/// It does not exist or has this address already, no `CAP_NET_ADMIN`, or what the kernel refused (`EOPNOTSUPP`: it was built without
/// `CONFIG_INET`).
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
