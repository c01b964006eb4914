//! Sets of named bits: netlink sends the names of some, and only numbers for others, whose names are listed here.

use netlink_packet_core::NlasIterator;

/// `ETHTOOL_A_BITSET_*` (linux/ethtool_netlink.h).
const NOMASK: u16 = 1;
const BITS: u16 = 3;
/// `ETHTOOL_A_BITSET_BITS_BIT`.
const BIT: u16 = 1;
/// `ETHTOOL_A_BITSET_BIT_*`.
const INDEX: u16 = 1;
const NAME: u16 = 2;
const VALUE: u16 = 3;

/// Bits of `so_timestamping` (linux/net_tstamp.h), by the kernel's names (net/ethtool/common.c).
pub(super) const CAPABILITIES: [&str; 16] = [
    "hardware-transmit",
    "software-transmit",
    "hardware-receive",
    "software-receive",
    "software-system-clock",
    "hardware-legacy-clock",
    "hardware-raw-clock",
    "option-id",
    "sched-transmit",
    "ack-transmit",
    "option-cmsg",
    "option-tsonly",
    "option-stats",
    "option-pktinfo",
    "option-tx-swhw",
    "bind-phc",
];

/// `SUPPORTED_*` (linux/ethtool.h): link modes of the older way.
pub(super) const LINK_MODES: [&str; 20] = [
    "10baseT/Half",
    "10baseT/Full",
    "100baseT/Half",
    "100baseT/Full",
    "1000baseT/Half",
    "1000baseT/Full",
    "Autoneg",
    "TP",
    "AUI",
    "MII",
    "FIBRE",
    "BNC",
    "10000baseT/Full",
    "Pause",
    "Asym_Pause",
    "2500baseX/Full",
    "Backplane",
    "1000baseKX/Full",
    "10000baseKX4/Full",
    "10000baseKR/Full",
];

/// `HWTSTAMP_TX_*`.
pub(super) const TX_TYPES: [&str; 4] = ["off", "on", "onestep-sync", "onestep-p2p"];

/// `HWTSTAMP_FILTER_*`.
pub(crate) const RX_FILTERS: [&str; 16] = [
    "none",
    "all",
    "some",
    "ptpv1-l4-event",
    "ptpv1-l4-sync",
    "ptpv1-l4-delay-req",
    "ptpv2-l4-event",
    "ptpv2-l4-sync",
    "ptpv2-l4-delay-req",
    "ptpv2-l2-event",
    "ptpv2-l2-sync",
    "ptpv2-l2-delay-req",
    "ptpv2-event",
    "ptpv2-sync",
    "ptpv2-delay-req",
    "ntp-all",
];

/// Names of the bits that are set in a bitset that netlink sends with names. A set without a mask lists only those; in a set with a
/// mask, each listed bit has a flag for its value.
pub(super) fn names(bitset: &[u8]) -> Vec<String> {
    let lists_set_only = NlasIterator::new(bitset).flatten().any(|part| part.kind() == NOMASK);
    read(bitset, lists_set_only)
}

/// Names of all bits that a bitset lists, whatever their value: those of its mask.
pub(super) fn listed(bitset: &[u8]) -> Vec<String> {
    read(bitset, true)
}

fn read(bitset: &[u8], lists_set_only: bool) -> Vec<String> {
    let mut names = Vec::new();
    let parts: Vec<_> = NlasIterator::new(bitset).flatten().collect();
    for bits in parts.iter().filter(|part| part.kind() == BITS) {
        for bit in NlasIterator::new(bits.value())
            .flatten()
            .filter(|bit| bit.kind() == BIT)
        {
            names.extend(name(bit.value(), lists_set_only));
        }
    }
    names
}

/// The name of one bit if it is set; a bit without a name in the kernel is shown by its number.
fn name(bit: &[u8], is_set: bool) -> Option<String> {
    let (mut name, mut index, mut is_set) = (None, None, is_set);
    for attribute in NlasIterator::new(bit).flatten() {
        match attribute.kind() {
            NAME => name = Some(crate::link::text(attribute.value())),
            INDEX => index = attribute.value().try_into().ok().map(u32::from_ne_bytes),
            VALUE => is_set = true,
            _ => {}
        }
    }
    let name = name.filter(|name| !name.is_empty());
    let name = name.or_else(|| Some(format!("bit {}", index?)));
    name.filter(|_| is_set)
}

/// Names of the bits that are set in `word`.
pub(super) fn of_word(word: u32, names: &[&str]) -> Vec<String> {
    (0..u32::BITS)
        .filter(|bit| word & (1 << bit) != 0)
        .map(|bit| {
            names
                .get(bit as usize)
                .map_or_else(|| format!("bit {bit}"), |name| (*name).to_owned())
        })
        .collect()
}
