//! Parses the needed attributes of an interface from one message of a link dump.
//!
//! Only these are read, so that new forms of other attributes in a newer kernel cannot make the interfaces unreadable.

use super::hsr::{self, HsrLink};
use super::{Below, LinkInfo};
use netlink_packet_core::{NlaBuffer, NlasIterator};

/// `struct ifinfomsg` (linux/rtnetlink.h): family, type u16 at 2, index i32 at 4, flags u32 at 8, change mask.
pub(super) const HEADER_OCTETS: usize = 16;

/// The driver has a carrier, and the kernel does not report the link as not operational.
const READY: u32 = (libc::IFF_LOWER_UP | libc::IFF_RUNNING) as u32;

/// Kinds whose carrier comes after they are up. Their state is unknown until the kernel has acted on it, and it drops frames sent
/// before; other drivers (`lo`, dummy, some tunnels) stay unknown for good.
const CARRIER_COMES_LATER: [&str; 3] = ["veth", "bridge", "macvlan"];

/// The XDP program of an interface (linux/if_link.h).
const IFLA_XDP: u16 = 43;
const IFLA_XDP_PROG_ID: u16 = 4;

/// How often the carrier was lost (linux/if_link.h).
const IFLA_CARRIER_DOWN_COUNT: u16 = 48;

/// RFC 2863 states by number (linux/if.h, `IF_OPER_*`), as iproute2 writes them.
const OPERSTATES: [&str; 7] = [
    "unknown",
    "notpresent",
    "down",
    "lowerlayerdown",
    "testing",
    "dormant",
    UP,
];
const UP: &str = "up";

/// Parses one interface; `None` if the message does not even have a name.
pub(super) fn link(payload: &[u8]) -> Option<LinkInfo> {
    let (header, attributes) = payload.split_at_checked(HEADER_OCTETS)?;
    let hardware = libc::c_ushort::from_ne_bytes([header[2], header[3]]);
    let flags = number(&header[8..12])?;
    let mut link = LinkInfo {
        index: number(&header[4..8])?,
        name: String::new(),
        mac: [0; 6],
        mtu: 0,
        up: flags & libc::IFF_UP as u32 != 0,
        carrier: flags & READY == READY,
        carrier_losses: None,
        operstate: OPERSTATES[0],
        ethernet: matches!(hardware, libc::ARPHRD_ETHER | libc::ARPHRD_LOOPBACK),
        kind: None,
        master: None,
        xdp_program: None,
        below: Below::Nothing,
        hsr: None,
    };
    for attribute in NlasIterator::new(attributes).flatten() {
        read_attribute(&mut link, &attribute);
    }
    let undecided = link.operstate != UP
        && link
            .kind
            .as_deref()
            .is_some_and(|kind| CARRIER_COMES_LATER.contains(&kind));
    link.carrier &= !undecided;
    (!link.name.is_empty()).then_some(link)
}

fn read_attribute(link: &mut LinkInfo, attribute: &NlaBuffer<&[u8]>) {
    let value = attribute.value();
    match attribute.kind() {
        libc::IFLA_IFNAME => link.name = text(value),
        libc::IFLA_ADDRESS => link.mac = value.try_into().unwrap_or_default(),
        libc::IFLA_MTU => link.mtu = number(value).unwrap_or(0),
        libc::IFLA_OPERSTATE => {
            let state = value.first().and_then(|state| OPERSTATES.get(usize::from(*state)));
            link.operstate = state.copied().unwrap_or(OPERSTATES[0]);
        }
        // The namespace's attribute, if there is one, comes after this one in some kernels and before it in others.
        libc::IFLA_LINK => {
            let other = number(value);
            link.below = match link.below {
                Below::Elsewhere { namespace, .. } => Below::Elsewhere {
                    index: other.unwrap_or(0),
                    namespace,
                },
                _ => other
                    .filter(|index| *index != 0 && *index != link.index)
                    .map_or(Below::Nothing, Below::Here),
            };
        }
        libc::IFLA_LINK_NETNSID => {
            let index = match link.below {
                Below::Here(index) | Below::Elsewhere { index, .. } => index,
                // Its index there is the same as this interface's here.
                Below::Nothing => link.index,
            };
            let namespace = number(value).unwrap_or(u32::MAX).cast_signed();
            link.below = Below::Elsewhere { index, namespace };
        }
        IFLA_CARRIER_DOWN_COUNT => link.carrier_losses = number(value),
        libc::IFLA_MASTER => link.master = number(value),
        IFLA_XDP => {
            link.xdp_program = NlasIterator::new(value)
                .flatten()
                .find(|xdp| xdp.kind() == IFLA_XDP_PROG_ID)
                .and_then(|xdp| number(xdp.value()));
        }
        libc::IFLA_LINKINFO => {
            let of = |kind: u16| NlasIterator::new(value).flatten().find(|info| info.kind() == kind);
            link.kind = of(libc::IFLA_INFO_KIND).map(|info| text(info.value()));
            link.hsr = of(libc::IFLA_INFO_DATA)
                .filter(|_| link.kind.as_deref() == Some(hsr::KIND))
                .map(|info| HsrLink::parse(info.value()));
        }
        _ => {}
    }
}

