//! Errors of the measurement that the page of the relay declares, with their figures.

mod common;

use common::{Rig, balanced, eight, rated};
use protection::measure::BaySettings;
use protection::overcurrent::{Pioc, PiocSettings};
use protection::{Complex, Function, Inputs};
use std::f64::consts::{SQRT_2, TAU};

/// Largest error of the magnitude of a current at `hz`, without voltages, as a share.
fn off(hz: f64, dc_time_constant_ms: f64) -> f64 {
    let settings = BaySettings {
        dc_time_constant_ms,
        ..BaySettings::default()
    };
    let mut rig = Rig::new(rated(4000.0, 50.0), &settings, true);
    let mut most: f64 = 0.0;
    for n in 0..4000 {
        let sample = eight(balanced(1000.0, 0.0), [Complex::ZERO; 3], hz, 4000.0, n);
        let set = *rig.push(sample);
        if n > 400 {
            most = most.max((set.current[0].norm() / 1000.0 - 1.0).abs());
        }
    }
    most
}

/// Currents without voltages are measured at the rated frequency.
#[test]
fn currents_alone_are_measured_at_the_rated_frequency() {
    // Hz; with DC removed, and without.
    let declared = [
        (49.5, [0.0151, 0.0052]),
        (50.5, [0.0149, 0.0052]),
        (49.0, [0.0305, 0.0108]),
        (51.0, [0.0294, 0.0106]),
        (47.0, [0.0942, 0.0367]),
        (53.0, [0.0842, 0.0349]),
    ];
    for (hz, declared) in declared {
        for (found, declared) in [off(hz, 45.0), off(hz, 0.0)].into_iter().zip(declared) {
            assert!(
                found <= declared && found > 0.95 * declared,
                "{hz} Hz: {found}, declared {declared}"
            );
        }
    }
}

/// True if PIOC operates on a current of `share` of its setting that begins at `angle`, with its DC component or with a jump.
fn operates(share: f64, angle: f64, tau_s: Option<f64>, phase: u64) -> bool {
    let rated = rated(4000.0, 50.0);
    let mut pioc = Pioc::new(PiocSettings::default(), &rated).expect("settings");
    let mut rig = Rig::new(rated, &BaySettings::default(), false);
    let peak = 5000.0 * share * SQRT_2;
    (0..1200).any(|n| {
        let mut sample = [0.0; 8];
        if n >= 400 {
            let t = (n - 400) as f64 / 4000.0;
            let dc = tau_s.map_or(0.0, |tau_s| angle.cos() * (-t / tau_s).exp());
            sample[0] = peak * ((TAU * 50.0 * t + angle).cos() - dc);
        }
        let set = *rig.push(sample);
        n % 4 == phase && n > 300 && pioc.step(&Inputs::of(&[set])).operated.any()
    })
}

/// Least share of the setting at which it operates, over angles and phases of the task, in steps of 1 %.
fn least(tau_s: Option<f64>) -> f64 {
    let any = |share: f64| {
        let mut angles = (0..24).map(|step| f64::from(step) * TAU / 24.0);
        angles.any(|angle| (0..4).any(|phase| operates(share, angle, tau_s, phase)))
    };
    let shares = (70..=102).map(|percent| f64::from(percent) / 100.0);
    shares.into_iter().find(|share| any(*share)).expect("above the setting")
}

#[test]
fn transient_overreach_of_overcurrent() {
    let found = [None, Some(0.015), Some(0.045), Some(0.12)].map(least);
    assert_eq!(found, [0.9, 0.99, 1.0, 1.0], "a jump; DC of 15, 45, 120 ms");
}
