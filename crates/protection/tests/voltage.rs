//! PTUV, PTOV and the frequency functions.

mod common;

use common::{Rig, balanced, number, numbers, rated, run};
use protection::frequency::{FrequencyLimit, FrequencyProtection, FrequencySettings};
use protection::measure::{BaySettings, Blocks, Measured};
use protection::voltage::{Ptov, PtovSettings, Ptuv, PtuvSettings, VoltageCurve, VoltageQuantity};
use protection::{Complex, Function, Inputs, Phases, Rated};
use std::f64::consts::TAU;

fn voltages(shares: [f64; 3]) -> Measured {
    let healthy = balanced(Rated::default().phase_voltage_v(), 0.0);
    Measured::of(
        0,
        [Complex::ZERO; 3],
        [0, 1, 2].map(|phase| healthy[phase] * shares[phase]),
    )
}

fn all(share: f64) -> Measured {
    voltages([share; 3])
}

fn ptov(settings: PtovSettings) -> Ptov {
    Ptov::new(settings, &Rated::default()).expect("settings")
}

fn ptuv(settings: PtuvSettings) -> Ptuv {
    Ptuv::new(settings, &Rated::default()).expect("settings")
}

/// Table of section 3.6: formula within 10^-9, function within one task.
#[test]
fn inverse_overvoltage_has_its_times() {
    let numbers = numbers();
    for (name, curve) in [("A", VoltageCurve::A), ("B", VoltageCurve::B), ("C", VoltageCurve::C)] {
        for (multiple, seconds) in numbers["overvoltage_inverse_k1"][name].as_object().unwrap() {
            let (m, theirs): (f64, f64) = (multiple.parse().unwrap(), number(seconds));
            let ours = curve.over().unwrap().operate_s(m - 1.0, 1.0);
            assert!((ours - theirs).abs() < 1e-9 * theirs.max(1.0), "{name} at {m}: {ours}");
            let settings = PtovSettings {
                pickup: 1.0,
                curve,
                ..PtovSettings::default()
            };
            let (started, operated) = run(&mut ptov(settings), 4, 100.0, |_, _| vec![all(m)]);
            assert_eq!(started, Some(0.0));
            let late = operated.unwrap() - theirs;
            assert!((-1e-6..0.001_1).contains(&late), "{name} at {m}: {late}");
        }
    }
    let under = VoltageCurve::B.under().unwrap().operate_s(0.5, 1.0);
    assert!((under - (480.0 / 15.5f64.powi(2) + 0.055)).abs() < 1e-12);
}

#[test]
fn definite_times_and_hysteresis() {
    for share in [1.09, 1.2] {
        let (_, operated) = run(&mut ptov(PtovSettings::default()), 4, 2.0, |_, _| vec![all(share)]);
        assert_eq!(operated, (share > 1.1).then_some(1.0));
    }
    for share in [0.81, 0.79, 0.3] {
        let (_, operated) = run(&mut ptuv(PtuvSettings::default()), 4, 2.0, |_, _| vec![all(share)]);
        assert_eq!(operated, (share < 0.8).then_some(1.0), "{share}");
    }
    // Hysteresis of 4 %: 0.82 keeps the timer running, 0.84 resets it.
    for (back, expected) in [(0.82, Some(1.0)), (0.84, Some(1.501))] {
        let (_, operated) = run(&mut ptuv(PtuvSettings::default()), 4, 3.0, |seconds, _| {
            vec![all(if (0.5..0.501).contains(&seconds) { back } else { 0.7 })]
        });
        assert!(
            (operated.unwrap() - expected.unwrap()).abs() < 0.0011,
            "{back}: {operated:?}"
        );
    }
    // With a reset time the timer stands still.
    let slow = PtuvSettings {
        reset_ms: 200.0,
        ..PtuvSettings::default()
    };
    let (_, operated) = run(&mut ptuv(slow), 4, 3.0, |seconds, _| {
        vec![all(if (0.5..0.6).contains(&seconds) { 1.0 } else { 0.7 })]
    });
    assert!((operated.unwrap() - 1.1).abs() < 0.003, "{operated:?}");
}

