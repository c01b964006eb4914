//! Other traffic on the process-bus interfaces, by their routes and addresses.

use toml::{Table, Value as Toml};

use super::super::network::only_live;
use super::super::shared::{nics, unclear};
use crate::facts::{Class, Facts, Subject};
use crate::parameters::Parameters;
use crate::value::Unknown;
use host::error::HostError;
use host::nic::interface::ROOT;
use host::reader::Reader;

pub(super) fn gather(reader: &Reader, parameters: &Parameters, facts: &mut Facts) {
    let routes = default_routes(reader);
    for name in nics(parameters, facts) {
        let mut part = Subject::new(name.clone());
        let there = reader.names(&format!("{ROOT}/{name}"), |_| false).map_err(unclear);
        let routes = there.and_then(|_| routes.clone());
        part.set("nic.default-route", routes.map(|routes| routes.contains(&name)));
        part.set("nic.ipv6-addresses", ipv6_addresses(reader, &name));
        part.set("nic.ipv4-addresses", ipv4_addresses(reader, &name));
        facts.add(Class::Nic, part);
    }
}

/// Number of IPv4 addresses. No file lists them by interface, only the kernel's answer does; the addresses themselves are not kept.
fn ipv4_addresses(reader: &Reader, name: &str) -> Result<u32, Unknown> {
    let text = reader.answer("ipv4-addresses", || {
        let all = sys::link::ipv4_addresses().map_err(|error| HostError::Undecided(error.to_string()))?;
        let all = all.into_iter().map(|(name, count)| (name, Toml::Integer(count as i64)));
        Ok(format!("# IPv4 addresses\n{}", all.collect::<Table>()))
    });
    let all = text.map_err(only_live)?.parse::<Table>();
    let all = all.map_err(|error| Unknown::unclear(format!("the recorded answer on IPv4 addresses: {error}")))?;
    let count = all
        .get(name)
        .and_then(Toml::as_integer)
        .and_then(|count| u32::try_from(count).ok());
    count.ok_or_else(|| Unknown::unclear(format!("the kernel reports nothing about addresses of {name}")))
}

/// Number of IPv6 addresses. Each line of `/proc/net/if_inet6` contains an address, four numbers and the name (Linux: net/ipv6/addrconf.c,
/// if6_seq_show). A kernel without IPv6 has the other files but not this one.
fn ipv6_addresses(reader: &Reader, name: &str) -> Result<u32, Unknown> {
    let text = match reader.text("/proc/net/if_inet6") {
        Err(error) if error.is_absent() && has_no_ipv6(reader) => String::new(),
        text => text.map_err(unclear)?,
    };
    let mut own = 0;
    for line in text.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words[..] {
            [_, ref numbers @ .., interface] if numbers.len() == 4 && numbers.iter().all(|n| is_hex(n)) => {
                own += u32::from(interface == name);
            }
            _ => {
                return Err(Unknown::unclear(format!(
                    "/proc/net/if_inet6: \"{line}\" is not an address"
                )));
            }
        }
    }
    Ok(own)
}

/// A kernel with IPv6 has both the file of routes and that of addresses, even if they are empty (Linux: net/ipv6/route.c).
fn has_no_ipv6(reader: &Reader) -> bool {
    let has = |path: &str| reader.exists(path).unwrap_or(true);
    reader.exists("/proc/net/dev").unwrap_or(false) && !has("/proc/net/ipv6_route")
}

/// A number in the kernel's notation there. The address itself is left out of captures.
fn is_hex(number: &str) -> bool {
    number.bytes().all(|octet| octet.is_ascii_hexdigit())
}

/// Interfaces with a default route: for IPv4 the destination is zero, for IPv6 its prefix too (proc_net(5)).
fn default_routes(reader: &Reader) -> Result<Vec<String>, Unknown> {
    let path = "/proc/net/route";
    let text = reader.text(path).map_err(unclear)?;
    let mut lines = text.lines();
    if !lines.next().is_some_and(|head| head.starts_with("Iface")) {
        return Err(Unknown::unclear(format!("{path} has no head")));
    }
    let v4 = lines.filter_map(|line| {
        let words: Vec<&str> = line.split_whitespace().collect();
        (words.get(1) == Some(&"00000000")).then(|| (*words[0]).to_owned())
    });
    let mut names: Vec<String> = v4.collect();
    let text = reader.text("/proc/net/ipv6_route").unwrap_or_default();
    names.extend(text.lines().filter_map(|line| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let everywhere = words.get(1) == Some(&"00") && words.first().is_some_and(|to| to.bytes().all(|b| b == b'0'));
        let name = *words.get(9)?;
        (everywhere && name != "lo").then(|| name.to_owned())
    }));
    Ok(names)
}
