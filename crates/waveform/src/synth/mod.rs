//! Synthesised signals: a steady state, and faults in a sequence of states, as test sets have it.
//!
//! Of phase p and angle a in the steady state, `sqrt(2) * rms * cos(2 pi f t + a)`, t from the start of the run. Angles are
//! degrees. From state to state the phase of the frequency goes on without a jump.

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

/// Angles of the phases b and c where that of a is 0.
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

/// Quantities that a harmonic is of.
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
    /// Angle in degrees of the harmonic, against `order` times that of the fundamental.
    pub angle_deg: f64,
    /// Where it is.
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
    /// Speed in Hz a second, more than 0 whichever way it goes.
    pub hz_per_s: f64,
    /// Frequency that it ends at and stays, in Hz.
    pub to_hz: f64,
}

/// The decaying component of a fault's currents.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Decay {
    /// Share, in percent, of the component that lets a phase's current begin where it was: 100 is an inductive circuit, 0 none.
    pub percent: f64,
    /// Time constant (L/R) in nanoseconds.
    pub time_constant_ns: u64,
}

/// A state of a sequence.
#[derive(Debug, Clone, PartialEq)]
pub struct State {
    /// Its name.
    pub name: String,
    /// Begins this long after the start of the run; `None` where the state before it ends.
    pub at_ns: Option<u64>,
    /// Lasts this long; `None` until the next state begins, and the last state for ever.
    pub duration_ns: Option<u64>,
    /// Currents and voltages in this state.
    pub operating: Operating,
    /// Change of frequency.
    pub ramp: Option<Ramp>,
    /// Decaying component of the currents.
    pub decay: Option<Decay>,
    /// Harmonics beside those of every state.
    pub harmonics: Vec<Harmonic>,
    /// Added to the quality of every member.
    pub quality: SvQuality,
}

impl State {
    /// A state that holds `operating` without end.
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

/// A further member with a signal of its own, the same in every state.
#[derive(Debug, Clone, PartialEq)]
pub struct Extra {
    /// Its name in the dataset: `I5`, `Ih`, or a residual that is to be given instead of summed.
    pub member: String,
    /// RMS in A or V.
    pub rms: f64,
    /// Angle in degrees.
    pub angle_deg: f64,
}

/// A whole signal.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Synth {
    /// Currents and voltages where no state is in force.
    pub nominal: Operating,
    /// Harmonics of every state.
    pub harmonics: Vec<Harmonic>,
    /// Noise of every state.
    pub noise: Noise,
    /// Further members.
    pub extras: Vec<Extra>,
    /// The sequence; empty for the nominal state alone.
    pub states: Vec<State>,
    /// The sequence begins anew after this long. `None`: once.
    pub repeat_every_ns: Option<u64>,
}

impl Synth {
    /// The same signal with every fundamental ahead by `deg` degrees and each harmonic with it, and other noise for another
    /// `stream`: what the next of several merging units sees.
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
