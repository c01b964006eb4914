//! The circuit against the phasors of [`crate::network`], which are calculated in another way.

use super::{Circuit, Course, LineSide, Transient};
use crate::network::{Complex, Fault, FaultType, Network, polar};
use crate::synth::Operating;
use std::f64::consts::{SQRT_2, TAU};

const RATE: u32 = 4_800;
const CYCLE: usize = 96;

const SOURCE: [Complex; 2] = [Complex::new(0.4, 4.0), Complex::new(0.8, 6.0)];
const WAY: [Complex; 2] = [Complex::new(3.0, 12.0), Complex::new(9.0, 36.0)];

fn network() -> Network {
    Network {
        frequency_hz: 50.0,
        source_v: 110_000.0,
        source_ohm: SOURCE,
        line_ohm: WAY,
        load_a: polar(400.0, -25.0),
    }
}

/// The same network, with the fault at `position` for `lasts_s`.
fn circuit(kind: FaultType, position: f64, resistance_ohm: f64, lasts_s: f64) -> Circuit {
    let volts = polar(110_000.0 / 3_f64.sqrt(), 0.0);
    let mut circuit = Circuit::new(50.0);
    circuit.source(0, SOURCE, volts, Course::Steady);
    let node = circuit.node_after(1, WAY.map(|ohm| ohm * position));
    let end = circuit.node_after(node, WAY.map(|ohm| ohm * (1.0 - position)));
    circuit.load(end, volts / polar(400.0, -25.0) - SOURCE[0] - WAY[0]);
    circuit.fault(node, kind, resistance_ohm, [0.0, lasts_s]);
    circuit
}

/// Phasor of one phase over the cycle before sample `end`, relative to the phase of the frequency.
fn phasor(samples: &[[[f64; 3]; 2]], quantity: usize, phase: usize, end: usize) -> Complex {
    let sum: Complex = (end - CYCLE..end)
        .map(|sample| Complex::from_polar(samples[sample][quantity][phase], -TAU * sample as f64 / CYCLE as f64))
        .sum();
    sum * SQRT_2 / CYCLE as f64
}

fn near(samples: &[[[f64; 3]; 2]], end: usize, wanted: &Operating) {
    for phase in 0..3 {
        for (quantity, magnitudes, angles) in [
            (0, wanted.currents_a, wanted.current_angles_deg),
            (1, wanted.voltages_v, wanted.voltage_angles_deg),
        ] {
            let wanted = polar(magnitudes[phase], angles[phase]);
            let found = phasor(samples, quantity, phase, end);
            let largest = magnitudes.into_iter().fold(0.0, f64::max);
            assert!(
                (found - wanted).norm() < 2e-3 * largest,
                "{quantity} {phase}: {found}, not {wanted}"
            );
        }
    }
}

#[test]
fn its_steady_states_are_those_of_the_phasors() {
    for (kind, position, ohm) in [
        (FaultType::Ag, 0.5, 0.0),
        (FaultType::Bg, 0.4, 5.0),
        (FaultType::Ca, 0.8, 2.0),
        (FaultType::Bcg, 0.84, 3.0),
        (FaultType::Abc, 0.3, 1.0),
    ] {
        let circuit = circuit(kind, position, ohm, 1.0);
        let before = circuit.before(LineSide::Near);
        let load = polar(before.currents_a[0], before.current_angles_deg[0]);
        assert!((load - polar(400.0, -25.0)).norm() < 0.1, "{load}");
        let mut transient = Transient::new(&circuit, RATE, 0.0);
        let samples: Vec<_> = (0..CYCLE * 45).map(|_| transient.next_sample(LineSide::Near)).collect();
        let fault = Fault {
            kind,
            position,
            resistance_ohm: ohm,
        };
        near(&samples, samples.len(), &network().during(&fault));
    }
}

#[test]
fn no_current_has_a_step_and_poles_open_at_their_zeros() {
    for kind in [FaultType::Ag, FaultType::Bcg, FaultType::Abc] {
        for begin_deg in [0.0, 37.0, 90.0] {
            let circuit = circuit(kind, 0.5, 0.0, 0.15);
            let mut transient = Transient::new(&circuit, RATE, begin_deg);
            let mut samples = Vec::new();
            while !transient.is_over() {
                samples.push(transient.next_sample(LineSide::Near));
                assert!(samples.len() < 1_000, "{kind}: the poles do not open");
            }
            let over = samples.len();
            assert!(over > 720 && over < 720 + 2 * CYCLE, "{kind}: {over}");
            samples.extend((0..CYCLE * 20).map(|_| transient.next_sample(LineSide::Near)));
            let steepest = |range: std::ops::Range<usize>| {
                let step = |at: usize, phase: usize| (samples[at][0][phase] - samples[at - 1][0][phase]).abs();
                range
                    .flat_map(|at| [0, 1, 2].map(|phase| step(at, phase)))
                    .fold(0.0, f64::max)
            };
            let (during, after) = (steepest(1..720), steepest(720..samples.len()));
            assert!(after <= 1.1 * during, "{kind}: {after} and {during}");
            let turn = Complex::from_polar(1.0, begin_deg.to_radians());
            let load = phasor(&samples, 0, 0, samples.len() / CYCLE * CYCLE) / turn;
            assert!(
                (load - polar(400.0, -25.0)).norm() < 2.0,
                "{kind}: back to the load: {load}"
            );
        }
    }
}

