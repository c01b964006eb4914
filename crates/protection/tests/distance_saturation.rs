//! Distance zone 1 with current transformers that saturate: faults beyond its reach, and in it.

mod common;
mod feeder;
mod line;
mod transformer;

use common::{Seed, rated};
use feeder::Feeder;
use line::{Circuit, LineFault, Network};
use protection::distance::{Pdis, PdisSettings, Shape};
use protection::measure::Blocks;
use protection::{Complex, Rated};
use std::f64::consts::TAU;
use transformer::{LINEAR_S, SHARP_S, SOFT_S, Transformer};

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
    /// An oscillation on the fault current: its part of the largest value in the first cycle, and its frequency in Hz.
    rings: Option<[f64; 2]>,
    kind: LineFault,
}

/// Decay of the oscillation in s.
const RINGS_S: f64 = 0.01;

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
    let mut samples: Vec<[f64; 8]> = (0..BEGINS + LASTS + AFTER).map(|_| circuit.next()).collect();
    if let Some([share, hz]) = case.rings {
        ring(&mut samples, case.kind.phases, share, hz);
    }
    samples
}

/// Adds an oscillation to the currents of these phases, as the discharge of a capacitance near the relay makes it.
fn ring(samples: &mut [[f64; 8]], phases: [bool; 3], share: f64, hz: f64) {
    let first = BEGINS as usize..(BEGINS + 96) as usize;
    for phase in (0..3).filter(|phase| phases[*phase]) {
        let most = samples[first.clone()]
            .iter()
            .map(|each| each[phase].abs())
            .fold(0.0, f64::max);
        for (n, sample) in (0..LASTS).zip(&mut samples[BEGINS as usize..]) {
            let seconds = n as f64 / RATE;
            sample[phase] += share * most * (TAU * hz * seconds).sin() * (-seconds / RINGS_S).exp();
        }
    }
    for sample in samples {
        sample[3] = sample[..3].iter().sum();
    }
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
            linear_s: LINEAR_S,
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

fn quadrilateral() -> Shape {
    Shape::Quadrilateral {
        phase_resistance_ohm: 8.0,
        earth_resistance_ohm: 12.0,
        below_deg: 15.0,
        beyond_deg: 115.0,
    }
}

/// Times of operation in ms after the begin of the fault: of a circle and a parallelogram with the detection, and without it.
fn operates(case: &Case) -> [Option<f64>; 4] {
    let quadrilateral = quadrilateral();
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
                rings: None,
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

/// Faults without saturation that operate a zone with the detection and without it, and those that it moves to another task; of how many.
fn compared(cases: &[Case]) -> [usize; 3] {
    let [mut operated, mut moved, mut zones] = [0; 3];
    for case in cases {
        let [circle, parallelogram, circle_without, parallelogram_without] = operates(case);
        for (with, without) in [(circle, circle_without), (parallelogram, parallelogram_without)] {
            operated += usize::from(with.is_some() && without.is_some());
            moved += usize::from(with != without);
            zones += 1;
        }
    }
    [operated, moved, zones]
}

/// Transformers that do not saturate: the detection changes nothing.
#[test]
fn the_detection_delays_no_other_fault() {
    let inside = cases(3, 120, &[0.05, 0.5, 0.85, 0.95], false);
    assert_eq!(compared(&inside), [240, 0, 240]);
    let outside = cases(3, 30, &[1.05], false);
    assert_eq!(compared(&outside), [0, 0, 60]);
}

/// Of currents with an oscillation of a cable or a capacitor few are taken for saturation: without the look at the bend before, 374 of the 480 zones would
/// operate later.
#[test]
fn an_oscillation_is_seldom_taken_for_saturation() {
    let rings = [0.1, 0.2].map(|share| [500.0, 600.0, 700.0].map(|hz| [share, hz]));
    let found: Vec<[usize; 3]> = rings
        .as_flattened()
        .iter()
        .map(|rings| {
            let mut inside = cases(4, 40, &[0.05, 0.5, 0.85, 0.95], false);
            for case in &mut inside {
                case.rings = Some(*rings);
            }
            compared(&inside)
        })
        .collect();
    let moved = found.iter().map(|one| one[1]).collect::<Vec<_>>();
    assert_eq!(moved, [0, 0, 4, 11, 13, 25]);
    assert!(found.iter().all(|one| one[0] == 80 && one[2] == 80), "{found:?}");
}

/// A suspected fuse, lost frames and a lost sample do not end the time in which the window has a saturated current.
#[test]
fn a_block_in_a_saturated_current_does_not_end_its_time() {
    let [mut blown, mut blocked, mut lost] = [0; 3];
    let mut trips = 0;
    for case in &cases(1, 400, &[1.05, 1.1], true) {
        let samples = transformed(case, primary(case));
        let without = played(case, &samples, false, Break::None);
        trips += usize::from(without.is_some());
        if let Some(at) = without {
            // Before the task in which it would operate.
            blown += usize::from(played(case, &samples, true, Break::Block(Blocks::FUSE, at)).is_some());
            blocked += usize::from(played(case, &samples, true, Break::Block(Blocks::LOST, at)).is_some());
            lost += usize::from(played(case, &samples, true, Break::Lost(at - 2)).is_some());
        }
    }
    assert!(trips > 20, "{trips}");
    assert_eq!((blown, blocked, lost), (0, 0, 0), "of {trips}");
}

#[derive(Debug, Clone, Copy)]
enum Break {
    None,
    /// For this reason the voltages are blocked in the 20 samples before this one.
    Block(Blocks, u64),
    /// This sample cannot be looked at.
    Lost(u64),
}

/// The sample at which a parallelogram operates.
fn played(case: &Case, samples: &[[f64; 8]], saturation: bool, with: Break) -> Option<u64> {
    let mut zone = zone(case, quadrilateral(), saturation);
    let mut feeder = Feeder::new(base());
    if let Break::Lost(at) = with {
        feeder.missing = Some(at);
    }
    for (n, sample) in (0..).zip(samples) {
        feeder.push(*sample);
        if let Break::Block(blocks, at) = with
            && (at.saturating_sub(20)..at).contains(&n)
        {
            feeder.block(blocks);
        }
        if n % TASK == 0 && n > 200 && feeder.task(&mut zone, true).operated.any() {
            return Some(n);
        }
    }
    None
}
