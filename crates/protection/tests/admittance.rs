//! PSDE against the network equations of the reference.

mod common;

use common::{number, numbers, run};
use protection::admittance::{Cumulative, OperateCurrent, OperationMode, Psde, PsdeSettings};
use protection::direction::Mode;
use protection::measure::{Bay, BaySettings, Blocks, Channel, Channels, Measured, ORDERS, Reference};
use protection::{Complex, Direction, Function, Inputs, Phases, Rated};
use serde_json::Value;

/// 20 kV, 100 A.
fn network() -> Rated {
    Rated {
        current_a: 100.0,
        ..Rated::default()
    }
}

fn psde(settings: PsdeSettings) -> Psde {
    Psde::new(settings, &network()).expect("settings")
}

fn milli(pair: &Value) -> Complex {
    Complex::new(number(&pair[0]), number(&pair[1])) * 1e-3
}

/// The sets of a case: U0 of `share` Uph, 3 I0 as its admittance has it; what the sum has more at the 5th harmonic.
fn case_set(case: &Value, share: f64, at: u64) -> Measured {
    let (first, sum) = (milli(&case["Y1_mS"]), milli(&case["Ysum_mS"]));
    let zero = Complex::degrees(share * network().phase_voltage_v(), 25.0);
    let mut set = set_of(first, zero, at);
    let fifth = sum.im - first.im;
    if fifth.abs() > 1e-9 {
        let voltage = Complex::degrees(0.05 * share * network().phase_voltage_v(), -70.0);
        set.set_phasor(Channel::UN, 5, voltage * 3.0);
        set.set_phasor(Channel::IN, 5, Complex::new(0.0, fifth) * -voltage);
    }
    set
}

fn set_of(admittance: Complex, zero: Complex, at: u64) -> Measured {
    let mut set = Measured {
        at,
        ..Measured::default()
    };
    for order in ORDERS {
        set.set_phasor(Channel::IN, order, Complex::ZERO);
    }
    set.residual_voltage = zero * 3.0;
    set.residual_current = admittance * -zero;
    set.rms[Channel::IN as usize] = set.residual_current.norm();
    set
}

/// All eight cases: admittance, direction, stabilised current, with faults of little and of much resistance.
#[test]
fn admittances_are_those_of_the_network() {
    let numbers = numbers();
    let reference = &numbers["neutral_admittance"];
    let cases = reference["cases"].as_array().unwrap();
    assert_eq!(cases.len(), 8);
    for case in cases {
        for share in [0.2, 1.0] {
            let mut function = psde(PsdeSettings::default());
            let mut output = Default::default();
            let mut at = 0;
            while at <= 4000 {
                output = function.step(&Inputs::of(&[case_set(case, share, at)]));
                at += 4;
            }
            let found = function.stabilised().unwrap();
            let sum = milli(&case["Ysum_mS"]);
            let angle = found.admittance.arg_degrees();
            assert!((angle - number(&case["angle_deg"])).abs() < 1e-3, "{case}: {angle}");
            assert!((found.admittance / found.admittance.norm() - sum / sum.norm()).norm() < 1e-5);
            let stabilised = Complex::new(number(&case["I_stab_A"][0]), number(&case["I_stab_A"][1]));
            assert!(
                (found.current - stabilised).norm() < 1e-4,
                "{case}: {:?}",
                found.current
            );
            assert!((found.current.norm() - number(&case["I_stab_abs_A"])).abs() < 1e-4);
            let forward = case["forward"].as_bool().unwrap();
            let direction = if forward {
                Direction::Forward
            } else {
                Direction::Reverse
            };
            assert_eq!(output.direction, direction, "{case}");
            assert_eq!(output.operated, Phases::NEUTRAL.when(forward), "{case}");
        }
    }
}

#[test]
fn one_wild_value_does_not_turn_the_sum() {
    let numbers = numbers();
    let sequence = &numbers["cps_sequence"];
    let mut sum = Cumulative::default();
    let steps = sequence["Ysum_mS"].as_array().unwrap();
    for (step, expected) in steps.iter().zip(sequence["accumulated_mS"].as_array().unwrap()) {
        sum.add(milli(step), Complex::ONE, Complex::ONE);
        assert!((sum.admittance() - milli(expected)).norm() < 1e-15);
    }
    assert!((sum.admittance().arg_degrees() - number(&sequence["final_angle_deg"])).abs() < 1e-6);
    sum.add(Complex::new(f64::NAN, 0.0), Complex::ONE, Complex::ONE);
    assert_eq!(sum.count(), 5);
}

