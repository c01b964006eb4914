//! Single settings of a driver: reads and changes them over generic netlink.

use super::attribute::{channels, coalesce, eee, pause, rings};
use super::model::Silence;
use super::netlink::{Family, Request, attribute};
use super::{Told, decode};
use crate::error::SysError;
use crate::privilege::Capability;
use netlink_packet_core::NlasIterator;
use std::fmt;
use std::str::FromStr;

/// A setting that can be changed, as with `ethtool -C`, `-G`, `-L`, `-A` and `--set-eee`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Setting {
    /// Longest wait for more received frames, in microseconds.
    RxUsecs,
    /// Longest wait for more sent frames, in microseconds.
    TxUsecs,
    /// Number of sent frames that end the wait.
    TxFrames,
    /// The driver adapts the receive values to the traffic: 0 or 1.
    AdaptiveRx,
    /// The driver adapts the transmit values to the traffic: 0 or 1.
    AdaptiveTx,
    /// Energy-efficient Ethernet: 0 or 1.
    Eee,
    /// Length of the receive ring, in frames.
    RxRing,
    /// Number of queues that receive only.
    RxChannels,
    /// Number of queues that receive and send.
    CombinedChannels,
    /// Pause frames are negotiated: 0 or 1.
    PauseAutoneg,
    /// Stops sending when the other end asks for a pause: 0 or 1.
    PauseRx,
    /// Asks the other end to pause: 0 or 1.
    PauseTx,
}

/// Every setting: its name, the request that reads it (the request that changes it has the next number), its attribute, and true if
/// that is one byte.
const TABLE: [(Setting, &str, Request, u16, bool); 12] = [
    (
        Setting::RxUsecs,
        "rx-usecs",
        Request::Coalesce,
        coalesce::RX_USECS,
        false,
    ),
    (
        Setting::TxUsecs,
        "tx-usecs",
        Request::Coalesce,
        coalesce::TX_USECS,
        false,
    ),
    (
        Setting::TxFrames,
        "tx-frames",
        Request::Coalesce,
        coalesce::TX_MAX_FRAMES,
        false,
    ),
    (
        Setting::AdaptiveRx,
        "adaptive-rx",
        Request::Coalesce,
        coalesce::USE_ADAPTIVE_RX,
        true,
    ),
    (
        Setting::AdaptiveTx,
        "adaptive-tx",
        Request::Coalesce,
        coalesce::USE_ADAPTIVE_TX,
        true,
    ),
    (Setting::Eee, "eee", Request::Eee, eee::ENABLED, true),
    (Setting::RxRing, "rx-ring", Request::Rings, rings::RX, false),
    (
        Setting::RxChannels,
        "rx-channels",
        Request::Channels,
        channels::RX_COUNT,
        false,
    ),
    (
        Setting::CombinedChannels,
        "combined-channels",
        Request::Channels,
        channels::COMBINED_COUNT,
        false,
    ),
    (
        Setting::PauseAutoneg,
        "pause-autoneg",
        Request::Pause,
        pause::AUTONEG,
        true,
    ),
    (Setting::PauseRx, "pause-rx", Request::Pause, pause::RX, true),
    (Setting::PauseTx, "pause-tx", Request::Pause, pause::TX, true),
];

impl Setting {
    fn row(self) -> (&'static str, Request, u16, bool) {
        let row = TABLE.iter().find(|(setting, ..)| *setting == self);
        let (_, name, question, kind, octet) = row.unwrap_or(&TABLE[0]);
        (name, *question, *kind, *octet)
    }
}

impl fmt::Display for Setting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.row().0)
    }
}

impl FromStr for Setting {
    type Err = SysError;

    fn from_str(text: &str) -> Result<Self, SysError> {
        let row = TABLE.iter().find(|(_, name, ..)| *name == text);
        row.map(|(setting, ..)| *setting).ok_or_else(|| SysError::Invalid {
            what: format!("\"{text}\" is not a setting of a network interface"),
        })
    }
}

/// Reads one setting of the interface `name`. Switches are 0 or 1.
///
/// # Errors
/// The driver does not have it ([`Silence::Unsupported`]), the kernel is older than Linux 5.6, or the interface is gone.
pub fn setting(name: &str, setting: Setting) -> Told<u32> {
    let (_, question, kind, _) = setting.row();
    let answer = Family::open()?.ask(question, name)?;
    let mut all = NlasIterator::new(answer.as_slice()).flatten();
    let found = all.find(|attribute| attribute.kind() == kind);
    let value = found.and_then(|attribute| decode::count(attribute.value()));
    value.ok_or(Silence::Unsupported)
}

/// Changes one setting of the interface `name`, and no other. The driver may restart the device for it.
///
/// # Errors
/// `CAP_NET_ADMIN` is missing, the driver refuses the value (EINVAL, EOPNOTSUPP), or there is no such interface.
pub fn change(name: &str, setting: Setting, value: u32) -> Result<(), SysError> {
    let (word, question, kind, octet) = setting.row();
    let family = Family::open().map_err(|silence| SysError::Invalid {
        what: format!("{word} of {name} cannot be changed: {silence}"),
    })?;
    let value = match octet {
        true => attribute(kind, &[u8::from(value != 0)]),
        false => attribute(kind, &value.to_ne_bytes()),
    };
    let changed = family.change(question, name, &value);
    changed.map_err(|errno| SysError::or_capability(Capability::NetAdmin, "change", format!("{word} of {name}"), errno))
}

#[cfg(test)]
mod tests {
    use super::{Setting, TABLE, change, setting};
    use crate::ethtool::Silence;

    #[test]
    fn every_setting_is_named_once_and_found_by_its_name() {
        for (setting, name, ..) in TABLE {
            assert_eq!(setting.to_string(), name);
            assert_eq!(name.parse::<Setting>().ok(), Some(setting));
        }
        assert!("rx".parse::<Setting>().is_err());
    }

    #[test]
    fn loopback_has_no_rings_and_takes_none() {
        assert_eq!(setting("lo", Setting::RxRing), Err(Silence::Unsupported));
        let error = change("lo", Setting::RxRing, 64).expect_err("no rings").to_string();
        assert!(error.contains("rx-ring of lo"), "{error}");
    }
}
