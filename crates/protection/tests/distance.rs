//! PDIS against the reference network.

mod common;

use common::{balanced, numbers, polar, polars};
use protection::direction::Mode;
use protection::distance::{LoadEncroachment, Loop, Loops, MhoPolarising, Pdis, PdisSettings, Shape, check_zones};
use protection::measure::{Blocks, Measured};
use protection::{Complex, Function, Inputs, Phases, Rated};
use serde_json::Value;

/// 110 V and 5 A: the scale of the reference network.
fn network() -> Rated {
    Rated {
        current_a: 5.0,
        voltage_v: 110.0,
        ..Rated::default()
    }
}

fn zone(settings: PdisSettings) -> PdisSettings {
    let numbers = numbers();
    let k0 = polar(&numbers["distance"]["K0"]);
    PdisSettings {
        k0: k0.norm(),
        k0_deg: k0.arg_degrees(),
        ..settings
    }
}

fn pdis(settings: PdisSettings) -> Pdis {
    Pdis::new(zone(settings), &network()).expect("settings")
}

fn quadrilateral() -> Shape {
    Shape::Quadrilateral {
        phase_resistance_ohm: 2.5,
        earth_resistance_ohm: 2.5,
        below_deg: 15.0,
        beyond_deg: 115.0,
    }
}

fn own_voltage() -> Shape {
    Shape::Mho {
        polarising: MhoPolarising::OwnVoltage,
    }
}

fn case_set(case: &Value, at: u64, sign: f64) -> Measured {
    let (voltage, current) = (polars(&case["V"]), polars(&case["I"]));
    Measured::of(
        at,
        [0, 1, 2].map(|phase| current[phase] * sign),
        [0, 1, 2].map(|phase| voltage[phase]),
    )
}

/// Section 3.8: all loops of all cases within 10^-5.
#[test]
fn loops_have_their_impedances() {
    let numbers = numbers();
    let cases = numbers["distance"]["cases"].as_array().unwrap();
    assert_eq!(cases.len(), 8);
    for case in cases {
        let set = case_set(case, 0, 1.0);
        let loops = Loops::of(&set, &set, zone(PdisSettings::default()).compensation(), 0.25);
        for (each, name) in Loop::ALL.into_iter().zip(["AN", "BN", "CN", "AB", "BC", "CA"]) {
            let theirs = &case["loops"][name];
            match loops.impedance(each) {
                Some(ours) if !theirs.is_null() => {
                    let theirs = polar(theirs);
                    assert!(
                        (ours - theirs).norm() < 1e-5 * theirs.norm(),
                        "{} {name}: {ours:?}",
                        case["fault"]
                    );
                }
                ours => assert!(ours.is_none() && theirs.is_null(), "{} {name}: {ours:?}", case["fault"]),
            }
        }
    }
}

fn faulted_phases(case: &Value) -> Phases {
    match case["measured_loop"].as_str().unwrap() {
        "AN" => Phases::A | Phases::NEUTRAL,
        "BC" => Phases::B | Phases::C,
        "AB" => Phases::ABC,
        other => panic!("{other}"),
    }
}

/// Trips and does not trip as the reference says, in the right phases, and never backwards.
#[test]
fn zones_trip_as_the_reference_says() {
    let numbers = numbers();
    for case in numbers["distance"]["cases"].as_array().unwrap() {
        let inside = case["mho_80pct_self_polarised_trips"].as_bool().unwrap();
        for shape in [own_voltage(), Shape::default(), quadrilateral()] {
            for (mode, sign) in [
                (Mode::Forward, 1.0),
                (Mode::Forward, -1.0),
                (Mode::Reverse, -1.0),
                (Mode::Reverse, 1.0),
            ] {
                let mut function = pdis(PdisSettings {
                    shape,
                    mode,
                    ..PdisSettings::default()
                });
                let mut output = Default::default();
                for at in 0..10 {
                    output = function.step(&Inputs::of(&[case_set(case, 4 * at, sign)]));
                    assert!(at >= 1 || !output.operated.any(), "two tasks confirm");
                }
                let ahead = (mode == Mode::Forward) == (sign > 0.0);
                let expected = if inside && ahead {
                    faulted_phases(case)
                } else {
                    Phases::NONE
                };
                let what = format!(
                    "{} m {} Rf {}: {shape:?} {mode:?} {sign}",
                    case["fault"], case["m"], case["Rf"]
                );
                assert_eq!(output.operated, expected, "{what}");
            }
        }
    }
}

/// Starts at 0.98 of the reach and not at 1.02, on the line angle, for all loops.
#[test]
fn the_reach_is_exact_and_has_its_hysteresis() {
    for shape in [own_voltage(), Shape::default(), quadrilateral()] {
        let mut function = pdis(PdisSettings {
            shape,
            ..PdisSettings::default()
        });
        let mut step = |share: f64, at: u64| {
            let current = balanced(10.0, -75.0);
            let voltage = balanced(10.0 * 3.2 * share, 0.0);
            function
                .step(&Inputs::of(&[Measured::of(at, current, voltage)]))
                .started
                .any()
        };
        let found = [1.02, 0.98, 1.02, 1.04, 1.06, 1.02].map(|share| step(share, 0));
        assert_eq!(found, [false, true, true, true, false, false], "{shape:?}");
    }
}

