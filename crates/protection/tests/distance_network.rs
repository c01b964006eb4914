//! Distance zone 1 on faults of all kinds, computed in the time domain: the phase that it names, and what it does beyond its reach.

mod common;
mod line;

use common::{Rig, Seed, rated};
use line::{Circuit, LineFault, Network};
use protection::distance::{Pdis, PdisSettings};
use protection::measure::BaySettings;
use protection::{Complex, Function, Inputs, Phases, Rated};

const RATE: f64 = 4800.0;

/// The line: 12.37 ohm, and its zero sequence.
const LINE: [[f64; 2]; 2] = [[3.0, 12.0], [9.0, 36.0]];

/// Reach as a share of the line.
const REACH: f64 = 0.8;

/// A case: everything but the kind of the fault.
#[derive(Debug, Clone, Copy)]
struct Case {
    sir: f64,
    /// Position in shares of the reach.
    position: f64,
    angle_deg: f64,
    /// Angle of the source impedance, ratio of its zero sequence.
    source_deg: f64,
    source_zero: f64,
    load_a: f64,
}

fn base() -> Rated {
    Rated {
        current_a: 400.0,
        voltage_v: 110_000.0,
        ..rated(RATE, 50.0)
    }
}

fn pdis() -> Pdis {
    let [one, zero] = LINE.map(|[r, x]| Complex::new(r, x));
    let k0 = (zero - one) / (one * 3.0);
    let settings = PdisSettings {
        reach_ohm: one.norm() * REACH,
        line_deg: one.arg_degrees(),
        k0: k0.norm(),
        k0_deg: k0.arg_degrees(),
        ..PdisSettings::default()
    };
    Pdis::new(settings, &base()).expect("settings")
}

/// Begin of the fault in samples, and its length.
const BEGINS: u64 = 600;
const LASTS: u64 = 288;

/// First phases that operated, those that followed within 5 ms, and the time of the first in ms.
#[derive(Debug, Clone, Copy)]
struct Trip {
    first: Phases,
    then: Phases,
    ms: f64,
    /// True if the fault had been cleared before, or was just being cleared.
    at_end: bool,
}

fn played(case: Case, kind: LineFault, lasts: u64) -> Option<Trip> {
    let rated = base();
    let volt = rated.phase_voltage_v();
    let ohm = Complex::new(LINE[0][0], LINE[0][1]).norm();
    let source = Complex::degrees(case.sir * ohm * REACH, case.source_deg);
    let share = case.position * REACH;
    // The load at a power factor of 0.95; behind a weak source so small that the voltage stays in service.
    let load_a = case.load_a.min(0.1 * volt / source.norm());
    let load = Complex::degrees(volt / load_a, 18.0);
    let network = Network {
        hz: 50.0,
        rate: RATE,
        source_v: volt,
        angle_deg: case.angle_deg,
        source: [
            [source.re, source.im],
            [source.re * case.source_zero, source.im * case.source_zero],
        ],
        line: LINE.map(|ohm| ohm.map(|part| part * share)),
        load: [load.re, load.im],
        far: None,
        kind,
        begins: BEGINS as f64,
        clears: (BEGINS + lasts) as f64,
    };
    let mut circuit = Circuit::new(network);
    let mut rig = Rig::new(rated, &BaySettings::default(), true);
    let mut function = pdis();
    let mut trip: Option<Trip> = None;
    for n in 0..BEGINS + lasts + 200 {
        let sample = circuit.next();
        // The task is a millisecond: five samples of 4800, near enough.
        let set = *rig.push(sample);
        if n % 5 != 0 || n < 200 {
            continue;
        }
        let output = function.step(&Inputs::of(&[set]));
        assert!(n >= BEGINS || !output.started.any(), "{n}: healthy");
        if let Some(trip) = &mut trip {
            trip.then |= output.operated;
            if (n - BEGINS) as f64 * 1000.0 / RATE > trip.ms + 5.0 {
                break;
            }
        } else if output.operated.any() {
            trip = Some(Trip {
                first: output.operated,
                then: output.operated,
                ms: (n - BEGINS) as f64 * 1000.0 / RATE,
                at_end: n >= BEGINS + lasts,
            });
        }
    }
    trip
}

