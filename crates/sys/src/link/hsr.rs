//! The redundant devices of the kernel (`ip link add type hsr`): their ports and their protocol.

use super::parse::number;
use netlink_packet_core::NlasIterator;

/// Attributes in `IFLA_INFO_DATA` of a device of kind `hsr` (linux/if_link.h).
const IFLA_HSR_SLAVE1: u16 = 1;
const IFLA_HSR_SLAVE2: u16 = 2;
const IFLA_HSR_SUPERVISION_ADDR: u16 = 4;
const IFLA_HSR_VERSION: u16 = 6;
const IFLA_HSR_PROTOCOL: u16 = 7;

/// `HSR_PROTOCOL_PRP` (linux/if_link.h); HSR is 0.
const PROTOCOL_PRP: u8 = 1;

/// Kind of these devices; the kernel has one for both protocols.
pub(super) const KIND: &str = "hsr";

/// A device that sends on two ports, and discards the copies that they receive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct HsrLink {
    /// Indices of the ports in LAN A and LAN B; `None` for a port that was removed.
    pub ports: [Option<u32>; 2],
    /// True for PRP, false for HSR. Kernels before 5.9 have HSR alone, and do not report it.
    pub is_prp: bool,
    /// Version of HSR, if the kernel reports it: 0 is edition 1.
    pub version: Option<u8>,
    /// Destination of its supervision frames.
    pub supervision: Option<[u8; 6]>,
}

impl HsrLink {
    /// Reads the data of such a device.
    pub(super) fn parse(data: &[u8]) -> Self {
        let mut link = Self::default();
        for attribute in NlasIterator::new(data).flatten() {
            let value = attribute.value();
            let port = number(value).filter(|index| *index != 0);
            match attribute.kind() {
                IFLA_HSR_SLAVE1 => link.ports[0] = port,
                IFLA_HSR_SLAVE2 => link.ports[1] = port,
                IFLA_HSR_SUPERVISION_ADDR => link.supervision = value.try_into().ok(),
                IFLA_HSR_VERSION => link.version = value.first().copied(),
                IFLA_HSR_PROTOCOL => link.is_prp = value.first() == Some(&PROTOCOL_PRP),
                _ => {}
            }
        }
        link
    }
}

#[cfg(test)]
mod tests {
    use super::HsrLink;
    use crate::link::parse::link;
    use crate::link::parse::tests::attribute;

    /// The data of a device as `hsr_fill_info` of Linux writes it: port 1, port 2, address, number, protocol.
    fn data(ports: [u32; 2], protocol: u8) -> Vec<u8> {
        [
            attribute(1, &ports[0].to_ne_bytes()),
            attribute(2, &ports[1].to_ne_bytes()),
            attribute(4, &[0x01, 0x15, 0x4e, 0x00, 0x01, 0x2a]),
            attribute(5, &64_521_u16.to_ne_bytes()),
            attribute(7, &[protocol]),
        ]
        .concat()
    }

    fn message(kind: &[u8], data: &[u8]) -> Vec<u8> {
        let mut octets = vec![0, 0, 1, 0, 45, 0, 0, 0, 0x43, 0x10, 1, 0, 0, 0, 0, 0];
        octets.extend(attribute(libc::IFLA_IFNAME, b"prp0\0"));
        let info = [
            attribute(libc::IFLA_INFO_KIND, kind),
            attribute(libc::IFLA_INFO_DATA, data),
        ];
        octets.extend(attribute(libc::IFLA_LINKINFO, &info.concat()));
        octets
    }

    #[test]
    fn ports_and_protocol_of_a_device_are_read() {
        let of = |ports, protocol| link(&message(b"hsr\0", &data(ports, protocol))).expect("a link").hsr;
        let prp = of([44, 42], 1).expect("its data");
        assert_eq!((prp.ports, prp.is_prp, prp.version), ([Some(44), Some(42)], true, None));
        assert_eq!(prp.supervision, Some([0x01, 0x15, 0x4e, 0x00, 0x01, 0x2a]));
        let hsr = of([44, 0], 0).expect("its data");
        assert_eq!((hsr.ports, hsr.is_prp), ([Some(44), None], false));
    }

    #[test]
    fn data_of_other_kinds_are_none_of_such_a_device() {
        assert_eq!(link(&message(b"vlan\0", &data([1, 2], 1))).expect("a link").hsr, None);
        let whole = message(b"hsr\0", &data([1, 2], 1));
        for length in 0..whole.len() {
            let _ = link(&whole[..length]);
        }
        assert_eq!(HsrLink::parse(&[]), HsrLink::default());
    }
}
