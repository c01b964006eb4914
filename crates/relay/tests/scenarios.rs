//! Every scenario of the test set, through a relay with settings for it: at 20 instants of a cycle it does what the scenario expects. A relay with a
//! wrong setting does not.

mod played;

use played::{Set, found, outcomes, outcomes_of};
use waveform::sample::Flaw;
use waveform::scenario::{self, Expect, Scenario, Selection};

/// Zone 1 over 80 % of the line of the scenarios.
const ZONE: (&str, &str) = (
    "zone1",
    "pdis = { reach-ohm = 9.8955, line-deg = 75.964, k0 = 0.66667, k0-deg = 0, least-current = 0.05 }",
);

/// A relay without functions.
const BARE: Set = Set {
    rated: [400, 110_000],
    stream: "",
    functions: &[],
    breaker: "",
    scenarios: &[],
};

/// Of a feeder of 20 kV.
const FEEDER: Set = Set {
    rated: [400, 20_000],
    ..BARE
};

/// Of a cable of 20 kV, with the rated current of its sensitive transformer.
const CABLE: Set = Set {
    rated: [100, 20_000],
    ..BARE
};

const OF_LINES: &[Set] = &[
    Set {
        functions: &[ZONE],
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
            "zone1-resistance-outside",
            "zone1-boundary-inside",
            "zone1-boundary-outside",
            "zone1-outside",
            "zone1-reverse",
            "zone1-reverse-ag",
            "zone1-sir30-inside",
            "zone1-sir30-outside",
            "zone1-evolving",
            "zone1-evolving-from-outside",
            "zone1-cross-country",
            "ct-saturation-inside",
            "ct-saturation-outside",
        ],
        ..BARE
    },
    Set {
        functions: &[ZONE],
        stream: "swing = {}",
        scenarios: &["swing-stable", "swing-unstable", "swing-fault"],
        ..BARE
    },
    Set {
        functions: &[(
            "Z3",
            "pdis = { zone = 3, reach-ohm = 60, line-deg = 75.964, k0 = 0.66667, k0-deg = 0, phase-delay-ms = 600, earth-delay-ms = 600, \
             load = { resistance-ohm = 35, angle-deg = 35 } }",
        )],
        scenarios: &["heavy-load"],
        ..BARE
    },
    Set {
        functions: &[("SOTF", "psof = {}")],
        stream: "fuse = {}",
        scenarios: &["switch-on-to-fault", "switch-on-to-line"],
        ..BARE
    },
    Set {
        functions: &[ZONE, UNDERVOLTAGE],
        stream: "fuse = {}",
        scenarios: &["fuse-failure", "fuse-failure-two", "fuse-failure-unbalanced"],
        ..BARE
    },
    Set {
        functions: &[ZONE],
        breaker: "retrip-ms = 0, backtrip-ms = 150",
        scenarios: &["breaker-failure", "breaker-opens"],
        ..BARE
    },
];

