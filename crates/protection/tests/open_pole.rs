//! Distance zones with voltages of the line, while its breaker opens and while it is open.

mod common;
mod feeder;

use common::{Seed, rated};
use feeder::Feeder;
use protection::distance::{Pdis, PdisSettings, Shape};
use protection::measure::Blocks;
use protection::{Complex, Rated};
use std::f64::consts::{SQRT_2, TAU};

const RATE: f64 = 4800.0;
const TASK: u64 = 5;

/// Sample at which the breaker is told to open, and length of a case.
const OPENS: u64 = 1000;
const LASTS: u64 = 2600;

fn base() -> Rated {
    Rated {
        current_a: 400.0,
        voltage_v: 110_000.0,
        ..rated(RATE, 50.0)
    }
}

fn zone(shape: Shape) -> Pdis {
    let settings = PdisSettings {
        shape,
        reach_ohm: 9.9,
        line_deg: 76.0,
        k0: 0.667,
        k0_deg: 0.0,
        ..PdisSettings::default()
    };
    Pdis::new(settings, &base()).expect("settings")
}

/// Time of operation in ms of a zone with a delay of 300 ms, in a lasting fault of A and B without load, whose current is so many times In.
fn operates_after(hz: f64, times: f64, least_current: f64) -> Option<f64> {
    let base = Rated {
        frequency_hz: hz,
        ..base()
    };
    let settings = PdisSettings {
        reach_ohm: 9.9,
        line_deg: 76.0,
        phase_delay_ms: 300.0,
        least_current,
        ..PdisSettings::default()
    };
    let (mut feeder, mut zone) = (Feeder::new(base), Pdis::new(settings, &base).expect("settings"));
    for n in 0..OPENS + 5000 {
        let at = |size: f64, deg: f64| SQRT_2 * Complex::degrees(size, 360.0 * (hz * n as f64 / RATE).fract() + deg).re;
        let volt = base.phase_voltage_v();
        let mut out = [0.0; 8];
        if n < OPENS {
            [out[4], out[5], out[6]] = [0.0, -120.0, 120.0].map(|turn| at(volt, turn));
        } else {
            // Between the phases 5 ohm; both have half of the third one's voltage.
            let current = at(times * base.current_a, 30.0 - 76.0);
            let half = 5.0 * at(times * base.current_a, 30.0);
            let third = at(volt, 120.0);
            (out[0], out[1]) = (current, -current);
            (out[4], out[5], out[6]) = (half - third / 2.0, -half - third / 2.0, third);
        }
        feeder.push(out);
        if n % TASK == 0 && n > 600 && feeder.task(&mut zone, true).operated.any() {
            return Some((n as f64 - OPENS as f64) * 1000.0 / RATE);
        }
    }
    None
}

/// The zero of each half-wave is no open pole, at low currents and at the frequency of railways, too: a delayed zone goes on.
#[test]
fn the_zero_of_a_small_current_resets_no_delayed_zone() {
    for (hz, times, least) in [
        (50.0, 0.07, 0.05),
        (50.0, 0.03, 0.05),
        (60.0, 0.12, 0.2),
        (16.7, 0.2, 0.2),
        (16.7, 0.12, 0.2),
        (16.7, 0.07, 0.05),
    ] {
        let found = operates_after(hz, times, least);
        let most = 305.0 + 2.5 * 1000.0 / hz;
        assert!(
            found.is_some_and(|ms| (300.0..most).contains(&ms)),
            "{hz} Hz, {times} x In, from {least} x In: {found:?} ms"
        );
    }
}

