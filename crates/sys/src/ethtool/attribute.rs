//! Attributes of the generic netlink family `ethtool`, by their names in linux/ethtool_netlink.h (`ETHTOOL_A_*`, one enum per
//! message). In each message, attribute 1 is the header.

/// `ETHTOOL_A_LINKMODES_*`.
pub(super) mod link_modes {
    pub(in crate::ethtool) const AUTONEG: u16 = 2;
    pub(in crate::ethtool) const SPEED: u16 = 5;
    pub(in crate::ethtool) const DUPLEX: u16 = 6;
}

/// `ETHTOOL_A_LINKSTATE_*`.
pub(super) mod link_state {
    pub(in crate::ethtool) const LINK: u16 = 2;
}

/// `ETHTOOL_A_FEATURES_*`.
pub(super) mod features {
    pub(in crate::ethtool) const ACTIVE: u16 = 4;
}

/// `ETHTOOL_A_RINGS_*`.
pub(super) mod rings {
    pub(in crate::ethtool) const RX_MAX: u16 = 2;
    pub(in crate::ethtool) const TX_MAX: u16 = 5;
    pub(in crate::ethtool) const RX: u16 = 6;
    pub(in crate::ethtool) const TX: u16 = 9;
}

/// `ETHTOOL_A_CHANNELS_*`.
pub(super) mod channels {
    pub(in crate::ethtool) const RX_MAX: u16 = 2;
    pub(in crate::ethtool) const TX_MAX: u16 = 3;
    pub(in crate::ethtool) const OTHER_MAX: u16 = 4;
    pub(in crate::ethtool) const COMBINED_MAX: u16 = 5;
    pub(in crate::ethtool) const RX_COUNT: u16 = 6;
    pub(in crate::ethtool) const TX_COUNT: u16 = 7;
    pub(in crate::ethtool) const OTHER_COUNT: u16 = 8;
    pub(in crate::ethtool) const COMBINED_COUNT: u16 = 9;
}

/// `ETHTOOL_A_COALESCE_*`.
pub(super) mod coalesce {
    pub(in crate::ethtool) const RX_USECS: u16 = 2;
    pub(in crate::ethtool) const RX_MAX_FRAMES: u16 = 3;
    pub(in crate::ethtool) const RX_USECS_IRQ: u16 = 4;
    pub(in crate::ethtool) const RX_MAX_FRAMES_IRQ: u16 = 5;
    pub(in crate::ethtool) const TX_USECS: u16 = 6;
    pub(in crate::ethtool) const TX_MAX_FRAMES: u16 = 7;
    pub(in crate::ethtool) const TX_USECS_IRQ: u16 = 8;
    pub(in crate::ethtool) const TX_MAX_FRAMES_IRQ: u16 = 9;
    pub(in crate::ethtool) const USE_ADAPTIVE_RX: u16 = 11;
    pub(in crate::ethtool) const USE_ADAPTIVE_TX: u16 = 12;
}

/// `ETHTOOL_A_PAUSE_*`.
pub(super) mod pause {
    pub(in crate::ethtool) const AUTONEG: u16 = 2;
    pub(in crate::ethtool) const RX: u16 = 3;
    pub(in crate::ethtool) const TX: u16 = 4;
}

/// `ETHTOOL_A_EEE_*`.
pub(super) mod eee {
    pub(in crate::ethtool) const MODES_OURS: u16 = 2;
    pub(in crate::ethtool) const MODES_PEER: u16 = 3;
    pub(in crate::ethtool) const ACTIVE: u16 = 4;
    pub(in crate::ethtool) const ENABLED: u16 = 5;
    pub(in crate::ethtool) const TX_LPI_ENABLED: u16 = 6;
    pub(in crate::ethtool) const TX_LPI_TIMER: u16 = 7;
}

/// `ETHTOOL_A_TSINFO_*`.
pub(super) mod time_stamping {
    pub(in crate::ethtool) const TIMESTAMPING: u16 = 2;
    pub(in crate::ethtool) const TX_TYPES: u16 = 3;
    pub(in crate::ethtool) const RX_FILTERS: u16 = 4;
    pub(in crate::ethtool) const PHC_INDEX: u16 = 5;
}

/// `ETHTOOL_A_RSS_*`.
pub(super) mod rss {
    pub(in crate::ethtool) const INDIR: u16 = 4;
}