const OF_FEEDERS: &[Set] = &[
    Set {
        functions: &[("I>>", "pioc = { pickup = 5 }")],
        scenarios: &["overcurrent", "load"],
        ..FEEDER
    },
    Set {
        functions: &[("I>>", "pioc = { pickup = 10 }")],
        scenarios: &["inrush"],
        ..FEEDER
    },
    Set {
        functions: &[("I>", "ptoc = { pickup = 2, delay-ms = 500 }")],
        scenarios: &["overcurrent-definite", "overcurrent-below"],
        ..FEEDER
    },
    Set {
        functions: &[(
            "I>",
            "ptoc = { pickup = 2, curve = 'iec-normal-inverse', time-multiplier = 0.1 }",
        )],
        scenarios: &["overcurrent-normal-inverse"],
        ..FEEDER
    },
    Set {
        functions: &[(
            "I>",
            "ptoc = { pickup = 2, curve = 'iec-very-inverse', time-multiplier = 0.1 }",
        )],
        scenarios: &["overcurrent-very-inverse"],
        ..FEEDER
    },
    Set {
        functions: &[(
            "I>",
            "ptoc = { pickup = 2, curve = 'iec-extremely-inverse', time-multiplier = 0.05 }",
        )],
        scenarios: &["overcurrent-extremely-inverse"],
        ..FEEDER
    },
    Set {
        functions: &[(
            "I2>",
            "ptoc = { quantity = 'negative-sequence', pickup = 0.2, delay-ms = 500 }",
        )],
        scenarios: &["negative-sequence", "negative-sequence-load"],
        ..FEEDER
    },
    Set {
        functions: &[("I>>dir", "ptoc = { pickup = 5, delay-ms = 0, direction.phase = {} }")],
        scenarios: &["directional-forward", "directional-reverse"],
        ..FEEDER
    },
    Set {
        functions: &[("I>>", "pioc = { pickup = 12 }")],
        scenarios: &["cross-country"],
        ..CABLE
    },
    Set {
        functions: &[(
            "I0>sin",
            "ptoc = { quantity = 'residual', pickup = 0.1, delay-ms = 300, direction.earth = { earthing = 'isolated' } }",
        )],
        scenarios: &["earth-fault-isolated", "earth-fault-isolated-outside"],
        ..CABLE
    },
    Set {
        functions: &[(
            "I0>cos",
            "ptoc = { quantity = 'residual', pickup = 0.03, delay-ms = 300, direction.earth = { earthing = 'compensated' } }",
        )],
        scenarios: &["earth-fault-compensated", "earth-fault-compensated-outside"],
        ..CABLE
    },
    Set {
        functions: &[(
            "I0>dir",
            "ptoc = { quantity = 'residual', pickup = 0.2, delay-ms = 300, direction.earth = { earthing = 'earthed', characteristic-deg = 0 } }",
        )],
        scenarios: &["earth-fault-resistance", "earth-fault-resistance-outside"],
        ..CABLE
    },
    Set {
        functions: &[("f<", "frequency = { limit.under = 49.0, delay-ms = 200 }")],
        scenarios: &["underfrequency", "frequency-dip"],
        ..FEEDER
    },
    Set {
        functions: &[("f>", "frequency = { limit.over = 51.5, delay-ms = 200 }")],
        scenarios: &["overfrequency"],
        ..FEEDER
    },
];

const UNDERVOLTAGE: (&str, &str) = ("U<", "ptuv = { delay-ms = 60 }");

/// What is wrong in each scenario of a set, at most once for each.
fn wrong(set: &Set) -> Vec<String> {
    let first = |name: &&str| {
        let wrong: Vec<_> = outcomes(set, name)
            .filter_map(|outcome| Some((outcome.wrong()?, outcome)))
            .collect();
        let (why, outcome) = wrong.first()?;
        Some(format!("{name}: {} of 20: {why}: {outcome:?}", wrong.len()))
    };
    set.scenarios.iter().filter_map(first).collect()
}

#[track_caller]
fn all_right(sets: &[Set]) {
    let all: Vec<String> = sets.iter().flat_map(wrong).collect();
    assert!(all.is_empty(), "{}", all.join("\n"));
}

#[test]
fn each_scenario_of_lines_is_answered_as_it_expects() {
    all_right(OF_LINES);
}

#[test]
fn each_scenario_of_feeders_is_answered_as_it_expects() {
    all_right(OF_FEEDERS);
}

#[test]
fn each_scenario_is_played_once() {
    let sets = OF_LINES.iter().chain(OF_FEEDERS);
    let mut played: Vec<&str> = sets.flat_map(|set| set.scenarios).copied().collect();
    played.sort_unstable();
    let mut names: Vec<&str> = scenario::names().collect();
    names.sort_unstable();
    assert_eq!(played, names);
}

