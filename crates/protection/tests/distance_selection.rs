//! Distance zone 1 on earth faults with resistance, load and infeed, from phasors: the selection of phases loses none that its earth loop is in the zone of.

mod common;

use common::rated;
use protection::distance::{Loop, Pdis, PdisSettings, Shape};
use protection::measure::Measured;
use protection::{Complex, Function, Inputs, Phases, Rated};

const VOLT: f64 = 110_000.0 / 1.732_050_807_568_877_2;
const RATED_A: f64 = 400.0;
const REACH_OHM: f64 = 10.2;
const EARTH_OHM: f64 = 25.0;
/// Samples of a task of 1 ms.
const TASK: u64 = 4;

/// Positive and zero sequence.
type Pair = [Complex; 2];

fn line() -> Pair {
    [Complex::new(3.0, 12.0), Complex::new(9.0, 36.0)]
}

/// A line between two ends, and a fault of phase A to earth on it.
#[derive(Debug, Clone, Copy)]
struct Network {
    /// Impedances behind the relay, and behind the far end.
    near: Pair,
    far: Pair,
    /// Voltages of the two.
    sources: [Complex; 2],
    position: f64,
    fault_ohm: f64,
}

impl Network {
    /// With sources at both ends, as multiples of the line, and the ratio of their zero sequence; `load_a` flows out of the relay's end before the fault.
    fn fed(sirs: [f64; 2], ratio: f64, position: f64, fault_ohm: f64, load_a: f64) -> Self {
        let [one, _] = line();
        let [near, far] = sirs.map(|sir| [one * sir, one * sir * ratio]);
        let through = near[0] + one + far[0];
        // The voltage at the relay is the rated one, and the load has a power factor of 1 there.
        let load = Complex::new(load_a, 0.0);
        let near_volt = Complex::new(VOLT, 0.0) + load * near[0];
        Self {
            near,
            far,
            sources: [near_volt, near_volt - load * through],
            position,
            fault_ohm,
        }
    }

    /// With an earthed transformer at the relay that only feeds a load.
    fn passive(load_a: f64, position: f64) -> Self {
        let [one, zero] = line();
        let load = if load_a > 0.0 { VOLT / load_a } else { 1e9 };
        Self {
            near: [Complex::degrees(load, 18.0), Complex::new(0.5, 20.0)],
            far: [one * 0.5, zero * 0.5],
            sources: [Complex::ZERO, Complex::new(VOLT, 0.0)],
            position,
            fault_ohm: 0.0,
        }
    }

    /// Phasors at the relay without and with the fault.
    fn sets(&self) -> [([Complex; 3], [Complex; 3]); 2] {
        let [one, zero] = line();
        let [source, far] = self.sources;
        let load = (source - far) / (self.near[0] + one + self.far[0]);
        let m = self.position;
        let sides = |near: Complex, whole: Complex, far: Complex| {
            let (here, there) = (near + whole * m, far + whole * (1.0 - m));
            (here * there / (here + there), there / (here + there))
        };
        let (positive, share) = sides(self.near[0], one, self.far[0]);
        let (residual, share_zero) = sides(self.near[1], zero, self.far[1]);
        let at_fault = source - load * (self.near[0] + one * m);
        let fault = at_fault / (positive * 2.0 + residual + Complex::new(3.0 * self.fault_ohm, 0.0));
        let of = |fault: Complex| {
            let current = [load + share * fault, share * fault, share_zero * fault];
            let voltage = [
                source - current[0] * self.near[0],
                -(current[1] * self.near[0]),
                -(current[2] * self.near[1]),
            ];
            (phases(current), phases(voltage))
        };
        [of(Complex::ZERO), of(fault)]
    }
}

/// Phases of positive, negative and zero sequence.
fn phases([one, two, zero]: [Complex; 3]) -> [Complex; 3] {
    [
        one + two + zero,
        one * Complex::A2 + two * Complex::A + zero,
        one * Complex::A + two * Complex::A2 + zero,
    ]
}

fn base() -> Rated {
    Rated {
        current_a: RATED_A,
        voltage_v: 110_000.0,
        ..rated(4000.0, 50.0)
    }
}

fn settings() -> PdisSettings {
    let [one, zero] = line();
    let k0 = (zero - one) / (one * 3.0);
    PdisSettings {
        reach_ohm: REACH_OHM * one.norm() / one.im,
        line_deg: one.arg_degrees(),
        k0: k0.norm(),
        k0_deg: k0.arg_degrees(),
        shape: Shape::Quadrilateral {
            phase_resistance_ohm: 10.0,
            earth_resistance_ohm: EARTH_OHM,
            below_deg: 15.0,
            beyond_deg: 115.0,
        },
        ..PdisSettings::default()
    }
}

/// First phases that operate within 40 ms of the fault.
fn operated(network: Network, settings: PdisSettings) -> Option<Phases> {
    let mut function = Pdis::new(settings, &base()).expect("settings");
    let [before, fault] = network.sets();
    for task in 0..140 {
        let (current, voltage) = if task < 100 { before } else { fault };
        let output = function.step(&Inputs::of(&[Measured::of(TASK * task, current, voltage)]));
        if output.operated.any() {
            assert!(task >= 100, "operates on load: {network:?}");
            return Some(output.operated);
        }
    }
    None
}

