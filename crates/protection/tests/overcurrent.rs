//! PTOC and PIOC against the reference numbers.

mod common;

use common::{Rig, balanced, currents, number, numbers, phase_a, rated, run};
use protection::direction::PhaseDirectionSettings;
use protection::measure::{BaySettings, Blocks, Channels};
use protection::overcurrent::{
    Constants, CurrentQuantity, Curve, Pioc, PiocSettings, Ptoc, PtocDirection, PtocSettings, Reset,
};
use protection::{Complex, Function, Inputs, Phases, Rated};

const CURVES: [(&str, Curve); 8] = [
    ("A_standard_inverse", Curve::IecNormalInverse),
    ("B_very_inverse", Curve::IecVeryInverse),
    ("C_extremely_inverse", Curve::IecExtremelyInverse),
    ("IEC_long_time_inverse", Curve::IecLongTimeInverse),
    ("IEC_short_time_inverse", Curve::IecShortTimeInverse),
    ("D_IEEE_moderately_inverse", Curve::IeeeModeratelyInverse),
    ("E_IEEE_very_inverse", Curve::IeeeVeryInverse),
    ("F_IEEE_extremely_inverse", Curve::IeeeExtremelyInverse),
];

fn ptoc(settings: PtocSettings) -> Ptoc {
    Ptoc::new(settings, &Rated::default()).expect("settings")
}

fn inverse(curve: Curve) -> PtocSettings {
    PtocSettings {
        pickup: 1.0,
        curve,
        time_multiplier: 1.0,
        ..PtocSettings::default()
    }
}

/// Table of section 3.4: formula within 10^-6, function within one task of 1 ms.
#[test]
fn curves_have_their_times() {
    let numbers = numbers();
    for (name, curve) in CURVES {
        let table = numbers["inverse_time"][name]["t_at_TMS1"].as_object().unwrap();
        assert_eq!(table.len(), 8);
        for (multiple, seconds) in table {
            let (m, theirs): (f64, f64) = (multiple.parse().unwrap(), number(seconds));
            let ours = curve.constants().unwrap().operate_s(m);
            assert!(
                (ours - theirs).abs() <= 1e-6 * theirs.max(1.0),
                "{name} at {m}: {ours}, {theirs}"
            );
            let mut function = ptoc(PtocSettings {
                time_multiplier: 0.1,
                ..inverse(curve)
            });
            let (started, operated) = run(&mut function, 4, 200.0, |_, _| vec![phase_a(m)]);
            assert_eq!(started, Some(0.0));
            let late = operated.expect("an operation") - 0.1 * theirs;
            // Below 20 ms the minimum operate time holds.
            let minimum = (0.02 - 0.1 * theirs).max(0.0);
            assert!(
                (-1e-6..=0.001_1 + minimum).contains(&late),
                "{name} at {m}: {late} s late"
            );
        }
    }
}

#[test]
fn a_varying_current_is_integrated() {
    let theirs = number(&numbers()["integrated_SI_0.1_M2_0.5s_then_M10"]);
    let mut function = ptoc(PtocSettings {
        time_multiplier: 0.1,
        ..inverse(Curve::IecNormalInverse)
    });
    let (_, operated) = run(&mut function, 1, 2.0, |seconds, _| {
        vec![phase_a(if seconds <= 0.5 { 2.0 } else { 10.0 })]
    });
    let late = operated.unwrap() - theirs;
    assert!((-0.000_3..=0.000_6).contains(&late), "{late}");
}

/// After most of the way, a pause; the time that is then still needed says how much was left.
fn after_a_pause(settings: PtocSettings, pause_s: f64, pause: f64) -> f64 {
    let constants = settings.curve.constants().unwrap();
    let most = 0.9 * settings.time_multiplier * constants.operate_s(2.0);
    let mut function = ptoc(settings);
    let (_, operated) = run(&mut function, 4, 200.0, |seconds, _| {
        let paused = (most..most + pause_s).contains(&seconds);
        vec![phase_a(if paused { pause } else { 2.0 })]
    });
    let whole = settings.time_multiplier * constants.operate_s(2.0);
    1.0 - (operated.unwrap() - most - pause_s) / whole
}