#[test]
fn a_dead_line_is_not_low_voltage() {
    let mut function = ptuv(PtuvSettings::default());
    let output = function.step(&Inputs::of(&[all(0.1)]));
    assert_eq!((output.blocked, output.started), (Blocks::VOLTAGE, Phases::NONE));
    assert_eq!(run(&mut function, 4, 3.0, |_, _| vec![all(0.0)]).0, None);
    let always = PtuvSettings {
        dead_line: 0.0,
        ..PtuvSettings::default()
    };
    assert!(run(&mut ptuv(always), 4, 3.0, |_, _| vec![all(0.0)]).1.is_some());
}

#[test]
fn phases_and_how_many() {
    let one = voltages([0.3, 1.0, 1.0]);
    for (quantity, expected) in [
        (VoltageQuantity::PhaseToEarth, Phases::A),
        (VoltageQuantity::PhaseToPhase, Phases::ABC),
        (VoltageQuantity::PositiveSequence, Phases::ABC),
    ] {
        let output = ptuv(PtuvSettings {
            quantity,
            ..PtuvSettings::default()
        })
        .step(&Inputs::of(&[one]));
        assert_eq!(output.started, expected, "{quantity:?}");
    }
    let three = PtuvSettings {
        quantity: VoltageQuantity::PhaseToEarth,
        phases: 3,
        ..PtuvSettings::default()
    };
    assert!(!ptuv(three).step(&Inputs::of(&[one])).started.any());
    assert_eq!(ptuv(three).step(&Inputs::of(&[all(0.5)])).started, Phases::ABC);
}

/// An earth fault in an isolated network: 3 U0 is sqrt(3) Un when bolted.
#[test]
fn residual_overvoltage() {
    let healthy = all(1.0);
    let bolted = {
        let [_, b, c] = all(1.0).voltage;
        let a = all(1.0).voltage[0];
        Measured::of(0, [Complex::ZERO; 3], [Complex::ZERO, b - a, c - a])
    };
    for quantity in [VoltageQuantity::Residual, VoltageQuantity::PhaseSum] {
        for (pickup, expected) in [(0.2, Some(0.5)), (1.7, Some(0.5)), (1.74, None)] {
            let settings = PtovSettings {
                quantity,
                pickup,
                delay_ms: 500.0,
                ..PtovSettings::default()
            };
            assert_eq!(ptov(settings).node().ansi, "59N");
            assert_eq!(run(&mut ptov(settings), 4, 1.0, |_, _| vec![bolted]).1, expected);
            assert_eq!(run(&mut ptov(settings), 4, 1.0, |_, _| vec![healthy]).0, None);
        }
    }
    let negative = PtovSettings {
        quantity: VoltageQuantity::NegativeSequence,
        pickup: 0.1,
        ..PtovSettings::default()
    };
    assert_eq!(run(&mut ptov(negative), 4, 3.0, |_, _| vec![healthy]).0, None);
    assert!(
        run(&mut ptov(negative), 4, 3.0, |_, _| vec![voltages([0.5, 1.0, 1.0])])
            .1
            .is_some()
    );
}

/// Seconds from the change to start and operation of a frequency function, on samples.
fn frequency(settings: FrequencySettings, mut hz: impl FnMut(f64) -> f64, jump_deg: f64) -> (Option<f64>, Option<f64>) {
    let mut rig = Rig::new(rated(4000.0, 50.0), &BaySettings::default(), true);
    let mut function = FrequencyProtection::new(settings, &rig.rated).unwrap();
    let (mut started, mut operated) = (None, None);
    let mut turns = 0.0f64;
    for n in 0..16_000u64 {
        let since = n as f64 / 4000.0 - 1.0;
        turns = (turns + hz(since) / 4000.0).fract();
        let jump = if since >= 0.0 { jump_deg / 360.0 } else { 0.0 };
        let value = |shift: f64| 16_330.0 * (TAU * (turns + jump + shift)).cos();
        let set = *rig.push([0.0, 0.0, 0.0, 0.0, value(0.0), value(-1.0 / 3.0), value(1.0 / 3.0), 0.0]);
        if n % 4 != 0 {
            continue;
        }
        let output = function.step(&Inputs::of(&[set]));
        if output.started.any() {
            started = started.or(Some(since));
        }
        if output.operated.any() {
            operated = operated.or(Some(since));
        }
    }
    (started, operated)
}