/// Relays that are set wrongly, each with the scenarios that show it.
const FALSE: &[Set] = &[
    Set {
        functions: &[(
            "zone1",
            "pdis = { line-deg = 75.964, k0-deg = 0, least-current = 0.05, reach-ohm = 11, k0 = 0.66667 }",
        )],
        scenarios: &["zone1-boundary-outside"],
        ..BARE
    },
    Set {
        functions: &[(
            "zone1",
            "pdis = { line-deg = 75.964, k0-deg = 0, least-current = 0.05, reach-ohm = 8.8, k0 = 0.66667 }",
        )],
        scenarios: &["zone1-boundary-inside"],
        ..BARE
    },
    Set {
        functions: &[(
            "zone1",
            "pdis = { line-deg = 75.964, k0-deg = 0, least-current = 0.05, reach-ohm = 9.8955, k0 = 0 }",
        )],
        scenarios: &["zone1-ag", "zone1-bg", "zone1-cg"],
        ..BARE
    },
    Set {
        functions: &[(
            "zone1",
            "pdis = { line-deg = 75.964, k0-deg = 0, least-current = 0.05, reach-ohm = 40, k0 = 0.66667 }",
        )],
        scenarios: &[
            "zone1-outside",
            "zone1-resistance-outside",
            "zone1-sir30-outside",
            "zone1-evolving-from-outside",
            "ct-saturation-outside",
            "swing-stable",
            "swing-unstable",
        ],
        ..BARE
    },
    Set {
        functions: &[(
            "zone1",
            "pdis = { line-deg = 75.964, k0-deg = 0, least-current = 0.05, reach-ohm = 9.8955, k0 = 0.66667, mode = 'reverse' }",
        )],
        scenarios: &[
            "zone1-reverse",
            "zone1-reverse-ag",
            "zone1-ab",
            "zone1-bc",
            "zone1-ca",
            "zone1-abg",
            "zone1-bcg",
            "zone1-cag",
            "zone1-abc",
            "zone1-sir30-inside",
            "zone1-evolving",
        ],
        ..BARE
    },
    Set {
        functions: &[(
            "zone1",
            "pdis = { line-deg = 75.964, k0-deg = 0, least-current = 0.05, reach-ohm = 2, k0 = 0.66667 }",
        )],
        scenarios: &["zone1-resistance", "zone1-cross-country", "swing-fault"],
        ..BARE
    },
    Set {
        functions: &[UNDERVOLTAGE],
        scenarios: &["fuse-failure", "fuse-failure-two", "fuse-failure-unbalanced"],
        ..BARE
    },
    Set {
        functions: &[ZONE],
        scenarios: &["switch-on-to-fault"],
        ..BARE
    },
    Set {
        functions: &[("I>>", "pioc = { pickup = 40 }")],
        scenarios: &["ct-saturation-inside"],
        ..BARE
    },
    Set {
        functions: &[("I>", "ptoc = { pickup = 0.5, delay-ms = 100 }")],
        scenarios: &["heavy-load", "switch-on-to-line"],
        ..BARE
    },
    Set {
        functions: &[("I>>", "pioc = { pickup = 1.1 }")],
        scenarios: &["load", "overcurrent-below"],
        ..FEEDER
    },
    Set {
        functions: &[("I>>", "pioc = { pickup = 3 }")],
        scenarios: &["inrush", "overcurrent-definite"],
        ..FEEDER
    },
    Set {
        functions: &[("I>>", "pioc = { pickup = 11 }")],
        scenarios: &["overcurrent"],
        ..FEEDER
    },
    Set {
        functions: &[(
            "I>>dir",
            "ptoc = { pickup = 5, delay-ms = 0, direction.phase = { mode = 'reverse' } }",
        )],
        scenarios: &["directional-forward"],
        ..FEEDER
    },
    Set {
        functions: &[("I>", "ptoc = { pickup = 5, delay-ms = 0 }")],
        scenarios: &["directional-reverse"],
        ..FEEDER
    },
    Set {
        functions: &[(
            "I>",
            "ptoc = { pickup = 2, curve = 'iec-very-inverse', time-multiplier = 0.2 }",
        )],
        scenarios: &[
            "overcurrent-normal-inverse",
            "overcurrent-very-inverse",
            "overcurrent-extremely-inverse",
        ],
        ..FEEDER
    },
    Set {
        functions: &[(
            "I2>",
            "ptoc = { quantity = 'negative-sequence', pickup = 0.03, delay-ms = 300 }",
        )],
        scenarios: &["negative-sequence", "negative-sequence-load"],
        ..FEEDER
    },
    // Without a direction, with the pickups of the stages that have one.
    Set {
        functions: &[("I0>", "ptoc = { quantity = 'residual', pickup = 0.1, delay-ms = 300 }")],
        scenarios: &["earth-fault-isolated-outside"],
        ..CABLE
    },
    Set {
        functions: &[("I0>", "ptoc = { quantity = 'residual', pickup = 0.03, delay-ms = 300 }")],
        scenarios: &["earth-fault-compensated-outside"],
        ..CABLE
    },
    Set {
        functions: &[("I0>", "ptoc = { quantity = 'residual', pickup = 0.2, delay-ms = 300 }")],
        scenarios: &["earth-fault-resistance-outside"],
        ..CABLE
    },
    Set {
        functions: &[(
            "I0>sin",
            "ptoc = { quantity = 'residual', pickup = 0.1, delay-ms = 300, direction.earth = { earthing = 'isolated' } }",
        )],
        scenarios: &["earth-fault-compensated"],
        ..CABLE
    },
    Set {
        functions: &[(
            "I0>cos",
            "ptoc = { quantity = 'residual', pickup = 0.1, delay-ms = 300, direction.earth = { earthing = 'compensated' } }",
        )],
        scenarios: &["earth-fault-isolated"],
        ..CABLE
    },
    Set {
        functions: &[("I0>", "ptoc = { quantity = 'residual', pickup = 8, delay-ms = 300 }")],
        scenarios: &["earth-fault-resistance"],
        ..CABLE
    },
    Set {
        functions: &[("I>>", "pioc = { pickup = 40 }")],
        scenarios: &["cross-country"],
        ..FEEDER
    },
    Set {
        functions: &[("f<", "frequency = { limit.under = 49.5, delay-ms = 200 }")],
        scenarios: &["underfrequency", "frequency-dip"],
        ..FEEDER
    },
    Set {
        functions: &[("f>", "frequency = { limit.over = 51.5, delay-ms = 600 }")],
        scenarios: &["overfrequency"],
        ..FEEDER
    },
    Set {
        functions: &[ZONE],
        breaker: "retrip-ms = 0, backtrip-ms = 300",
        scenarios: &["breaker-failure"],
        ..BARE
    },
    Set {
        functions: &[ZONE],
        breaker: "retrip-ms = 0, backtrip-ms = 150, criterion = 'contact'",
        scenarios: &["breaker-opens"],
        ..BARE
    },
];

