//! The voltage that a function compares.

use serde::Deserialize;

use crate::measure::{Channels, Measured};
use crate::phases::Phases;
use crate::rated::Rated;

/// The voltage that is compared with the setting, fundamental.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum VoltageQuantity {
    /// Each phase to earth, in x Uph.
    PhaseToEarth,
    /// AB, BC, CA, in x Un. A pair starts both of its phases.
    #[default]
    PhaseToPhase,
    /// The positive sequence U1, in x Uph.
    PositiveSequence,
    /// The negative sequence U2, in x Uph (47).
    NegativeSequence,
    /// The residual voltage 3 U0 from its channel, in x Un (59N).
    Residual,
    /// The sum of the phase voltages, 3 U0, in x Un (59N).
    PhaseSum,
}

/// Up to three voltages, with the phases of each.
#[derive(Debug, Clone, Copy)]
pub(super) struct Voltages {
    /// Values in the per unit of the quantity.
    pub(super) values: [f64; 3],
    pub(super) phases: [Phases; 3],
    pub(super) count: usize,
}

impl Voltages {
    pub(super) fn highest(&self) -> f64 {
        self.values[..self.count].iter().copied().fold(0.0, f64::max)
    }
}

impl VoltageQuantity {
    pub(super) fn channels(self) -> Channels {
        match self {
            Self::Residual => Channels::RESIDUAL_VOLTAGE,
            _ => Channels::PHASE_VOLTAGES,
        }
    }

    pub(super) fn is_residual(self) -> bool {
        matches!(self, Self::Residual | Self::PhaseSum)
    }

    /// Number of voltages.
    pub(super) fn count(self) -> usize {
        match self {
            Self::PhaseToEarth | Self::PhaseToPhase => 3,
            _ => 1,
        }
    }

    pub(super) fn of(self, set: &Measured, rated: &Rated) -> Voltages {
        let single = |volts: f64, base: f64, phases| Voltages {
            values: [volts / base, 0.0, 0.0],
            phases: [phases; 3],
            count: 1,
        };
        let phase = rated.phase_voltage_v();
        match self {
            Self::PhaseToEarth => Voltages {
                values: set.voltage.map(|each| each.norm() / phase),
                phases: Phases::EACH,
                count: 3,
            },
            Self::PhaseToPhase => Voltages {
                values: set.phase_to_phase().map(|each| each.norm() / rated.voltage_v),
                phases: [Phases::A | Phases::B, Phases::B | Phases::C, Phases::C | Phases::A],
                count: 3,
            },
            Self::PositiveSequence => single(set.voltage_sequence.positive.norm(), phase, Phases::ABC),
            Self::NegativeSequence => single(set.voltage_sequence.negative.norm(), phase, Phases::ABC),
            Self::Residual => single(set.residual_voltage.norm(), rated.voltage_v, Phases::NEUTRAL),
            Self::PhaseSum => single(set.voltage_sum().norm(), rated.voltage_v, Phases::NEUTRAL),
        }
    }
}
