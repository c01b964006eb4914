//! Decodes the netlink answers from their bytes. Unknown attributes of a newer kernel are skipped.

use super::model::{Channels, Coalesce, Duplex, Eee, Features, LinkSettings, Pause, Rings, Rss, TimeStamping};
use super::{attribute, bits};
use netlink_packet_core::{NlaBuffer, NlasIterator};

/// `DUPLEX_*` (linux/ethtool.h).
pub(super) const HALF: u8 = 0;
pub(super) const FULL: u8 = 1;
/// `SPEED_UNKNOWN` is -1; some drivers report 0 while there is no link.
pub(super) const NO_SPEED: [u32; 2] = [0, u32::MAX];

type Attribute<'a> = NlaBuffer<&'a [u8]>;

fn attributes(octets: &[u8]) -> impl Iterator<Item = Attribute<'_>> {
    NlasIterator::new(octets).flatten()
}

fn number(attribute: &Attribute<'_>) -> Option<u32> {
    attribute.value().try_into().ok().map(u32::from_ne_bytes)
}

/// A number of four bytes or of one byte.
pub(super) fn count(octets: &[u8]) -> Option<u32> {
    match octets {
        [octet] => Some(u32::from(*octet)),
        octets => octets.try_into().ok().map(u32::from_ne_bytes),
    }
}

fn octet(attribute: &Attribute<'_>) -> Option<u8> {
    attribute.value().first().copied()
}

fn switch(attribute: &Attribute<'_>) -> Option<bool> {
    octet(attribute).map(|value| value != 0)
}

pub(super) fn duplex(value: u8) -> Option<Duplex> {
    match value {
        HALF => Some(Duplex::Half),
        FULL => Some(Duplex::Full),
        _ => None,
    }
}

/// `ETHTOOL_A_LINKMODES_*`.
pub(super) fn link(octets: &[u8]) -> LinkSettings {
    let mut link = LinkSettings::default();
    for attribute in attributes(octets) {
        match attribute.kind() {
            attribute::link_modes::AUTONEG => link.autoneg = switch(&attribute),
            attribute::link_modes::SPEED => {
                link.speed_mbit = number(&attribute).filter(|speed| !NO_SPEED.contains(speed));
            }
            attribute::link_modes::DUPLEX => link.duplex = octet(&attribute).and_then(duplex),
            _ => {}
        }
    }
    link
}

/// `ETHTOOL_A_LINKSTATE_LINK`; `None` if the driver does not report it.
pub(super) fn detected(octets: &[u8]) -> Option<bool> {
    attributes(octets)
        .find(|attribute| attribute.kind() == attribute::link_state::LINK)
        .and_then(|attribute| switch(&attribute))
}

/// `ETHTOOL_A_COALESCE_*`: the kernel leaves out parameters that the driver does not have.
pub(super) fn coalesce(octets: &[u8]) -> Coalesce {
    let mut coalesce = Coalesce::default();
    for attribute in attributes(octets) {
        match attribute.kind() {
            attribute::coalesce::RX_USECS => coalesce.rx_usecs = number(&attribute),
            attribute::coalesce::RX_MAX_FRAMES => coalesce.rx_frames = number(&attribute),
            attribute::coalesce::RX_USECS_IRQ => coalesce.rx_usecs_irq = number(&attribute),
            attribute::coalesce::RX_MAX_FRAMES_IRQ => coalesce.rx_frames_irq = number(&attribute),
            attribute::coalesce::TX_USECS => coalesce.tx_usecs = number(&attribute),
            attribute::coalesce::TX_MAX_FRAMES => coalesce.tx_frames = number(&attribute),
            attribute::coalesce::TX_USECS_IRQ => coalesce.tx_usecs_irq = number(&attribute),
            attribute::coalesce::TX_MAX_FRAMES_IRQ => coalesce.tx_frames_irq = number(&attribute),
            attribute::coalesce::USE_ADAPTIVE_RX => coalesce.adaptive_rx = switch(&attribute),
            attribute::coalesce::USE_ADAPTIVE_TX => coalesce.adaptive_tx = switch(&attribute),
            _ => {}
        }
    }
    coalesce
}

