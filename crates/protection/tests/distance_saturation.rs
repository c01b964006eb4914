//! Distance zone 1 with current transformers that saturate: faults beyond its reach, and in it.

mod common;
mod feeder;
mod line;
mod transformer;

use common::{Seed, rated};
use feeder::Feeder;
use line::{Circuit, LineFault, Network};
use protection::distance::{Pdis, PdisSettings, Shape};
use protection::{Complex, Rated};
use transformer::{SHARP_S, SOFT_S, Transformer};

const RATE: f64 = 4800.0;
const TASK: u64 = 5;

/// The line: 12.37 ohm or 12.04 ohm, and its zero sequence.
const LINES: [[[f64; 2]; 2]; 2] = [[[3.0, 12.0], [9.0, 36.0]], [[1.0, 12.0], [5.0, 36.0]]];

/// Reach as a share of the line.
const REACH: f64 = 0.8;

/// Begin of the fault in samples, its length, and the time after it.
const BEGINS: u64 = 600;
const LASTS: u64 = 480;
const AFTER: u64 = 200;

/// Steps of the transformer in a sample.
const STEPS: u32 = 10;

#[derive(Debug, Clone, Copy)]
struct Case {
    line: usize,
    sir: f64,
    /// Position in shares of the reach.
    position: f64,
    angle_deg: f64,
    source_deg: f64,
    source_zero: f64,
    load_a: f64,
    /// Time in ms after which the first phase saturates; `None`: none does.
    ms: Option<f64>,
    remanence: [f64; 3],
    knee_s: f64,
    kind: LineFault,
}

fn base() -> Rated {
    Rated {
        current_a: 400.0,
        voltage_v: 110_000.0,
        ..rated(RATE, 50.0)
    }
}

/// Primary currents and voltages at the relay.
fn primary(case: &Case) -> Vec<[f64; 8]> {
    let volt = base().phase_voltage_v();
    let line = LINES[case.line];
    let reach = Complex::new(line[0][0], line[0][1]).norm() * REACH;
    let source = Complex::degrees(case.sir * reach, case.source_deg);
    let load = Complex::degrees(volt / case.load_a, 18.0);
    let network = Network {
        hz: 50.0,
        rate: RATE,
        source_v: volt,
        angle_deg: case.angle_deg,
        source: [1.0, case.source_zero].map(|times| [source.re * times, source.im * times]),
        line: line.map(|ohm| ohm.map(|part| part * case.position * REACH)),
        load: [load.re, load.im],
        far: None,
        kind: case.kind,
        begins: BEGINS as f64,
        clears: (BEGINS + LASTS) as f64,
    };
    let mut circuit = Circuit::new(network);
    (0..BEGINS + LASTS + AFTER).map(|_| circuit.next()).collect()
}

/// The same with the currents of the transformers.
fn transformed(case: &Case, mut samples: Vec<[f64; 8]>) -> Vec<[f64; 8]> {
    let Some(ms) = case.ms else {
        return samples;
    };
    let span = BEGINS as usize..BEGINS as usize + (ms * RATE / 1000.0) as usize;
    let flux = |phase: usize| samples[span.clone()].iter().map(|each| each[phase] / RATE).sum::<f64>();
    let first = [0, 1, 2]
        .map(flux)
        .into_iter()
        .fold(0.0, |most: f64, each| most.max(each.abs()));
    for phase in 0..3 {
        let limit = first.max(0.008 * base().current_a) / (1.0 - case.remanence[phase].abs());
        let mut transformer = Transformer {
            limit,
            flux: 0.0,
            saturated_s: case.knee_s,
        };
        let mut before = 0.0;
        for (number, sample) in samples.iter_mut().enumerate() {
            if number as u64 == BEGINS {
                transformer.flux = limit * case.remanence[phase];
            }
            let now = sample[phase];
            for step in 1..=STEPS {
                let primary = before + (now - before) * f64::from(step) / f64::from(STEPS);
                sample[phase] = transformer.step(primary, 1.0 / (RATE * f64::from(STEPS)));
            }
            before = now;
        }
    }
    for sample in &mut samples {
        sample[3] = sample[..3].iter().sum();
    }
    samples
}

fn zone(case: &Case, shape: Shape, saturation: bool) -> Pdis {
    let [one, zero] = LINES[case.line].map(|[r, x]| Complex::new(r, x));
    let k0 = (zero - one) / (one * 3.0);
    let settings = PdisSettings {
        shape,
        reach_ohm: one.norm() * REACH,
        line_deg: one.arg_degrees(),
        k0: k0.norm(),
        k0_deg: k0.arg_degrees(),
        saturation,
        ..PdisSettings::default()
    };
    Pdis::new(settings, &base()).expect("settings")
}

