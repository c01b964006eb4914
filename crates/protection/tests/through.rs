//! Differential protection of an object with a high load: the detection of faults outside must not hold off faults inside for long.

mod common;
mod pair;

use common::rated;
use pair::Span;
use protection::differential::PdifSettings;
use std::f64::consts::{SQRT_2, TAU};

const RATE: f64 = 4000.0;
const TASK: u64 = 4;

/// Time in s of the step of the load.
const STEPS_S: f64 = 0.5;

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
        let begins = ((STEPS_S + self.after_s) * RATE) as u64;
        let span = Span {
            begins,
            ends: begins + 6000,
        };
        pair::operates(settings, rated(RATE, 50.0), TASK, span, |n| self.samples(n))
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
