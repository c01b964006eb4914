//! Interfaces through which a user of this machine may be connected to it.

use std::net::IpAddr;
use std::path::Path;

use crate::Host;
use crate::reader::Reader;

/// Maximum number of interfaces examined below one.
const DEEPEST: usize = 8;
/// Maximum number of ancestor processes examined.
const MOST_PARENTS: usize = 32;

/// A route: its destination prefix and its interface.
struct Route {
    to: u128,
    /// Number of leading bits that count.
    bits: u32,
    interface: String,
}

impl Host {
    /// Interfaces of default routes and of the route to `client`, and the interfaces below them: a remote user is connected through these.
    pub fn connection(&self, client: Option<IpAddr>) -> Vec<String> {
        connection(&self.reader, client)
    }
}

/// Same as [`Host::connection`].
pub fn connection(reader: &Reader, client: Option<IpAddr>) -> Vec<String> {
    let mut found = Vec::new();
    for route in routes(reader).iter().filter(|route| route.bits == 0) {
        add_with_below(reader, &route.interface, DEEPEST, &mut found);
    }
    if let Some(interface) = client.and_then(|client| interface_to(reader, client)) {
        add_with_below(reader, &interface, DEEPEST, &mut found);
    }
    found
}

fn add_with_below(reader: &Reader, name: &str, depth: usize, found: &mut Vec<String>) {
    if depth == 0 || found.iter().any(|known| known == name) {
        return;
    }
    found.push(name.to_owned());
    let lower = reader.names(&format!("/sys/class/net/{name}"), |entry| entry.starts_with("lower_"));
    for entry in lower.unwrap_or_default() {
        add_with_below(reader, entry.trim_start_matches("lower_"), depth - 1, found);
    }
}

/// Address of the client that opened the ssh session of this process, from the variable that `sshd` sets (`SSH_CONNECTION`, ssh(1)). `sudo`
/// removes it from its child, so ancestors are searched too. Not a fact: environments contain private data that must not be recorded.
pub fn ssh_client() -> Option<IpAddr> {
    client_of(Path::new("/proc"), std::process::id())
}

fn client_of(proc: &Path, mut process: u32) -> Option<IpAddr> {
    for _ in 0..MOST_PARENTS {
        let folder = proc.join(process.to_string());
        let environment = std::fs::read(folder.join("environ")).unwrap_or_default();
        let variables = environment.split(|octet| *octet == 0);
        let mut ours =
            variables.filter_map(|variable| std::str::from_utf8(variable).ok()?.strip_prefix("SSH_CONNECTION="));
        if let Some(client) = ours.find_map(|value| value.split(' ').next()?.parse().ok()) {
            return Some(client);
        }
        let status = std::fs::read_to_string(folder.join("status")).ok()?;
        let parent = status.lines().find_map(|line| line.strip_prefix("PPid:"))?;
        process = parent.trim().parse().ok().filter(|parent| *parent > 0)?;
    }
    None
}

/// Interface of the narrowest route to an address.
fn interface_to(reader: &Reader, address: IpAddr) -> Option<String> {
    let address = number(address);
    let fits = |route: &Route| {
        let mask = u128::MAX.checked_shl(128 - route.bits).unwrap_or(0);
        (route.to ^ address) & mask == 0
    };
    let narrowest = routes(reader).into_iter().filter(fits).max_by_key(|route| route.bits);
    narrowest.map(|route| route.interface)
}

/// Converts an IPv4 address to the corresponding IPv6 address.
fn number(address: IpAddr) -> u128 {
    match address {
        IpAddr::V4(address) => address.to_ipv6_mapped().to_bits(),
        IpAddr::V6(address) => address.to_bits(),
    }
}

/// Routes of this machine, except those of `lo` (proc_net(5)). A default route has 0 bits, for IPv4 too.
fn routes(reader: &Reader) -> Vec<Route> {
    let v4 = reader.text("/proc/net/route").unwrap_or_default();
    let v6 = reader.text("/proc/net/ipv6_route").unwrap_or_default();
    let found = v4.lines().filter_map(route_v4).chain(v6.lines().filter_map(route_v6));
    found.filter(|route| route.interface != "lo").collect()
}

