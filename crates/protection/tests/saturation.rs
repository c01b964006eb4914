//! Differential protection with current transformers that saturate: faults outside the object, and in it.

mod common;
mod pair;
mod transformer;

use common::{Seed, rated};
use pair::Span;
use protection::Rated;
use protection::differential::{Object, PdifSettings, VectorGroup};
use std::f64::consts::{SQRT_2, TAU};
use transformer::{LINEAR_S, SHARP_S, Transformer};

const RATE: f64 = 4000.0;
const TASK: u64 = 4;

/// Begin of the fault in samples, and its end: the detection lifts the block by harmonics only after a second without a fault.
const BEGINS: u64 = 4400;
const ENDS: u64 = 5600;

/// Steps of the transformer's integration in a sample.
const STEPS: u32 = 20;

/// A fault current in x rated, with load before it.
#[derive(Debug, Clone, Copy)]
struct Current {
    load: f64,
    fault: f64,
    /// Angles at the begin of the fault, and the time constant of the DC that joins the two.
    load_deg: f64,
    fault_deg: f64,
    constant_s: f64,
}

impl Current {
    /// The load `seconds` after the begin of the fault, of a phase that is turned by `turn_deg`.
    fn load_at(&self, seconds: f64, turn_deg: f64) -> f64 {
        wave(self.load, self.load_deg + turn_deg, seconds)
    }

    /// Current of a faulted phase.
    fn at(&self, seconds: f64, turn_deg: f64) -> f64 {
        let fault = |seconds| wave(self.fault, self.fault_deg + turn_deg, seconds);
        if seconds < 0.0 {
            self.load_at(seconds, turn_deg)
        } else {
            fault(seconds) + (self.load_at(0.0, turn_deg) - fault(0.0)) * (-seconds / self.constant_s).exp()
        }
    }
}

fn wave(size: f64, angle_deg: f64, seconds: f64) -> f64 {
    SQRT_2 * size * (TAU * 50.0 * seconds + angle_deg.to_radians()).cos()
}

/// A transformer that saturates `ms` after the begin of the fault in one of the phases, with a remanence in the same direction.
fn saturating_after(current: &Current, turn_deg: f64, ms: f64, remanence: f64) -> Transformer {
    let dt = 1e-5;
    let steps = (ms / 1000.0 / dt) as u32;
    let flux: f64 = (0..steps)
        .map(|step| current.at(f64::from(step) * dt, turn_deg) * dt)
        .sum();
    let limit = flux.abs().max(0.008) / (1.0 - remanence);
    Transformer {
        limit,
        flux: remanence * limit * flux.signum(),
        saturated_s: SHARP_S,
        linear_s: LINEAR_S,
    }
}

fn base() -> Rated {
    rated(RATE, 50.0)
}

/// A case: the currents into the object from both sides, and the transformers of both sides by phase.
#[derive(Debug, Clone, Copy)]
struct Case {
    phases: [bool; 3],
    currents: [Current; 2],
    transformers: [[Transformer; 3]; 2],
    /// Phases of each side whose fault current has ended.
    has_ended: [[bool; 3]; 2],
    /// Sample from which the far side feeds the fault in the object too.
    inner: Option<u64>,
}

impl Case {
    fn samples(&mut self, n: u64) -> [[f64; 8]; 2] {
        let dt = 1.0 / (RATE * f64::from(STEPS));
        let mut out = [[0.0; 8]; 2];
        for (side, samples) in out.iter_mut().enumerate() {
            for (phase, sample) in samples.iter_mut().take(3).enumerate() {
                let turn = -120.0 * phase as f64;
                for step in 1..=STEPS {
                    let seconds = (n as f64 - BEGINS as f64 - 1.0 + f64::from(step) / f64::from(STEPS)) / RATE;
                    let moved = side == 1 && self.inner.is_some_and(|inner| n >= inner);
                    let load = self.currents[side].load_at(seconds, turn);
                    let fault = self.currents[side].at(seconds, turn);
                    let ended = &mut self.has_ended[side][phase];
                    // A pole of the breaker clears at current zero.
                    *ended |= n >= ENDS && fault.abs() < 0.05 * self.currents[side].fault;
                    let primary = match self.phases[phase] && !*ended {
                        true if moved => -0.5 * fault,
                        true => fault,
                        false => load,
                    };
                    *sample = 1000.0 * self.transformers[side][phase].step(primary, dt);
                }
            }
        }
        out
    }
}

