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

    /// Conductance of a step, and the current that it would have without voltage.
    fn step(self, dt: f64, current: f64) -> (f64, f64) {
        let conductance = 1.0 / (self.r + self.l / dt);
        (conductance, conductance * self.l / dt * current)
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
    source: [Branch; 3],
    line: [Branch; 3],
    load: [Branch; 3],
    /// Currents of the line and of the load, by mode.
    current: Three,
    load_current: Three,
    poles: [bool; 3],
    has_begun: bool,
    fault: Three,
    sample: u64,
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
        Self {
            source: modes(network.source),
            line: modes(network.line),
            load: [load, load, zero],
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
        let dt = 1.0 / (self.network.rate * STEPS as f64);
        let mut voltage = [0.0; 3];
        for step in 1..=STEPS {
            voltage = self.step(self.sample as f64 + step as f64 / STEPS as f64, dt);
        }
        self.sample += 1;
        let [ia, ib, ic] = back(self.current);
        let [ua, ub, uc] = voltage;
        [ia, ib, ic, ia + ib + ic, ua, ub, uc, ua + ub + uc]
    }

    /// One step, to the instant `at` in samples; voltages at the relay.
    fn step(&mut self, at: f64, dt: f64) -> Three {
        let seconds = at / self.network.rate;
        self.switch(at);
        let [source, far] = self.sources(seconds);
        let mut matrix = self.conductances();
        let mut right = [0.0; 3];
        let whole: [Branch; 3] = std::array::from_fn(|mode| self.source[mode].and(self.line[mode]));
        let steps: [_; 3] = std::array::from_fn(|mode| {
            let ours = whole[mode].step(dt, self.current[mode]);
            let loads = self.load[mode].step(dt, self.load_current[mode]);
            (ours, loads)
        });
        for (mode, ((ours, history), (loads, load_history))) in steps.into_iter().enumerate() {
            matrix[mode][mode] += ours + loads;
            right[mode] = ours * source[mode] + history + loads * far[mode] - load_history;
        }
        let at_fault = solved(matrix, right);
        let before = self.current;
        for (mode, ((ours, history), (loads, load_history))) in steps.into_iter().enumerate() {
            self.current[mode] = ours * (source[mode] - at_fault[mode]) + history;
            self.load_current[mode] = loads * (at_fault[mode] - far[mode]) + load_history;
        }
        let fault = back(std::array::from_fn(|mode| self.current[mode] - self.load_current[mode]));
        self.clear(at, fault);
        back(std::array::from_fn(|mode| {
            at_fault[mode] + self.line[mode].drop(dt, self.current[mode], before[mode])
        }))
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
            }
        }
    }

    /// Conductances of the fault by mode.
    fn conductances(&self) -> [Three; 3] {
        let poles = self.poles.map(|closed| if closed { 1.0 / POLE_OHM } else { 0.0 });
        let sum: f64 = poles.iter().sum();
        let mut matrix = [[0.0; 3]; 3];
        if sum == 0.0 {
            return matrix;
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
        matrix
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
