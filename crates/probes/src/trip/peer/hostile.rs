//! Attacks on a subscriber of the peer's GOOSE.

use serde::Deserialize;
use std::fmt;
use wire::goose::Value;

/// Messages that an attacker or a broken network adds to those of the peer, or a change of the peer's own messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Hostile {
    /// The last message of the state before, octet by octet
    Replayed,
    /// Other contents with the stNum before the present one, and a time of change before the present state's
    OlderState,
    /// Other contents with the stNum and sqNum of the peer's last message
    SameNumbers,
    /// Other contents with the next stNum, and timeAllowedtoLive 0
    Expired,
    /// Other contents with the next stNum, and the simulation bit; to a relay that is not set to accept such messages
    Simulated,
    /// Other contents with the next stNum, and the test bit in each quality; to a relay that is not in test mode
    Test,
    /// Other contents with the next stNum, and ndsCom
    NeedsCommissioning,
    /// Other contents with a stNum that is 1000 higher
    Jump,
    /// Other contents with stNum 1, as of a device that has started again
    Restart,
    /// Other contents with the next stNum, from another source address
    OtherSource,
    /// The peer's own messages, with 40 octets behind their end
    Padded,
    /// The peer's own messages, each again and again: ten after each frame of the stream
    Storm,
}

impl Hostile {
    /// Every attack.
    const ALL: [Self; 12] = [
        Self::Replayed,
        Self::OlderState,
        Self::SameNumbers,
        Self::Expired,
        Self::Simulated,
        Self::Test,
        Self::NeedsCommissioning,
        Self::Jump,
        Self::Restart,
        Self::OtherSource,
        Self::Padded,
        Self::Storm,
    ];

    /// The attacks that messages with these values can carry.
    pub(in crate::trip) fn that_fit(values: &[Value]) -> Vec<Self> {
        Self::ALL.into_iter().filter(|case| case.fits(values)).collect()
    }

    /// True if a subscriber can tell these messages from those of the peer by rules of IEC 61850-8-1 and IEC 62351-6. A subscriber of messages
    /// without a signature may take the others, so nobody is judged by them.
    pub(super) fn is_judged(self) -> bool {
        !matches!(self, Self::Jump | Self::Restart | Self::OtherSource)
    }

    /// True if messages with these values can carry it.
    pub(super) fn fits(self, values: &[Value]) -> bool {
        self != Self::Test || values.iter().any(is_quality)
    }

    /// Description for the report.
    pub(super) fn what(self) -> &'static str {
        match self {
            Self::Replayed => "the last message of the state before comes again",
            Self::OlderState => {
                "messages claim the opposite, with the stNum before the present one and an earlier time"
            }
            Self::SameNumbers => "messages claim the opposite, with the numbers of the peer's last message",
            Self::Expired => "messages claim the opposite, with the next stNum and timeAllowedtoLive 0",
            Self::Simulated => "messages claim the opposite, with the next stNum and the simulation bit",
            Self::Test => "messages claim the opposite, with the next stNum and quality test",
            Self::NeedsCommissioning => "messages claim the opposite, with the next stNum and ndsCom",
            Self::Jump => "messages claim the opposite, with a stNum that is 1000 higher: a subscriber may take them",
            Self::Restart => "messages claim the opposite, with stNum 1 and a new time: a subscriber may take them",
            Self::OtherSource => {
                "messages claim the opposite, with the next stNum, from another source: a subscriber may take them"
            }
            Self::Padded => "the peer's messages have 40 octets behind their end",
            Self::Storm => "ten copies of the peer's last message come after each frame of the stream",
        }
    }
}

impl fmt::Display for Hostile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Replayed => "replayed",
            Self::OlderState => "older-state",
            Self::SameNumbers => "same-numbers",
            Self::Expired => "expired",
            Self::Simulated => "simulated",
            Self::Test => "test",
            Self::NeedsCommissioning => "needs-commissioning",
            Self::Jump => "jump",
            Self::Restart => "restart",
            Self::OtherSource => "other-source",
            Self::Padded => "padded",
            Self::Storm => "storm",
        })
    }
}

/// True if a value is a quality of 13 bits.
pub(super) fn is_quality(value: &Value) -> bool {
    matches!(value, Value::BitString { unused: 3, bits } if bits.len() == 2)
}
