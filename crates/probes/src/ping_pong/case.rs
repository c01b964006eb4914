//! Load under which the device is pinged.

use std::fmt;

/// Traffic that this machine sends in addition to the pings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Case {
    /// Nothing
    None,
    /// GOOSE of control blocks that the device does not subscribe to
    Goose,
    /// The ping's own control block, repeated without a change
    Subscribed,
    /// Streams of sampled values
    Sv,
}

impl Case {
    /// Description of the traffic; `rate` is the number of GOOSE messages a second.
    pub(super) fn what(self, rate: u32, streams: usize) -> String {
        match self {
            Self::None => "none".into(),
            Self::Goose => format!("{rate} GOOSE messages a second of other control blocks"),
            Self::Subscribed => format!("{rate} repetitions a second of the ping's control block"),
            Self::Sv => format!("{streams} streams of sampled values"),
        }
    }
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::None => "none",
            Self::Goose => "goose",
            Self::Subscribed => "subscribed",
            Self::Sv => "sv",
        })
    }
}
