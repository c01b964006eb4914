//! A function that has started resets in time after the end of the fault.

mod common;

use common::{Rig, balanced, eight, rated};
use protection::measure::Synch;
use protection::measure::{BaySettings, ORDERS};
use protection::{Complex, FunctionSettings, Inputs};
use serde::Deserialize;

#[derive(Deserialize)]
struct Case {
    settings: FunctionSettings,
    /// Longest time from the end of the fault to the reset, ms.
    within_ms: f64,
}

#[derive(Deserialize)]
struct File {
    case: Vec<Case>,
}

/// One of each, set so that the fault below operates it. Full-cycle functions reset within a cycle and two tasks; frequency
/// within the cycles that it averages; the admittance when its reset delay is over.
const CASES: &str = r#"
[[case]]
within-ms = 22
settings.pioc = { pickup = 3 }
[[case]]
within-ms = 22
settings.ptoc = { pickup = 3, delay-ms = 50 }
[[case]]
within-ms = 22
settings.ptoc = { pickup = 0.5, curve = "ieee-extremely-inverse", time-multiplier = 0.05, reset = "inverse" }
[[case]]
within-ms = 22
settings.ptoc = { pickup = 0.5, quantity = "residual", delay-ms = 50 }
[[case]]
within-ms = 22
settings.ptoc = { pickup = 0.5, quantity = "negative-sequence", delay-ms = 50 }
[[case]]
within-ms = 22
settings.ptoc = { pickup = 3, delay-ms = 50, direction.phase = {} }
[[case]]
within-ms = 22
settings.ptoc = { pickup = 0.5, quantity = "residual", delay-ms = 50, direction.earth.least-voltage = 0.05 }
[[case]]
within-ms = 22
settings.ptuv = { quantity = "phase-to-earth", delay-ms = 50 }
[[case]]
within-ms = 22
settings.ptov = { quantity = "residual", pickup = 0.1, delay-ms = 50 }
[[case]]
within-ms = 22
settings.pdis = { reach-ohm = 1.2, k0 = 0 }
[[case]]
within-ms = 22
settings.pdif = { sides = [0, 1] }
[[case]]
within-ms = 522
settings.psde = { operate-delay-ms = 60, voltage-start = 0.05, current = "amplitude" }
"#;

#[test]
fn everything_resets_after_a_fault() {
    let file: File = toml::from_str(&CASES.replace("within-ms", "within_ms")).expect("TOML");
    assert_eq!(file.case.len(), 12);
    for case in file.case {
        let measuring = BaySettings {
            harmonics: ORDERS[1..].to_vec(),
            ..BaySettings::default()
        };
        let mut rigs = [0, 1].map(|_| Rig::new(rated(4000.0, 50.0), &measuring, true));
        let mut function = case.settings.make(&rigs[0].rated).expect("settings");
        let name = format!("{} {:?}", function.node(), case.settings);
        let (mut operated, mut reset_ms) = (false, 0.0f64);
        let healthy = balanced(11_547.0, 0.0);
        for n in 0..6000u64 {
            let fault = (2000..2800).contains(&n);
            let mut near = (balanced(300.0, -20.0), healthy);
            let mut far = balanced(-300.0, -20.0);
            if fault {
                near.0[0] = Complex::degrees(6000.0, -70.0);
                near.1[0] = Complex::degrees(6000.0, 0.0);
                far[0] = Complex::ZERO;
            }
            let sets = [
                *rigs[0].push(eight(near.0, near.1, 50.0, 4000.0, n)),
                *rigs[1].push(eight(far, near.1, 50.0, 4000.0, n)),
            ]
            .map(|mut set| {
                set.health.synch = Synch::GLOBAL;
                set
            });
            if n % 4 != 0 {
                continue;
            }
            let output = function.step(&Inputs::of(&sets));
            operated |= output.operated.any();
            assert!(n >= 2000 || !output.started.any(), "{name}: started in health at {n}");
            if n >= 2800 && output.started.any() {
                reset_ms = (n - 2800 + 4) as f64 / 4.0;
            }
        }
        assert!(operated, "{name}: never operated");
        assert!(reset_ms <= case.within_ms, "{name}: reset after {reset_ms} ms");
    }
}
