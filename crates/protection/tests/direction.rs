//! RDIR: 67 and 67N on the faults of the reference network, from memory, and of two streams.

mod common;

use common::{balanced, numbers, phase_a, run};
use protection::direction::{EarthDirectionSettings, EarthMode, Mode, PhaseDirectionSettings};
use protection::measure::{Blocks, Measured};
use protection::overcurrent::{CurrentQuantity, Ptoc, PtocDirection, PtocSettings};
use protection::{Complex, Direction, Function, Inputs, Phases, Rated};

fn ptoc(settings: PtocSettings) -> Ptoc {
    Ptoc::new(settings, &Rated::default()).expect("settings")
}

fn directional(settings: PhaseDirectionSettings) -> Ptoc {
    ptoc(PtocSettings {
        pickup: 1.0,
        delay_ms: 40.0,
        direction: PtocDirection::Phase(settings),
        ..PtocSettings::default()
    })
}

fn faulted(voltage: [Complex; 3], current: [Complex; 3]) -> Measured {
    Measured::of(0, current, voltage)
}

/// All fault types of the reference network (3.8), seen from both sides.
#[test]
fn direction_of_phases() {
    let numbers = numbers();
    for case in numbers["distance"]["cases"].as_array().unwrap() {
        let voltage = common::polars(&case["V"]);
        let current = common::polars(&case["I"]);
        let scale = Rated::default().phase_voltage_v() / 63.5;
        let voltage = [0, 1, 2].map(|phase| voltage[phase] * scale);
        let forward = [0, 1, 2].map(|phase| current[phase] * scale);
        let backward = forward.map(|each| -each);
        for mode in [Mode::Forward, Mode::Reverse] {
            for polarising in ["quadrature", "positive-sequence"] {
                let mut settings: PhaseDirectionSettings =
                    toml::from_str(&format!("polarising = \"{polarising}\"")).unwrap();
                settings.mode = mode;
                for (current, expected) in [(forward, Mode::Forward), (backward, Mode::Reverse)] {
                    let mut function = directional(settings);
                    let (_, operated) = run(&mut function, 4, 0.2, |_, _| vec![faulted(voltage, current)]);
                    assert_eq!(
                        operated.is_some(),
                        mode == expected,
                        "{} {mode:?} {polarising}",
                        case["fault"]
                    );
                }
            }
        }
    }
}

/// A close three-phase fault leaves no voltage: the memory tells the direction for two seconds.
#[test]
fn direction_from_memory() {
    let rated = Rated::default();
    let healthy = balanced(rated.phase_voltage_v(), 15.0);
    for (turn, forward) in [(-70.0, true), (110.0, false)] {
        let mut function = directional(PhaseDirectionSettings::default());
        let fault = balanced(8000.0, 15.0 + turn);
        let (started, operated) = run(&mut function, 4, 0.5, |seconds, _| {
            vec![if seconds < 0.1 {
                faulted(healthy, balanced(500.0, 0.0))
            } else {
                faulted([Complex::ZERO; 3], fault)
            }]
        });
        assert_eq!((started.is_some(), operated.is_some()), (forward, forward));
    }
    // Without any memory it holds, or releases if so set.
    for (undecided, expected) in [("hold", false), ("release", true)] {
        let settings = toml::from_str(&format!("undecided = \"{undecided}\"")).unwrap();
        let mut function = directional(settings);
        let dead = faulted([Complex::ZERO; 3], balanced(8000.0, -70.0));
        assert_eq!(run(&mut function, 4, 0.5, |_, _| vec![dead]).1.is_some(), expected);
    }
    // The memory ends.
    let mut function = ptoc(PtocSettings {
        pickup: 1.0,
        delay_ms: 3000.0,
        direction: PtocDirection::Phase(PhaseDirectionSettings::default()),
        ..PtocSettings::default()
    });
    let fault = balanced(8000.0, -55.0);
    let (started, operated) = run(&mut function, 4, 5.0, |seconds, _| {
        vec![if seconds < 0.1 {
            faulted(healthy, balanced(500.0, 0.0))
        } else {
            faulted([Complex::ZERO; 3], fault)
        }]
    });
    assert!(started.is_some() && operated.is_none());
}

