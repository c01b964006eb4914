//! A source, a line, and a load or a second source in the time domain, with a fault on the line that a breaker beyond it clears, pole by pole at
//! current zero.
//!
//! The three phases are decoupled into two modes of the positive sequence and one of the zero sequence (Clarke). Each branch is R and L, integrated by
//! the implicit Euler method in small steps; the fault is a star of small resistances, with its centre earthed or floating. So no assumption on the
//! course of a transient is made: DC of each phase, sequential clearing and the change of the load come out of the circuit.
#![allow(dead_code, reason = "each test program uses its part")]

use std::f64::consts::{FRAC_1_SQRT_2, SQRT_2, TAU};

/// Steps of the integration in a sample.
const STEPS: usize = 10;

/// Resistance of a conducting pole of the fault in ohm, and of the load in the zero sequence.
const POLE_OHM: f64 = 0.01;
const NO_EARTH_OHM: f64 = 1e5;

/// Clarke's transformation, in the form that keeps power.
const CLARKE: [[f64; 3]; 3] = [
    [0.816_496_580_927_726, -0.408_248_290_463_863, -0.408_248_290_463_863],
    [0.0, FRAC_1_SQRT_2, -FRAC_1_SQRT_2],
    [0.577_350_269_189_626, 0.577_350_269_189_626, 0.577_350_269_189_626],
];

type Three = [f64; 3];

/// A fault: its phases, and whether earth is included.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct LineFault {
    pub(crate) phases: [bool; 3],
    pub(crate) earth: bool,
}

impl LineFault {
    /// All ten.
    pub(crate) fn all() -> Vec<(&'static str, Self)> {
        let kind = |name: &'static str| {
            let phases = ['A', 'B', 'C'].map(|phase| name.contains(phase));
            (
                name,
                Self {
                    phases,
                    earth: name.contains('G'),
                },
            )
        };
        ["AG", "BG", "CG", "AB", "BC", "CA", "ABG", "BCG", "CAG", "ABC"]
            .map(kind)
            .to_vec()
    }
}

/// A source at the far end, whose angle turns against that of the near one.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Far {
    /// Impedance of the zero sequence from the fault to it, in ohm.
    pub(crate) zero: [f64; 2],
    /// Share of the turning that the near source does.
    pub(crate) share: f64,
    pub(crate) course: Course,
}

/// Course of the angle by which the near source leads, from a time in s.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Course {
    /// It slips at `hz` poles a second, after a time in which the slip rises in proportion.
    Slip {
        from_deg: f64,
        hz: f64,
        ramp_s: f64,
        begins_s: f64,
    },
    /// It swings between two angles.
    Stable {
        from_deg: f64,
        to_deg: f64,
        hz: f64,
        begins_s: f64,
    },
}

impl Course {
    pub(crate) fn degrees(self, seconds: f64) -> f64 {
        match self {
            Self::Slip {
                from_deg,
                hz,
                ramp_s,
                begins_s,
            } => {
                let time = (seconds - begins_s).max(0.0);
                let ramp = time.min(ramp_s);
                let turned = time - ramp + if ramp_s > 0.0 { 0.5 * ramp * ramp / ramp_s } else { 0.0 };
                from_deg + 360.0 * hz * turned
            }
            Self::Stable {
                from_deg,
                to_deg,
                hz,
                begins_s,
            } => {
                let time = (seconds - begins_s).max(0.0);
                from_deg + 0.5 * (to_deg - from_deg) * (1.0 - (TAU * hz * time).cos())
            }
        }
    }
}

/// The network. Impedances are [R, X] in ohm.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Network {
    pub(crate) hz: f64,
    pub(crate) rate: f64,
    /// Phase-to-earth voltage of the source in V RMS, and its angle at sample 0 in degrees.
    pub(crate) source_v: f64,
    pub(crate) angle_deg: f64,
    /// Positive and zero sequence.
    pub(crate) source: [[f64; 2]; 2],
    /// Of the line up to the fault.
    pub(crate) line: [[f64; 2]; 2],
    /// Load in series with the rest of the line, positive sequence; with a far source, its impedance and the rest of the line.
    pub(crate) load: [f64; 2],
    pub(crate) far: Option<Far>,
    pub(crate) kind: LineFault,
    /// Samples at which the fault begins, and from which its poles clear; fractions are possible.
    pub(crate) begins: f64,
    pub(crate) clears: f64,
}