fn phases(kind: LineFault) -> Phases {
    let mut phases = Phases::NONE;
    for (phase, each) in Phases::EACH.into_iter().enumerate() {
        phases |= each.when(kind.phases[phase]);
    }
    phases
}

fn cases(seed: u64, sirs: &[f64], positions: &[f64]) -> Vec<Case> {
    let mut seed = Seed(seed);
    let mut cases = Vec::new();
    for sir in sirs {
        for position in positions {
            for step in 0..4 {
                cases.push(Case {
                    sir: *sir,
                    position: *position,
                    angle_deg: 90.0 * f64::from(step) + 90.0 * seed.next(),
                    source_deg: 80.0 + 8.0 * seed.next(),
                    source_zero: 0.7 + 1.3 * seed.next(),
                    load_a: 60.0 + 300.0 * seed.next(),
                });
            }
        }
    }
    cases
}

/// Totals of a set of cases.
#[derive(Debug, Default)]
struct Tally {
    runs: u32,
    missed: u32,
    wrong_first: u32,
    wrong_then: u32,
    slowest_ms: f64,
    sum_ms: f64,
    over: u32,
    over_at_end: u32,
    /// True if a fault of several phases would have opened one pole first.
    has_opened_one: bool,
    notes: Vec<String>,
}

fn inside(seed: u64) -> Tally {
    let mut tally = Tally::default();
    for case in cases(seed, &[0.1, 0.2, 1.0, 5.0, 20.0], &[0.05, 0.3, 0.6, 0.85]) {
        for (name, kind) in LineFault::all() {
            tally.runs += 1;
            let Some(trip) = played(case, kind, LASTS) else {
                tally.notes.push(format!("missed {name} {case:?}"));
                tally.missed += 1;
                continue;
            };
            let wanted = phases(kind);
            let only = |found: Phases| Phases::of_bits(found.bits() & 7);
            let (first, then) = (only(trip.first), only(trip.then));
            if first != wanted {
                let ms = trip.ms;
                tally
                    .notes
                    .push(format!("wrong {name}: {first} then {then} at {ms:.1} ms, {case:?}"));
            }
            tally.has_opened_one |= first.count() == 1 && wanted.count() > 1;
            tally.wrong_first += u32::from(first != wanted);
            tally.wrong_then += u32::from(then != wanted);
            tally.sum_ms += trip.ms;
            tally.slowest_ms = tally.slowest_ms.max(trip.ms);
        }
    }
    tally
}

fn beyond(seed: u64) -> Tally {
    let mut tally = Tally::default();
    for case in cases(seed, &[0.1, 0.2, 1.0, 5.0, 20.0], &[1.05]) {
        for (name, kind) in LineFault::all() {
            for part in 0..3 {
                tally.runs += 1;
                if let Some(trip) = played(case, kind, LASTS + 32 * part) {
                    tally.notes.push(format!("over {name}: {trip:?}, {case:?}"));
                    tally.over += u32::from(!trip.at_end);
                    tally.over_at_end += u32::from(trip.at_end);
                }
            }
        }
    }
    tally
}

/// The page has the figures of four seeds.
#[test]
fn the_phase_is_named() {
    let tally = inside(4711);
    assert_eq!(tally.missed, 0, "{tally:?}");
    assert!(tally.wrong_first <= 1 && tally.wrong_then <= 1, "{tally:?}");
    assert!(!tally.has_opened_one, "{tally:?}");
    let mean_ms = tally.sum_ms / f64::from(tally.runs);
    assert!(tally.slowest_ms <= 22.0 && mean_ms <= 15.8, "{mean_ms} ms, {tally:?}");
}

#[test]
fn five_percent_beyond_is_no_trip() {
    let tally = beyond(77);
    assert_eq!((tally.over, tally.over_at_end), (0, 0), "{tally:?}");
}
