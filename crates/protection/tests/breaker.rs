//! RBRF, MMXU, MSQI.

mod common;

use common::{Rig, balanced, currents, eight, phase_a, rated};
use protection::breaker::{BreakerFailure, Criterion, Position, Rbrf, RbrfSettings};
use protection::measure::{BaySettings, Blocks, Measured};
use protection::power::{Mmxu, MmxuSettings, Msqi};
use protection::{Complex, Inputs, Phases, Rated, Source};
use std::f64::consts::SQRT_2;

fn rbrf(settings: RbrfSettings) -> Rbrf {
    Rbrf::new(settings, &Rated::default()).expect("settings")
}

/// First ms of retrip and back trip; the trip comes at 0 and lasts 100 ms, the current stops at `opens_ms`.
fn times(settings: RbrfSettings, opens_ms: f64, multiple: f64, position: Position) -> (Option<f64>, Option<f64>) {
    let mut function = rbrf(settings);
    let (mut retrip, mut backtrip) = (None, None);
    for ms in 0..1000 {
        let open = f64::from(ms) >= opens_ms;
        let mut set = phase_a(if open { 0.0 } else { multiple });
        set.at = 4 * ms as u64;
        let position = if open { Position::Open } else { position };
        let output = function.step(&Inputs::of(&[set]), Phases::ABC.when(ms < 100), position);
        if output.retrip.any() {
            retrip = retrip.or(Some(f64::from(ms)));
        }
        if output.backtrip {
            backtrip = backtrip.or(Some(f64::from(ms)));
        }
    }
    (retrip, backtrip)
}

#[test]
fn a_breaker_that_fails_trips_its_neighbours() {
    let default = RbrfSettings::default();
    let never = 1e9;
    assert_eq!(times(default, never, 2.0, Position::Closed), (Some(120.0), Some(240.0)));
    assert_eq!(times(default, 50.0, 2.0, Position::Closed), (None, None));
    assert_eq!(times(default, 180.0, 2.0, Position::Closed), (Some(120.0), None));
    assert_eq!(times(default, 239.0, 2.0, Position::Closed), (Some(120.0), None));
    let at_once = RbrfSettings {
        retrip_ms: 0.0,
        ..default
    };
    assert_eq!(times(at_once, never, 2.0, Position::Closed).0, Some(0.0));
    // A trip at low current: only the contact sees the breaker.
    assert_eq!(times(default, never, 0.1, Position::Closed), (None, None));
    for criterion in [Criterion::Contact, Criterion::CurrentOrContact] {
        let settings = RbrfSettings { criterion, ..default };
        assert_eq!(
            times(settings, never, 0.1, Position::Closed),
            (Some(120.0), Some(240.0))
        );
        assert_eq!(times(settings, 60.0, 0.1, Position::Closed), (None, None));
    }
}

#[test]
fn it_never_starts_without_a_trip() {
    let mut function = rbrf(RbrfSettings::default());
    for at in 0..4000 {
        let mut set = phase_a(20.0);
        set.at = 4 * at;
        let output = function.step(&Inputs::of(&[set]), Phases::NONE, Position::Closed);
        assert_eq!(output, BreakerFailure::default());
    }
    let mut bad = phase_a(20.0);
    bad.health.stream = Blocks::LOST;
    assert_eq!(
        function
            .step(&Inputs::of(&[bad]), Phases::ABC, Position::Closed)
            .blocked,
        Blocks::LOST
    );
    assert_eq!(
        function.step(&Inputs::of(&[]), Phases::ABC, Position::Closed).blocked,
        Blocks::MISSING
    );
}

/// The breaker interrupts 20 times In at a zero crossing; the transformers leave a decaying current behind. The current is seen
/// as gone within 20 ms.
#[test]
fn subsidence_is_not_taken_for_current() {
    for tau_ms in [20.0, 50.0, 100.0, 200.0] {
        for phase_deg in (0..360).step_by(15) {
            let mut rig = Rig::new(rated(4000.0, 50.0), &BaySettings::default(), false);
            let mut function = rbrf(RbrfSettings {
                phase_current: 0.1,
                ..RbrfSettings::default()
            });
            let fault = Complex::degrees(20_000.0, f64::from(phase_deg));
            let mut opened: Option<(u64, f64)> = None;
            let mut reset = None;
            let mut before = 0.0;
            for n in 0..2000u64 {
                let current = common::instant(fault, 50.0, 4000.0, n);
                if opened.is_none() && n > 600 && before * current <= 0.0 {
                    opened = Some((n, 0.1 * SQRT_2 * 20_000.0));
                }
                before = current;
                let x = opened.map_or(current, |(at, rest)| rest * (-((n - at) as f64) / (4.0 * tau_ms)).exp());
                let mut set = *rig.push([x, 0.0, 0.0, x, 0.0, 0.0, 0.0, 0.0]);
                set.half_cycle_current = function.is_started().then(|| rig.bay.half_cycle(&rig.reference));
                if n % 4 != 0 {
                    continue;
                }
                let output = function.step(&Inputs::of(&[set]), Phases::ABC.when(n == 400), Position::Closed);
                assert!(!output.backtrip, "{n}");
                match opened {
                    Some((at, _)) if !output.started => {
                        reset = reset.or(Some((n - at) as f64 / 4.0));
                    }
                    None => assert_eq!(output.started, n >= 400, "{n}"),
                    Some(_) => {}
                }
            }
            assert!(
                reset.is_some_and(|ms| ms <= 20.0),
                "{tau_ms} ms, {phase_deg} degrees: {reset:?}"
            );
        }
    }
}

