//! The structures of `SIOCETHTOOL` (linux/ethtool.h), from their octets. All are words in host order after the command.

use super::bits::{self, CAPABILITIES, RX_FILTERS, TX_TYPES};
use super::decode::{NO_SPEED, duplex};
use super::model::{Channels, Coalesce, Driver, Eee, Features, LinkSettings, Pause, Rings, Rss, TimeStamping};

/// Texts of `struct ethtool_drvinfo`: each 32 octets, the first behind the command.
const TEXT: usize = 32;

/// Word `at` of a structure; `None` beyond its end.
fn word(octets: &[u8], at: usize) -> Option<u32> {
    octets
        .get(at * 4..)?
        .first_chunk()
        .map(|word| u32::from_ne_bytes(*word))
}

fn switch(octets: &[u8], at: usize) -> Option<bool> {
    word(octets, at).map(|value| value != 0)
}

/// A number of things: drivers that have none of them leave it and its maximum at 0.
fn unless_none(octets: &[u8], at: usize, max_at: usize) -> (Option<u32>, Option<u32>) {
    let max = word(octets, max_at).filter(|max| *max > 0);
    (word(octets, at).filter(|_| max.is_some()), max)
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

/// `struct ethtool_link_settings`: speed in word 1, then octets: duplex, port, PHY address, negotiation.
pub(super) fn link(octets: &[u8]) -> LinkSettings {
    LinkSettings {
        speed_mbit: word(octets, 1).filter(|speed| !NO_SPEED.contains(speed)),
        duplex: octets.get(8).copied().and_then(duplex),
        autoneg: octets.get(11).map(|value| *value != 0),
    }
}

/// `struct ethtool_value` of `ETHTOOL_GLINK`.
pub(super) fn detected(octets: &[u8]) -> Option<bool> {
    switch(octets, 1)
}

/// `struct ethtool_coalesce`.
pub(super) fn coalesce(octets: &[u8]) -> Coalesce {
    Coalesce {
        rx_usecs: word(octets, 1),
        rx_frames: word(octets, 2),
        rx_usecs_irq: word(octets, 3),
        rx_frames_irq: word(octets, 4),
        tx_usecs: word(octets, 5),
        tx_frames: word(octets, 6),
        tx_usecs_irq: word(octets, 7),
        tx_frames_irq: word(octets, 8),
        adaptive_rx: switch(octets, 10),
        adaptive_tx: switch(octets, 11),
    }
}

/// `struct ethtool_eee`.
pub(super) fn eee(octets: &[u8]) -> Eee {
    Eee {
        active: switch(octets, 4),
        enabled: switch(octets, 5),
        tx_lpi: switch(octets, 6),
        tx_lpi_timer_us: word(octets, 7),
        peer_offers: switch(octets, 3),
    }
}

/// `struct ethtool_pauseparam`.
pub(super) fn pause(octets: &[u8]) -> Pause {
    Pause {
        autoneg: switch(octets, 1),
        rx: switch(octets, 2),
        tx: switch(octets, 3),
    }
}

/// `struct ethtool_gfeatures`: for each 32 features four words: available, requested, active, never changed.
pub(super) fn features(names: &[String], octets: &[u8]) -> Features {
    const ACTIVE: usize = 2;
    let is_on = |at: usize| word(octets, 2 + at / 32 * 4 + ACTIVE).is_some_and(|block| block & (1 << (at % 32)) != 0);
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
    let ((rx, rx_max), (tx, tx_max)) = (unless_none(octets, 5, 1), unless_none(octets, 8, 4));
    Rings { rx, rx_max, tx, tx_max }
}

/// `struct ethtool_channels`.
pub(super) fn channels(octets: &[u8]) -> Channels {
    let (rx, rx_max) = unless_none(octets, 5, 1);
    let (tx, tx_max) = unless_none(octets, 6, 2);
    let (other, other_max) = unless_none(octets, 7, 3);
    let (combined, combined_max) = unless_none(octets, 8, 4);
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

/// `struct ethtool_rxfh_indir`, asked with room for no entry: the kernel then gives their number.
pub(super) fn rss(octets: &[u8]) -> Rss {
    Rss {
        entries: word(octets, 1).filter(|entries| *entries > 0),
        queues: Vec::new(),
    }
}

/// `struct ethtool_ts_info`.
pub(super) fn stamping(octets: &[u8]) -> TimeStamping {
    let names = |at, table: &[&str]| bits::of_word(word(octets, at).unwrap_or(0), table);
    TimeStamping {
        capabilities: names(1, &CAPABILITIES),
        tx_types: names(3, &TX_TYPES),
        rx_filters: names(7, &RX_FILTERS),
        // -1: no clock.
        phc: word(octets, 2).and_then(|index| u32::try_from(index.cast_signed()).ok()),
    }
}