#[test]
fn resets_are_as_set() {
    let numbers = numbers();
    let immediate = inverse(Curve::IeeeVeryInverse);
    assert!(after_a_pause(immediate, 0.1, 0.5).abs() < 0.01);

    let definite = PtocSettings {
        reset: Reset::DefiniteTime,
        reset_ms: 500.0,
        ..immediate
    };
    assert!((after_a_pause(definite, 0.4, 0.5) - 0.9).abs() < 0.01);
    assert!(after_a_pause(definite, 0.6, 0.5).abs() < 0.01);

    for (name, curve) in &CURVES[5..] {
        let table = numbers["inverse_time"][name]["t_reset_at_TMS1"].as_object().unwrap();
        for (multiple, seconds) in table {
            let (m, theirs): (f64, f64) = (multiple.parse().unwrap(), number(seconds));
            let ours = curve.constants().unwrap().reset_s(m).unwrap();
            assert!((ours - theirs).abs() < 1e-6, "{name} {m}: {ours}");
            let settings = PtocSettings {
                reset: Reset::Inverse,
                ..inverse(*curve)
            };
            let left = after_a_pause(settings, 0.3 * theirs, m);
            assert!((left - 0.6).abs() < 0.01, "{name} {m}: {left}");
        }
    }
}

#[test]
fn definite_time_is_exact_and_resets() {
    let settings = PtocSettings {
        delay_ms: 300.0,
        ..PtocSettings::default()
    };
    for task in [1, 4, 5] {
        let (started, operated) = run(&mut ptoc(settings), task, 1.0, |seconds, _| {
            vec![phase_a(if seconds < 0.1 { 1.19 } else { 1.21 })]
        });
        assert!((started.unwrap() - 0.1).abs() < 0.001_3);
        let took = operated.unwrap() - started.unwrap();
        assert!((0.3..0.301_3).contains(&took), "{task}: {took}");
    }
    // A current that falls below 0.96 of the setting once resets; one that stays above does not.
    for (dip, expected) in [(1.16, 0.3), (1.14, 0.401)] {
        let (_, operated) = run(&mut ptoc(settings), 4, 1.0, |seconds, _| {
            vec![phase_a(if (0.1..0.1005).contains(&seconds) { dip } else { 1.5 })]
        });
        assert!((operated.unwrap() - expected).abs() < 0.0015, "{dip}: {operated:?}");
    }
}

#[test]
fn phases_are_told_apart() {
    let mut function = ptoc(PtocSettings {
        delay_ms: 0.0,
        ..PtocSettings::default()
    });
    let two = currents([
        Complex::ZERO,
        Complex::degrees(2.0, 10.0),
        Complex::degrees(2.0, -170.0),
    ]);
    let output = function.step(&Inputs::of(&[two]));
    assert_eq!(
        (output.started, output.operated),
        (Phases::B | Phases::C, Phases::B | Phases::C)
    );
    assert_eq!(function.node().to_string(), "PTOC (51)");

    let mut negative = ptoc(PtocSettings {
        quantity: CurrentQuantity::NegativeSequence,
        pickup: 0.2,
        delay_ms: 100.0,
        ..PtocSettings::default()
    });
    assert_eq!(negative.node().ansi, "46");
    // An open phase leaves I2 of a third: 1 and -1 in B and C give 0.577.
    let (_, operated) = run(&mut negative, 4, 1.0, |_, _| vec![two]);
    assert!((operated.unwrap() - 0.1).abs() < 0.001_1);
    let healthy = currents(balanced(1.0, -30.0));
    assert_eq!(run(&mut negative, 4, 10.0, |_, _| vec![healthy]).0, None);

    for quantity in [CurrentQuantity::Residual, CurrentQuantity::PhaseSum] {
        let mut earth = ptoc(PtocSettings {
            quantity,
            pickup: 0.1,
            delay_ms: 100.0,
            ..PtocSettings::default()
        });
        assert_eq!(run(&mut earth, 4, 1.0, |_, _| vec![healthy]).0, None);
        let output = earth.step(&Inputs::of(&[phase_a(0.11)]));
        assert_eq!(output.started, Phases::NEUTRAL);
    }
}

#[test]
fn a_healthy_feeder_never_starts() {
    let mut functions: Vec<Box<dyn Function>> = vec![
        Box::new(Pioc::new(PiocSettings::default(), &Rated::default()).unwrap()),
        Box::new(ptoc(PtocSettings::default())),
        Box::new(ptoc(PtocSettings {
            quantity: CurrentQuantity::PhaseSum,
            pickup: 0.1,
            ..PtocSettings::default()
        })),
    ];
    let mut rig = Rig::new(rated(4000.0, 50.0), &BaySettings::default(), true);
    for n in 0..40_000 {
        let hz = 50.0;
        let mut samples = common::eight(balanced(1150.0, -20.0), balanced(11_547.0, 0.0), hz, 4000.0, n);
        for (phase, sample) in samples.iter_mut().take(3).enumerate() {
            let fifth = balanced(200.0, 5.0)[(3 - phase) % 3];
            *sample += common::instant(fifth, 250.0, 4000.0, n);
        }
        let set = *rig.push(samples);
        for function in &mut functions {
            let output = function.step(&Inputs::of(&[set]));
            assert!(!output.started.any(), "{n} {}", function.node());
            assert_eq!(output.blocked == Blocks::SETTLING, n < 81, "{n}");
        }
    }
}