/// `ETHTOOL_A_EEE_*`.
pub(super) fn eee(octets: &[u8]) -> Eee {
    let mut eee = Eee::default();
    for attribute in attributes(octets) {
        match attribute.kind() {
            attribute::eee::MODES_OURS => {
                eee.supported = Some(bits::listed(attribute.value()));
                eee.advertised = Some(bits::names(attribute.value()));
            }
            attribute::eee::MODES_PEER => eee.peer_offers = Some(!bits::names(attribute.value()).is_empty()),
            attribute::eee::ACTIVE => eee.active = switch(&attribute),
            attribute::eee::ENABLED => eee.enabled = switch(&attribute),
            attribute::eee::TX_LPI_ENABLED => eee.tx_lpi = switch(&attribute),
            attribute::eee::TX_LPI_TIMER => eee.tx_lpi_timer_us = number(&attribute),
            _ => {}
        }
    }
    eee
}

/// `ETHTOOL_A_PAUSE_*`.
pub(super) fn pause(octets: &[u8]) -> Pause {
    let mut pause = Pause::default();
    for attribute in attributes(octets) {
        match attribute.kind() {
            attribute::pause::AUTONEG => pause.autoneg = switch(&attribute),
            attribute::pause::RX => pause.rx = switch(&attribute),
            attribute::pause::TX => pause.tx = switch(&attribute),
            _ => {}
        }
    }
    pause
}

/// `ETHTOOL_A_FEATURES_ACTIVE`.
pub(super) fn features(octets: &[u8]) -> Features {
    let active = attributes(octets).find(|attribute| attribute.kind() == attribute::features::ACTIVE);
    Features {
        active: active.map(|set| bits::names(set.value())).unwrap_or_default(),
    }
}

/// `ETHTOOL_A_RINGS_*`.
pub(super) fn rings(octets: &[u8]) -> Rings {
    let mut rings = Rings::default();
    for attribute in attributes(octets) {
        match attribute.kind() {
            attribute::rings::RX_MAX => rings.rx_max = number(&attribute),
            attribute::rings::TX_MAX => rings.tx_max = number(&attribute),
            attribute::rings::RX => rings.rx = number(&attribute),
            attribute::rings::TX => rings.tx = number(&attribute),
            _ => {}
        }
    }
    rings
}

/// `ETHTOOL_A_CHANNELS_*`: the kernel leaves out kinds of queues that the driver does not have.
pub(super) fn channels(octets: &[u8]) -> Channels {
    let mut channels = Channels::default();
    for attribute in attributes(octets) {
        match attribute.kind() {
            attribute::channels::RX_MAX => channels.rx_max = number(&attribute),
            attribute::channels::TX_MAX => channels.tx_max = number(&attribute),
            attribute::channels::OTHER_MAX => channels.other_max = number(&attribute),
            attribute::channels::COMBINED_MAX => channels.combined_max = number(&attribute),
            attribute::channels::RX_COUNT => channels.rx = number(&attribute),
            attribute::channels::TX_COUNT => channels.tx = number(&attribute),
            attribute::channels::OTHER_COUNT => channels.other = number(&attribute),
            attribute::channels::COMBINED_COUNT => channels.combined = number(&attribute),
            _ => {}
        }
    }
    channels
}

/// `ETHTOOL_A_RSS_INDIR`: the table, with one queue per entry.
pub(super) fn rss(octets: &[u8]) -> Rss {
    let Some(table) = attributes(octets).find(|attribute| attribute.kind() == attribute::rss::INDIR) else {
        return Rss::default();
    };
    let (entries, _) = table.value().as_chunks();
    let mut queues: Vec<u32> = entries.iter().map(|entry| u32::from_ne_bytes(*entry)).collect();
    let count = u32::try_from(queues.len()).ok();
    queues.sort_unstable();
    queues.dedup();
    Rss { entries: count, queues }
}

/// `ETHTOOL_A_TSINFO_*`: the kernel leaves out empty sets, and the clock if there is none.
pub(super) fn stamping(octets: &[u8]) -> TimeStamping {
    let mut stamping = TimeStamping::default();
    for attribute in attributes(octets) {
        match attribute.kind() {
            attribute::time_stamping::TIMESTAMPING => stamping.capabilities = bits::names(attribute.value()),
            attribute::time_stamping::TX_TYPES => stamping.tx_types = bits::names(attribute.value()),
            attribute::time_stamping::RX_FILTERS => stamping.rx_filters = bits::names(attribute.value()),
            attribute::time_stamping::PHC_INDEX => stamping.phc = number(&attribute),
            _ => {}
        }
    }
    stamping
}
