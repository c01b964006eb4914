//! A network in the time domain: sources, a line, a load, capacitances, a breaker and faults, with all transients between its states.
//!
//! Direct components, poles that open one after the other at the zeros of their currents, the discharge of an isolated network and the beat of two
//! sources all come out of the circuit; none is assumed. [`crate::network`] has the same network in phasors.
//!
//! Nodes have three phases. Branches are integrated by the implicit Euler method, in steps in which their impedance is exact at the frequency of the
//! network. For this the steps take a part of the resistance over, so direct components decay more slowly: there are as many steps in a sample as keep
//! that part below [`TAKEN`].

mod branch;
mod matrix;
mod pole;
mod saturation;
#[cfg(test)]
mod tests;
mod transient;

pub(crate) use saturation::Saturation;
pub(crate) use transient::Transient;

use crate::network::FaultType;
use crate::synth::{BEHIND_DEG, Operating};
use branch::{Branch, Element, Stepped, Three, weighted};
use matrix::Matrix;
use num_complex::Complex64 as Complex;
use pole::Connected;
use std::f64::consts::PI;

/// Fewest steps of the integration in a sample.
const FEWEST: u64 = 6;

/// Most steps in a second, as long as [`FEWEST`] allows.
const MOST_HZ: f64 = 288_000.0;

/// Largest part of a branch's resistance that the steps take over. The time constant of a direct component is at most 1 / (1 - 0.07) times too long.
const TAKEN: f64 = 0.07;

/// Least ratio of resistance and reactance at this frequency in Hz for which [`MOST_HZ`] steps in a second suffice.
pub(crate) fn least_ratio(hz: f64) -> f64 {
    (PI * hz / MOST_HZ).tan() / TAKEN
}

/// Conductance of each node to earth in S, so that a part that a breaker has cut off has a voltage.
const LEAK_S: f64 = 1e-9;

/// Resistance of a closed breaker in ohm.
const BREAKER_OHM: f64 = 1e-3;

/// Angle of a source over the time of the disturbance.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Course {
    /// Constant.
    Steady,
    /// Runs through this number of whole turns, evenly, in this time in s from the begin of the disturbance.
    Turns { turns: f64, in_s: f64 },
    /// Sways by this angle in degrees and back, in this time.
    Sways { deg: f64, in_s: f64 },
}

/// A voltage behind an impedance to earth.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Emf {
    branch: usize,
    /// RMS from phase to earth in V, and angle of phase a in degrees.
    phasor: Complex,
    course: Course,
}

/// Nodes of two parallel lines: the bus, the place of the fault on each line, and their common end.
pub(crate) struct Pair {
    pub(crate) bus: usize,
    pub(crate) faulted: [usize; 2],
    pub(crate) end: usize,
}

/// Where a relay's transformers are: at the begin of the line, or at its far side.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LineSide {
    Near,
    Far,
}

/// A circuit, and the disturbance of it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Circuit {
    hz: f64,
    nodes: usize,
    branches: Vec<Branch>,
    emfs: Vec<Emf>,
    faults: Vec<Connected>,
    /// The breaker at the relay: its branch, whose `from` is the bus. Its current is the relay's.
    breaker: usize,
    /// The transformers at the far side of the line: their branch, whose `from` is the line.
    far: Option<usize>,
    /// True if the breaker is open before and after the disturbance.
    is_open: bool,
    /// Node of the voltage transformer.
    measured: usize,
    /// Length of the disturbance in s, without the time of its poles.
    pub(crate) lasts_s: f64,
}

impl Circuit {
    /// A bus, node 0, and the breaker to the begin of the line, node 1. The relay measures between them.
    pub(crate) fn new(hz: f64) -> Self {
        let breaker = Branch {
            from: Some(0),
            to: Some(1),
            element: Element::Series([Some(BREAKER_OHM.into()); 2]),
        };
        Self {
            hz,
            nodes: 2,
            branches: vec![breaker],
            emfs: Vec::new(),
            faults: Vec::new(),
            breaker: 0,
            far: None,
            is_open: false,
            measured: 0,
            lasts_s: 0.0,
        }
    }

    /// A further node, connected to `from` by these impedances.
    pub(crate) fn node_after(&mut self, from: usize, ohm: [Complex; 2]) -> usize {
        let to = self.nodes;
        self.nodes += 1;
        self.join(from, to, ohm);
        to
    }

