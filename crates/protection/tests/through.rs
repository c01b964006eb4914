//! Differential protection of an object with a high load: the detection of faults outside must not hold off faults inside for long.

mod common;

use common::{Rig, rated};
use protection::differential::{Pdif, PdifSettings};
use protection::measure::{BaySettings, Synch};
use protection::{Function, Inputs, Waves};
use std::f64::consts::{SQRT_2, TAU};

const RATE: f64 = 4000.0;
const TASK: u64 = 4;

/// Time in s of the step of the load.
const STEPS_S: f64 = 0.5;

/// Two bays whose samples can be looked at.
struct Station {
    rigs: [Rig; 2],
}

impl std::fmt::Debug for Station {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str("Station")
    }
}

impl Waves for Station {
    fn phase_currents(&self, set: usize, at: u64) -> Option<[f64; 3]> {
        let [a, b, c, ..] = *self.rigs[set].bay.sample(at)?;
        Some([a, b, c])
    }
}

/// Currents in x rated: a load that steps, and a fault in the object that one side feeds, after a time in s from the step.
#[derive(Debug, Clone, Copy)]
struct Case {
    loads: [f64; 2],
    fault: f64,
    fault_deg: f64,
    after_s: f64,
}

impl Case {
    fn samples(&self, n: u64) -> [[f64; 8]; 2] {
        let seconds = n as f64 / RATE;
        let load = self.loads[usize::from(seconds >= STEPS_S)];
        let fault = if seconds >= STEPS_S + self.after_s {
            self.fault
        } else {
            0.0
        };
        let wave =
            |size: f64, degrees: f64| 1000.0 * SQRT_2 * size * (TAU * 50.0 * seconds + degrees.to_radians()).cos();
        let mut sides = [[0.0; 8]; 2];
        for (phase, turn) in [0.0, -120.0, 120.0].into_iter().enumerate() {
            sides[0][phase] = wave(load, turn) + wave(fault, turn + self.fault_deg);
            sides[1][phase] = -wave(load, turn);
        }
        sides
    }

    /// Time of operation in ms after the begin of the fault.
    fn operates(&self, saturation: bool) -> Option<f64> {
        let settings = PdifSettings {
            saturation,
            ..PdifSettings::default()
        };
        let measuring = BaySettings {
            harmonics: vec![2, 5],
            ..BaySettings::default()
        };
        let base = rated(RATE, 50.0);
        let mut station = Station {
            rigs: [(); 2].map(|()| Rig::new(base, &measuring, false)),
        };
        let mut function = Pdif::new(settings, &base).expect("settings");
        let begins = ((STEPS_S + self.after_s) * RATE) as u64;
        for n in 0..begins + 6000 {
            let samples = self.samples(n);
            let mut sets = [protection::measure::Measured::default(); 2];
            for (side, set) in sets.iter_mut().enumerate() {
                *set = *station.rigs[side].push(samples[side]);
                set.health.synch = Synch::GLOBAL;
            }
            if n % TASK == 0 && n > 200 {
                let output = function.step(&Inputs::of(&sets).with_waves(&station));
                assert!(n >= begins || !output.started.any(), "{n}: {self:?}");
                if output.operated.any() {
                    return Some((n as f64 - begins as f64) * 1000.0 / RATE);
                }
            }
        }
        None
    }
}

/// A second after the load stepped to a lasting overload.
#[test]
fn a_high_load_does_not_hold_off_faults_inside() {
    let mut compared = 0;
    for load in [1.05, 1.2, 1.4] {
        for fault in [0.6, 0.8, 1.0] {
            for fault_deg in [-90.0, -60.0, -30.0, 30.0, 60.0, 90.0] {
                let case = Case {
                    loads: [0.7, load],
                    fault,
                    fault_deg,
                    after_s: 1.0,
                };
                let without = case.operates(false);
                compared += usize::from(without.is_some());
                assert_eq!(case.operates(true), without, "{case:?}");
            }
        }
    }
    assert!(compared > 40, "{compared}");
}

/// In the 50 ms after such a step a fault waits for their end, and not longer.
#[test]
fn a_fault_just_after_a_step_of_the_load_waits_50_ms() {
    for after_s in [0.01, 0.02, 0.03, 0.04] {
        for fault_deg in [-60.0, 60.0, 90.0] {
            let case = Case {
                loads: [0.4, 1.2],
                fault: 0.8,
                fault_deg,
                after_s,
            };
            let without = case.operates(false).expect("it operates");
            let at = case.operates(true).expect("it operates");
            let most = without.max(56.0 - after_s * 1000.0);
            assert!(at <= most, "{at} instead of {without}: {case:?}");
        }
    }
}

/// A through current that may saturate transformers, and a weak fault in it: the block ends one second after its begin.
#[test]
fn a_block_ends_a_second_after_its_begin() {
    for after_s in [0.1, 0.5, 0.9, 1.2] {
        let case = Case {
            loads: [0.5, 3.0],
            fault: 2.2,
            fault_deg: 90.0,
            after_s,
        };
        let without = case.operates(false).expect("it operates");
        let at = case.operates(true).expect("it operates");
        let most = without.max(1006.0 - after_s * 1000.0);
        assert!(at <= most, "{at} instead of {without}: {case:?}");
        assert_eq!(at > without, after_s < 0.95, "{at} instead of {without}: {case:?}");
    }
}
