//! PDIS on faults as they begin: operate times, and transient overreach.

mod common;

use common::{Rig, numbers, polar};
use protection::distance::{Pdis, PdisSettings, Shape};
use protection::measure::BaySettings;
use protection::{Complex, Function, Inputs, Rated};
use std::f64::consts::{SQRT_2, TAU};

/// 110 V and 5 A: the scale of the reference network.
fn network() -> Rated {
    Rated {
        current_a: 5.0,
        voltage_v: 110.0,
        ..Rated::default()
    }
}

fn pdis(shape: Shape) -> Pdis {
    let k0 = polar(&numbers()["distance"]["K0"]);
    let settings = PdisSettings {
        shape,
        k0: k0.norm(),
        k0_deg: k0.arg_degrees(),
        ..PdisSettings::default()
    };
    Pdis::new(settings, &network()).expect("settings")
}

fn quadrilateral() -> Shape {
    Shape::Quadrilateral {
        phase_resistance_ohm: 2.5,
        earth_resistance_ohm: 2.5,
        below_deg: 15.0,
        beyond_deg: 115.0,
    }
}

/// A three-phase fault on the reference network as it begins: steady state, DC of each phase, the DC of the voltage across the
/// line. `m` is the distance in line lengths, `angle` the point on wave.
struct Fault {
    load: Complex,
    steady: Complex,
    line: Complex,
    tau_s: f64,
    angle: f64,
    start: u64,
}

const RATE: f64 = 4000.0;
const OMEGA: f64 = TAU * 50.0;

impl Fault {
    fn new(m: f64, source_ohm: f64, angle: f64, start: u64) -> Self {
        let line = Complex::degrees(4.0 * m, 75.0);
        let source = Complex::degrees(source_ohm, 85.0);
        let whole = line + source;
        let e = Complex::degrees(63.5, angle);
        Self {
            load: Complex::degrees(3.0, angle - 15.0),
            steady: e / whole,
            line,
            tau_s: whole.im / OMEGA / whole.re,
            angle,
            start,
        }
    }

    fn samples(&self, n: u64) -> [f64; 8] {
        let mut samples = [0.0; 8];
        let t = (n as f64 - self.start as f64) / RATE;
        for phase in 0..3 {
            let turn = Complex::degrees(1.0, -120.0 * phase as f64);
            let at = |phasor: Complex, t: f64| SQRT_2 * (phasor * turn * Complex::polar(1.0, OMEGA * t)).re;
            if t < 0.0 {
                samples[phase] = at(self.load, t);
                samples[4 + phase] = at(Complex::degrees(63.5, self.angle), t);
            } else {
                let dc = (at(self.load, 0.0) - at(self.steady, 0.0)) * (-t / self.tau_s).exp();
                samples[phase] = at(self.steady, t) + dc;
                let (r, l) = (self.line.re, self.line.im / OMEGA);
                samples[4 + phase] = at(self.steady * self.line, t) + (r - l / self.tau_s) * dc;
            }
        }
        samples
    }

    /// Ms from the fault to operation.
    fn operates(&self, shape: Shape) -> Option<f64> {
        let rated = network();
        let mut rig = Rig::new(rated, &BaySettings::default(), true);
        let mut function = pdis(shape);
        for n in 0..self.start + 1200 {
            let set = *rig.push(self.samples(n));
            if n % 4 != 0 {
                continue;
            }
            let output = function.step(&Inputs::of(&[set]));
            if n < self.start {
                assert!(!output.started.any(), "{n}: healthy");
            } else if output.operated.any() {
                return Some((n - self.start) as f64 * 1000.0 / RATE);
            }
        }
        None
    }
}

/// Over source impedances, angles and phases of the task: inside trips within 21 ms (18 ms up to half of the reach), beyond
/// 1.04 of the reach never: the transient overreach is below 4 %.
#[test]
fn faults_as_they_begin() {
    for shape in [Shape::default(), quadrilateral()] {
        let (mut slowest_near, mut slowest) = (0.0f64, 0.0f64);
        for source in [0.4, 1.0, 4.0, 12.0] {
            for step in 0..12u32 {
                let (angle, start) = (f64::from(step) * 30.0, 1200 + u64::from(step % 4));
                for m in [0.05, 0.2, 0.4] {
                    let took = Fault::new(m, source, angle, start)
                        .operates(shape)
                        .expect("a trip inside");
                    slowest_near = slowest_near.max(took);
                }
                let took = Fault::new(0.7, source, angle, start)
                    .operates(shape)
                    .expect("a trip inside");
                slowest = slowest.max(took);
                for m in [0.83, 1.0, 2.0] {
                    let tripped = Fault::new(m, source, angle, start).operates(shape);
                    assert_eq!(tripped, None, "{shape:?} m {m}, source {source} ohm, {angle} degrees");
                }
            }
        }
        assert!(
            slowest_near <= 18.0 && slowest <= 21.0,
            "{shape:?}: {slowest_near}, {slowest} ms"
        );
    }
}