    /// A further node behind transformers at this node, the far side of the line.
    pub(crate) fn far_side(&mut self, node: usize) -> usize {
        self.far = Some(self.branches.len());
        self.node_after(node, [BREAKER_OHM.into(); 2])
    }

    /// Two equal parallel lines from the bus to a common end, with a fault at this share of one of them. The relay is in the first one. Their zero
    /// sequences are coupled: since they have both ends in common, the coupling is an impedance that both have in common, before and after the fault.
    /// Voltages are those of the bus.
    pub(crate) fn parallel(&mut self, line: [Complex; 2], mutual: Complex, position: f64) -> Pair {
        let shared = |part: f64| [BREAKER_OHM.into(), mutual * part];
        let own = |part: f64| [line[0] * part, (line[1] - mutual) * part];
        let bus = self.nodes;
        self.nodes += 1;
        self.join(bus, 0, shared(position));
        self.measured = bus;
        let faulted = [self.node_after(1, own(position)), self.node_after(0, own(position))];
        let behind = self.node_after(faulted[0], own(1.0 - position));
        self.join(faulted[1], behind, own(1.0 - position));
        let end = self.node_after(behind, shared(1.0 - position));
        Pair { bus, faulted, end }
    }

    /// Connects two nodes by these impedances.
    fn join(&mut self, from: usize, to: usize, ohm: [Complex; 2]) {
        self.branches.push(Branch {
            from: Some(from),
            to: Some(to),
            element: Element::Series(ohm.map(Some)),
        });
    }

    /// A source at a node.
    pub(crate) fn source(&mut self, node: usize, ohm: [Complex; 2], phasor: Complex, course: Course) {
        self.emfs.push(Emf {
            branch: self.branches.len(),
            phasor,
            course,
        });
        self.branches.push(Branch {
            from: None,
            to: Some(node),
            element: Element::Series(ohm.map(Some)),
        });
    }

    /// A load at a node: an impedance of the positive and the negative sequence.
    pub(crate) fn load(&mut self, node: usize, ohm: Complex) {
        self.branches.push(Branch {
            from: Some(node),
            to: None,
            element: Element::Series([Some(ohm), None]),
        });
    }

    /// Capacitances of a node to earth in F, positive and zero sequence.
    pub(crate) fn capacitance(&mut self, node: usize, farad: [f64; 2]) {
        if farad.iter().any(|farad| *farad > 0.0) {
            self.branches.push(Branch {
                from: Some(node),
                to: None,
                element: Element::Capacitance(farad),
            });
        }
    }

    /// A fault at a node, from and to these times in s after the begin of the disturbance.
    pub(crate) fn fault(&mut self, node: usize, kind: FaultType, resistance_ohm: f64, [begin_s, end_s]: [f64; 2]) {
        self.faults.push(Connected {
            node,
            kind,
            resistance_ohm,
            begin_s,
            end_s,
        });
        self.lasts_s = self.lasts_s.max(end_s);
    }

    /// The disturbance lasts at least so long, in s.
    pub(crate) fn lasts_at_least(&mut self, seconds: f64) {
        self.lasts_s = self.lasts_s.max(seconds);
    }

    /// The breaker is open, and closes for the disturbance.
    pub(crate) fn closes(&mut self) {
        self.is_open = true;
    }

    /// The relay measures the voltage of the line, not of the bus.
    pub(crate) fn measures_line(&mut self) {
        self.measured = 1;
    }

    /// Currents into the line and voltages at this side before the disturbance; without transformers at the far side, zeros.
    pub(crate) fn before(&self, side: LineSide) -> Operating {
        let steps = self.stepped(1e-5);
        let volts = self.steady(&steps);
        let bus = at(&volts, self.measured_at(side));
        let current = match (side, self.far) {
            (LineSide::Near, _) if self.is_open => Three::default(),
            (LineSide::Near, _) => self.steady_current(self.breaker, &steps, &volts),
            (LineSide::Far, Some(far)) => self.steady_current(far, &steps, &volts).map(|current| -current),
            (LineSide::Far, None) => Three::default(),
        };
        Operating {
            frequency_hz: self.hz,
            currents_a: current.map(Complex::norm),
            current_angles_deg: current.map(|each| each.arg().to_degrees()),
            voltages_v: bus.map(Complex::norm),
            voltage_angles_deg: bus.map(|each| each.arg().to_degrees()),
        }
    }

