//! The course of a disturbance, sample by sample.

use super::branch::{Branch, Stepped, Three, weighted};
use super::pole::Poles;
use super::{Circuit, LineSide, at, put};
use num_complex::Complex64 as Complex;
use std::f64::consts::{SQRT_2, TAU};

/// Longest time in s for which a pole waits for a zero of its current.
const LONGEST_S: f64 = 0.3;

/// A circuit during its disturbance.
pub(crate) struct Transient<'a> {
    circuit: &'a Circuit,
    /// Duration of a step in s, and the number of steps since the begin of the disturbance.
    step_s: f64,
    step: i64,
    /// Number of steps in a sample.
    in_sample: u64,
    /// Phase of the frequency at its begin, in rad.
    begin_rad: f64,
    steps: Vec<Stepped>,
    /// Current of each series branch, and voltage of each capacitance.
    state: Vec<Three<f64>>,
    faults: Vec<Poles>,
    breaker: Poles,
    /// Inverse of the matrix of the closed poles.
    inverse: Vec<f64>,
    volts: Vec<f64>,
    /// Currents of the branches that do not depend on the voltages at the end of the step, and their sums at the nodes.
    histories: Vec<Three<f64>>,
    injected: Vec<f64>,
}

impl<'a> Transient<'a> {
    /// The steady state one sample before the disturbance; `begin_deg` is the phase of the frequency at the begin.
    pub(crate) fn new(circuit: &'a Circuit, rate: u32, begin_deg: f64) -> Self {
        let in_sample = circuit.steps_of_sample(rate);
        let step_s = 1.0 / (f64::from(rate) * in_sample as f64);
        let steps = circuit.stepped(step_s);
        let begin_rad = begin_deg.to_radians();
        let step = -in_sample.cast_signed();
        let turn = Complex::from_polar(SQRT_2, begin_rad + TAU * circuit.hz * step as f64 * step_s);
        let volts = circuit.steady(&steps);
        let state = circuit.branches.iter().enumerate().map(|(number, branch)| {
            let phasors = if branch.is_capacitance() {
                at(&volts, branch.from)
            } else if number == circuit.breaker && circuit.is_open {
                Default::default()
            } else {
                circuit.steady_current(number, &steps, &volts)
            };
            phasors.map(|phasor| (phasor * turn).re)
        });
        let mut transient = Self {
            state: state.collect(),
            volts: volts.iter().map(|phasor| (phasor * turn).re).collect(),
            circuit,
            step_s,
            step,
            in_sample,
            begin_rad,
            steps,
            faults: vec![Poles::default(); circuit.faults.len()],
            breaker: Poles::closed([!circuit.is_open; 3]),
            inverse: Vec::new(),
            histories: vec![[0.0; 3]; circuit.branches.len()],
            injected: vec![0.0; 3 * circuit.nodes],
        };
        transient.refresh();
        transient
    }

    /// The next sample: currents into the line and voltages of the phases at this side.
    pub(crate) fn next_sample(&mut self, side: LineSide) -> [Three<f64>; 2] {
        for _ in 0..self.in_sample {
            self.advance();
        }
        let currents = match (side, self.circuit.far) {
            (LineSide::Near, _) => self.state[self.circuit.breaker],
            (LineSide::Far, Some(far)) => self.state[far].map(|current| -current),
            (LineSide::Far, None) => [0.0; 3],
        };
        [currents, at(&self.volts, self.circuit.measured_at(side))]
    }

    /// True once all poles are back in the state before the disturbance.
    pub(crate) fn is_over(&self) -> bool {
        let is_open = self.breaker.closed == [false; 3];
        self.seconds() + self.step_s / 2.0 >= self.circuit.lasts_s
            && self.faults.iter().all(Poles::is_over)
            && (is_open == self.circuit.is_open)
    }

    fn seconds(&self) -> f64 {
        self.step as f64 * self.step_s
    }

    fn advance(&mut self) {
        self.step += 1;
        if self.switch_on() {
            self.refresh();
        }
        self.inject();
        let injected = &self.injected;
        let size = injected.len();
        for (place, volt) in self.volts.iter_mut().enumerate() {
            let row = &self.inverse[place * size..(place + 1) * size];
            *volt = row.iter().zip(injected).map(|(one, other)| one * other).sum();
        }
        self.update();
        if self.switch_off() {
            self.refresh();
        }
    }

