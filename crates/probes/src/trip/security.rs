//! Disturbances of the samples themselves, for which no relay may trip.

use super::script::Manner;
use serde::Deserialize;
use std::fmt;
use waveform::scenario::{Expect, Scenario};
use wire::quality::SvQuality;

/// Disturbances of the samples, each during the time of the fault of the first scenario.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Security {
    /// One frame in four of the load is lost
    Lost,
    /// Each frame of the load comes twice
    Duplicated,
    /// Frames of the load come in pairs, the later one first
    Reordered,
    /// The load's samples come with smpSynch 0
    Unsynchronised,
    /// The fault comes in frames that are no longer valid sampled values
    Corrupted,
    /// The fault comes with quality invalid
    Invalid,
    /// The fault comes with the simulation bit, to a relay that is not set to accept such samples
    Simulated,
    /// A second publisher sends the fault with the same svID, between the frames of the load
    SecondPublisher,
    /// Each frame of the load comes 4 ms late
    Late,
    /// After each frame of the load come ten frames of another svID
    StormOfSv,
    /// After each frame of the load come ten GOOSE messages of another control block
    StormOfGoose,
}

impl Security {
    /// Manner of sending the frames.
    pub(super) fn manner(self) -> Manner {
        match self {
            Self::Lost => Manner::Lost,
            Self::Duplicated => Manner::Duplicated,
            Self::Reordered => Manner::Reordered,
            Self::Unsynchronised => Manner::Unsynchronised,
            Self::Corrupted => Manner::Corrupted,
            Self::Invalid => Manner::Plain,
            Self::Simulated => Manner::Simulated,
            Self::SecondPublisher => Manner::SecondPublisher,
            Self::Late => Manner::Late,
            Self::StormOfSv => Manner::StormOfSv,
            Self::StormOfGoose => Manner::StormOfGoose,
        }
    }

    /// Makes the scenario of the disturbance from a scenario with a fault.
    pub(super) fn scenario(self, fault: &Scenario) -> Scenario {
        let wave = fault.wave.clone();
        let wave = match self {
            Self::Lost
            | Self::Duplicated
            | Self::Reordered
            | Self::Unsynchronised
            | Self::Late
            | Self::StormOfSv
            | Self::StormOfGoose => wave.at_load(),
            Self::Invalid => wave.with_quality(SvQuality::INVALID),
            Self::Corrupted | Self::Simulated | Self::SecondPublisher => wave,
        };
        Scenario {
            expect: Expect::NoTrip,
            wave,
            ..fault.clone()
        }
    }

    /// Description for the report.
    pub(super) fn what(self) -> &'static str {
        match self {
            Self::Lost => "load, and one frame in four is lost",
            Self::Duplicated => "load, and each frame comes twice",
            Self::Reordered => "load, and frames come in pairs, the later one first",
            Self::Unsynchronised => "load, with smpSynch 0",
            Self::Corrupted => "the fault comes in frames that are no longer valid sampled values",
            Self::Invalid => "the fault comes with quality invalid",
            Self::Simulated => "the fault comes with the simulation bit",
            Self::SecondPublisher => "a second publisher sends the fault under the same svID",
            Self::Late => "load, and each frame comes 4 ms late",
            Self::StormOfSv => "load, and after each frame ten frames of another svID",
            Self::StormOfGoose => "load, and after each frame ten GOOSE messages of another control block",
        }
    }
}

impl fmt::Display for Security {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Lost => "lost",
            Self::Duplicated => "duplicated",
            Self::Reordered => "reordered",
            Self::Unsynchronised => "unsynchronised",
            Self::Corrupted => "corrupted",
            Self::Invalid => "invalid",
            Self::Simulated => "simulated",
            Self::SecondPublisher => "second-publisher",
            Self::Late => "late",
            Self::StormOfSv => "storm-of-sv",
            Self::StormOfGoose => "storm-of-goose",
        })
    }
}
