//! Built-in type tests, through relays with matching settings: the reach of the functions, its limits, and their speed.

mod common;

use common::relay;
use model::{Cell, CurrentRamp, Outcome, Shot};
use relay::config::Config;
use relay::type_test;
use waveform::type_test::{TypeTest, find};

fn set(function: &str) -> Config {
    relay(&format!(
        "[relay]\nname = \"R\"\n[rated]\ncurrent-a = 400\nvoltage-v = 110_000\n[[stream]]\nname = \"bay1\"\n\
         sv = {{ svID = \"MU01\", profile = \"F4000S1I4U4\" }}\n[[function]]\nname = \"F\"\nsettings.{function}\n[[trip]]\nname = \"Q0\"\n"
    ))
}

/// Zone 1 with this reach in ohm; the reach of the test is 9.8955.
fn zone(reach_ohm: f64) -> Config {
    set(&format!(
        "pdis = {{ reach-ohm = {reach_ohm}, line-deg = 75.964, k0 = 0.66667, k0-deg = 0, least-current = 0.05 }}"
    ))
}

/// A time-overcurrent stage for 800 A with this time multiplier; the tests use 0.1.
fn curve(multiplier: f64) -> Config {
    stage("iec-normal-inverse", multiplier)
}

/// A time-overcurrent stage for 800 A.
fn stage(curve: &str, multiplier: f64) -> Config {
    set(&format!(
        "ptoc = {{ pickup = 2, curve = \"{curve}\", time-multiplier = {multiplier} }}"
    ))
}

fn position(shot: &Shot) -> f64 {
    let Some(Cell::Distance { position, .. }) = shot.cell else {
        panic!("no distance: {shot:?}")
    };
    position
}

/// Shots of a few cells, at 90, 100 and 110 % of the reach.
fn few() -> TypeTest {
    let text = "what = \"x\"\n[distance]\nsource_v = 110_000\nsource_angle_deg = 85\n\
                line = { z1_ohm = [3.0, 12.0], z0_ohm = [9.0, 36.0] }\nreach = 0.8\nsir = [1, 10]\n\
                positions_percent = [90, 100, 110]\ntypes = [\"CG\", \"AB\", \"CAG\", \"ABC\"]\npoints_deg = [0, 90]\nwithin = \"40ms\"\n\
                lasts = \"150ms\"\n";
    TypeTest::parse(text, "few", "few.toml").expect("a test")
}

#[test]
fn the_zone_trips_in_its_reach_and_not_beyond_whatever_the_source_and_the_point_on_wave() {
    let shots = type_test(&zone(9.8955), &find("zone1").expect("of the program"), 1).expect("shots");
    assert_eq!(shots.len(), 880);
    for shot in &shots {
        let at = position(shot);
        if at <= 95.0 {
            let in_time = shot.trip_ns.is_some_and(|ns| (1_000_000..=25_000_000).contains(&ns));
            assert!(shot.outcome == Outcome::Tripped && in_time, "{shot:?}");
        }
        if at >= 105.0 {
            assert_eq!(shot.outcome, Outcome::Quiet, "{shot:?}");
        }
    }
}

#[test]
fn a_zone_that_is_set_too_far_overreaches_and_one_set_too_short_fails() {
    let far = type_test(&zone(9.8955 * 1.15), &few(), 1).expect("shots");
    let beyond = far.iter().filter(|shot| position(shot) == 110.0);
    assert!(beyond.clone().count() == 16 && beyond.clone().all(|shot| shot.outcome == Outcome::False));
    let short = type_test(&zone(9.8955 * 0.85), &few(), 1).expect("shots");
    let inside = short.iter().filter(|shot| position(shot) == 90.0);
    assert!(inside.clone().count() == 16 && inside.clone().all(|shot| shot.outcome == Outcome::Failed));
    // Near the border neither a trip nor its absence is required.
    let border = short.iter().filter(|shot| position(shot) == 100.0);
    assert!(border.clone().all(|shot| shot.outcome == Outcome::Quiet));
}

#[test]
fn equal_seeds_give_equal_outcomes() {
    let once = type_test(&zone(9.8955), &few(), 3).expect("shots");
    assert_eq!(once, type_test(&zone(9.8955), &few(), 3).expect("shots"));
    assert_ne!(once, type_test(&zone(9.8955), &few(), 4).expect("shots"));
}

/// Largest distance from the curve in ns, and true if all shots were within the allowed distance.
fn furthest(shots: &[Shot]) -> (i64, bool) {
    let off = |shot: &Shot| {
        let Some(Cell::Overcurrent {
            expected_ns,
            tolerance_ns,
            ..
        }) = shot.cell
        else {
            panic!("no curve: {shot:?}")
        };
        let Some(trip_ns) = shot.trip_ns else {
            return (i64::MAX, false);
        };
        let off = trip_ns - i64::try_from(expected_ns).expect("small");
        (off.abs(), off.unsigned_abs() <= tolerance_ns)
    };
    let offs = shots.iter().map(off);
    offs.fold((0, true), |all, one| (all.0.max(one.0), all.1 && one.1))
}

