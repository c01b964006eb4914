//! Synthesised signals: a steady state, and faults as a sequence of states, as in test sets.
//!
//! A phase with angle a in the steady state is `sqrt(2) * rms * cos(2 pi f t + a)`, with t from the start of the run. Angles are in degrees. The
//! phase of the frequency continues from state to state without a jump.

mod clearing;
mod file;
mod render;
mod signal;
mod steady;
mod timeline;

pub(crate) use file::{Duration, File, checked};
pub use file::{parse, read};
pub(crate) use steady::Loop;

use wire::quality::SvQuality;

/// A three-phase state.
#[derive(Debug, Clone, PartialEq)]
pub struct Operating {
    /// Frequency in Hz.
    pub frequency_hz: f64,
    /// RMS currents of the phases a, b, c in A.
    pub currents_a: [f64; 3],
    /// Their angles in degrees.
    pub current_angles_deg: [f64; 3],
    /// RMS voltages of the phases to earth in V.
    pub voltages_v: [f64; 3],
    /// Their angles in degrees.
    pub voltage_angles_deg: [f64; 3],
}

/// Angles of the phases if that of a is 0.
pub(crate) const BEHIND_DEG: [f64; 3] = [0.0, -120.0, 120.0];

/// Angles of three symmetrical phases, a at `deg`.
pub fn symmetrical(deg: f64) -> [f64; 3] {
    BEHIND_DEG.map(|behind| deg + behind)
}

impl Default for Operating {
    /// 50 Hz, 400 A lagging by 30 degrees, 20 kV between phases.
    fn default() -> Self {
        Self {
            frequency_hz: 50.0,
            currents_a: [400.0; 3],
            current_angles_deg: symmetrical(-30.0),
            voltages_v: [20_000.0 / 1.732_050_807_568_877_2; 3],
            voltage_angles_deg: symmetrical(0.0),
        }
    }
}

/// Quantities that a harmonic applies to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Of {
    /// Currents and voltages.
    #[default]
    All,
    /// Currents.
    Currents,
    /// Voltages.
    Voltages,
}

/// A harmonic of each phase's fundamental: `percent / 100 * sqrt(2) * rms * cos(order * (2 pi f t + a) + angle)`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Harmonic {
    /// Order, 2 or more.
    pub order: u32,
    /// Share of the fundamental in percent.
    pub percent: f64,
    /// Angle of the harmonic in degrees, relative to `order` times that of the fundamental.
    pub angle_deg: f64,
    /// The quantities it applies to.
    pub of: Of,
}

/// White noise on every phase, independent from phase to phase and sample to sample.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Noise {
    /// RMS on currents in A.
    pub current_a: f64,
    /// RMS on voltages in V.
    pub voltage_v: f64,
    /// Equal seeds give equal noise.
    pub seed: u64,
}

impl Noise {
    pub(crate) fn is_silent(&self) -> bool {
        self.current_a == 0.0 && self.voltage_v == 0.0
    }
}

/// A change of frequency within a state, from its own to another.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ramp {
    /// Speed in Hz per second, greater than 0 in both directions.
    pub hz_per_s: f64,
    /// Final frequency in Hz.
    pub to_hz: f64,
}

/// The decaying component of a fault's currents.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Decay {
    /// Share, in percent, of the component that makes a phase's current continuous: 100 is an inductive circuit, 0 none.
    pub percent: f64,
    /// Time constant (L/R) in nanoseconds.
    pub time_constant_ns: u64,
}

/// A state of a sequence.
#[derive(Debug, Clone, PartialEq)]
pub struct State {
    /// Its name.
    pub name: String,
    /// Start in ns after the start of the run; `None`: at the end of the previous state.
    pub at_ns: Option<u64>,
    /// Duration in ns; `None`: until the next state starts, and for the last state forever.
    pub duration_ns: Option<u64>,
    /// Currents and voltages in this state.
    pub operating: Operating,
    /// Change of frequency.
    pub ramp: Option<Ramp>,
    /// Decaying component of the currents.
    pub decay: Option<Decay>,
    /// Harmonics in addition to those of every state.
    pub harmonics: Vec<Harmonic>,
    /// Added to the quality of every member.
    pub quality: SvQuality,
}

impl State {
    /// An endless state with these values.
    pub fn steady(name: &str, operating: Operating) -> Self {
        Self {
            name: name.to_owned(),
            at_ns: None,
            duration_ns: None,
            operating,
            ramp: None,
            decay: None,
            harmonics: Vec::new(),
            quality: SvQuality::GOOD,
        }
    }
}

/// An additional member with its own signal, the same in every state.
#[derive(Debug, Clone, PartialEq)]
pub struct Extra {
    /// Its name in the dataset: `I5`, `Ih`, or a residual that is given instead of summed.
    pub member: String,
    /// RMS in A or V.
    pub rms: f64,
    /// Angle in degrees.
    pub angle_deg: f64,
}

/// A whole signal.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Synth {
    /// Currents and voltages outside the states.
    pub nominal: Operating,
    /// Harmonics of every state.
    pub harmonics: Vec<Harmonic>,
    /// Noise of every state.
    pub noise: Noise,
    /// Additional members.
    pub extras: Vec<Extra>,
    /// The sequence; empty for the nominal state alone.
    pub states: Vec<State>,
    /// Period in ns after which the sequence repeats. `None`: played once.
    pub repeat_every_ns: Option<u64>,
    /// True if a sequence that is played once ends as a breaker ends a fault: each pole changes over at its current's zero, a few ms after the end of
    /// the last state.
    pub clears: bool,
}

impl Synth {
    /// The same signal with every fundamental and its harmonics advanced by `deg` degrees, and with different noise for a different `stream`: the
    /// signal of the next of several merging units.
    #[must_use]
    pub fn shifted(&self, deg: f64, stream: u64) -> Self {
        let mut shifted = self.clone();
        shifted.nominal.shift(deg);
        for state in &mut shifted.states {
            state.operating.shift(deg);
        }
        for extra in &mut shifted.extras {
            extra.angle_deg += deg;
        }
        shifted.noise.seed = self.noise.seed.wrapping_add(stream);
        shifted
    }
}

impl Operating {
    fn shift(&mut self, deg: f64) {
        for angle in self.current_angles_deg.iter_mut().chain(&mut self.voltage_angles_deg) {
            *angle += deg;
        }
    }
}

#[cfg(test)]
mod tests;
