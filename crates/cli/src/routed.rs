//! Options of GOOSE and sampled values over UDP: R-GOOSE, R-SV.

use crate::failure::Failure;
use probes::{Port, read_keys};
use std::net::Ipv4Addr;
use std::path::PathBuf;
use sys::link::{Membership, ipv4_addresses_of};
use sys::packet::PortOptions;
use wire::ether::Mac;
use wire::routed::{Key, PORT, Route, Wrapper};

/// Heading of the options.
const HEADING: &str = "Over UDP (R-GOOSE, R-SV)";

/// Options of every command that sends datagrams.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct RoutedArgs {
    /// Send GOOSE and sampled values over UDP to this IPv4 multicast group, port 102, and read such datagrams where messages are received
    #[arg(long, value_name = "GROUP", value_parser = group, help_heading = HEADING)]
    routed: Option<Ipv4Addr>,
    /// Address of the sender [default: the first IPv4 address of the interface]
    #[arg(long, value_name = "ADDRESS", requires = "routed", help_heading = HEADING)]
    source_ip: Option<Ipv4Addr>,
    /// Number of routers that may forward a datagram, and one
    #[arg(long, value_name = "N", default_value_t = 64, requires = "routed", value_parser = clap::value_parser!(u8).range(1..), help_heading = HEADING)]
    ttl: u8,
    /// Class of service in the IP header, 0 to 63; 46 is expedited forwarding
    #[arg(long, value_name = "N", default_value_t = Route::EXPEDITED, requires = "routed", value_parser = clap::value_parser!(u8).range(..64), help_heading = HEADING)]
    dscp: u8,
    /// Sign each datagram with the first key of this file (docs/formats/key-file.md)
    #[arg(long, value_name = "KEYFILE", requires = "routed", help_heading = HEADING)]
    sign: Option<PathBuf>,
}

/// Options of every command that receives datagrams.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct ReceivingRoutedArgs {
    /// Read GOOSE and sampled values over UDP as well, and join these IPv4 multicast groups
    #[arg(long, value_name = "GROUP,...", value_delimiter = ',', value_parser = group, help_heading = HEADING)]
    routed: Vec<Ipv4Addr>,
    #[command(flatten)]
    key: KeyArgs,
}

/// The option of every command that checks signatures.
#[derive(Debug, Clone, Default, clap::Args)]
pub(crate) struct KeyArgs {
    /// Check the signatures of datagrams with the keys of this file; one that is not signed, or wrongly, is not used
    #[arg(long, value_name = "KEYFILE", help_heading = HEADING)]
    pub(crate) key: Option<PathBuf>,
}

impl KeyArgs {
    /// The keys; none without a file.
    ///
    /// # Errors
    /// The file cannot be used.
    pub(crate) fn read(&self) -> Result<Vec<Key>, Failure> {
        let read = self.key.as_deref().map(read_keys).transpose()?;
        Ok(read.unwrap_or_default())
    }
}

/// Reception of datagrams at a port.
#[derive(Debug, Default)]
pub(crate) struct Hearing {
    keys: Option<Vec<Key>>,
    /// The groups are joined as long as this exists.
    _groups: Vec<Membership>,
}

impl Hearing {
    /// Options of a port, with the datagrams that it is to receive.
    pub(crate) fn options(&self, options: PortOptions) -> PortOptions {
        PortOptions {
            udp_port: self.keys.as_ref().map(|_| PORT),
            ..options
        }
    }

    /// The port as a reader of datagrams, if it is to be one.
    pub(crate) fn at(&self, port: Port) -> Port {
        port.with_keys(self.keys.clone())
    }
}

impl ReceivingRoutedArgs {
    /// Joins the groups on the interface, and on the one in LAN B if there is one; reads the keys.
    ///
    /// # Errors
    /// A group cannot be joined, the key file cannot be used, or it is given without a group.
    pub(crate) fn hearing(&self, interface: &str, lan_b: Option<&str>) -> Result<Hearing, Failure> {
        if self.routed.is_empty() {
            return match self.key.key {
                None => Ok(Hearing::default()),
                Some(_) => Err(Failure::Usage(
                    "--key checks datagrams: give the group that they are sent to (--routed GROUP)".to_owned(),
                )),
            };
        }
        let on = |interface| self.routed.iter().map(move |group| Membership::join(interface, *group));
        // Switches of each LAN forward a group only where it was joined.
        let groups = std::iter::once(interface).chain(lan_b).flat_map(on);
        Ok(Hearing {
            keys: Some(self.key.read()?),
            _groups: groups.collect::<Result<_, _>>()?,
        })
    }

    /// The first group, if there is one.
    pub(crate) fn group(&self) -> Option<Ipv4Addr> {
        self.routed.first().copied()
    }
}

impl RoutedArgs {
    /// MAC address of the group: the destination of every stream and control block.
    pub(crate) fn mac(&self) -> Option<Mac> {
        self.routed.map(Route::mac)
    }

    /// True if datagrams are sent.
    pub(crate) fn is_given(&self) -> bool {
        self.routed.is_some()
    }

    /// Writer of the datagrams; `None` sends frames of layer 2.
    ///
    /// # Errors
    /// The interface has no IPv4 address and none is given, or the key file cannot be used.
    pub(crate) fn wrapper(&self, interface: &str) -> Result<Option<Wrapper>, Failure> {
        let Some(group) = self.routed else { return Ok(None) };
        let own = || -> Result<Ipv4Addr, Failure> {
            let first = ipv4_addresses_of(interface)?.first().copied();
            let problem =
                || format!("--routed: {interface} has no IPv4 address: give that of the sender (--source-ip ADDRESS)");
            first.ok_or_else(|| Failure::Usage(problem()))
        };
        let key = self.sign.as_deref().map(read_keys).transpose()?;
        Ok(Some(Wrapper::new(Route {
            source: self.source_ip.map_or_else(own, Ok)?,
            group,
            ttl: self.ttl,
            dscp: self.dscp,
            key: key.and_then(|keys| keys.into_iter().next()),
        })))
    }

    /// Reception of datagrams of the same group, with these keys.
    ///
    /// # Errors
    /// The group cannot be joined, the key file cannot be used, or it is given without a group.
    pub(crate) fn hearing(&self, interface: &str, lan_b: Option<&str>, key: &KeyArgs) -> Result<Hearing, Failure> {
        let receiving = ReceivingRoutedArgs {
            routed: self.routed.into_iter().collect(),
            key: key.clone(),
        };
        receiving.hearing(interface, lan_b)
    }
}

/// Parses an IPv4 multicast group.
fn group(text: &str) -> Result<Ipv4Addr, String> {
    let parsed = text.parse().ok().filter(Ipv4Addr::is_multicast);
    parsed.ok_or_else(|| {
        format!(
            "\"{text}\" is no IPv4 multicast group: write one from 224.0.0.0 to 239.255.255.255, such as 239.192.0.1"
        )
    })
}

#[cfg(test)]
mod tests {
    use super::group;

    #[test]
    fn only_multicast_groups_are_taken() {
        assert_eq!(group("239.192.0.1"), Ok([239, 192, 0, 1].into()));
        for wrong in ["10.0.0.1", "ff02::1", "239.192.0", ""] {
            assert!(
                group(wrong).is_err_and(|error| error.contains("239.192.0.1")),
                "{wrong}"
            );
        }
    }
}