#[test]
fn the_curve_is_that_of_the_standard() {
    let test = find("iec-normal-inverse").expect("of the program");
    let shots = type_test(&curve(0.1), &test, 1).expect("shots");
    assert_eq!(shots.len(), 24);
    // Includes the filter and the task, at most one cycle.
    let (off_ns, is_within) = furthest(&shots);
    assert!(off_ns < 20_000_000 && is_within, "{off_ns}");
    let (_, is_within) = furthest(&type_test(&curve(0.12), &test, 1).expect("shots"));
    assert!(!is_within, "a wrong time multiplier is found");
}

#[test]
fn all_other_curves_are_those_of_their_tests_and_none_is_another() {
    let curves = [
        ("iec-very-inverse", 0.1),
        ("iec-extremely-inverse", 0.05),
        ("iec-long-time-inverse", 0.05),
        ("iec-short-time-inverse", 0.1),
        ("ieee-moderately-inverse", 0.5),
        ("ieee-very-inverse", 0.5),
        ("ieee-extremely-inverse", 0.5),
    ];
    for (number, (name, multiplier)) in curves.into_iter().enumerate() {
        let test = find(name).expect("of the program");
        let (off_ns, is_within) = furthest(&type_test(&stage(name, multiplier), &test, 1).expect("shots"));
        assert!(is_within, "{name}: {off_ns} ns");
        let (other, _) = curves[(number + 1) % curves.len()];
        let (_, is_within) = furthest(&type_test(&stage(other, multiplier), &test, 1).expect("shots"));
        assert!(!is_within, "{name} does not find {other}");
    }
}

#[test]
fn a_relay_that_cannot_trip_cannot_be_tested() {
    let mut without = zone(9.8955);
    without.trips.clear();
    let refused = type_test(&without, &few(), 1).expect_err("refused").to_string();
    assert!(refused.contains("no trip"), "{refused}");
}

/// A ramp around 800 A in phase A and in all phases.
fn ramp() -> TypeTest {
    let text = "what = \"x\"\n[pick_up]\nvoltage_v = 11_547\nsetting_a = 800\nphases = [\"A\", \"ABC\"]\nerror_percent = 3\n\
                from_percent = 80\nto_percent = 110\nstep_percent = 1\nstep = \"60ms\"\n";
    TypeTest::parse(text, "ramp", "ramp.toml").expect("a test")
}

/// Pick-up and drop-off in A of each shot.
fn ramped(config: &Config) -> Vec<(CurrentRamp, Option<f64>, Option<f64>)> {
    let shots = type_test(config, &ramp(), 1).expect("shots");
    let one = |shot: Shot| {
        let Some(Cell::Ramp(ramp)) = shot.cell else {
            panic!("no ramp")
        };
        let at = |ns: Option<i64>| ns.and_then(|ns| ramp.current_a(ns));
        let (up, down) = (at(shot.trip_ns), at(shot.reset_ns));
        (ramp, up, down)
    };
    shots.into_iter().map(one).collect()
}

#[test]
fn a_ramp_finds_the_pick_up_and_the_drop_off_of_a_stage_and_a_setting_that_is_wrong() {
    let stage = |pickup: f64| set(&format!("pioc = {{ pickup = {pickup}, reset-ratio = 0.93 }}"));
    let right = ramped(&stage(2.0));
    assert_eq!(right.len(), 2);
    for (ramp, up, down) in right {
        // Steps of 8 A.
        assert!(
            up.is_some_and(|up| (800.0..=808.0).contains(&up) && ramp.is_allowed(up)),
            "{up:?}"
        );
        assert!(down.is_some_and(|down| (728.0..=752.0).contains(&down)), "{down:?}");
    }
    for wrong in [2.0 * 1.05, 2.0 * 0.95] {
        for (ramp, up, _) in ramped(&stage(wrong)) {
            let up = up.expect("a pick-up");
            assert!(!ramp.is_allowed(up), "{up} A");
        }
    }
    // Never, and always.
    assert!(
        ramped(&stage(20.0))
            .iter()
            .all(|(_, up, down)| (*up, *down) == (None, None))
    );
    let shots = type_test(&stage(0.5), &ramp(), 1).expect("shots");
    assert!(shots.iter().all(|shot| shot.outcome == Outcome::Early), "{shots:?}");
}

#[test]
fn a_ramp_watches_the_function_that_it_names_or_says_that_there_is_none() {
    let named = |name: &str| {
        let text = format!(
            "what = \"x\"\n[pick_up]\nvoltage_v = 11_547\nsetting_a = 800\nphases = [\"A\"]\nerror_percent = 3\n\
             from_percent = 90\nto_percent = 110\nstep_percent = 1\nstep = \"60ms\"\nfunction = \"{name}\"\n"
        );
        TypeTest::parse(&text, "ramp", "ramp.toml").expect("a test")
    };
    let bays = relay(&relay::library::file("bays1").expect("a relay"));
    let shots = type_test(&bays, &named("I> 01"), 1).expect("shots");
    assert_eq!(shots[0].outcome, Outcome::Tripped, "{shots:?}");
    // The first trip has stages of the residual and of the negative sequence, which one phase starts at once.
    let any = type_test(&bays, &ramp(), 1).expect("shots");
    assert!(any.iter().any(|shot| shot.outcome == Outcome::Early));
    let refused = type_test(&bays, &named("I>>>"), 1).expect_err("refused").to_string();
    assert!(
        refused.contains("no function \"I>>>\"") && refused.contains("I> 01"),
        "{refused}"
    );
}