/// Section 3.10: the healthy feeder of an isolated network at -90, the faulted one at +90; 0 when compensated; -60 when earthed.
#[test]
fn direction_of_the_residual_current() {
    let rated = Rated::default();
    for (earthing, phi, expected) in [
        (EarthMode::Isolated, 90.0, Direction::Forward),
        (EarthMode::Isolated, -90.0, Direction::Reverse),
        (EarthMode::Compensated, 0.0, Direction::Forward),
        (EarthMode::Compensated, 180.0, Direction::Reverse),
        (EarthMode::Earthed, -60.0, Direction::Forward),
        (EarthMode::Earthed, 19.0, Direction::Forward),
        (EarthMode::Earthed, -139.0, Direction::Forward),
        (EarthMode::Earthed, 120.0, Direction::Reverse),
        (EarthMode::Earthed, 25.0, Direction::Unknown),
    ] {
        for mode in [Mode::Forward, Mode::Reverse] {
            for share in [0.09, 0.2] {
                let zero = Complex::degrees(share * rated.phase_voltage_v(), 33.0);
                let mut set = Measured::of(0, [Complex::ZERO; 3], balanced(rated.phase_voltage_v(), 0.0));
                set.residual_voltage = zero * 3.0;
                set.residual_current = Complex::degrees(50.0, 33.0 + 180.0 + phi);
                let mut function = ptoc(PtocSettings {
                    quantity: CurrentQuantity::Residual,
                    pickup: 0.04,
                    delay_ms: 300.0,
                    direction: PtocDirection::Earth(EarthDirectionSettings {
                        mode,
                        earthing,
                        ..Default::default()
                    }),
                    ..PtocSettings::default()
                });
                assert_eq!(function.node().ansi, "67N");
                let wanted = if mode == Mode::Forward {
                    Direction::Forward
                } else {
                    Direction::Reverse
                };
                let (_, operated) = run(&mut function, 4, 0.4, |_, _| vec![set]);
                assert_eq!(
                    operated.is_some(),
                    wanted == expected && share > 0.1,
                    "{earthing:?} {phi} {mode:?} {share}"
                );
            }
        }
    }
    // Below its share of the current, an isolated network's element does not start: 50 A at phi 30 are 25 A.
    let mut set = Measured::of(0, [Complex::ZERO; 3], balanced(rated.phase_voltage_v(), 0.0));
    set.residual_voltage = Complex::degrees(9000.0, 0.0);
    set.residual_current = Complex::degrees(50.0, 180.0 + 30.0);
    let isolated = EarthDirectionSettings {
        earthing: EarthMode::Isolated,
        ..Default::default()
    };
    for (pickup, expected) in [(0.024, true), (0.026, false)] {
        let mut function = ptoc(PtocSettings {
            quantity: CurrentQuantity::Residual,
            pickup,
            direction: PtocDirection::Earth(isolated),
            ..PtocSettings::default()
        });
        assert_eq!(function.step(&Inputs::of(&[set])).started.any(), expected);
    }
}

/// Currents and voltages of two streams: only while both have one time.
#[test]
fn two_streams_are_combined_only_if_they_may() {
    let rated = Rated::default();
    let mut sets = [phase_a(10.0), phase_a(10.0)];
    sets[0].voltage = [Complex::new(f64::NAN, 0.0); 3];
    let settings: PtocSettings = toml::from_str(
        "source = { current = 0, voltage = 1 }\ndelay-ms = 0\n[direction.phase]\nundecided = \"release\"",
    )
    .unwrap();
    let mut function = Ptoc::new(settings, &rated).unwrap();
    assert_eq!(function.step(&Inputs::of(&sets)).blocked, Blocks::SYNCHRONISATION);
    for set in &mut sets {
        set.health.synch.value = 2;
    }
    let output = function.step(&Inputs::of(&sets));
    assert_eq!((output.blocked, output.operated), (Blocks::NONE, Phases::A));
    sets[1].at = 1;
    assert_eq!(function.step(&Inputs::of(&sets)).blocked, Blocks::INSTANT);
}
