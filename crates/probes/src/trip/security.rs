//! Disturbances of the samples themselves, for which no relay may trip.

use super::script::Manner;
use serde::Deserialize;
use std::fmt;
use waveform::sample::Flaw;
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
    /// The load; one sample in 7200 of a phase current is 150 kA, of good quality
    SingleSample,
    /// The load; the current of phase a keeps its value, of good quality
    StuckCurrent,
    /// The load; the voltage of phase a keeps its value, of good quality
    StuckVoltage,
    /// The load; the currents of phases b and c are exchanged
    SwappedPhases,
    /// The load; the current of phase a has the wrong sign
    ReversedPolarity,
    /// The load; all currents are twice as large
    WrongRatio,
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
            Self::Invalid
            | Self::SingleSample
            | Self::StuckCurrent
            | Self::StuckVoltage
            | Self::SwappedPhases
            | Self::ReversedPolarity
            | Self::WrongRatio => Manner::Plain,
            Self::Simulated => Manner::Simulated,
            Self::SecondPublisher => Manner::SecondPublisher,
            Self::Late => Manner::Late,
            Self::StormOfSv => Manner::StormOfSv,
            Self::StormOfGoose => Manner::StormOfGoose,
        }
    }

    /// Flaw of the samples; `None` if they are those of a merging unit without one.
    fn flaw(self) -> Option<Flaw> {
        match self {
            Self::SingleSample => Some(Flaw::SingleSample),
            Self::StuckCurrent => Some(Flaw::StuckCurrent),
            Self::StuckVoltage => Some(Flaw::StuckVoltage),
            Self::SwappedPhases => Some(Flaw::SwappedPhases),
            Self::ReversedPolarity => Some(Flaw::ReversedPolarity),
            Self::WrongRatio => Some(Flaw::WrongRatio),
            _ => None,
        }
    }

    /// Makes the scenario of the disturbance from a scenario with a fault.
    pub(super) fn scenario(self, fault: &Scenario) -> Scenario {
        let wave = fault.wave.clone();
        let flaw = self.flaw();
        let wave = match self {
            _ if flaw.is_some() => wave.at_load(),
            Self::Lost
            | Self::Duplicated
            | Self::Reordered
            | Self::Unsynchronised
            | Self::Late
            | Self::StormOfSv
            | Self::StormOfGoose => wave.at_load(),
            Self::Invalid => wave.with_quality(SvQuality::INVALID),
            _ => wave,
        };
        Scenario {
            expect: Expect::NoTrip,
            flaw,
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
            Self::SingleSample => "load, and one sample in 7200 of a phase current is 150 kA",
            Self::StuckCurrent => "load, and the current of phase a keeps its value",
            Self::StuckVoltage => "load, and the voltage of phase a keeps its value",
            Self::SwappedPhases => "load, and the currents of phases b and c are exchanged",
            Self::ReversedPolarity => "load, and the current of phase a has the wrong sign",
            Self::WrongRatio => "load, and all currents are twice as large",
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
            Self::SingleSample => "single-sample",
            Self::StuckCurrent => "stuck-current",
            Self::StuckVoltage => "stuck-voltage",
            Self::SwappedPhases => "swapped-phases",
            Self::ReversedPolarity => "reversed-polarity",
            Self::WrongRatio => "wrong-ratio",
        })
    }
}
