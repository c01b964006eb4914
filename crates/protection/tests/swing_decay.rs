//! Power-swing block and direct components: a three-phase fault behind a long time constant is no swing.

mod common;
mod line;

use common::{Rig, rated};
use line::{Circuit, LineFault, Network};
use protection::distance::{Pdis, PdisSettings};
use protection::measure::BaySettings;
use protection::supervision::{SwingSettings, SwingSupervision};
use protection::{Complex, Function, Inputs, Rated};

/// A fault of three phases at some ohm from the relay, behind a source, both with this X/R.
#[derive(Debug, Clone, Copy)]
struct Case {
    hz: f64,
    /// Samples of a task.
    task: u64,
    ratio: f64,
    source_ohm: f64,
    fault_ohm: f64,
    dc_time_constant_ms: f64,
    angle_deg: f64,
}

impl Case {
    fn base(&self) -> Rated {
        Rated {
            current_a: 1000.0,
            voltage_v: 110_000.0,
            ..rated(self.rate(), self.hz)
        }
    }

    fn rate(&self) -> f64 {
        80.0 * self.hz
    }

    fn network(&self, begins: f64) -> Network {
        let ohm = |size: f64| {
            let one = Complex::degrees(size, self.ratio.atan().to_degrees());
            [[one.re, one.im], [3.0 * one.re, 3.0 * one.im]]
        };
        Network {
            hz: self.hz,
            rate: self.rate(),
            source_v: self.base().phase_voltage_v(),
            angle_deg: self.angle_deg,
            source: ohm(self.source_ohm),
            line: ohm(self.fault_ohm),
            // 300 A.
            load: [200.0, 40.0],
            far: None,
            kind: LineFault {
                phases: [true; 3],
                earth: false,
            },
            begins,
            clears: f64::INFINITY,
        }
    }

    /// Times in ms at which a zone with a delay of 400 ms operates, with and without the block, and whether a swing was detected.
    fn played(&self) -> ([Option<f64>; 2], bool) {
        let begins = 30.0 * 80.0;
        let mut circuit = Circuit::new(self.network(begins));
        let measuring = BaySettings {
            dc_time_constant_ms: self.dc_time_constant_ms,
            ..BaySettings::default()
        };
        let mut rig = Rig::new(self.base(), &measuring, true);
        let mut swings = SwingSupervision::new(SwingSettings::default(), &self.base()).expect("settings");
        let zone = PdisSettings {
            zone: 2,
            reach_ohm: 15.6,
            line_deg: 88.0,
            phase_delay_ms: 400.0,
            earth_delay_ms: 400.0,
            ..PdisSettings::default()
        };
        let mut zones = [(); 2].map(|()| Pdis::new(zone, &self.base()).expect("settings"));
        let (mut operated, mut detected) = ([None; 2], false);
        for n in 0..(begins + 2.0 * self.rate()) as u64 {
            let mut set = *rig.push(circuit.next());
            if n % self.task != 0 || n < 800 {
                continue;
            }
            let swing = swings.step(&set);
            detected |= swing.detected;
            for (place, zone) in zones.iter_mut().enumerate() {
                set.health.swing = if place == 0 { swing } else { Default::default() };
                if zone.step(&Inputs::of(&[set])).operated.any() {
                    operated[place].get_or_insert((n as f64 - begins) * 1000.0 / self.rate());
                }
            }
            if operated.iter().all(Option::is_some) {
                break;
            }
        }
        (operated, detected)
    }
}

/// All cases of a frequency and a task in ms.
fn cases(hz: f64, task_ms: f64) -> Vec<Case> {
    let mut all = Vec::new();
    for ratio in [14.0, 30.0, 45.0, 60.0] {
        for [source_ohm, fault_ohm] in [[3.6, 12.0], [3.0, 8.0], [1.0, 8.0], [9.0, 12.0]] {
            for dc_time_constant_ms in [0.0, 45.0, 95.0] {
                for angle_deg in [0.0, 50.0] {
                    all.push(Case {
                        hz,
                        task: (task_ms * 80.0 * hz / 1000.0).round().max(1.0) as u64,
                        ratio,
                        source_ohm,
                        fault_ohm,
                        dc_time_constant_ms,
                        angle_deg,
                    });
                }
            }
        }
    }
    all
}

fn none_is_delayed(hz: f64, task_ms: f64) {
    let mut wrong = Vec::new();
    for case in cases(hz, task_ms) {
        let ([with, without], detected) = case.played();
        assert!(
            without.is_some_and(|at| (400.0..520.0).contains(&at)),
            "{without:?} {case:?}"
        );
        if with != without || detected {
            wrong.push((with, without, detected, case));
        }
    }
    assert!(
        wrong.is_empty(),
        "{} wrong, as {:#?}",
        wrong.len(),
        &wrong[..wrong.len().min(3)]
    );
}

#[test]
fn three_phase_faults_at_50_hz_are_not_delayed() {
    none_is_delayed(50.0, 1.0);
}

#[test]
fn three_phase_faults_at_60_hz_are_not_delayed() {
    none_is_delayed(60.0, 1.0);
}

#[test]
fn three_phase_faults_at_16_hz_are_not_delayed() {
    none_is_delayed(50.0 / 3.0, 1.0);
}

#[test]
fn long_tasks_delay_no_three_phase_fault() {
    for task_ms in [2.0, 3.5, 5.0] {
        none_is_delayed(50.0, task_ms);
    }
}
