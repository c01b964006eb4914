//! Shots of a test set or of another injector: the expected action of the relay, and its actual one.

use crate::edge::EdgeShot;
use crate::ramp::CurrentRamp;

/// A shot that a test set has played, or that was seen of another injector.
#[derive(Debug, Clone, PartialEq)]
pub struct Shot {
    /// Its number in the step that played it, from 1.
    pub number: u64,
    /// Due instant of the first sample of its fault, or of its disturbance. Of another injector's fault the stamp of the frame with its
    /// first sample, or of the message with its contact.
    pub at_ns: u64,
    /// The relay was watched up to this long after that. `None` for another injector, and in files from before slices.
    pub watched_ns: Option<u64>,
    /// Of another injector: its fault began up to this much before `at_ns`. `None` for our own faults, and where nobody knows.
    pub uncertain_ns: Option<u64>,
    /// The scenario or the type test that it belongs to.
    pub name: String,
    /// Point on wave of that sample, in degrees: at 0 the voltage rises through zero. `None` for another injector.
    pub point_deg: Option<f64>,
    /// Its place in a type test.
    pub cell: Option<Cell>,
    /// The action of the relay.
    pub outcome: Outcome,
    /// Time from that instant to the trip, if there was one; negative for a trip before it.
    pub trip_ns: Option<i64>,
    /// In a ramp, time from that instant until the relay reset after its pick-up; `None` if it did not, and without a ramp.
    pub reset_ns: Option<i64>,
}

impl Shot {
    /// In a search, true if the relay tripped in time, false if it did not; `None` if the shot shows neither, and outside a search.
    pub fn edge_tripped(&self) -> Option<bool> {
        match &self.cell {
            Some(Cell::Edge(edge)) => edge.tripped(self.outcome, self.trip_ns),
            _ => None,
        }
    }
}

/// The place of a shot in a type test.
#[derive(Debug, Clone, PartialEq)]
pub enum Cell {
    /// A shot of a distance zone.
    Distance {
        /// Ratio of the source's impedance to that of the reach.
        sir: f64,
        /// The conductors that the fault connects: `AG`.
        fault: String,
        /// Position of the fault, in percent of the reach.
        position: f64,
    },
    /// A shot of an overcurrent curve.
    Overcurrent {
        /// Current as a multiple of the setting.
        multiple: f64,
        /// Operate time of the curve in ns.
        expected_ns: u64,
        /// Largest permitted deviation of the operate time from it, in ns.
        tolerance_ns: u64,
    },
    /// A ramp of a current, up to a pick-up and down to the drop-off. `trip_ns` of its shot is the pick-up.
    Ramp(CurrentRamp),
    /// A shot of a search for the border of a characteristic.
    Edge(EdgeShot),
}

/// The action of a relay in a shot. The text form is part of the run file and of the JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// The relay tripped while the fault lasted.
    Tripped,
    /// The relay should have tripped, but did not.
    Failed,
    /// The relay tripped when the fault was over, in a shot of either kind: trip or no trip expected.
    Late,
    /// The relay tripped before the fault.
    Early,
    /// The relay rightly did not trip.
    Quiet,
    /// The relay tripped before or during the disturbance, although it should not.
    False,
    /// Unknown: the shot does not count.
    NotCounted,
}

impl Outcome {
    const ALL: [Self; 7] = [
        Self::Tripped,
        Self::Failed,
        Self::Late,
        Self::Early,
        Self::Quiet,
        Self::False,
        Self::NotCounted,
    ];

    /// The word in files.
    pub fn word(self) -> &'static str {
        match self {
            Self::Tripped => "tripped",
            Self::Failed => "failed",
            Self::Late => "late",
            Self::Early => "early",
            Self::Quiet => "quiet",
            Self::False => "false",
            Self::NotCounted => "not-counted",
        }
    }

    /// The outcome with this word.
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|outcome| outcome.word() == word)
    }
}