/// Impedances of the six loops.
fn found(network: Network) -> [Option<Complex>; 6] {
    let function = Pdis::new(settings(), &base()).expect("settings");
    let [_, (current, voltage)] = network.sets();
    let set = Measured::of(0, current, voltage);
    let loops = function.loops(&set, &set);
    Loop::ALL.map(|each| loops.impedance(each))
}

/// True if the loop A to earth is well inside the zone, and 1.25 times shorter than each phase loop.
fn is_inside(network: Network) -> bool {
    let function = Pdis::new(settings(), &base()).expect("settings");
    let [_, (current, voltage)] = network.sets();
    let set = Measured::of(0, current, voltage);
    let loops = function.loops(&set, &set);
    let Some(ohm) = loops.impedance(Loop::AN) else {
        return false;
    };
    let [one, _] = line();
    let aside = ohm.re - ohm.im * one.re / one.im;
    let angle = (set.voltage_sequence.positive * loops.current(Loop::AN).conj()).arg_degrees();
    let longer = |each: Loop| {
        loops
            .impedance(each)
            .is_none_or(|other| other.norm() > 1.26 * ohm.norm())
    };
    let carries = current[0].norm() > 0.21 * RATED_A;
    carries
        && ohm.im < 0.98 * REACH_OHM
        && aside.abs() < 0.98 * EARTH_OHM
        && (-5.0..105.0).contains(&angle)
        && [Loop::BN, Loop::CN]
            .into_iter()
            .all(|each| loops.impedance(each).is_none_or(|other| other.norm() > ohm.norm()))
        && [Loop::AB, Loop::BC, Loop::CA].into_iter().all(longer)
}

const A: Phases = Phases::A;

#[test]
fn an_earth_fault_with_resistance_under_imported_load_trips() {
    let network = Network::fed([4.0, 0.3], 0.3, 0.52, 10.0, -0.3 * RATED_A);
    assert!(is_inside(network), "{:?}", found(network));
    assert_eq!(operated(network, settings()), Some(A | Phases::NEUTRAL));
}

/// Every combination of sources, place, resistance and load.
fn networks() -> Vec<Network> {
    let mut networks = Vec::new();
    for (near, far) in [0.2, 1.0, 4.0, 10.0]
        .into_iter()
        .flat_map(|near| [0.1, 0.3, 1.0, 5.0].map(|far| (near, far)))
    {
        for (ratio, position) in [0.3, 0.7, 1.0, 3.0]
            .into_iter()
            .flat_map(|ratio| [0.02, 0.2, 0.52, 0.7, 0.8].map(|place| (ratio, place)))
        {
            for fault_ohm in [0.0, 2.0, 5.0, 10.0, 12.0, 15.0, 20.0] {
                let load = |eighth: i32| RATED_A * f64::from(eighth) / 8.0;
                networks
                    .extend((-8..=8).map(|eighth| Network::fed([near, far], ratio, position, fault_ohm, load(eighth))));
            }
        }
    }
    networks
}

/// No earth fault in the zone is lost, whatever its resistance, load and sources.
#[test]
fn no_earth_fault_in_the_zone_is_lost() {
    let (mut inside, mut missed, mut wrong) = (0, 0, 0);
    for network in networks() {
        if !is_inside(network) {
            continue;
        }
        inside += 1;
        match operated(network, settings()) {
            None => missed += 1,
            Some(found) => wrong += u32::from(found != A | Phases::NEUTRAL),
        }
    }
    assert!(inside > 2000, "{inside}");
    assert_eq!(missed, 0, "of {inside}");
    assert!(wrong * 200 < inside, "{wrong} of {inside}");
}

/// At a passive end the negative sequence is the load's, and says nothing.
#[test]
fn an_earth_fault_at_a_passive_end_trips() {
    for load_a in [0.0, 10.0, 50.0, 75.0, 100.0] {
        for position in [0.05, 0.2, 0.5, 0.7] {
            let found = operated(Network::passive(load_a, position), settings());
            assert_eq!(found, Some(A | Phases::NEUTRAL), "{load_a} A at {position}");
        }
    }
}

/// A selection that alternates from task to task does not clear the timer of a zone that some loop stays in.
#[test]
fn the_timer_runs_on_while_the_selection_alternates() {
    let settings = PdisSettings {
        earth_delay_ms: 400.0,
        phase_delay_ms: 400.0,
        ..settings()
    };
    let mut function = Pdis::new(settings, &base()).expect("settings");
    let one = Network::fed([4.0, 0.3], 1.0, 0.4, 0.0, 0.0).sets()[1];
    // The same fault of the next phase: both are in the zone.
    let turned = |[a, b, c]: [Complex; 3]| [c, a, b];
    let other = (turned(one.0), turned(one.1));
    let mut first = None;
    for task in 0..500 {
        let (current, voltage) = if task / 2 % 2 == 0 { one } else { other };
        let output = function.step(&Inputs::of(&[Measured::of(TASK * task, current, voltage)]));
        assert!(output.started.any(), "{task}");
        if output.operated.any() {
            first = Some((task, output.operated));
            break;
        }
    }
    assert_eq!(first, Some((400, Phases::ABC)));
}
