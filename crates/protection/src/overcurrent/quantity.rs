//! The current that an overcurrent function compares.

use serde::Deserialize;

use crate::measure::{Channels, Measured};
use crate::phases::Phases;

/// The current that is compared with the setting, fundamental.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CurrentQuantity {
    /// Each phase separately (50P, 51P, 67).
    #[default]
    Phases,
    /// The residual current 3 I0 from its channel (50G, 51G, 67N).
    Residual,
    /// The sum of the phase currents (50N, 51N, 67N).
    PhaseSum,
    /// The negative sequence I2 (46).
    NegativeSequence,
}

/// Up to three values, with the phases of each.
#[derive(Debug, Clone, Copy)]
pub(super) struct Lanes {
    pub(super) values: [f64; 3],
    pub(super) phases: [Phases; 3],
    pub(super) count: usize,
}

impl Lanes {
    fn single(value: f64, phases: Phases) -> Self {
        Self {
            values: [value, 0.0, 0.0],
            phases: [phases; 3],
            count: 1,
        }
    }
}

impl CurrentQuantity {
    pub(super) fn channels(self) -> Channels {
        match self {
            Self::Residual => Channels::RESIDUAL_CURRENT,
            Self::Phases | Self::PhaseSum | Self::NegativeSequence => Channels::PHASE_CURRENTS,
        }
    }

    /// True for an earth current.
    pub(super) fn is_residual(self) -> bool {
        matches!(self, Self::Residual | Self::PhaseSum)
    }

    /// Magnitudes in A.
    pub(super) fn of(self, set: &Measured) -> Lanes {
        match self {
            Self::Phases => Lanes {
                values: set.current.map(|each| each.norm()),
                phases: Phases::EACH,
                count: 3,
            },
            Self::Residual => Lanes::single(set.residual_current.norm(), Phases::NEUTRAL),
            Self::PhaseSum => Lanes::single(set.current_sum().norm(), Phases::NEUTRAL),
            Self::NegativeSequence => Lanes::single(set.current_sequence.negative.norm(), Phases::ABC),
        }
    }
}
