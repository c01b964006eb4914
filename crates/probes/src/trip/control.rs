//! Negative controls: shots after which there must be no trip, whatever the relay is.

use super::script::Manner;
use serde::Deserialize;
use std::fmt;

/// A shot at which the relay must not trip: if it does, its trips are not those of what is published.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Control {
    /// Nothing happens for as long as a shot takes
    NoFault,
    /// The fault comes under another svID, beside the relay's, which has the steady state
    OtherSvId,
    /// The fault comes with smpSynch 0. A relay may work on such samples of a single stream: only for one that must not
    Unsynchronised,
}

impl Control {
    /// How its fault is sent; `None` where there is none.
    pub(super) fn manner(self) -> Option<Manner> {
        match self {
            Self::NoFault => None,
            Self::OtherSvId => Some(Manner::OtherSvId),
            Self::Unsynchronised => Some(Manner::Unsynchronised),
        }
    }
}

impl fmt::Display for Control {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NoFault => "no-fault",
            Self::OtherSvId => "other-sv-id",
            Self::Unsynchronised => "unsynchronised",
        })
    }
}
