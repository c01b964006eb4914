//! Currents and voltages of a relay at the start of a line, before and during a fault on it, computed by symmetrical components.
//!
//! A source of constant voltage feeds, through its impedance, a line with a load at its end. The relay is between source and line; currents into the
//! line are positive. Before the fault all is symmetrical. The load draws no zero-sequence current. The position of a fault is a share of the line's
//! length; beyond 1 it is on an equal line that continues from its end.
//!
//! Formulas: Fortescue's components with a = 1/_120 deg, X1 = (A + aB + a^2 C) / 3; the connections of the sequence networks as in
//! IEC 60909-0, with the fault's resistance Rf, 3 Rf in the zero-sequence network.

mod file;
#[cfg(test)]
mod tests;

use crate::synth::{BEHIND_DEG, Operating};
pub(crate) use file::{File, FileTransformer, Impedances, fifty};
pub use num_complex::Complex64 as Complex;
use serde::Deserialize;

/// A source, a line and a load.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Network {
    /// Frequency in Hz.
    pub frequency_hz: f64,
    /// Voltage of the source from phase to phase, in V RMS.
    pub source_v: f64,
    /// Impedances of the source in ohm: positive (and negative) sequence, zero sequence.
    pub source_ohm: [Complex; 2],
    /// Impedances of the whole line.
    pub line_ohm: [Complex; 2],
    /// Current of the load before the fault, in A, as a phasor of phase a; the source is at 0 degrees.
    pub load_a: Complex,
}

/// The conductors that a fault connects to each other or to earth.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[allow(missing_docs, reason = "the letters are the phases, G is earth")]
#[serde(rename_all = "UPPERCASE")]
pub enum FaultType {
    Ag,
    Bg,
    Cg,
    Ab,
    Bc,
    Ca,
    Abg,
    Bcg,
    Cag,
    Abc,
}

/// A fault.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Fault {
    /// The connected conductors.
    pub kind: FaultType,
    /// Position, as a share of the line's length.
    pub position: f64,
    /// Resistance in ohm: to earth for an earth fault, otherwise between the phases; for a three-phase fault in each phase.
    pub resistance_ohm: f64,
}

/// Phasors of the positive, the negative and the zero sequence.
type Sequences = [Complex; 3];

/// Connection of the sequence networks; the first phase is the one that differs from the other two.
enum Connection {
    Earth,
    Phases,
    PhasesAndEarth,
    All,
}

impl std::fmt::Display for FaultType {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(&format!("{self:?}").to_uppercase())
    }
}

impl FaultType {
    /// Connection of the networks, and the number of phases by which the odd phase lags `a`.
    fn connection(self) -> (Connection, u8) {
        match self {
            Self::Ag => (Connection::Earth, 0),
            Self::Bg => (Connection::Earth, 1),
            Self::Cg => (Connection::Earth, 2),
            Self::Bc => (Connection::Phases, 0),
            Self::Ca => (Connection::Phases, 1),
            Self::Ab => (Connection::Phases, 2),
            Self::Bcg => (Connection::PhasesAndEarth, 0),
            Self::Cag => (Connection::PhasesAndEarth, 1),
            Self::Abg => (Connection::PhasesAndEarth, 2),
            Self::Abc => (Connection::All, 0),
        }
    }
}

impl Network {
    /// Currents and voltages at the relay before the fault.
    pub fn before(&self) -> Operating {
        self.measured([self.load_a, Complex::default(), Complex::default()])
    }