    /// Node of the voltage transformer of this side.
    fn measured_at(&self, side: LineSide) -> Option<usize> {
        match side {
            LineSide::Near => Some(self.measured),
            LineSide::Far => self.branches[self.far?].to,
        }
    }

    /// Steps in a sample at this rate.
    fn steps_of_sample(&self, rate: u32) -> u64 {
        let rate = f64::from(rate);
        let ratio = self
            .branches
            .iter()
            .filter_map(Branch::ratio)
            .fold(f64::INFINITY, f64::min);
        // The steps take over the reactance times the tangent of half their angle: see `branch::series`.
        let wanted = PI * self.hz / (rate * (TAKEN * ratio).atan());
        (wanted.min(MOST_HZ / rate).ceil() as u64).max(FEWEST)
    }

    fn stepped(&self, step_s: f64) -> Vec<Stepped> {
        self.branches
            .iter()
            .map(|branch| branch.stepped(self.hz, step_s))
            .collect()
    }

    /// Branches that conduct while the breaker is open or closed.
    fn conducting(&self, is_open: bool) -> impl Iterator<Item = (usize, &Branch)> {
        let cut = is_open.then_some(self.breaker);
        self.branches
            .iter()
            .enumerate()
            .filter(move |(number, _)| Some(*number) != cut)
    }

    /// Phasors of the nodes before the disturbance.
    fn steady(&self, steps: &[Stepped]) -> Vec<Complex> {
        let mut matrix = self.earthed();
        for (number, branch) in self.conducting(self.is_open) {
            branch.stamp(&mut matrix, steps[number].admittance);
        }
        let mut injected = vec![Complex::default(); 3 * self.nodes];
        for emf in &self.emfs {
            let currents = weighted(steps[emf.branch].admittance, emf.phasors(emf.phasor));
            put(
                &mut injected,
                self.branches[emf.branch].to,
                currents,
                Complex::new(1.0, 0.0),
            );
        }
        matrix.inverse().times(&injected)
    }

    fn steady_current(&self, number: usize, steps: &[Stepped], volts: &[Complex]) -> Three<Complex> {
        let branch = &self.branches[number];
        let emf = self.emfs.iter().find(|emf| emf.branch == number);
        let emf = emf.map_or_else(Default::default, |emf| emf.phasors(emf.phasor));
        let (from, to) = (at(volts, branch.from), at(volts, branch.to));
        weighted(
            steps[number].admittance,
            std::array::from_fn(|phase| emf[phase] + from[phase] - to[phase]),
        )
    }

    /// A matrix with the leaks of all nodes.
    fn earthed(&self) -> Matrix {
        let mut matrix = Matrix::zeros(3 * self.nodes);
        for place in 0..3 * self.nodes {
            matrix.add(place, place, LEAK_S.into());
        }
        matrix
    }
}

impl Emf {
    /// The phases, if this is phase a.
    fn phasors(&self, a: Complex) -> Three<Complex> {
        BEHIND_DEG.map(|deg| a * Complex::from_polar(1.0, deg.to_radians()))
    }

    /// Phase a at this time in s after the begin of the disturbance. It keeps its last angle when its course is over.
    fn turned(&self, seconds: f64) -> Complex {
        let part = |in_s: f64| (seconds / in_s).clamp(0.0, 1.0);
        let deg = match self.course {
            Course::Steady => 0.0,
            Course::Turns { turns, in_s } => 360.0 * turns * part(in_s),
            Course::Sways { deg, in_s } => deg * (1.0 - (std::f64::consts::TAU * part(in_s)).cos()) / 2.0,
        };
        self.phasor * Complex::from_polar(1.0, deg.to_radians())
    }
}

/// Phases of a node; earth has none.
fn at<T: Copy + Default>(values: &[T], node: Option<usize>) -> Three<T> {
    node.map_or_else(Default::default, |node| {
        std::array::from_fn(|phase| values[3 * node + phase])
    })
}

/// Adds currents into a node, times a sign.
fn put<T>(injected: &mut [T], node: Option<usize>, currents: Three<T>, sign: T)
where
    T: Copy + std::ops::AddAssign + std::ops::Mul<Output = T>,
{
    let Some(node) = node else { return };
    for (phase, current) in currents.into_iter().enumerate() {
        injected[3 * node + phase] += sign * current;
    }
}