/// R and L of a mode.
#[derive(Debug, Clone, Copy)]
struct Branch {
    r: f64,
    l: f64,
}

/// Conductance of a step, and the share of the current before that it would have without voltage.
type Gain = (f64, f64);

impl Branch {
    fn of([r, x]: [f64; 2], hz: f64) -> Self {
        Self { r, l: x / (TAU * hz) }
    }

    fn and(self, other: Self) -> Self {
        Self {
            r: self.r + other.r,
            l: self.l + other.l,
        }
    }

    fn step(self, dt: f64) -> Gain {
        let conductance = 1.0 / (self.r + self.l / dt);
        (conductance, conductance * self.l / dt)
    }

    fn drop(self, dt: f64, current: f64, before: f64) -> f64 {
        self.r * current + self.l * (current - before) / dt
    }
}

fn turned(phases: Three) -> Three {
    CLARKE.map(|row| row[0] * phases[0] + row[1] * phases[1] + row[2] * phases[2])
}

fn back(modes: Three) -> Three {
    [0, 1, 2].map(|phase| (0..3).map(|mode| CLARKE[mode][phase] * modes[mode]).sum())
}

/// State of the circuit.
pub(crate) struct Circuit {
    network: Network,
    line: [Branch; 3],
    /// Currents of the line and of the load, by mode.
    current: Three,
    load_current: Three,
    poles: [bool; 3],
    has_begun: bool,
    fault: Three,
    sample: u64,
    dt: f64,
    /// Conductances of a step: of the fault by mode, `None` without one; of source and line, and of the load, each with its part of the current before.
    matrix: Option<[Three; 3]>,
    ours: [Gain; 3],
    loads: [Gain; 3],
}

impl Circuit {
    pub(crate) fn new(network: Network) -> Self {
        let modes = |[one, zero]: [[f64; 2]; 2]| [one, one, zero].map(|ohm| Branch::of(ohm, network.hz));
        let load = Branch::of(network.load, network.hz);
        let zero = match network.far {
            Some(far) => Branch::of(far.zero, network.hz),
            None => Branch {
                r: NO_EARTH_OHM,
                l: load.l,
            },
        };
        let (source, line) = (modes(network.source), modes(network.line));
        let dt = 1.0 / (network.rate * STEPS as f64);
        let loads = [load, load, zero];
        Self {
            dt,
            matrix: None,
            ours: std::array::from_fn(|mode| source[mode].and(line[mode]).step(dt)),
            loads: loads.map(|load| load.step(dt)),
            line,
            network,
            current: [0.0; 3],
            load_current: [0.0; 3],
            poles: [false; 3],
            has_begun: false,
            fault: [0.0; 3],
            sample: 0,
        }
    }

    /// The next sample: currents, their sum, voltages, their sum.
    pub(crate) fn next(&mut self) -> [f64; 8] {
        let mut voltage = [0.0; 3];
        for step in 1..=STEPS {
            let at = self.sample as f64 + step as f64 / STEPS as f64;
            voltage = self.step(at, step == STEPS);
        }
        self.sample += 1;
        let [ia, ib, ic] = back(self.current);
        let [ua, ub, uc] = voltage;
        [ia, ib, ic, ia + ib + ic, ua, ub, uc, ua + ub + uc]
    }