/// A fault with its direct component, at the zero of the loop's voltage, against the formula for R and L.
#[test]
fn the_direct_component_is_that_of_the_circuit() {
    let circuit = circuit(FaultType::Abc, 0.5, 0.0, 1.0);
    // The voltage of phase a passes through zero.
    let mut transient = Transient::new(&circuit, RATE, -90.0);
    let samples: Vec<_> = (0..CYCLE * 3)
        .map(|_| transient.next_sample(LineSide::Near)[0][0])
        .collect();
    let ohm = SOURCE[0] + WAY[0] * 0.5;
    let peak = 110_000.0 / 3_f64.sqrt() * SQRT_2 / ohm.norm();
    let largest = samples.iter().fold(0.0, |most: f64, value| most.max(value.abs()));
    let tau = ohm.im / (TAU * 50.0 * ohm.re);
    let expected = peak * (1.0 + (-0.01 / tau).exp());
    // The load before the fault is a small part of it.
    assert!((largest - expected).abs() < 0.1 * expected, "{largest}, not {expected}");
}

/// The time constant of a direct component is L/R, at most 7.5 % longer, at every rate.
#[test]
fn direct_components_decay_with_their_time_constant() {
    for (x_r, hz, rate) in [
        (10.0, 50.0, 4_800),
        (50.0, 50.0, 4_800),
        (50.0, 60.0, 4_800),
        (50.0, 50.0, 1_000),
        (120.0, 50.0, 4_000),
    ] {
        let mut circuit = Circuit::new(hz);
        let source = Complex::new(10.0 / x_r, 10.0);
        circuit.source(0, [source; 2], polar(60_000.0, 0.0), Course::Steady);
        circuit.fault(1, FaultType::Abc, 0.0, [0.0, 1.0]);
        let mut transient = Transient::new(&circuit, rate, -90.0);
        let cycle = f64::from(rate) / hz;
        // The mean of a whole cycle has no part of the alternating current.
        let samples: Vec<f64> = (0..=(6.0 * cycle) as usize)
            .map(|_| transient.next_sample(LineSide::Near)[0][0])
            .collect();
        let mean = |from: f64| {
            let range = from as usize..(from + cycle) as usize;
            samples[range].iter().sum::<f64>() / cycle
        };
        let found_s = 4.0 / hz / (mean(cycle) / mean(5.0 * cycle)).ln();
        let wanted_s = 10.0 / (TAU * hz * (10.0 / x_r + 1e-3));
        assert!(
            (0.97..1.08).contains(&(found_s / wanted_s)),
            "X/R {x_r}, {hz} Hz, {rate}/s: {found_s} s, not {wanted_s}"
        );
    }
}

/// An isolated network: the capacitances alone feed an earth fault, and the healthy voltages rise by the square root of three.
#[test]
fn an_earth_fault_of_an_isolated_network_is_fed_by_capacitances() {
    let volts = polar(20_000.0 / 3_f64.sqrt(), 0.0);
    let mut circuit = Circuit::new(50.0);
    circuit.source(
        0,
        [Complex::new(0.1, 1.0), Complex::new(1e6, 1.0)],
        volts,
        Course::Steady,
    );
    circuit.capacitance(0, [5e-6; 2]);
    let node = circuit.node_after(1, [Complex::new(1.0, 1.5), Complex::new(3.0, 5.0)]);
    circuit.fault(node, FaultType::Ag, 0.0, [0.0, 0.5]);
    let mut transient = Transient::new(&circuit, RATE, 0.0);
    let samples: Vec<_> = (0..CYCLE * 20).map(|_| transient.next_sample(LineSide::Near)).collect();
    let of = |quantity, phase| phasor(&samples, quantity, phase, samples.len()).norm();
    let earth_a = 3.0 * volts.norm() * TAU * 50.0 * 5e-6;
    assert!(
        (of(0, 0) - earth_a).abs() < 0.05 * earth_a,
        "{} A, not {earth_a}",
        of(0, 0)
    );
    assert!((of(1, 1) - 20_000.0).abs() < 300.0 && of(1, 0) < 500.0, "{}", of(1, 1));
}

