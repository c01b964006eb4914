//! Streams of currents alone: the frequency that they are measured at.

mod common;

use common::{RATE, Rig, relay};
use relay::Sample;
use relay::events::Subject;
use std::f64::consts::{SQRT_2, TAU};
use wire::quality::SvQuality;

const FILE: &str = "[relay]\nname = \"R\"\n[[stream]]\nname = \"bay1\"\nsv = { svID = \"MU01\", profile = \"F4000S1I4U4\" }\n\
     [[function]]\nname = \"I>>\"\nsettings.pioc = { pickup = 5 }\n[[trip]]\nname = \"Q0\"\n";

/// Sample `n` of a balanced current in A at `hz`, which jumps to `fault_a` at sample `at` and lags by 70 degrees more then; voltages are invalid.
fn sample(n: u64, hz: f64, load_a: f64, (at, fault_a): (u64, f64)) -> Sample {
    let mut values = [0.0; 8];
    let (size, lag) = if n < at { (load_a, 0.0) } else { (fault_a, 70.0_f64) };
    for (phase, value) in values.iter_mut().take(3).enumerate() {
        let angle = TAU * hz * n as f64 / RATE as f64 - (lag + 120.0 * phase as f64).to_radians();
        *value = SQRT_2 * size * angle.cos();
    }
    let invalid = |channel: usize| {
        if channel < 4 {
            SvQuality::GOOD
        } else {
            SvQuality::INVALID
        }
    };
    Sample {
        smp_cnt: (n % RATE) as u16,
        values,
        quality: std::array::from_fn(invalid),
        smp_synch: 2,
        simulated: false,
        conflicting: false,
    }
}

/// Largest error of the magnitudes in the samples of a range, as a share of `size`.
fn error(rig: &mut Rig, from: u64, to: u64, size: f64, wave: impl Fn(u64) -> Sample) -> f64 {
    let mut most: f64 = 0.0;
    for n in from..to {
        rig.step(&[Some(wave(n))]);
        if n >= from + 1200 {
            let set = &rig.engine.sets()[0];
            let errors = set.current.map(|each| (each.norm() / size - 1.0).abs());
            most = errors.into_iter().fold(most, f64::max);
        }
    }
    most
}

#[test]
fn currents_alone_are_tracked() {
    for hz in [47.0, 49.0, 50.0, 51.0, 53.0] {
        let mut rig = Rig::new(&relay(FILE));
        let wave = |n| sample(n, hz, 400.0, (u64::MAX, 0.0));
        let found = error(&mut rig, 0, 4000, 400.0, wave);
        assert!(found < 0.003, "{hz} Hz: {found}");
    }
}

/// Below 0.2 In the rated frequency stays, with the errors that the page declares.
#[test]
fn little_current_is_not_tracked() {
    let mut rig = Rig::new(&relay(FILE));
    let found = error(&mut rig, 0, 4000, 150.0, |n| sample(n, 47.0, 150.0, (u64::MAX, 0.0)));
    assert!((0.08..0.095).contains(&found), "{found}");
}

/// A fault turns the phasor by 70 degrees at once: the reference does not follow that, and a current just above the setting operates.
#[test]
fn a_fault_does_not_move_the_reference() {
    for hz in [47.0, 50.0, 53.0] {
        for (fault_a, trips) in [(5100.0, true), (4400.0, false)] {
            let mut rig = Rig::new(&relay(FILE));
            let fault = (4000, fault_a);
            let before = error(&mut rig, 0, 4000, 400.0, |n| sample(n, hz, 400.0, fault));
            let during = error(&mut rig, 4000, 6000, fault_a, |n| sample(n, hz, 400.0, fault));
            assert!(before < 0.003 && during < 0.003, "{hz} Hz: {before} {during}");
            assert_eq!(
                !rig.operates(Subject::Trip(0)).is_empty(),
                trips,
                "{hz} Hz, {fault_a} A"
            );
        }
    }
}