/// Time of operation in ms of zone 1 in a close fault of B to earth while the pole of A is open and its voltage is zero; C carries load.
fn operates_with_an_open_pole(k0: f64, position: f64, shape: Shape) -> Option<f64> {
    let settings = PdisSettings {
        shape,
        reach_ohm: 9.9,
        line_deg: 76.0,
        k0,
        k0_deg: 0.0,
        ..PdisSettings::default()
    };
    let (mut feeder, mut zone) = (Feeder::new(base()), Pdis::new(settings, &base()).expect("settings"));
    let volt = base().phase_voltage_v();
    let ohm = Complex::degrees(9.9 * position, 76.0);
    for n in 0..OPENS + 500 {
        let turn = Complex::degrees(SQRT_2, 360.0 * (50.0 * n as f64 / RATE).fract());
        let load = Complex::degrees(200.0, 120.0 - 15.0);
        let (mut ib, mut ub) = (Complex::degrees(200.0, -120.0 - 15.0), Complex::degrees(volt, -120.0));
        if n >= OPENS {
            ib = Complex::degrees(4000.0, -120.0 - 74.0);
            ub = ohm * (ib + (ib + load) * k0);
        }
        let uc = Complex::degrees(volt, 120.0);
        let [ib, ic, ub, uc] = [ib, load, ub, uc].map(|phasor| (phasor * turn).re);
        feeder.push([0.0, ib, ic, ib + ic, 0.0, ub, uc, ub + uc]);
        if n % TASK == 0 && n > 200 {
            let output = feeder.task(&mut zone, true);
            assert!(n >= OPENS || !output.started.any(), "{n}: load");
            if output.operated.any() {
                return Some((n - OPENS) as f64 * 1000.0 / RATE);
            }
        }
    }
    None
}

/// The dead time of one pole: the loop between the open and the faulted phase is no measure of the fault, whatever its impedance.
#[test]
fn an_earth_fault_operates_while_another_pole_is_open() {
    for shape in shapes() {
        for k0 in [0.1, 0.2, 0.4, 0.667] {
            for position in [0.2, 0.5, 0.8] {
                let found = operates_with_an_open_pole(k0, position, shape);
                // The current of this signal jumps, which can look like a knee of a transformer: far faults then wait for a cycle.
                let most = if position < 0.7 { 22.0 } else { 32.0 };
                assert!(
                    found.is_some_and(|ms| ms < most),
                    "{shape:?}, K0 {k0}, {position}: {found:?} ms"
                );
            }
        }
    }
}

fn shapes() -> [Shape; 2] {
    let quadrilateral = Shape::Quadrilateral {
        phase_resistance_ohm: 8.0,
        earth_resistance_ohm: 12.0,
        below_deg: 15.0,
        beyond_deg: 115.0,
    };
    [Shape::default(), quadrilateral]
}

/// A line with a load whose star point is not earthed. Its poles open at their zero of the current: with one open, the others carry the current between
/// two phases, and the open phase has half of their voltages. The voltages are those of the line.
struct Opening {
    load_a: f64,
    angle_deg: f64,
    shift_deg: f64,
    is_open: [bool; 3],
    before: [f64; 3],
    hz: f64,
}

impl Opening {
    fn sample(&mut self, n: u64) -> [f64; 8] {
        let at = |phase: usize, angle_deg: f64| {
            let deg = self.shift_deg - 120.0 * phase as f64 + angle_deg;
            SQRT_2 * (TAU * self.hz * n as f64 / RATE + deg.to_radians()).cos()
        };
        let currents: [f64; 3] = std::array::from_fn(|phase| self.load_a * at(phase, self.angle_deg));
        let voltages: [f64; 3] = std::array::from_fn(|phase| base().phase_voltage_v() * at(phase, 0.0));
        // The star point has the mean voltage of the closed poles.
        let star = |values: [f64; 3]| {
            let closed = self.is_open.iter().filter(|open| !**open).count();
            let sum: f64 = (0..3)
                .filter(|phase| !self.is_open[*phase])
                .map(|phase| values[phase])
                .sum();
            if closed > 0 { sum / closed as f64 } else { 0.0 }
        };
        let (mean_a, mean_v) = (star(currents), star(voltages));
        let closed = self.is_open.iter().filter(|open| !**open).count();
        let mut out = [0.0; 8];
        for phase in 0..3 {
            (out[phase], out[4 + phase]) = match self.is_open[phase] {
                _ if closed == 1 => (0.0, mean_v),
                true => (0.0, mean_v),
                false => (currents[phase] - mean_a, voltages[phase]),
            };
        }
        for ((is_open, now), before) in self.is_open.iter_mut().zip(out).zip(self.before) {
            *is_open |= n >= OPENS && now * before <= 0.0;
        }
        self.before.copy_from_slice(&out[..3]);
        out[3] = out[..3].iter().sum();
        out[7] = out[4..7].iter().sum();
        out
    }
}