    /// One step, to the instant `at` in samples; voltages at the relay, if they are asked for.
    fn step(&mut self, at: f64, asks: bool) -> Three {
        let seconds = at / self.network.rate;
        self.switch(at);
        let [source, far] = self.sources(seconds);
        let mut right = [0.0; 3];
        for mode in 0..3 {
            let ((ours, history), (loads, load_history)) = (self.ours[mode], self.loads[mode]);
            right[mode] = ours * source[mode] + history * self.current[mode] + loads * far[mode]
                - load_history * self.load_current[mode];
        }
        let at_fault = self.at_fault(right);
        let before = self.current;
        for mode in 0..3 {
            let ((ours, history), (loads, load_history)) = (self.ours[mode], self.loads[mode]);
            self.current[mode] = ours * (source[mode] - at_fault[mode]) + history * self.current[mode];
            self.load_current[mode] = loads * (at_fault[mode] - far[mode]) + load_history * self.load_current[mode];
        }
        if self.matrix.is_some() {
            let fault = back(std::array::from_fn(|mode| self.current[mode] - self.load_current[mode]));
            self.clear(at, fault);
        }
        if !asks {
            return [0.0; 3];
        }
        back(std::array::from_fn(|mode| {
            at_fault[mode] + self.line[mode].drop(self.dt, self.current[mode], before[mode])
        }))
    }

    /// Voltages at the fault, from the currents into it without one.
    fn at_fault(&self, right: Three) -> Three {
        let own: Three = std::array::from_fn(|mode| self.ours[mode].0 + self.loads[mode].0);
        let Some(mut matrix) = self.matrix else {
            return std::array::from_fn(|mode| right[mode] / own[mode]);
        };
        for mode in 0..3 {
            matrix[mode][mode] += own[mode];
        }
        solved(matrix, right)
    }

    /// Voltages of the near and the far source, by mode.
    fn sources(&self, seconds: f64) -> [Three; 2] {
        let of = |lead_deg: f64| {
            turned([0.0, -120.0, 120.0].map(|turn: f64| {
                let angle = TAU * self.network.hz * seconds + (self.network.angle_deg + lead_deg + turn).to_radians();
                SQRT_2 * self.network.source_v * angle.cos()
            }))
        };
        match self.network.far {
            Some(far) => {
                let lead = far.course.degrees(seconds);
                [of(far.share * lead), of((far.share - 1.0) * lead)]
            }
            None => [of(0.0), [0.0; 3]],
        }
    }

    fn switch(&mut self, at: f64) {
        if !self.has_begun && at >= self.network.begins {
            self.has_begun = true;
            self.poles = self.network.kind.phases;
            self.matrix = self.conductances();
        }
    }

    /// Opens poles whose current has changed its sign.
    fn clear(&mut self, at: f64, fault: Three) {
        let before = std::mem::replace(&mut self.fault, fault);
        if at < self.network.clears || !self.has_begun {
            return;
        }
        for phase in 0..3 {
            if self.poles[phase] && before[phase] * fault[phase] <= 0.0 {
                self.poles[phase] = false;
                self.matrix = self.conductances();
            }
        }
    }

    /// Conductances of the fault by mode; `None` without a closed pole.
    fn conductances(&self) -> Option<[Three; 3]> {
        let poles = self.poles.map(|closed| if closed { 1.0 / POLE_OHM } else { 0.0 });
        let sum: f64 = poles.iter().sum();
        let mut matrix = [[0.0; 3]; 3];
        if sum == 0.0 {
            return None;
        }
        let between = |one: usize, other: usize| {
            let own = if one == other { poles[one] } else { 0.0 };
            let star = if self.network.kind.earth {
                0.0
            } else {
                poles[one] * poles[other] / sum
            };
            own - star
        };
        for (row, line) in matrix.iter_mut().enumerate() {
            for (column, value) in line.iter_mut().enumerate() {
                for (one, left) in CLARKE[row].iter().enumerate() {
                    for (other, right) in CLARKE[column].iter().enumerate() {
                        *value += left * between(one, other) * right;
                    }
                }
            }
        }
        Some(matrix)
    }
}

/// Solves three linear equations by Cramer's rule.
fn solved(matrix: [Three; 3], right: Three) -> Three {
    let determinant = |m: &[Three; 3]| {
        m[0][0] * (m[1][1] * m[2][2] - m[1][2] * m[2][1]) - m[0][1] * (m[1][0] * m[2][2] - m[1][2] * m[2][0])
            + m[0][2] * (m[1][0] * m[2][1] - m[1][1] * m[2][0])
    };
    let whole = determinant(&matrix);
    std::array::from_fn(|column| {
        let mut replaced = matrix;
        for row in 0..3 {
            replaced[row][column] = right[row];
        }
        determinant(&replaced) / whole
    })
}