#[test]
fn frequency_functions_operate_in_time() {
    for (limit, hz, expected) in [
        (FrequencyLimit::Under(49.0), 48.9, true),
        (FrequencyLimit::Under(49.0), 49.02, false),
        (FrequencyLimit::Over(51.5), 51.6, true),
        (FrequencyLimit::Over(51.5), 51.48, false),
        (FrequencyLimit::Under(47.5), 45.0, true),
    ] {
        let settings = FrequencySettings {
            limit,
            ..FrequencySettings::default()
        };
        let (started, operated) = frequency(settings, |since| if since < 0.0 { 50.0 } else { hz }, 0.0);
        assert_eq!(operated.is_some(), expected, "{limit:?} at {hz}");
        if expected {
            // Two cycles until a cycle's frequency is the new one, three more to confirm it.
            assert!(
                (0.06..=0.125).contains(&started.unwrap()),
                "{limit:?} at {hz}: {started:?}"
            );
            let took = operated.unwrap() - started.unwrap();
            assert!((0.199_999..=0.201_1).contains(&took), "{took}");
        }
    }
}

#[test]
fn rate_of_change_operates_on_ramps_and_not_on_jumps() {
    let falling = FrequencySettings {
        limit: FrequencyLimit::Falling(0.5),
        ..FrequencySettings::default()
    };
    for (slope, expected) in [(-1.0, true), (-0.55, true), (-0.45, false), (1.0, false)] {
        let (_, operated) = frequency(falling, |since| 50.0 + slope * since.max(0.0), 0.0);
        assert_eq!(operated.is_some(), expected, "{slope} Hz/s");
        if expected {
            assert!(operated.unwrap() < 0.45, "{operated:?}");
        }
    }
    for jump in [-30.0, -10.0, 10.0, 30.0] {
        let (_, operated) = frequency(falling, |_| 50.0, jump);
        assert_eq!(operated, None, "a jump of {jump} degrees");
        let under = FrequencySettings::default();
        assert_eq!(frequency(under, |_| 50.0, jump).1, None, "a jump of {jump} degrees");
    }
}

#[test]
fn without_voltage_frequency_functions_are_blocked() {
    let mut function = FrequencyProtection::new(FrequencySettings::default(), &Rated::default()).unwrap();
    assert_eq!(function.step(&Inputs::of(&[all(0.2)])).blocked, Blocks::VOLTAGE);
    assert_eq!(
        function.step(&Inputs::of(&[all(1.0)])).blocked,
        Blocks::VOLTAGE,
        "no frequency yet"
    );
}

#[test]
fn settings_outside_their_ranges_are_refused() {
    let rated = Rated::default();
    let over = |settings| Ptov::new(settings, &rated).expect_err("refused").to_string();
    assert_eq!(
        over(PtovSettings {
            pickup: 3.0,
            ..PtovSettings::default()
        }),
        "PTOV: pickup is 3 x rated; it must be 0.01 to 2 x rated"
    );
    let residual = VoltageQuantity::Residual;
    assert!(
        over(PtovSettings {
            quantity: residual,
            phases: 2,
            ..PtovSettings::default()
        })
        .contains("phases is 2; it must be 1 to 1")
    );
    let under = |settings| Ptuv::new(settings, &rated).expect_err("refused").to_string();
    assert!(
        under(PtuvSettings {
            dead_line: 0.9,
            ..PtuvSettings::default()
        })
        .contains("never start")
    );
    assert!(
        under(PtuvSettings {
            quantity: residual,
            ..PtuvSettings::default()
        })
        .contains("low without a fault")
    );
    assert!(
        under(PtuvSettings {
            curve: VoltageCurve::C,
            ..PtuvSettings::default()
        })
        .contains("use a or b")
    );
    let hz = |limit| {
        let settings = FrequencySettings {
            limit,
            ..FrequencySettings::default()
        };
        FrequencyProtection::new(settings, &rated)
            .expect_err("refused")
            .to_string()
    };
    assert_eq!(
        hz(FrequencyLimit::Under(51.0)),
        "PTUF: limit.under is 51 Hz; it must be 44 to 50 Hz"
    );
    assert!(hz(FrequencyLimit::Over(49.0)).starts_with("PTOF"));
    assert!(hz(FrequencyLimit::Rising(0.0)).starts_with("PFRC"));
    let short = FrequencySettings {
        delay_ms: 50.0,
        ..FrequencySettings::default()
    };
    assert!(FrequencyProtection::new(short, &rated).is_err());
}
