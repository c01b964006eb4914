//! Decodes the structures of `SIOCETHTOOL` (linux/ethtool.h) from their bytes. All are words in host order after the command.

use super::bits::{self, CAPABILITIES, RX_FILTERS, TX_TYPES};
use super::decode::{NO_SPEED, duplex};
use super::model::{Channels, Coalesce, Driver, Eee, Features, LinkSettings, Pause, Rings, Rss, TimeStamping};

/// Texts of `struct ethtool_drvinfo`: 32 bytes each, the first after the command.
const TEXT: usize = 32;

/// The first words of a structure, beginning with the command; `None` beyond its end.
fn words<const N: usize>(octets: &[u8]) -> [Option<u32>; N] {
    let (words, _) = octets.as_chunks();
    std::array::from_fn(|at| words.get(at).map(|word| u32::from_ne_bytes(*word)))
}

fn switch(word: Option<u32>) -> Option<bool> {
    word.map(|value| value != 0)
}

/// A count and its maximum: drivers without the counted thing leave both at 0.
fn unless_none(count: Option<u32>, max: Option<u32>) -> (Option<u32>, Option<u32>) {
    let max = max.filter(|max| *max > 0);
    (count.filter(|_| max.is_some()), max)
}

/// `struct ethtool_drvinfo`.
pub(super) fn driver(octets: &[u8]) -> Driver {
    let text = |number: usize| {
        crate::link::text(
            octets
                .get(4 + number * TEXT..4 + (number + 1) * TEXT)
                .unwrap_or_default(),
        )
    };
    Driver {
        name: text(0),
        version: text(1),
        firmware: text(2),
        bus: text(3),
    }
}

/// `struct ethtool_link_settings`: speed in word 1, then bytes: duplex, port, PHY address, negotiation.
pub(super) fn link(octets: &[u8]) -> LinkSettings {
    let [_, speed] = words(octets);
    LinkSettings {
        speed_mbit: speed.filter(|speed| !NO_SPEED.contains(speed)),
        duplex: octets.get(8).copied().and_then(duplex),
        autoneg: octets.get(11).map(|value| *value != 0),
    }
}

/// `struct ethtool_value` of `ETHTOOL_GLINK`.
pub(super) fn detected(octets: &[u8]) -> Option<bool> {
    let [_, data] = words(octets);
    switch(data)
}

/// `struct ethtool_coalesce`.
pub(super) fn coalesce(octets: &[u8]) -> Coalesce {
    let [
        _,
        rx_usecs,
        rx_frames,
        rx_usecs_irq,
        rx_frames_irq,
        tx_usecs,
        tx_frames,
        tx_usecs_irq,
        tx_frames_irq,
        _stats_block_usecs,
        adaptive_rx,
        adaptive_tx,
    ] = words(octets);
    Coalesce {
        rx_usecs,
        rx_frames,
        rx_usecs_irq,
        rx_frames_irq,
        tx_usecs,
        tx_frames,
        tx_usecs_irq,
        tx_frames_irq,
        adaptive_rx: switch(adaptive_rx),
        adaptive_tx: switch(adaptive_tx),
    }
}

/// `struct ethtool_eee`.
pub(super) fn eee(octets: &[u8]) -> Eee {
    let [_, supported, advertised, peer, active, enabled, tx_lpi, tx_lpi_timer_us] = words(octets);
    let modes = |word: Option<u32>| word.map(|word| bits::of_word(word, &bits::LINK_MODES));
    Eee {
        active: switch(active),
        enabled: switch(enabled),
        tx_lpi: switch(tx_lpi),
        tx_lpi_timer_us,
        peer_offers: switch(peer),
        supported: modes(supported),
        advertised: modes(advertised),
    }
}

/// `struct ethtool_pauseparam`.
pub(super) fn pause(octets: &[u8]) -> Pause {
    let [_, autoneg, rx, tx] = words(octets).map(switch);
    Pause { autoneg, rx, tx }
}

/// `struct ethtool_gfeatures`: four words for each 32 features: available, requested, active, never changed.
pub(super) fn features(names: &[String], octets: &[u8]) -> Features {
    let (words, _) = octets.as_chunks();
    let (blocks, _) = words.get(2..).unwrap_or_default().as_chunks();
    let is_on = |at: usize| {
        let active = blocks
            .get(at / 32)
            .map(|[_, _, active, _]: &[[u8; 4]; 4]| u32::from_ne_bytes(*active));
        active.is_some_and(|active| active & (1 << (at % 32)) != 0)
    };
    let on = names
        .iter()
        .enumerate()
        .filter(|(at, name)| !name.is_empty() && is_on(*at));
    Features {
        active: on.map(|(_, name)| name.clone()).collect(),
    }
}

/// `struct ethtool_ringparam`.
pub(super) fn rings(octets: &[u8]) -> Rings {
    let [_, rx_max, _, _, tx_max, rx, _, _, tx] = words(octets);
    let ((rx, rx_max), (tx, tx_max)) = (unless_none(rx, rx_max), unless_none(tx, tx_max));
    Rings { rx, rx_max, tx, tx_max }
}

/// `struct ethtool_channels`.
pub(super) fn channels(octets: &[u8]) -> Channels {
    let [_, rx_max, tx_max, other_max, combined_max, rx, tx, other, combined] = words(octets);
    let (rx, rx_max) = unless_none(rx, rx_max);
    let (tx, tx_max) = unless_none(tx, tx_max);
    let (other, other_max) = unless_none(other, other_max);
    let (combined, combined_max) = unless_none(combined, combined_max);
    Channels {
        rx,
        tx,
        other,
        combined,
        rx_max,
        tx_max,
        other_max,
        combined_max,
    }
}

/// `struct ethtool_rxfh_indir`, requested with room for no entry: then the kernel returns their number.
pub(super) fn rss(octets: &[u8]) -> Rss {
    let [_, size] = words(octets);
    Rss {
        entries: size.filter(|entries| *entries > 0),
        queues: Vec::new(),
    }
}

/// `struct ethtool_ts_info`.
pub(super) fn stamping(octets: &[u8]) -> TimeStamping {
    let [_, capabilities, phc, tx_types, _, _, _, rx_filters] = words(octets);
    let names = |word: Option<u32>, table: &[&str]| bits::of_word(word.unwrap_or(0), table);
    TimeStamping {
        capabilities: names(capabilities, &CAPABILITIES),
        tx_types: names(tx_types, &TX_TYPES),
        rx_filters: names(rx_filters, &RX_FILTERS),
        // -1 means no clock.
        phc: phc.and_then(|index| u32::try_from(index.cast_signed()).ok()),
    }
}