/// Two sources that slip: the current swings between the load and that of opposite sources.
#[test]
fn sources_that_slip_swing_the_current() {
    let volts = polar(110_000.0 / 3_f64.sqrt(), 0.0);
    let mut circuit = Circuit::new(50.0);
    circuit.source(0, SOURCE, volts, Course::Steady);
    let end = circuit.node_after(1, WAY);
    circuit.source(
        end,
        SOURCE,
        volts * polar(1.0, -10.0),
        Course::Turns { turns: 2.0, in_s: 2.0 },
    );
    circuit.lasts_at_least(2.0);
    let mut transient = Transient::new(&circuit, RATE, 0.0);
    // One more, since the first is at the begin.
    let samples: Vec<_> = (0..=CYCLE * 100)
        .map(|_| transient.next_sample(LineSide::Near))
        .collect();
    let norms: Vec<f64> = (1..100)
        .map(|cycle| phasor(&samples, 0, 0, cycle * CYCLE).norm())
        .collect();
    let largest = norms.iter().copied().fold(0.0, f64::max);
    let opposite = 2.0 * volts.norm() / (SOURCE[0] * 2.0 + WAY[0]).norm();
    assert!(
        (largest - opposite).abs() < 0.03 * opposite,
        "{largest}, not {opposite}"
    );
    assert!(transient.is_over());
}

/// A breaker that closes onto a fault: nothing flows before, and nothing after it has opened.
#[test]
fn a_breaker_closes_onto_a_fault() {
    let volts = polar(110_000.0 / 3_f64.sqrt(), 0.0);
    let mut circuit = Circuit::new(50.0);
    circuit.source(0, SOURCE, volts, Course::Steady);
    circuit.fault(1, FaultType::Abc, 0.0, [0.0, 0.2]);
    circuit.closes();
    circuit.measures_line();
    let before = circuit.before(LineSide::Near);
    assert!(before.currents_a[0] == 0.0 && before.voltages_v[0] < 1.0, "{before:?}");
    let mut transient = Transient::new(&circuit, RATE, 0.0);
    let samples: Vec<_> = (0..CYCLE * 15).map(|_| transient.next_sample(LineSide::Near)).collect();
    let expected = volts.norm() / SOURCE[0].norm();
    let found = phasor(&samples, 0, 1, CYCLE * 9).norm();
    assert!((found - expected).abs() < 0.02 * expected, "{found}, not {expected}");
    assert!(transient.is_over() && samples[CYCLE * 14][0].iter().all(|current| current.abs() < 1e-6));
}

/// Two parallel lines with a coupling, against the symmetrical components of coupled lines: a share p of the way to the fault carries 1 - p / 2 of its current,
/// the other line p / 2.
#[test]
fn coupled_lines_share_the_fault_current() {
    let mutual = Complex::new(5.0, 18.0);
    for (position, faulted) in [(0.3, 0), (0.7, 0), (0.7, 1)] {
        let volts = polar(110_000.0 / 3_f64.sqrt(), 0.0);
        let mut circuit = Circuit::new(50.0);
        let pair = circuit.parallel(WAY, mutual, position);
        circuit.source(pair.bus, SOURCE, volts, Course::Steady);
        circuit.fault(pair.faulted[faulted], FaultType::Ag, 0.0, [0.0, 0.4]);
        let (near_share, other) = (1.0 - position / 2.0, position / 2.0);
        let whole = |line: Complex, mutual: Complex| (line * near_share + mutual * other) * position;
        let [one, zero] = [
            SOURCE[0] + whole(WAY[0], Complex::default()),
            SOURCE[1] + whole(WAY[1], mutual),
        ];
        let sequence = volts / (one * 2.0 + zero);
        let share = if faulted == 0 { near_share } else { other };
        let current = sequence * 3.0 * share;
        let voltage = volts - sequence * (SOURCE[0] * 2.0 + SOURCE[1]);
        let mut transient = Transient::new(&circuit, RATE, 0.0);
        let samples: Vec<_> = (0..1_900).map(|_| transient.next_sample(LineSide::Near)).collect();
        for (quantity, wanted) in [(0, current), (1, voltage)] {
            let found = phasor(&samples, quantity, 0, 1_824);
            assert!(
                (found - wanted).norm() < 3e-3 * wanted.norm(),
                "{position} {faulted} {quantity}: {found}, not {wanted}"
            );
        }
    }
}