    /// Voltages of a source at the end of the step.
    fn emf(&self, number: usize) -> Three<f64> {
        let Some(emf) = self.circuit.emfs.iter().find(|emf| emf.branch == number) else {
            return [0.0; 3];
        };
        let turn = Complex::from_polar(SQRT_2, self.begin_rad + TAU * self.circuit.hz * self.seconds());
        emf.phasors(emf.turned(self.seconds()) * turn).map(|phase| phase.re)
    }

    /// Current of a branch that does not depend on the voltages at the end of the step.
    fn history(&self, number: usize, branch: &Branch) -> Three<f64> {
        let steps = &self.steps[number];
        if branch.is_capacitance() {
            return weighted(steps.conductance, self.state[number]).map(|current| -current);
        }
        let driven = weighted(steps.conductance, self.emf(number));
        let kept = weighted(steps.keep, self.state[number]);
        std::array::from_fn(|phase| driven[phase] + kept[phase])
    }

    fn inject(&mut self) {
        self.injected.fill(0.0);
        for (number, branch) in self.circuit.branches.iter().enumerate() {
            if number != self.circuit.breaker {
                let history = self.history(number, branch);
                put(&mut self.injected, branch.from, history, -1.0);
                put(&mut self.injected, branch.to, history, 1.0);
                self.histories[number] = history;
            }
        }
    }

    /// Takes over the currents and voltages at the end of the step.
    fn update(&mut self) {
        for (number, branch) in self.circuit.branches.iter().enumerate() {
            let (from, to) = (at(&self.volts, branch.from), at(&self.volts, branch.to));
            if branch.is_capacitance() {
                self.state[number] = from;
                continue;
            }
            let across = std::array::from_fn(|phase| from[phase] - to[phase]);
            let driven = weighted(self.steps[number].conductance, across);
            self.state[number] = if number == self.circuit.breaker {
                let closed = self.breaker.closed;
                std::array::from_fn(|phase| if closed[phase] { driven[phase] } else { 0.0 })
            } else {
                let history = self.histories[number];
                std::array::from_fn(|phase| driven[phase] + history[phase])
            };
        }
    }

    /// Closes what begins with this step.
    fn switch_on(&mut self) -> bool {
        let (now, mut changed) = (self.seconds() + self.step_s / 2.0, false);
        if self.circuit.is_open && !self.breaker.has_begun && now >= 0.0 {
            self.breaker.closed = [true; 3];
            (self.breaker.has_begun, changed) = (true, true);
        }
        for (poles, fault) in self.faults.iter_mut().zip(&self.circuit.faults) {
            if !poles.has_begun && now >= fault.begin_s {
                poles.closed = fault.phases();
                (poles.has_begun, changed) = (true, true);
            }
        }
        changed
    }

    /// Opens poles that are to open, and whose current has passed through zero.
    fn switch_off(&mut self) -> bool {
        let (now, mut changed) = (self.seconds(), false);
        for (poles, fault) in self.faults.iter_mut().zip(&self.circuit.faults) {
            if poles.closed == [false; 3] {
                continue;
            }
            let currents = fault.currents(poles.closed, at(&self.volts, Some(fault.node)));
            changed |= poles.open(currents, now >= fault.end_s);
            if now >= fault.end_s + LONGEST_S {
                poles.closed = [false; 3];
                changed = true;
            }
        }
        if self.circuit.is_open && self.breaker.has_begun && self.breaker.closed != [false; 3] {
            let currents = self.state[self.circuit.breaker];
            changed |= self.breaker.open(currents, now >= self.circuit.lasts_s);
        }
        changed
    }

    /// Inverts the matrix of the closed poles.
    fn refresh(&mut self) {
        let circuit = self.circuit;
        let mut matrix = circuit.earthed();
        for (number, branch) in circuit
            .branches
            .iter()
            .enumerate()
            .filter(|(number, _)| *number != circuit.breaker)
        {
            branch.stamp(&mut matrix, self.steps[number].conductance.map(Complex::from));
        }
        let conductance = self.steps[circuit.breaker].conductance[0];
        for phase in (0..3).filter(|phase| self.breaker.closed[*phase]) {
            let (bus, line) = (phase, 3 + phase);
            for (row, column, sign) in [(bus, bus, 1.0), (line, line, 1.0), (bus, line, -1.0), (line, bus, -1.0)] {
                matrix.add(row, column, (sign * conductance).into());
            }
        }
        for (fault, poles) in circuit.faults.iter().zip(&self.faults) {
            fault.stamp(&mut matrix, poles.closed);
        }
        self.inverse = matrix.inverse().real();
    }
}