#[test]
fn each_false_relay_is_unmasked() {
    let passes = |set: &Set, name: &str| outcomes(set, name).all(|outcome| outcome.wrong().is_none());
    let mut all = Vec::new();
    for set in FALSE {
        let passed: Vec<&str> = set.scenarios.iter().copied().filter(|name| passes(set, name)).collect();
        all.extend(
            passed
                .iter()
                .map(|name| format!("{name} does not find {:?}", set.functions)),
        );
    }
    assert!(all.is_empty(), "{}", all.join("\n"));
}

/// Load at 110 kV for 200 ms, with a flaw of the samples.
fn flawed(flaw: Flaw) -> Scenario {
    let fault = found("zone1-abc");
    Scenario {
        expect: Expect::NoTrip,
        selection: Selection::default(),
        wave: fault.wave.clone().at_load(),
        flaw: Some(flaw),
        ..fault
    }
}

/// Instantaneous stages and a zone, with the supervision of fuses.
const FAST: Set = Set {
    functions: &[
        ZONE,
        ("I>>", "pioc = { pickup = 5 }"),
        ("I0>", "ptoc = { quantity = 'residual', pickup = 0.5, delay-ms = 300 }"),
    ],
    stream: "fuse = {}",
    ..BARE
};

#[test]
fn flaws_of_the_samples_trip_no_relay_that_looks_at_more_than_one_sample() {
    for flaw in [
        Flaw::SingleSample,
        Flaw::StuckCurrent,
        Flaw::StuckVoltage,
        Flaw::SwappedPhases,
        Flaw::ReversedPolarity,
        Flaw::WrongRatio,
    ] {
        for outcome in outcomes_of(&FAST, flawed(flaw)) {
            assert_eq!(outcome.wrong(), None, "{flaw:?}: {outcome:?}");
        }
    }
    // One without its check of single samples trips for one, and one that is set too low for the others.
    let trusting = Set {
        functions: &[("I>>", "pioc = { pickup = 5 }")],
        stream: "measuring = { spikes = { current = 0, voltage = 0 } }",
        ..BARE
    };
    let low = Set {
        functions: &[
            ("I0>", "pioc = { quantity = 'residual', pickup = 0.5 }"),
            ("I>", "pioc = { pickup = 1.2 }"),
            UNDERVOLTAGE,
        ],
        ..BARE
    };
    for (set, flaw) in [
        (&trusting, Flaw::SingleSample),
        (&low, Flaw::ReversedPolarity),
        (&low, Flaw::WrongRatio),
        (&low, Flaw::StuckVoltage),
    ] {
        let mut all = outcomes_of(set, flawed(flaw));
        assert!(all.any(|outcome| outcome.wrong().is_some()), "{flaw:?}");
    }
}