fn inside() -> Value {
    numbers()["neutral_admittance"]["cases"][3].clone()
}

fn outside() -> Value {
    numbers()["neutral_admittance"]["cases"][2].clone()
}

#[test]
fn it_operates_in_its_time_and_resets() {
    let (inside, outside) = (inside(), outside());
    for delay in [60.0, 500.0] {
        let settings = PsdeSettings {
            operate_delay_ms: delay,
            ..PsdeSettings::default()
        };
        let (started, operated) = run(&mut psde(settings), 4, 2.0, |_, at| vec![case_set(&inside, 0.5, at)]);
        assert_eq!((started, operated), (Some(0.0), Some(delay / 1000.0)));
        assert_eq!(
            run(&mut psde(settings), 4, 2.0, |_, at| vec![case_set(&outside, 0.5, at)]),
            (None, None)
        );
        assert_eq!(
            run(&mut psde(settings), 4, 2.0, |_, at| vec![case_set(&inside, 0.09, at)]),
            (None, None)
        );
    }
    let reverse = PsdeSettings {
        mode: Mode::Reverse,
        current: OperateCurrent::Amplitude,
        ..PsdeSettings::default()
    };
    assert!(
        run(&mut psde(reverse), 4, 2.0, |_, at| vec![case_set(&outside, 0.5, at)])
            .1
            .is_some()
    );
    assert!(
        run(&mut psde(reverse), 4, 2.0, |_, at| vec![case_set(&inside, 0.5, at)])
            .1
            .is_none()
    );
    // Voltage gone for 300 ms: the timer stands still. For 600 ms: all is forgotten.
    for (pause, expected) in [(0.3, 0.802), (0.6, 1.3)] {
        let (_, operated) = run(&mut psde(PsdeSettings::default()), 4, 3.0, |seconds, at| {
            let gone = (0.2..0.2 + pause).contains(&seconds);
            vec![case_set(&inside, if gone { 0.01 } else { 0.5 }, at)]
        });
        assert!((operated.unwrap() - expected).abs() < 0.003, "{pause}: {operated:?}");
    }
    // Released by another function it works at a tenth of the voltage.
    let mut function = psde(PsdeSettings::default());
    function.release(true);
    assert!(
        run(&mut function, 4, 2.0, |_, at| vec![case_set(&inside, 0.02, at)])
            .1
            .is_some()
    );
}

/// The resistive current of 5 A is compared where the network is compensated, the magnitude where it is not.
#[test]
fn the_operate_current_is_the_set_one() {
    let inside = inside();
    for (current, least, expected) in [
        (OperateCurrent::Resistive, 0.049, true),
        (OperateCurrent::Resistive, 0.051, false),
        (OperateCurrent::Amplitude, 0.139, true),
        (OperateCurrent::Amplitude, 0.140, false),
        (OperateCurrent::Adaptive, 0.051, false),
    ] {
        let settings = PsdeSettings {
            current,
            least_current: least,
            ..PsdeSettings::default()
        };
        let started = run(&mut psde(settings), 4, 0.1, |_, at| vec![case_set(&inside, 0.5, at)]).0;
        assert_eq!(started.is_some(), expected, "{current:?} {least}");
    }
    let unearthed = numbers()["neutral_admittance"]["cases"][1].clone();
    let adaptive = PsdeSettings {
        least_current: 0.4,
        ..PsdeSettings::default()
    };
    assert!(
        run(&mut psde(adaptive), 4, 0.1, |_, at| vec![case_set(&unearthed, 0.5, at)])
            .0
            .is_some()
    );
}

/// Strikes of 10 ms every 100 ms while the voltage stays: general and intermittent operate, a single strike only general.
#[test]
fn intermittent_faults_are_counted() {
    let (inside, zero) = (inside(), Complex::degrees(5000.0, 25.0));
    let strikes = |every: f64| {
        let inside = inside.clone();
        move |seconds: f64, at| {
            let strike = seconds.rem_euclid(every) < 0.01;
            vec![if strike {
                case_set(&inside, 1.0, at)
            } else {
                set_of(Complex::new(2e-5, -2e-5), zero, at)
            }]
        }
    };
    let of = |operation| {
        psde(PsdeSettings {
            operation,
            least_current: 0.005,
            ..PsdeSettings::default()
        })
    };
    for operation in [
        OperationMode::General,
        OperationMode::Intermittent,
        OperationMode::Alarming,
    ] {
        assert!(
            run(&mut of(operation), 4, 3.0, strikes(0.1)).1.is_some(),
            "{operation:?}"
        );
        let once = run(&mut of(operation), 4, 3.0, |_, at| vec![case_set(&inside, 1.0, at)]).1;
        assert_eq!(once.is_some(), operation != OperationMode::Intermittent);
    }
}