#[test]
fn delays_are_those_of_the_loops() {
    let numbers = numbers();
    let cases = &numbers["distance"]["cases"];
    let settings = PdisSettings {
        zone: 2,
        phase_delay_ms: 300.0,
        earth_delay_ms: 400.0,
        ..PdisSettings::default()
    };
    for (case, expected) in [(&cases[0], 0.4), (&cases[4], 0.3)] {
        let (started, operated) = common::run(&mut pdis(settings), 4, 1.0, |_, at| vec![case_set(case, at, 1.0)]);
        assert_eq!((started, operated), (Some(0.0), Some(expected)));
    }
    let none = PdisSettings {
        earth_loops: false,
        ..PdisSettings::default()
    };
    assert_eq!(
        common::run(&mut pdis(none), 4, 1.0, |_, at| vec![case_set(&cases[0], at, 1.0)]).0,
        None
    );
}

/// Load never starts a zone that cuts it out, however long the reach; a fault does.
#[test]
fn load_does_not_encroach() {
    let load = LoadEncroachment {
        resistance_ohm: 5.0,
        angle_deg: 35.0,
    };
    let far = PdisSettings {
        zone: 3,
        reach_ohm: 20.0,
        load: Some(load),
        ..PdisSettings::default()
    };
    for shape in [
        own_voltage(),
        Shape::default(),
        Shape::Quadrilateral {
            phase_resistance_ohm: 30.0,
            earth_resistance_ohm: 30.0,
            below_deg: 15.0,
            beyond_deg: 115.0,
        },
    ] {
        let without = PdisSettings {
            load: None,
            shape,
            ..far
        };
        let mut trips = 0;
        for degrees in (-30..=30).step_by(5) {
            let set = Measured::of(0, balanced(10.0, f64::from(-degrees)), balanced(63.5, 0.0));
            let starts = |settings| pdis(settings).step(&Inputs::of(&[set])).started.any();
            assert!(!starts(PdisSettings { shape, ..far }), "{degrees} degrees");
            trips += u32::from(starts(without));
        }
        assert!(trips > 3, "the load would have started it");
        let fault = Measured::of(0, balanced(10.0, -75.0), balanced(63.5, 0.0));
        assert!(
            pdis(PdisSettings { shape, ..far })
                .step(&Inputs::of(&[fault]))
                .started
                .any()
        );
    }
}

/// A bolted fault in front of the relay leaves no voltage: the memory decides. Behind the relay it decides too.
#[test]
fn close_faults_are_decided_by_memory() {
    for shape in [own_voltage(), Shape::default(), quadrilateral()] {
        for (sign, expected) in [(1.0, true), (-1.0, false)] {
            let mut function = pdis(PdisSettings {
                shape,
                ..PdisSettings::default()
            });
            let (started, operated) = common::run(&mut function, 4, 0.5, |seconds, at| {
                vec![if seconds < 0.1 {
                    Measured::of(at, balanced(2.0, -10.0), balanced(63.5, 0.0))
                } else {
                    Measured::of(at, balanced(60.0 * sign, -80.0), [Complex::ZERO; 3])
                }]
            });
            assert_eq!(
                (started.is_some(), operated.is_some()),
                (expected, expected),
                "{shape:?} {sign}"
            );
        }
    }
    let dead = Measured::of(0, balanced(60.0, -80.0), [Complex::ZERO; 3]);
    assert!(
        !pdis(PdisSettings::default()).step(&Inputs::of(&[dead])).started.any(),
        "nothing to decide with"
    );
}

#[test]
fn blocked_without_voltage_or_time() {
    let mut function = Pdis::new(
        toml::from_str("source = { current = 0, voltage = 1 }").unwrap(),
        &network(),
    )
    .unwrap();
    let set = Measured::of(0, balanced(20.0, -75.0), balanced(20.0, 0.0));
    assert_eq!(function.step(&Inputs::of(&[set])).blocked, Blocks::MISSING);
    assert_eq!(function.step(&Inputs::of(&[set, set])).blocked, Blocks::SYNCHRONISATION);
    let mut lost = [set, set];
    for each in &mut lost {
        each.health.synch.value = 2;
    }
    assert!(function.step(&Inputs::of(&lost)).started.any());
    lost[1].health.stream = Blocks::LOST;
    assert_eq!(function.step(&Inputs::of(&lost)).blocked, Blocks::LOST);
}

#[test]
fn settings_outside_their_ranges_are_refused() {
    let of = |settings| Pdis::new(settings, &network()).expect_err("refused").to_string();
    let default = PdisSettings::default();
    assert_eq!(
        of(PdisSettings {
            reach_ohm: 0.0,
            ..default
        }),
        "PDIS: reach-ohm is 0 ohm; it must be 0.01 to 1000 ohm"
    );
    assert!(of(PdisSettings { k0: -1.0, ..default }).contains("k0 is -1"));
    assert!(of(PdisSettings { zone: 6, ..default }).contains("zone is 6"));
    let load = Some(LoadEncroachment {
        resistance_ohm: 1.0,
        angle_deg: 80.0,
    });
    assert!(of(PdisSettings { load, ..default }).contains("load.angle-deg"));
    let second = PdisSettings {
        zone: 2,
        reach_ohm: 3.0,
        ..default
    };
    let error = check_zones(&[default, second]).unwrap_err().to_string();
    assert_eq!(
        error,
        "PDIS: zone 1 reaches 3.2 ohm and zone 2 only 3 ohm: raise reach-ohm of zone 2"
    );
    assert!(
        check_zones(&[
            default,
            PdisSettings {
                reach_ohm: 4.8,
                ..second
            }
        ])
        .is_ok()
    );
    assert!(
        check_zones(&[
            default,
            PdisSettings {
                mode: Mode::Reverse,
                ..second
            }
        ])
        .is_ok()
    );
    let text = "reach-ohm = 5\n[shape.quadrilateral]\nphase-resistance-ohm = 1\nearth-resistance-ohm = 1\nbelow-deg = 15\nbeyond-deg = 115";
    assert!(Pdis::new(toml::from_str(text).unwrap(), &network()).is_ok());
}
