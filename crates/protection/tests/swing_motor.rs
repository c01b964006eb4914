//! Power-swing block (RPSB) while a large motor runs up: its balanced currents move as smoothly as those of a swing.

mod common;

use common::{Rig, Seed, rated};
use protection::distance::{Pdis, PdisSettings};
use protection::measure::{BaySettings, Swing};
use protection::supervision::{SwingSettings, SwingSupervision};
use protection::{Complex, Function, Inputs, Rated};
use std::f64::consts::{SQRT_2, TAU};

const RATE: f64 = 4000.0;
const TASK: u64 = 4;

/// The motor is switched on at this instant, in s.
const STARTS_S: f64 = 0.4;

const LINE: Complex = Complex::new(3.0, 12.0);

fn base() -> Rated {
    Rated {
        current_a: 1000.0,
        voltage_v: 110_000.0,
        ..rated(RATE, 50.0)
    }
}

/// A source, a line, and at its end a motor that runs up in `seconds`, with another load beside it.
#[derive(Debug, Clone, Copy)]
struct Case {
    source: Complex,
    /// Rated current of the motor, and of the other load, in x In.
    motor: f64,
    load: f64,
    seconds: f64,
    angle_deg: f64,
    /// Begin of a fault at half of the line, of three phases or of b and c.
    fault: Option<(f64, bool)>,
}

impl Case {
    /// Impedance of the motor in ohm: stator and rotor of 0.1 and the magnetisation of 3.5 of its rated impedance; the slip falls slowly, then soon.
    fn motor(&self, seconds: f64) -> Complex {
        let time = (seconds - STARTS_S) / self.seconds;
        let slip = (1.0 - 0.6 * time - 0.4 * time.powi(6)).clamp(0.01, 1.0);
        let rotor = Complex::new(0.02 / slip, 0.1);
        let parallel = rotor * Complex::new(0.0, 3.5) / (rotor + Complex::new(0.0, 3.5));
        (parallel + Complex::new(0.01, 0.1)) * (base().phase_voltage_v() / (base().current_a * self.motor))
    }

    /// Currents and voltages of the phases at the relay.
    fn phasors(&self, seconds: f64) -> [[Complex; 3]; 2] {
        let e = Complex::new(base().phase_voltage_v(), 0.0);
        let half = LINE * 0.5;
        let load = Complex::degrees(e.re / (base().current_a * self.load), 18.0);
        let beyond = if seconds < STARTS_S {
            load
        } else {
            let motor = self.motor(seconds);
            load * motor / (load + motor)
        };
        let healthy = e / (self.source + LINE + beyond);
        // With a fault the current of the load is small beside that of the fault.
        let [one, two] = match self.fault.filter(|(begins, _)| seconds >= *begins) {
            None => [healthy, Complex::ZERO],
            Some((_, true)) => [e / (self.source + half), Complex::ZERO],
            Some((_, false)) => {
                let one = e / ((self.source + half) * 2.0);
                [one, -one]
            }
        };
        let phases = |one: Complex, two: Complex| {
            [
                one + two,
                one * Complex::A2 + two * Complex::A,
                one * Complex::A + two * Complex::A2,
            ]
        };
        [phases(one, two), phases(e - self.source * one, -(self.source * two))]
    }

    fn sample(&self, n: u64) -> [f64; 8] {
        let seconds = n as f64 / RATE;
        let turn = Complex::degrees(1.0, self.angle_deg + 360.0 * (50.0 * seconds).fract());
        let [currents, voltages] = self
            .phasors(seconds)
            .map(|phases| phases.map(|phasor| SQRT_2 * (phasor * turn).re));
        let [ia, ib, ic] = currents;
        let [ua, ub, uc] = voltages;
        [ia, ib, ic, 0.0, ua, ub, uc, 0.0]
    }

    /// True if a swing was detected before the fault, and times of zone 1 with the block and without it, in ms after the begin of the fault.
    fn played(&self) -> (bool, [Option<f64>; 2]) {
        let mut rig = Rig::new(base(), &BaySettings::default(), true);
        let mut supervision = SwingSupervision::new(SwingSettings::default(), &base()).expect("settings");
        let settings = PdisSettings {
            reach_ohm: 0.8 * LINE.norm(),
            line_deg: LINE.arg_degrees(),
            ..PdisSettings::default()
        };
        let mut zones = [(); 2].map(|()| Pdis::new(settings, &base()).expect("settings"));
        let (mut detected, mut times) = (false, [None; 2]);
        let begins = self.fault.map_or(f64::INFINITY, |(begins, _)| begins);
        let end = self
            .fault
            .map_or(STARTS_S + self.seconds + 0.3, |(begins, _)| begins + 2.0);
        for n in 0..(end * RATE) as u64 {
            let mut set = *rig.push(self.sample(n));
            if n % TASK != 0 || n < 800 {
                continue;
            }
            let swing = supervision.step(&set);
            let seconds = n as f64 / RATE;
            detected |= swing.detected && seconds < begins;
            for ((zone, time), swing) in zones.iter_mut().zip(&mut times).zip([swing, Swing::default()]) {
                set.health.swing = swing;
                if zone.step(&Inputs::of(&[set])).operated.any() {
                    *time = time.or(Some((seconds - begins) * 1000.0));
                }
            }
        }
        (detected, times)
    }
}

fn cases(seed: u64, runs: usize) -> Vec<Case> {
    let mut seed = Seed(seed);
    (0..runs)
        .map(|_| Case {
            source: Complex::degrees(seed.between(3.0, 20.0), seed.between(80.0, 87.0)),
            motor: seed.between(0.1, 0.5),
            load: seed.between(0.1, 0.5),
            seconds: seed.between(0.5, 8.0),
            angle_deg: TAU.to_degrees() * seed.next(),
            fault: None,
        })
        .collect()
}

/// It is seen as a swing, and operates nothing.
#[test]
fn a_motor_that_runs_up_counts_as_a_swing() {
    let mut detected = 0;
    for case in cases(1, 40) {
        let (is_swing, times) = case.played();
        assert_eq!(times, [None; 2], "{case:?}");
        detected += u32::from(is_swing);
    }
    assert_eq!(detected, 40);
}

/// Faults in the zone during the run-up operate; the page has the figures.
#[test]
fn faults_during_a_run_up_operate() {
    let mut seed = Seed(2);
    let mut found = Vec::new();
    for is_balanced in [true, false] {
        let (mut with, mut without, mut swings) = (Vec::new(), Vec::new(), 0);
        for mut case in cases(3, 40) {
            // In the last tenth, where the current falls.
            let begins = STARTS_S + case.seconds * seed.between(0.9, 1.05);
            case.fault = Some((begins, is_balanced));
            let (is_swing, [blocked, free]) = case.played();
            swings += u32::from(is_swing);
            assert!(blocked.into_iter().chain(free).all(|ms| ms > 0.0), "{case:?}");
            with.extend(blocked);
            without.extend(free);
        }
        for times in [&mut with, &mut without] {
            times.sort_by(f64::total_cmp);
        }
        found.push([with, without].map(|times| {
            (
                times.len(),
                times[times.len() / 2].ceil(),
                times[times.len() - 1].ceil(),
            )
        }));
        assert_eq!(swings, 36, "of 40 before the fault");
    }
    assert_eq!(
        found,
        [
            [(40, 59.0, 60.0), (40, 17.0, 19.0)],
            [(40, 52.0, 53.0), (40, 18.0, 20.0)],
        ]
    );
}