#[test]
fn blocked_says_why_and_does_not_operate() {
    let mut function = ptoc(PtocSettings {
        delay_ms: 100.0,
        ..PtocSettings::default()
    });
    assert_eq!(function.step(&Inputs::of(&[])).blocked, Blocks::MISSING);
    let mut set = phase_a(10.0);
    for (at, (bad, stream, expected)) in [
        (Channels(1), Blocks::NONE, Blocks::QUALITY),
        (Channels(0b1111_1000), Blocks::NONE, Blocks::NONE),
        (Channels::NONE, Blocks::LOST, Blocks::LOST),
        (Channels::NONE, Blocks::CONFLICT, Blocks::CONFLICT),
    ]
    .into_iter()
    .enumerate()
    {
        set.at = 1000 * at as u64;
        set.health.bad = bad;
        set.health.stream = stream;
        let output = function.step(&Inputs::of(&[set]));
        assert_eq!(output.blocked, expected, "{at}");
        assert_eq!(output.started.any(), !expected.any());
        assert!(!output.operated.any(), "time while blocked does not count");
    }
    set.health = protection::measure::Health::default();
    let blocked = Inputs {
        sets: &[set],
        blocked: Blocks::EXTERNAL,
        waves: None,
    };
    assert_eq!(function.step(&blocked).blocked, Blocks::EXTERNAL);
    set.current[1].re = f64::NAN;
    assert_eq!(function.step(&Inputs::of(&[set])).blocked, Blocks::QUALITY);
}

#[test]
fn settings_outside_their_ranges_are_refused() {
    let rated = Rated::default();
    let of = |change: &dyn Fn(&mut PtocSettings)| {
        let mut settings = PtocSettings::default();
        change(&mut settings);
        Ptoc::new(settings, &rated).expect_err("refused").to_string()
    };
    assert_eq!(
        of(&|s| s.pickup = 41.0),
        "PTOC: pickup is 41 x In; it must be 0.005 to 40 x In"
    );
    assert_eq!(
        of(&|s| s.time_multiplier = 0.01),
        "PTOC: time-multiplier is 0.01; it must be 0.05 to 15"
    );
    assert!(of(&|s| s.delay_ms = f64::NAN).contains("delay-ms is NaN ms"));
    assert!(of(&|s| s.reset_ratio = 1.0).contains("0.8 to 0.99"));
    assert!(of(&|s| s.reset = Reset::Inverse).contains("reset-tr-s"));
    assert!(of(&|s| s.reset = Reset::DefiniteTime).contains("reset-ms above 0"));
    assert!(of(&|s| s.direction = PtocDirection::Earth(Default::default())).contains("phase-sum"));
    let own = Constants {
        k: 0.0,
        c: 0.0,
        alpha: 1.0,
        tr: None,
    };
    assert!(of(&|s| s.curve = Curve::User(own)).contains("curve.user.k"));
    let sector = PhaseDirectionSettings {
        sector_deg: 10.0,
        ..Default::default()
    };
    assert!(of(&|s| s.direction = PtocDirection::Phase(sector)).contains("RDIR: sector-deg is 10 degrees"));
    let pioc = |settings| Pioc::new(settings, &rated).expect_err("refused").to_string();
    assert!(
        pioc(PiocSettings {
            pickup: 0.0,
            ..PiocSettings::default()
        })
        .contains("PIOC: pickup is 0 x In")
    );
    assert!(
        pioc(PiocSettings {
            confirmations: 0,
            ..PiocSettings::default()
        })
        .contains("1 to 20 tasks")
    );
    assert!(
        toml::from_str::<PtocSettings>("pickpu = 3").is_err(),
        "a word that is none"
    );
    let curve: PtocSettings = toml::from_str("curve = { user = { k = 1.0, c = 0.0, alpha = 1.0 } }").unwrap();
    assert!(Ptoc::new(curve, &rated).is_ok());
    let curve: PtocSettings =
        toml::from_str("curve = \"iec-very-inverse\"\nreset-tr-s = 10\nreset = \"inverse\"").unwrap();
    assert!(Ptoc::new(curve, &rated).is_ok());
}

/// Above 20 times the setting a curve is definite time.
#[test]
fn curves_end_at_twenty_times() {
    for (most, expected) in [(20.0, 0.226_736), (100.0, 0.182_845)] {
        let settings = PtocSettings {
            time_multiplier: 0.1,
            most,
            ..inverse(Curve::IecNormalInverse)
        };
        let (_, operated) = run(&mut ptoc(settings), 4, 1.0, |_, _| vec![phase_a(40.0)]);
        let late = operated.unwrap() - expected;
        assert!((-1e-6..0.001_1).contains(&late), "{most}: {late}");
    }
}