/// Times of operation in ms after the begin of the fault: of a circle and a parallelogram with the detection, and without it.
fn operates(case: &Case) -> [Option<f64>; 4] {
    let quadrilateral = Shape::Quadrilateral {
        phase_resistance_ohm: 8.0,
        earth_resistance_ohm: 12.0,
        below_deg: 15.0,
        beyond_deg: 115.0,
    };
    let circle = Shape::default();
    let all = [
        (circle, true),
        (quadrilateral, true),
        (circle, false),
        (quadrilateral, false),
    ];
    let mut zones = all.map(|(shape, saturation)| zone(case, shape, saturation));
    let mut feeder = Feeder::new(base());
    let mut times = [None; 4];
    for (n, sample) in (0..).zip(transformed(case, primary(case))) {
        feeder.push(sample);
        if n % TASK == 0 && n > 200 {
            for (zone, time) in zones.iter_mut().zip(&mut times) {
                let output = feeder.task(zone, true);
                assert!(n >= BEGINS || !output.started.any(), "{n}: load");
                if output.operated.any() {
                    *time = time.or(Some((n as f64 - BEGINS as f64) * 1000.0 / RATE));
                }
            }
        }
    }
    times
}

fn cases(seed: u64, runs: usize, positions: &[f64], saturates: bool) -> Vec<Case> {
    let mut seed = Seed(seed);
    let kinds = LineFault::all();
    (0..runs)
        .map(|run| {
            let (_, kind) = kinds[run % kinds.len()];
            Case {
                line: run / kinds.len() % 2,
                sir: [0.05, 0.2, 0.5, 1.0][run / 2 % 4],
                position: positions[run / 3 % positions.len()],
                angle_deg: seed.between(0.0, 360.0),
                source_deg: seed.between(80.0, 88.0),
                source_zero: seed.between(0.7, 2.0),
                load_a: seed.between(60.0, 360.0),
                ms: Some([2.0, 3.0, 5.0, 8.0, 14.0][run / 7 % 5]).filter(|_| saturates),
                remanence: [(); 3].map(|()| seed.between(-0.7, 0.7)),
                knee_s: [SHARP_S, SOFT_S][run / 5 % 2],
                kind,
            }
        })
        .collect()
}

/// Cases in which each of the four zones operates.
fn operations(cases: &[Case]) -> [usize; 4] {
    let mut count = [0; 4];
    for case in cases {
        for (count, time) in count.iter_mut().zip(operates(case)) {
            *count += usize::from(time.is_some());
        }
    }
    count
}

#[test]
fn faults_beyond_the_reach_operate_nothing() {
    let found = operations(&cases(1, 400, &[1.05, 1.1, 1.2, 1.3], true));
    assert_eq!(found, [0, 0, 23, 69]);
}

/// Close faults operate before or while the transformers saturate, those near the reach when they saturate no longer: the page has the figures.
#[test]
fn faults_in_the_zone_operate() {
    let mut found = Vec::new();
    for position in [0.05, 0.3, 0.6] {
        let cases = cases(2, 120, &[position], true);
        let mut times: [Vec<f64>; 4] = Default::default();
        for case in &cases {
            for (times, time) in times.iter_mut().zip(operates(case)) {
                times.extend(time);
            }
        }
        found.push(times.map(|mut times| {
            times.sort_by(f64::total_cmp);
            (times.len(), times[times.len() / 2].round())
        }));
    }
    assert_eq!(
        found,
        [
            [(117, 11.0), (117, 11.0), (117, 11.0), (118, 10.0)],
            [(98, 18.0), (103, 18.0), (102, 17.0), (113, 15.0)],
            [(66, 21.0), (66, 21.0), (83, 19.0), (100, 19.0)],
        ]
    );
}

/// Transformers that do not saturate: the detection changes nothing.
#[test]
fn the_detection_delays_no_other_fault() {
    for case in &cases(3, 120, &[0.05, 0.5, 0.85, 0.95, 1.05], false) {
        let [circle, parallelogram, circle_without, parallelogram_without] = operates(case);
        assert_eq!(
            (circle, parallelogram),
            (circle_without, parallelogram_without),
            "{case:?}"
        );
    }
}
