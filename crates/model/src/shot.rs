//! Shots of a test set: each with what was asked of the relay, and what it did.

/// A shot that a test set has played.
#[derive(Debug, Clone, PartialEq)]
pub struct Shot {
    /// Its number in the step that played it, from 1.
    pub number: u64,
    /// Due instant of the first sample of its fault, or of its disturbance.
    pub at_ns: u64,
    /// The scenario or the type test that it is of.
    pub name: String,
    /// Point on wave of that sample, in degrees: 0 is where the voltage rises through zero.
    pub point_deg: f64,
    /// Its place in a type test.
    pub cell: Option<Cell>,
    /// The action of the relay.
    pub outcome: Outcome,
    /// From that instant to the trip, where there was one; negative for one that came before.
    pub trip_ns: Option<i64>,
}

/// The place of a shot in a type test.
#[derive(Debug, Clone, PartialEq)]
pub enum Cell {
    /// Of a distance zone.
    Distance {
        /// Ratio of the source's impedance to that of the reach.
        sir: f64,
        /// The conductors that the fault connects: `AG`.
        fault: String,
        /// Where the fault is, in percent of the reach.
        position: f64,
    },
    /// Of an overcurrent curve.
    Overcurrent {
        /// Current as a multiple of the setting.
        multiple: f64,
        /// Operate time of the curve in ns.
        expected_ns: u64,
        /// How far the operate time may be from it, in ns.
        tolerance_ns: u64,
    },
}

/// The action of a relay in a shot. The text form is part of the run file and of the JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// It tripped while the fault lasted.
    Tripped,
    /// It did not trip, and should have.
    Failed,
    /// It tripped when the fault was over, whether it was to trip or not.
    Late,
    /// It tripped before the fault.
    Early,
    /// It did not trip, and was not to.
    Quiet,
    /// It tripped while the disturbance lasted or before it, and was not to.
    False,
    /// Not known: the shot does not count.
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

    /// The word for it in files.
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

    /// The outcome that a word stands for.
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|outcome| outcome.word() == word)
    }
}