/// Time of operation in ms after the begin of the fault.
fn operates(case: Case, settings: PdifSettings) -> Option<f64> {
    operates_with(case, settings, TASK)
}

/// The same with a task of a number of samples.
fn operates_with(mut case: Case, settings: PdifSettings, task: u64) -> Option<f64> {
    let span = Span {
        begins: BEGINS,
        ends: ENDS + 400,
    };
    pair::operates(settings, base(), task, span, |n| case.samples(n))
}

fn settings(second_harmonic: f64, saturation: bool) -> PdifSettings {
    PdifSettings {
        sides: [0, 1],
        second_harmonic,
        fifth_harmonic: 0.0,
        saturation,
        ..PdifSettings::default()
    }
}

const KINDS: [[bool; 3]; 5] = [
    [true, false, false],
    [false, true, false],
    [false, false, true],
    [true, true, false],
    [true, true, true],
];

fn current(seed: &mut Seed, fault: f64) -> Current {
    Current {
        load: seed.between(0.1, 0.5),
        fault,
        load_deg: seed.between(0.0, 360.0),
        fault_deg: seed.between(0.0, 360.0),
        constant_s: seed.between(0.02, 0.15),
    }
}

/// Transformers of one side of which the faulted phases saturate.
fn saturating(current: &Current, phases: [bool; 3], ms: f64, remanence: f64) -> [Transformer; 3] {
    [0, 1, 2].map(|phase| match phases[phase] {
        true => saturating_after(current, -120.0 * phase as f64, ms, remanence),
        false => Transformer::IDEAL,
    })
}

/// A fault outside whose currents on the far side are transformed with saturation.
fn outside(seed: &mut Seed, phases: [bool; 3], fault: f64, ms: f64) -> Case {
    let near = current(seed, fault);
    let far = Current {
        load_deg: near.load_deg + 180.0,
        fault_deg: near.fault_deg + 180.0,
        ..near
    };
    let remanence = seed.between(0.0, 0.7);
    Case {
        phases,
        currents: [near, far],
        transformers: [[Transformer::IDEAL; 3], saturating(&far, phases, ms, remanence)],
        has_ended: [[false; 3]; 2],
        inner: None,
    }
}

#[test]
fn saturation_in_faults_outside_operates_nothing() {
    let mut seed = Seed(1);
    let star: VectorGroup = "YNyn0".parse().expect("a vector group");
    for object in [Object::Line, Object::Transformer { vector_group: star }] {
        let of = |saturation| PdifSettings {
            object,
            ..settings(0.0, saturation)
        };
        let (mut runs, mut control, mut wrong) = (0, 0, Vec::new());
        for ms in [3.0, 4.0, 5.0, 7.0, 10.0] {
            for fault in [4.0, 8.0, 15.0, 25.0] {
                for phases in KINDS {
                    for _ in 0..2 {
                        let case = outside(&mut seed, phases, fault, ms);
                        runs += 1;
                        control += u32::from(operates(case, of(false)).is_some());
                        if let Some(at) = operates(case, of(true)) {
                            wrong.push((ms, at, case));
                        }
                    }
                }
            }
        }
        assert!(wrong.is_empty(), "{wrong:#?}");
        assert!(control > runs * 3 / 4, "{control} of {runs}");
    }
}