/// Samples of a network with harmonics, from the fault on: the healthy feeder never operates, the faulted one does.
#[test]
fn faults_on_samples() {
    let rated = network();
    for (admittance, fifth, expected) in [
        (Complex::new(0.0, -0.866e-3), -4.33e-3, false),
        (Complex::new(0.0, -0.866e-3), 0.0, false),
        (Complex::new(0.433e-3, -1.126e-3), 20.6e-3, true),
        (Complex::new(0.433e-3, -0.866e-3), 0.0, true),
        (Complex::new(0.0, 4.33e-3), 21.6e-3, true),
    ] {
        for step in 0..8 {
            let measuring = BaySettings {
                harmonics: ORDERS[1..].to_vec(),
                ..BaySettings::default()
            };
            let mut reference = Reference::new(&rated, 0);
            let mut bay = Bay::new(&measuring, &rated).unwrap();
            let mut set = Measured::default();
            let mut function = psde(PsdeSettings::default());
            let zero = Complex::degrees(rated.phase_voltage_v(), f64::from(step) * 45.0);
            let harmonic = zero * 0.04;
            let mut operated = None;
            for n in 0..6000u64 {
                let mut samples = [0.0; 8];
                if n >= 400 {
                    let value = |phasor, hz| common::instant(phasor, hz, 4000.0, n);
                    samples[7] = value(zero * 3.0, 50.0) + value(harmonic * 3.0, 250.0);
                    samples[3] = value(admittance * -zero, 50.0) + value(Complex::new(0.0, fifth) * -harmonic, 250.0);
                }
                let at = reference.advance();
                bay.push(&reference, at, &samples, Channels::NONE);
                if n % 4 == 0 {
                    bay.measure(&reference, &mut set);
                    if function.step(&Inputs::of(&[set])).operated.any() && operated.is_none() {
                        operated = Some((n - 400) as f64 / 4.0);
                    }
                }
            }
            assert_eq!(
                operated.is_some(),
                expected,
                "{admittance:?} {fifth} {step}: {operated:?}"
            );
            assert!(operated.is_none_or(|ms| (500.0..560.0).contains(&ms)), "{operated:?}");
        }
    }
}

#[test]
fn it_needs_its_harmonics_and_its_settings() {
    let mut set = case_set(&inside(), 0.5, 0);
    set.orders = 1;
    assert_eq!(
        psde(PsdeSettings::default()).step(&Inputs::of(&[set])).blocked,
        Blocks::MISSING
    );
    let without = PsdeSettings {
        harmonics: false,
        ..PsdeSettings::default()
    };
    assert!(psde(without).step(&Inputs::of(&[set])).started.any());
    let of = |settings| Psde::new(settings, &network()).expect_err("refused").to_string();
    let default = PsdeSettings::default();
    assert_eq!(
        of(PsdeSettings {
            tilt_deg: 30.0,
            ..default
        }),
        "PSDE: tilt-deg is 30 degrees; it must be 2 to 20 degrees"
    );
    assert!(
        of(PsdeSettings {
            operate_delay_ms: 50.0,
            ..default
        })
        .contains("60 to 1200000 ms")
    );
    assert!(of(PsdeSettings { peaks: 1, ..default }).contains("peaks is 1"));
}

/// The forward sector goes from -85 to 95 degrees with a tilt of 5, and from -75 to 105 with one of 15.
#[test]
fn the_sector_is_tilted() {
    for (tilt_deg, angle, expected) in [
        (5.0, -84.0, Direction::Forward),
        (5.0, -86.0, Direction::Reverse),
        (5.0, 94.0, Direction::Forward),
        (5.0, 96.0, Direction::Reverse),
        (5.0, 180.0, Direction::Reverse),
        (15.0, -76.0, Direction::Reverse),
        (15.0, -74.0, Direction::Forward),
        (15.0, 104.0, Direction::Forward),
    ] {
        let mut function = psde(PsdeSettings {
            tilt_deg,
            ..PsdeSettings::default()
        });
        let set = set_of(Complex::degrees(2e-3, angle), Complex::degrees(5000.0, 10.0), 0);
        let output = function.step(&Inputs::of(&[set]));
        assert_eq!(output.direction, expected, "{tilt_deg} {angle}");
    }
}
