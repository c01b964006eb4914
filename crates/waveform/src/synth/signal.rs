//! Currents and voltages of a state at a given time.

use super::{Harmonic, Of, Operating, Ramp, State};
use std::f64::consts::{SQRT_2, TAU};

/// An active state: the phase of the frequency at its start, and the decaying component of its currents.
#[derive(Debug, Clone)]
pub(super) struct InForce<'a> {
    state: &'a State,
    harmonics: &'a [Harmonic],
    /// Cycles at its start.
    cycles: f64,
    /// The decaying component of each phase at its start, in A.
    decaying_a: [f64; 3],
}

/// The six values at a given time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Phases {
    pub(super) currents_a: [f64; 3],
    pub(super) voltages_v: [f64; 3],
}

impl<'a> InForce<'a> {
    /// The first state of a run.
    pub(super) fn first(state: &'a State, harmonics: &'a [Harmonic]) -> Self {
        Self {
            state,
            harmonics,
            cycles: 0.0,
            decaying_a: [0.0; 3],
        }
    }

    /// The next state, if this one was active for `seconds`.
    pub(super) fn next(&self, state: &'a State, seconds: f64) -> Self {
        let mut next = Self {
            cycles: self.cycles_at(seconds).rem_euclid(1.0),
            ..Self::first(state, self.harmonics)
        };
        if let Some(decay) = state.decay {
            let before = self.at(seconds).currents_a;
            let after = next.at(0.0).currents_a;
            next.decaying_a = std::array::from_fn(|phase| decay.percent / 100.0 * (before[phase] - after[phase]));
        }
        next
    }

    pub(super) fn state(&self) -> &'a State {
        self.state
    }

    /// Cycles since the start of the run, without the whole ones before this state.
    pub(super) fn cycles_at(&self, seconds: f64) -> f64 {
        self.cycles + cycles(self.state.operating.frequency_hz, self.state.ramp, seconds)
    }

    /// The values `seconds` after its start.
    pub(super) fn at(&self, seconds: f64) -> Phases {
        self.at_cycles(self.cycles_at(seconds), seconds)
    }

    /// The values at a given number of cycles.
    pub(super) fn at_cycles(&self, cycles: f64, seconds: f64) -> Phases {
        let Operating {
            currents_a,
            current_angles_deg,
            voltages_v,
            voltage_angles_deg,
            ..
        } = &self.state.operating;
        let turn = TAU * cycles.rem_euclid(1.0);
        let value = |rms: f64, angle_deg: f64, of| rms * SQRT_2 * self.shape(turn + angle_deg.to_radians(), of);
        let left = self
            .state
            .decay
            .map_or(0.0, |decay| (-seconds / (decay.time_constant_ns as f64 / 1e9)).exp());
        Phases {
            currents_a: std::array::from_fn(|phase| {
                value(currents_a[phase], current_angles_deg[phase], Of::Currents) + left * self.decaying_a[phase]
            }),
            voltages_v: std::array::from_fn(|phase| value(voltages_v[phase], voltage_angles_deg[phase], Of::Voltages)),
        }
    }

    /// The fundamental at `angle` with peak value 1, with its harmonics.
    fn shape(&self, angle: f64, of: Of) -> f64 {
        let harmonics = self
            .harmonics
            .iter()
            .chain(&self.state.harmonics)
            .filter(|harmonic| harmonic.of == Of::All || harmonic.of == of);
        angle.cos()
            + harmonics
                .map(|harmonic| {
                    let angle = f64::from(harmonic.order) * angle + harmonic.angle_deg.to_radians();
                    harmonic.percent / 100.0 * angle.cos()
                })
                .sum::<f64>()
    }

    /// Seconds until only whole cycles remain: the ramp has ended, and the decaying component is far below 1 mA.
    pub(super) fn settled_after_s(&self) -> f64 {
        let ramp = self
            .state
            .ramp
            .map_or(0.0, |ramp| ramp_s(self.state.operating.frequency_hz, ramp));
        let largest = self.decaying_a.iter().fold(0.0, |largest: f64, a| largest.max(a.abs()));
        let decay = self
            .state
            .decay
            .filter(|_| largest > 1e-4)
            .map_or(0.0, |decay| (largest / 1e-4).ln() * decay.time_constant_ns as f64 / 1e9);
        ramp.max(decay)
    }

    /// Frequency once it has settled, in Hz.
    pub(super) fn settled_hz(&self) -> f64 {
        self.state
            .ramp
            .map_or(self.state.operating.frequency_hz, |ramp| ramp.to_hz)
    }
}

fn ramp_s(from_hz: f64, ramp: Ramp) -> f64 {
    (ramp.to_hz - from_hz).abs() / ramp.hz_per_s
}

/// The integral of the frequency over `seconds`.
fn cycles(from_hz: f64, ramp: Option<Ramp>, seconds: f64) -> f64 {
    let Some(ramp) = ramp else { return from_hz * seconds };
    let ramping = seconds.min(ramp_s(from_hz, ramp));
    let slope = ramp.hz_per_s.copysign(ramp.to_hz - from_hz);
    from_hz * ramping + slope * ramping * ramping / 2.0 + ramp.to_hz * (seconds - ramping)
}