/// Cases in which the zone operates, and those in which it says that the line is dead; of how many.
fn operates(waves: bool) -> [u32; 3] {
    let mut seed = Seed(1);
    let [mut operated, mut dead, mut runs] = [0; 3];
    for shape in shapes() {
        for load in [0.25, 0.5, 1.0, 1.5, 2.0] {
            for _ in 0..40 {
                let mut line = Opening {
                    load_a: 400.0 * load,
                    angle_deg: seed.between(-40.0, 40.0),
                    shift_deg: seed.between(0.0, 360.0),
                    is_open: [false; 3],
                    before: [0.0; 3],
                    hz: seed.between(49.8, 50.2),
                };
                let (mut feeder, mut zone) = (Feeder::new(base()), zone(shape));
                let (mut has_operated, mut is_dead) = (false, false);
                for n in 0..LASTS {
                    feeder.push(line.sample(n));
                    if n % TASK == 0 && n > 200 {
                        let output = feeder.task(&mut zone, waves);
                        has_operated |= output.operated.any();
                        is_dead = output.blocked == Blocks::VOLTAGE;
                        assert!(n >= OPENS || !output.started.any() && !is_dead, "{n}: load");
                    }
                }
                operated += u32::from(has_operated);
                dead += u32::from(is_dead);
                runs += 1;
            }
        }
    }
    [operated, dead, runs]
}

#[test]
fn a_loaded_line_that_is_opened_operates_no_zone() {
    let [operated, dead, runs] = operates(true);
    assert_eq!((operated, dead), (0, runs));
    let [control, _, _] = operates(false);
    assert!(control >= 30, "{control} of {runs}: the case asks nothing");
}

/// A close fault with which a line is energised: with the memory of the voltage before, and after it is forgotten.
#[test]
fn a_dead_line_forgets_the_voltage_before() {
    let played = |dead_ms: f64| {
        let (mut feeder, mut zone) = (Feeder::new(base()), zone(Shape::default()));
        let dead = (dead_ms * RATE / 1000.0) as u64;
        let mut operated = None;
        for n in 0..OPENS + dead + 300 {
            let at = |turn: f64| Complex::degrees(1.0, 360.0 * (50.0 * n as f64 / RATE).fract() + turn).re;
            let mut out = [0.0; 8];
            for (phase, turn) in [0.0, -120.0, 120.0].into_iter().enumerate() {
                let volt = SQRT_2 * base().phase_voltage_v();
                (out[phase], out[4 + phase]) = match n {
                    _ if n < OPENS => (SQRT_2 * 400.0 * at(turn - 20.0), volt * at(turn)),
                    _ if n < OPENS + dead => (0.0, 0.0),
                    _ => (SQRT_2 * 6000.0 * at(turn - 76.0), 0.0),
                };
            }
            feeder.push(out);
            if n % TASK == 0 && n > 200 && feeder.task(&mut zone, true).operated.any() {
                operated = operated.or(Some((n - OPENS - dead) as f64 * 1000.0 / RATE));
            }
        }
        operated
    };
    assert!(played(100.0).is_some_and(|ms| ms < 25.0), "{:?}", played(100.0));
    assert_eq!(played(300.0), None);
}