/// Faults outside with tasks up to the longest: the detection needs the samples of a whole task, and a cycle before each.
#[test]
fn long_tasks_see_all_samples() {
    let mut seed = Seed(5);
    for task in [4, 20, 40, 80] {
        let (mut control, mut wrong) = (0, 0);
        for run in 0..40 {
            let case = outside(&mut seed, KINDS[run % 5], 15.0, 5.0);
            control += u32::from(operates_with(case, settings(0.0, false), task).is_some());
            wrong += u32::from(operates_with(case, settings(0.0, true), task).is_some());
        }
        assert_eq!(wrong, 0, "of {control}: {task}");
        assert!(control > 15, "{control}: {task}");
    }
}

/// Times of operation of faults inside, sorted, with the detection and without it; and how many operate later with it.
fn inside(seed: &mut Seed, second_harmonic: f64, ms: Option<f64>) -> ([Vec<f64>; 2], u32) {
    let (mut times, mut later) = ([Vec::new(), Vec::new()], 0);
    for fault in [2.0, 4.0, 8.0, 20.0] {
        for phases in KINDS {
            for _ in 0..4 {
                let near = current(seed, fault);
                let far = Current {
                    load_deg: near.load_deg + 180.0,
                    fault_deg: near.fault_deg + seed.between(-40.0, 40.0),
                    fault: fault * seed.next(),
                    ..near
                };
                let remanence = seed.between(0.0, 0.7);
                let ideal = [Transformer::IDEAL; 3];
                // Load flows through; the far side feeds the fault at another angle.
                let case = Case {
                    phases,
                    currents: [near, far],
                    transformers: [ms.map_or(ideal, |ms| saturating(&near, phases, ms, remanence)), ideal],
                    has_ended: [[false; 3]; 2],
                    inner: None,
                };
                let found = [true, false].map(|saturation| operates(case, settings(second_harmonic, saturation)));
                let [with, without] = found;
                later += u32::from(without.is_some_and(|without| with.is_none_or(|with| with > without)));
                for (times, found) in times.iter_mut().zip(found) {
                    times.extend(found);
                }
            }
        }
    }
    for times in &mut times {
        times.sort_by(f64::total_cmp);
    }
    (times, later)
}

#[test]
fn faults_inside_operate_with_saturation_in_the_same_task() {
    let mut seed = Seed(2);
    for ms in [None, Some(3.0), Some(6.0)] {
        let ([with, without], later) = inside(&mut seed, 0.0, ms);
        assert_eq!((with.len(), later), (80, 0), "{ms:?}");
        assert_eq!(with, without);
        assert!(with.last().is_some_and(|worst| *worst <= 8.0), "{with:?}");
    }
}

/// Saturation has a second harmonic, too: its restraint delays faults inside. The page has the figures.
#[test]
fn a_fault_fed_from_both_sides_is_no_inrush() {
    let mut seed = Seed(3);
    let mut found = Vec::new();
    for ms in [3.0, 6.0] {
        let (times, later) = inside(&mut seed, 0.15, Some(ms));
        assert_eq!(later, 0);
        found.extend(times.map(|times| (times.len(), times[times.len() / 2], times[times.len() * 9 / 10])));
    }
    assert_eq!(
        found,
        [
            (79, 25.0, 236.0),
            (79, 52.0, 236.0),
            (78, 24.0, 272.0),
            (78, 28.0, 273.0)
        ]
    );
}

/// A fault that moves into the object 100 ms after it began outside.
#[test]
fn faults_that_move_into_the_object_operate() {
    let mut seed = Seed(4);
    let mut times = Vec::new();
    for ms in [3.0, 6.0, 1000.0] {
        for fault in [4.0, 8.0, 15.0] {
            for phases in KINDS {
                let mut case = outside(&mut seed, phases, fault, ms);
                case.inner = Some(BEGINS + 400);
                let at = operates(case, settings(0.0, true)).expect("it operates");
                assert!(at > 100.0, "{at}");
                times.push(at - 100.0);
            }
        }
    }
    times.sort_by(f64::total_cmp);
    assert!(times.last().is_some_and(|worst| *worst <= 51.0), "{times:?}");
}