#[test]
fn settings_outside_their_ranges_are_refused() {
    let of = |settings| Rbrf::new(settings, &Rated::default()).expect_err("refused").to_string();
    let default = RbrfSettings::default();
    assert_eq!(
        of(RbrfSettings {
            backtrip_ms: 100.0,
            ..default
        }),
        "RBRF: backtrip-ms is 100: a breaker of 50 ms is seen as open, with margin, after 110 ms; raise it"
    );
    assert!(
        of(RbrfSettings {
            phase_current: 3.0,
            ..default
        })
        .contains("0.05 to 2 x In")
    );
    assert!(
        Mmxu::new(
            MmxuSettings {
                average_ms: 1.0,
                ..MmxuSettings::default()
            },
            &Rated::default()
        )
        .is_err()
    );
}

/// 1000 A at -30 degrees and 11 547 V: 30 MW and 17.32 Mvar, with harmonics in the RMS only.
#[test]
fn power_is_that_of_the_phasors() {
    let mut rig = Rig::new(rated(4000.0, 50.0), &BaySettings::default(), true);
    let mut function = Mmxu::new(MmxuSettings::default(), &rig.rated).unwrap();
    let mut found = None;
    for n in 0..4000u64 {
        let mut samples = eight(
            balanced(1000.0, -30.0),
            balanced(11_547.005_383_792_515, 0.0),
            50.2,
            4000.0,
            n,
        );
        for (phase, sample) in samples.iter_mut().take(3).enumerate() {
            *sample += common::instant(balanced(300.0, 0.0)[(3 - phase) % 3], 251.0, 4000.0, n);
        }
        let set = *rig.push(samples);
        if n % 4 == 0 {
            match function.step(&Inputs::of(&[set])) {
                Ok(values) => found = values.copied(),
                Err(blocks) => assert!(n < 81 && blocks == Blocks::SETTLING),
            }
        }
    }
    let found = found.expect("values");
    assert!((found.total_w / 30e6 - 1.0).abs() < 5e-4, "{found:?}");
    assert!((found.total_var / 17.320_508e6 - 1.0).abs() < 1e-3, "{found:?}");
    assert!((found.total_va / 34.641_016e6 - 1.0).abs() < 5e-4);
    assert!((found.power_factor.unwrap() - 0.866_025).abs() < 5e-4);
    assert!((found.hz.unwrap() - 50.2).abs() < 1e-3);
    for phase in 0..3 {
        assert!((found.current_a[phase] / 1_044.03 - 1.0).abs() < 1e-3, "{found:?}");
        assert!((found.voltage_v[phase] / 11_547.0 - 1.0).abs() < 5e-4);
        assert!((found.phase_to_phase_v[phase] / 20_000.0 - 1.0).abs() < 5e-4);
        assert!((found.active_w[phase] / 10e6 - 1.0).abs() < 2e-3);
    }
    // Power that flows back is negative.
    let mut back = currents(balanced(-1.0, 0.0));
    let mut function = Mmxu::new(MmxuSettings::default(), &Rated::default()).unwrap();
    let mut found = None;
    for at in 0..300 {
        back.at = at * 4;
        found = function.step(&Inputs::of(&[back])).unwrap().copied();
    }
    assert!(found.unwrap().total_w < 0.0 && found.unwrap().power_factor.unwrap() < -0.999);
    assert_eq!(found.unwrap().hz, None, "no frequency was measured");
}

#[test]
fn imbalance_is_a_share_of_the_positive_sequence() {
    let set = Measured::of(
        0,
        [
            Complex::degrees(100.0, 0.0),
            Complex::degrees(100.0, -120.0),
            Complex::ZERO,
        ],
        balanced(11_547.0, 0.0),
    );
    let found = Msqi::of(&Inputs::of(&[set]), Source::default()).unwrap();
    assert!((found.current_imbalance.unwrap() - 0.5).abs() < 1e-12);
    assert!((found.current.zero.norm() - 33.333_333).abs() < 1e-6);
    assert!(found.voltage_imbalance.unwrap() < 1e-12);
    let nothing = Measured::of(0, [Complex::ZERO; 3], [Complex::ZERO; 3]);
    let found = Msqi::of(&Inputs::of(&[nothing]), Source::default()).unwrap();
    assert_eq!((found.current_imbalance, found.voltage_imbalance), (None, None));
}
