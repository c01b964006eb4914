//! Every scenario of the test set, through a relay with settings for it: at 20 instants of a cycle it does what the scenario expects. A relay with a
//! wrong setting does not.

mod false_relays;
#[path = "../played/mod.rs"]
mod played;
mod relays;

use false_relays::FALSE;
use played::{Set, found, outcomes, outcomes_of};
use relays::{BARE, OF_FEEDERS, OF_LINES, UNDERVOLTAGE, ZONE};
use waveform::sample::Flaw;
use waveform::scenario::{self, Expect, Scenario, Selection};

/// A sentence for each scenario of a set that is answered wrongly.
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