/// Size of `struct rtgenmsg` in bytes, padded.
const GENERAL_OCTETS: usize = 4;
/// `NETNSA_NSID` (linux/net_namespace.h).
const NETNSA_NSID: u16 = 1;

/// The number in an answer about a namespace; `None` if it has none.
pub(super) fn namespace_id(payload: &[u8]) -> Option<i32> {
    let (_, attributes) = payload.split_at_checked(GENERAL_OCTETS)?;
    let attribute = NlasIterator::new(attributes)
        .flatten()
        .find(|attribute| attribute.kind() == NETNSA_NSID)?;
    let id = number(attribute.value())?.cast_signed();
    (id >= 0).then_some(id)
}

pub(super) fn number(octets: &[u8]) -> Option<u32> {
    octets.try_into().ok().map(u32::from_ne_bytes)
}

/// A text up to its terminating zero, if it has one.
pub(crate) fn text(octets: &[u8]) -> String {
    let end = octets.iter().position(|octet| *octet == 0).unwrap_or(octets.len());
    String::from_utf8_lossy(&octets[..end]).into_owned()
}

#[cfg(test)]
pub(super) mod tests {
    use super::{READY, link};

    /// One attribute, padded as netlink requires.
    pub(in crate::link) fn attribute(kind: u16, value: &[u8]) -> Vec<u8> {
        let mut octets = Vec::new();
        octets.extend(u16::try_from(value.len() + 4).expect("short").to_ne_bytes());
        octets.extend(kind.to_ne_bytes());
        octets.extend(value);
        octets.resize(octets.len().next_multiple_of(4), 0);
        octets
    }

    fn message() -> Vec<u8> {
        let mut octets = vec![0, 0, 1, 0, 7, 0, 0, 0];
        octets.extend((libc::IFF_UP as u32 | READY).to_ne_bytes());
        octets.extend([0; 4]);
        octets.extend(attribute(libc::IFLA_IFNAME, b"p-ts\0"));
        octets.extend(attribute(libc::IFLA_ADDRESS, &[2, 0, 0, 0, 0, 1]));
        octets.extend(attribute(libc::IFLA_MTU, &9000_u32.to_ne_bytes()));
        octets.extend(attribute(libc::IFLA_OPERSTATE, &[6]));
        octets.extend(attribute(libc::IFLA_MASTER, &3_u32.to_ne_bytes()));
        octets.extend(attribute(
            libc::IFLA_LINKINFO,
            &attribute(libc::IFLA_INFO_KIND, b"veth\0"),
        ));
        octets.extend(attribute(43, &attribute(4, &99_u32.to_ne_bytes())));
        octets.extend(attribute(4_000, b"an attribute of a kernel to come"));
        octets
    }

    #[test]
    fn reads_a_bridge_port_and_passes_over_what_it_does_not_know() {
        let link = link(&message()).expect("a link");
        assert_eq!(
            (link.index, link.name.as_str(), link.mac),
            (7, "p-ts", [2, 0, 0, 0, 0, 1])
        );
        assert_eq!(
            (link.mtu, link.up, link.carrier, link.operstate),
            (9000, true, true, "up")
        );
        assert_eq!(
            (link.kind.as_deref(), link.master, link.ethernet),
            (Some("veth"), Some(3), true)
        );
        assert_eq!(link.xdp_program, Some(99));
    }

    #[test]
    fn a_veth_whose_carrier_the_kernel_has_not_acted_on_has_none_yet() {
        let of = |kind: &[u8], state: u8| {
            let mut octets = message();
            octets.extend(attribute(libc::IFLA_OPERSTATE, &[state]));
            octets.extend(attribute(libc::IFLA_LINKINFO, &attribute(libc::IFLA_INFO_KIND, kind)));
            link(&octets).expect("a link").carrier
        };
        assert_eq!([of(b"veth", 0), of(b"veth", 6), of(b"dummy", 0)], [false, true, true]);
    }

    #[test]
    fn a_message_cut_anywhere_does_not_panic() {
        let whole = message();
        for length in 0..whole.len() {
            let _ = link(&whole[..length]);
        }
        assert_eq!(link(&whole[..16]), None);
    }
}
