//! Every scenario of the test set, through a relay with settings for it: at 24 instants of a cycle it does what the scenario expects. A relay with a
//! wrong setting does not.

mod played;

use played::outcomes;
use waveform::scenario;

/// A relay and the scenarios it is set for.
struct Set {
    /// Rated voltage from phase to phase in V.
    volts: u32,
    functions: &'static str,
    scenarios: &'static [&'static str],
}

/// Zone 1 over 80 % of the line of the scenarios.
const ZONE: &str = "[[function]]\nname = \"zone1\"\nsettings.pdis = { reach-ohm = 9.8955, line-deg = 75.964, k0 = 0.66667, k0-deg = 0, \
                    least-current = 0.05 }\n";

const SETS: &[Set] = &[
    Set {
        volts: 110_000,
        functions: ZONE,
        scenarios: &[
            "zone1-ag",
            "zone1-bg",
            "zone1-cg",
            "zone1-ab",
            "zone1-bc",
            "zone1-ca",
            "zone1-abg",
            "zone1-bcg",
            "zone1-cag",
            "zone1-abc",
            "zone1-resistance",
            "zone1-boundary-inside",
            "zone1-boundary-outside",
            "zone1-outside",
        ],
    },
    Set {
        volts: 110_000,
        functions: FUSE,
        scenarios: &["fuse-failure"],
    },
    Set {
        volts: 20_000,
        functions: "[[function]]\nname = \"I>>\"\nsettings.pioc = { pickup = 5 }\n",
        scenarios: &["overcurrent", "load"],
    },
    Set {
        volts: 20_000,
        functions: "[[function]]\nname = \"I>>\"\nsettings.pioc = { pickup = 10 }\n",
        scenarios: &["inrush"],
    },
];

/// The same zone and an undervoltage stage, blocked by a blown fuse.
const FUSE: &str = "fuse = {}\n[[function]]\nname = \"zone1\"\nsettings.pdis = { reach-ohm = 9.8955, line-deg = 75.964, k0 = 0.66667, k0-deg = 0, \
                    least-current = 0.05 }\n[[function]]\nname = \"U<\"\nsettings.ptuv = { delay-ms = 60 }\n";

#[test]
fn each_scenario_is_answered_as_it_expects() {
    let mut played = Vec::new();
    for set in SETS {
        for name in set.scenarios {
            played.push(*name);
            for outcome in outcomes(set.volts, set.functions, name) {
                assert_eq!(outcome.wrong(), None, "{name}: {outcome:?}");
            }
        }
    }
    played.sort_unstable();
    let mut names: Vec<&str> = scenario::names().collect();
    names.sort_unstable();
    assert_eq!(played, names, "each scenario is played once");
}

const UNDERVOLTAGE: &str = "[[function]]\nname = \"U<\"\nsettings.ptuv = { delay-ms = 60 }\n";

/// Relays that are set wrongly, with a scenario that shows it.
const FALSE: &[(u32, &str, &str)] = &[
    (
        110_000,
        "[[function]]\nname = \"zone1\"\nsettings.pdis = { reach-ohm = 11, line-deg = 75.964, k0 = 0.66667, k0-deg = 0 }\n",
        "zone1-boundary-outside",
    ),
    (
        110_000,
        "[[function]]\nname = \"zone1\"\nsettings.pdis = { reach-ohm = 8.8, line-deg = 75.964, k0 = 0.66667, k0-deg = 0 }\n",
        "zone1-boundary-inside",
    ),
    (
        110_000,
        "[[function]]\nname = \"zone1\"\nsettings.pdis = { reach-ohm = 9.8955, line-deg = 75.964, k0 = 0, k0-deg = 0 }\n",
        "zone1-ag",
    ),
    (110_000, UNDERVOLTAGE, "fuse-failure"),
    (
        20_000,
        "[[function]]\nname = \"I>>\"\nsettings.pioc = { pickup = 1.1 }\n",
        "load",
    ),
    (
        20_000,
        "[[function]]\nname = \"I>>\"\nsettings.pioc = { pickup = 3 }\n",
        "inrush",
    ),
];

#[test]
fn each_false_relay_is_unmasked() {
    for (volts, functions, name) in FALSE {
        let wrong = outcomes(*volts, functions, name)
            .filter(|outcome| outcome.wrong().is_some())
            .count();
        assert!(wrong > 0, "{name} does not find {functions}");
    }
}