/// IPv4 numbers are in the processor's byte order in this file.
fn route_v4(line: &str) -> Option<Route> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let word = |place: usize| u32::from_str_radix(words.get(place)?, 16).ok();
    let to = u32::from_be(word(1)?);
    // In a table without masks, only default routes can be recognised.
    let mask = word(7).unwrap_or(if to == 0 { 0 } else { u32::MAX });
    let bits = mask.count_ones();
    Some(Route {
        to: number(IpAddr::V4(to.into())),
        bits: if bits == 0 { 0 } else { 96 + bits },
        interface: (*words.first()?).to_owned(),
    })
}

fn route_v6(line: &str) -> Option<Route> {
    let words: Vec<&str> = line.split_whitespace().collect();
    Some(Route {
        to: u128::from_str_radix(words.first()?, 16).ok()?,
        bits: u32::from_str_radix(words.get(1)?, 16)
            .ok()
            .filter(|bits| *bits <= 128)?,
        interface: (*words.get(9)?).to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::{client_of, interface_to};
    use crate::Host;
    use std::fs;

    /// A default route through a bridge on eth0, a network on eth1, an IPv6 network on eth2.
    const FILES: [(&str, &str); 3] = [
        (
            "proc/net/route",
            "Iface\tDestination\tGateway\tFlags\tRefCnt\tUse\tMetric\tMask\n\
             br0\t00000000\t0102A8C0\t0003\t0\t0\t0\t00000000\n\
             eth1\t0002A8C0\t00000000\t0001\t0\t0\t0\t00FFFFFF\n",
        ),
        (
            "proc/net/ipv6_route",
            "20010db8000000000000000000000000 20 00000000000000000000000000000000 00 00000000000000000000000000000000 \
             00000400 00000001 00000000 00000001 eth2\n\
             00000000000000000000000000000000 00 00000000000000000000000000000000 00 00000000000000000000000000000000 \
             ffffffff 00000001 00000000 00200200 lo\n",
        ),
        ("sys/class/net/br0/lower_eth0/ifindex", "2\n"),
    ];

    fn tree(files: &[(&str, &str)]) -> tempfile::TempDir {
        let root = tempfile::tempdir().expect("a directory");
        for (path, text) in files {
            let place = root.path().join(path);
            fs::create_dir_all(place.parent().expect("a folder")).expect("folders");
            fs::write(place, text).expect("a file");
        }
        root
    }

    #[test]
    fn who_is_connected_comes_by_a_default_route_or_the_session() {
        let root = tree(&FILES);
        let host = Host::at(root.path()).expect("a tree");
        assert_eq!(host.connection(None), ["br0", "eth0"]);
        let client = "192.168.2.9".parse().ok();
        assert_eq!(host.connection(client), ["br0", "eth0", "eth1"]);
    }

    #[test]
    fn the_session_is_found_above_sudo() {
        let root = tree(&[
            ("9/environ", "TERM=xterm\0"),
            ("9/status", "Name:\ttriptime\nPPid:\t7\n"),
            ("7/environ", "A=1\0SSH_CONNECTION=192.168.2.9 50000 192.168.2.1 22\0"),
            ("8/environ", ""),
            ("8/status", "Name:\tinit\nPPid:\t0\n"),
        ]);
        assert_eq!(client_of(root.path(), 9), "192.168.2.9".parse().ok());
        assert_eq!(client_of(root.path(), 8), None);
    }

    #[test]
    fn the_narrowest_route_leads_to_an_address() {
        let root = tree(&FILES);
        let host = Host::at(root.path()).expect("a tree");
        let to = |address: &str| interface_to(&host.reader, address.parse().expect("an address"));
        assert_eq!(to("192.168.2.200").as_deref(), Some("eth1"));
        assert_eq!(to("192.0.2.1").as_deref(), Some("br0"));
        assert_eq!(to("2001:db8::1").as_deref(), Some("eth2"));
    }
}