    /// Currents and voltages at the relay during the fault, after the transients have decayed.
    pub fn during(&self, fault: &Fault) -> Operating {
        let [line_1, line_0] = self.line_ohm.map(|ohm| ohm * fault.position);
        let near = [self.source_ohm[0] + line_1, self.source_ohm[1] + line_0];
        let before_v = self.source() - self.load_a * near[0];
        // The share of the fault current that the source supplies, and the impedance at the fault, in the positive and negative sequence.
        let (share, seen) = match self.beyond(fault.position) {
            Some(far) => (far / (near[0] + far), near[0] * far / (near[0] + far)),
            None => (Complex::new(1.0, 0.0), near[0]),
        };
        let (connection, odd) = fault.kind.connection();
        let turned = before_v * turn(odd);
        let at_fault = connection.currents(turned, [seen, near[1]], Complex::new(fault.resistance_ohm, 0.0));
        // Rotates back to phase a.
        let [plus, minus, zero] = at_fault;
        let [back, other] = [turn((3 - odd) % 3), turn(odd)];
        self.measured([self.load_a + plus * back * share, minus * other * share, zero])
    }

    /// Time constant of the decaying component of a fault's currents, in ns: L/R of the source and the line up to the fault.
    pub fn time_constant_ns(&self, fault: &Fault) -> u64 {
        let ohm = self.source_ohm[0] + self.line_ohm[0] * fault.position;
        let r = ohm.re + fault.resistance_ohm;
        let seconds = ohm.im / (std::f64::consts::TAU * self.frequency_hz * r);
        (seconds.max(0.0) * 1e9) as u64
    }

    /// Voltage of the source, phase a to earth.
    fn source(&self) -> Complex {
        Complex::new(self.source_v / 3_f64.sqrt(), 0.0)
    }

    /// Impedance from the fault to the end of the load, which carries the load current before the fault; `None` without a load.
    fn beyond(&self, position: f64) -> Option<Complex> {
        let loaded = self.load_a.norm() > 0.0;
        loaded.then(|| self.source() / self.load_a - self.source_ohm[0] - self.line_ohm[0] * position)
    }

    /// Phase currents at the relay from these sequence currents, and its voltages.
    fn measured(&self, currents: Sequences) -> Operating {
        let [plus, minus, zero] = currents;
        let voltages = [
            self.source() - plus * self.source_ohm[0],
            -(minus * self.source_ohm[0]),
            -(zero * self.source_ohm[1]),
        ];
        let (currents, voltages) = (phases(currents), phases(voltages));
        Operating {
            frequency_hz: self.frequency_hz,
            currents_a: currents.map(Complex::norm),
            current_angles_deg: currents.map(|each| each.arg().to_degrees()),
            voltages_v: voltages.map(Complex::norm),
            voltage_angles_deg: voltages.map(|each| each.arg().to_degrees()),
        }
    }
}

impl Connection {
    /// Sequence currents in the fault, relative to the odd phase. `before` is the voltage at the fault's position before the fault; `seen` are the
    /// impedances at the fault in the positive (and negative) and in the zero sequence.
    fn currents(&self, before: Complex, [one, zero]: [Complex; 2], fault: Complex) -> Sequences {
        let nothing = Complex::default();
        match self {
            Self::Earth => [before / (one + one + zero + fault * 3.0); 3],
            Self::Phases => {
                let plus = before / (one + one + fault);
                [plus, -plus, nothing]
            }
            Self::PhasesAndEarth => {
                let earth = zero + fault * 3.0;
                let plus = before / (one + one * earth / (one + earth));
                [plus, -(plus * earth / (one + earth)), -(plus * one / (one + earth))]
            }
            Self::All => [before / (one + fault), nothing, nothing],
        }
    }
}

/// A phasor by magnitude and angle in degrees.
pub(crate) fn polar(magnitude: f64, deg: f64) -> Complex {
    Complex::from_polar(magnitude, deg.to_radians())
}

/// The operator that rotates phase a to the phase that lags it by this many steps.
fn turn(behind: u8) -> Complex {
    polar(1.0, BEHIND_DEG[usize::from(behind)])
}

/// Phases of sequence phasors: A = X0 + X1 + X2, B = X0 + a^2 X1 + a X2, C = X0 + a X1 + a^2 X2.
fn phases([plus, minus, zero]: Sequences) -> [Complex; 3] {
    [0, 1, 2].map(|phase| zero + plus * turn(phase) + minus * turn((3 - phase) % 3))
}
