//! The signal of a scenario, and its continuation from shot to shot.

use super::record::Replayed;
use super::simulated::Simulated;
use crate::WaveformError;
use crate::sample::{SampleTable, Sampling};
use crate::synth::Synth;
use wire::quality::SvQuality;

/// A steady state and a disturbance.
#[derive(Debug, Clone, PartialEq)]
pub enum Wave {
    /// Synthesised. The states are the disturbance.
    Synth(Synth),
    /// A record, and its pre-fault cycle as the steady state.
    Record(Replayed),
    /// A network in the time domain.
    Simulated(Box<Simulated>),
    /// The two sides of a line, in one stream each: near and far. Both have the same frequency and the same states.
    Sides(Box<[Wave; 2]>),
}

impl Wave {
    /// Number of streams: one for each side.
    pub fn sides(&self) -> usize {
        match self {
            Self::Sides(_) => 2,
            Self::Synth(_) | Self::Record(_) | Self::Simulated(_) => 1,
        }
    }

    /// The wave of the near side.
    pub(crate) fn near(&self) -> &Self {
        match self {
            Self::Sides(sides) => &sides[0],
            one => one,
        }
    }

    /// Both sides, each changed in this way.
    fn each(sides: &[Self; 2], change: impl Fn(&Self) -> Self) -> Self {
        Self::Sides(Box::new([change(&sides[0]), change(&sides[1])]))
    }

    /// The steady state alone.
    #[must_use]
    pub fn steady(&self) -> Self {
        match self {
            Self::Synth(synth) => Self::Synth(Synth {
                states: Vec::new(),
                ..synth.clone()
            }),
            Self::Record(replayed) => Self::Record(replayed.steady()),
            Self::Simulated(simulated) => Self::Synth(simulated.steady()),
            Self::Sides(sides) => Self::each(sides, Self::steady),
        }
    }

    /// The steady state with an open breaker: its voltages, and no current.
    #[must_use]
    pub fn opened(&self) -> Self {
        match self.steady() {
            Self::Synth(mut synth) => {
                synth.nominal.currents_a = [0.0; 3];
                Self::Synth(synth)
            }
            Self::Record(replayed) => Self::Record(replayed.without_currents()),
            Self::Simulated(simulated) => Self::Simulated(simulated),
            Self::Sides(sides) => Self::each(&sides, Self::opened),
        }
    }

    /// Replaces the disturbance by the steady state, with the same duration.
    #[must_use]
    pub fn at_load(mut self) -> Self {
        match &mut self {
            Self::Synth(synth) => {
                for state in &mut synth.states {
                    state.operating = synth.nominal.clone();
                    (state.ramp, state.decay) = (None, None);
                    state.harmonics.clear();
                }
            }
            Self::Record(replayed) => replayed.is_load = true,
            Self::Simulated(simulated) => self = Self::Synth(simulated.at_load()),
            Self::Sides(sides) => self = Self::each(sides, |side| side.clone().at_load()),
        }
        self
    }

    /// Adds this to the quality of every member during the disturbance, of two sides at the near one.
    #[must_use]
    pub fn with_quality(mut self, quality: SvQuality) -> Self {
        match &mut self {
            Self::Synth(synth) => {
                for state in &mut synth.states {
                    state.quality = SvQuality(state.quality.0 | quality.0);
                }
            }
            Self::Record(replayed) => replayed.quality = quality,
            Self::Simulated(simulated) => simulated.add_quality(quality),
            Self::Sides(sides) => {
                let [near, far] = sides.as_ref().clone();
                self = Self::Sides(Box::new([near.with_quality(quality), far]));
            }
        }
        self
    }

    /// The same signal with its phase advanced by `deg` degrees.
    #[must_use]
    pub fn shifted(&self, deg: f64) -> Self {
        match self {
            Self::Synth(synth) => Self::Synth(synth.shifted(deg, 0)),
            Self::Record(replayed) => Self::Record(replayed.shifted(deg)),
            Self::Simulated(simulated) => Self::Simulated(Box::new(simulated.shifted(deg))),
            Self::Sides(sides) => Self::each(sides, |side| side.shifted(deg)),
        }
    }

    /// Its samples; those of two sides beside each other.
    ///
    /// # Errors
    /// A signal that these samples cannot hold.
    pub fn table(&self, sampling: &Sampling) -> Result<SampleTable, WaveformError> {
        match self {
            Self::Synth(synth) => synth.table(sampling),
            Self::Record(replayed) => replayed.table(sampling),
            Self::Simulated(simulated) => simulated.table(sampling),
            Self::Sides(sides) => sides[0].table(sampling)?.beside(&sides[1].table(sampling)?),
        }
    }

    /// Phase of the frequency `seconds` after the first sample, in degrees from 0 to 360; see [`Synth::phase_deg_at`].
    ///
    /// # Errors
    /// The states of the sequence contradict each other.
    pub fn phase_deg_at(&self, seconds: f64) -> Result<f64, WaveformError> {
        match self {
            Self::Synth(synth) => synth.phase_deg_at(seconds),
            Self::Record(replayed) => Ok(replayed.phase_deg_at(seconds)),
            Self::Simulated(simulated) => Ok((360.0 * simulated.operating().frequency_hz * seconds).rem_euclid(360.0)),
            Self::Sides(sides) => sides[0].phase_deg_at(seconds),
        }
    }

    /// Frequency of the steady state in Hz.
    pub fn frequency_hz(&self) -> f64 {
        match self {
            Self::Synth(synth) => synth.nominal.frequency_hz,
            Self::Record(replayed) => replayed.frequency_hz(),
            Self::Simulated(simulated) => simulated.operating().frequency_hz,
            Self::Sides(sides) => sides[0].frequency_hz(),
        }
    }

    /// Angle of phase a's voltage, in degrees, when the phase of the frequency is 0.
    pub fn voltage_deg(&self) -> f64 {
        match self {
            Self::Synth(synth) => synth.nominal.voltage_angles_deg[0],
            Self::Record(_) => 0.0,
            Self::Simulated(simulated) => simulated.operating().voltage_angles_deg[0],
            Self::Sides(sides) => sides[0].voltage_deg(),
        }
    }
}
