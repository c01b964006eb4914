use super::{TypeTest, find, names};
use crate::sample::Sampling;
use crate::scenario::{Expect, Wave};
use model::Cell;
use std::collections::BTreeMap;

fn refusal(name: &str, from: &str, to: &str) -> String {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("type-tests");
    let text = std::fs::read_to_string(folder.join(format!("{name}.toml"))).expect(name);
    assert!(text.contains(from), "{name}: {from}");
    let refused = TypeTest::parse(&text.replacen(from, to, 1), "x", "x.toml");
    refused.expect_err("refused").to_string()
}

#[test]
fn every_cell_is_played_as_often_as_every_other_in_an_order_of_the_seed() {
    let test = find("zone1").expect("of the program");
    let places = test.places(7);
    assert_eq!(places.len(), 5 * 11 * 4 * 4);
    let mut sorted = places.clone();
    sorted.sort();
    sorted.dedup();
    assert_eq!(sorted.len(), places.len(), "each once");
    assert_eq!(places, test.places(7));
    assert_ne!(places, test.places(8));
    let curve = find("iec-normal-inverse").expect("of the program");
    let mut counts = BTreeMap::new();
    for place in curve.places(1) {
        *counts.entry(place.group).or_insert(0) += 1;
    }
    assert_eq!(counts, (0..8).map(|group| (group, 3)).collect());
}

#[test]
fn a_fault_in_the_reach_measures_its_part_of_the_reach_whatever_the_source() {
    let test = find("zone1").expect("of the program");
    for place in test.places(1) {
        let shot = test.shot(place);
        let Cell::Distance { sir, fault, position } = shot.cell else {
            panic!("a distance")
        };
        let Wave::Synth(synth) = &shot.scenario.wave else {
            panic!("a record");
        };
        let during = &synth.states[0].operating;
        if fault == "ABC" {
            let seen = during.voltages_v[0] / during.currents_a[0];
            assert!(
                (seen - 9.895_454 * position / 100.0).abs() < 1e-3,
                "{sir} {position}: {seen}"
            );
        }
        let expected = match position {
            p if p <= 95.0 => matches!(
                shot.scenario.expect,
                Expect::Trip {
                    within_ns: Some(40_000_000),
                    ..
                }
            ),
            p if p < 105.0 => shot.scenario.expect == Expect::Either,
            _ => shot.scenario.expect == Expect::NoTrip,
        };
        assert!(expected, "{position}");
    }
}

#[test]
fn faults_begin_at_the_wanted_point_of_their_loops_voltage() {
    let test = find("zone1").expect("of the program");
    let sampling = Sampling::new(4_800);
    for place in test.places(3).into_iter().take(200) {
        let shot = test.shot(place);
        let wanted = shot.point.wanted_deg.expect("a point");
        let (shift, step) = (17.0, 360.0 * 50.0 / 4_800.0);
        let lead = 2_400 + shot.point.samples_until(shift + 2_400.0 * step, step);
        let made = shot.scenario.shot(&sampling, lead, shift, 1).expect("a shot");
        let phase = shift + made.wave.phase_deg_at(made.fault as f64 / 4_800.0).expect("a phase");
        // The signal's own voltage: of the two phases of the loop, or of its single phase.
        let [a, b, c] = [4, 5, 6].map(|member: usize| {
            let data = made.table.seq_data(made.fault - 1);
            f64::from(i32::from_be_bytes(
                data[8 * member..8 * member + 4].try_into().expect("a value"),
            )) / 100.0
        });
        let Cell::Distance { fault, .. } = &shot.cell else {
            panic!("a distance")
        };
        let (voltage, crest) = match fault.as_str() {
            "BC" | "BCG" => (b - c, 110_000.0 * 2_f64.sqrt()),
            _ => (a, 110_000.0 * (2.0_f64 / 3.0).sqrt()),
        };
        let off = (shot.point.deg(phase) - wanted + 180.0).rem_euclid(360.0) - 180.0;
        assert!(off.abs() <= step / 2.0 + 1e-6, "{fault} at {wanted}: {off} degrees off");
        let before = (shot.point.deg(phase) - step).to_radians().sin() * crest;
        assert!(
            (voltage - before).abs() < 1.0,
            "{fault} at {wanted}: {voltage} V, not {before} V"
        );
    }
}

#[test]
fn currents_stop_where_they_pass_through_zero() {
    let test = find("zone1").expect("of the program");
    let sampling = Sampling::new(4_800);
    for place in test.places(5).into_iter().take(100) {
        let shot = test.shot(place);
        let Cell::Distance { fault, position, .. } = &shot.cell else {
            panic!("a distance")
        };
        let step = 360.0 * 50.0 / 4_800.0;
        let lead = 2_400 + shot.point.samples_until(2_400.0 * step, step);
        let made = shot.scenario.shot(&sampling, lead, 0.0, 1).expect("a shot");
        let current = |member: usize, sample: u64| {
            let data = made.table.seq_data(sample);
            f64::from(i32::from_be_bytes(
                data[8 * member..8 * member + 4].try_into().expect("a value"),
            ))
        };
        for member in 0..3 {
            let largest = (made.fault..made.end).map(|sample| current(member, sample).abs());
            let largest = largest.fold(0.0, f64::max);
            let last = (made.fault..=made.end)
                .rev()
                .find(|sample| current(member, *sample) != 0.0);
            let Some(last) = last else { continue };
            // One sample before zero: the sine of one and a half steps of the point on the wave, because a point may be half a step off.
            let allowed = largest * (2.0 * step).to_radians().sin();
            let left = current(member, last).abs();
            assert!(
                left <= allowed,
                "{fault} at {position}, phase {member}: {left} of {largest} mA"
            );
            assert!(
                last <= made.end && last + 96 > made.end,
                "{fault}: the last pole opens within a cycle"
            );
        }
    }
}

#[test]
fn curves_are_those_of_the_standards() {
    // Our reference's table, at a time multiplier of 1.
    let table = [
        ("iec-normal-inverse", 0.1, [10.029_027, 4.279_720, 2.267_356]),
        ("iec-very-inverse", 0.1, [13.5, 3.375, 0.710_526]),
        ("iec-extremely-inverse", 0.05, [26.666_667, 3.333_333, 0.200_501]),
    ];
    for (name, multiplier, seconds) in table {
        let test = find(name).expect(name);
        for place in test.places(1) {
            let Cell::Overcurrent {
                multiple,
                expected_ns,
                tolerance_ns,
            } = test.shot(place).cell
            else {
                panic!("a curve")
            };
            let known = [2.0, 5.0, 20.0].iter().position(|known| *known == multiple);
            let Some(known) = known else { continue };
            let wanted = seconds[known] * multiplier;
            assert!((expected_ns as f64 / 1e9 - wanted).abs() < 1e-6, "{name} at {multiple}");
            let percent = [12.5, 7.5, 5.0][known];
            let allowed = (wanted * percent / 100.0).max(0.04);
            assert!(
                (tolerance_ns as f64 / 1e9 - allowed).abs() < 1e-6,
                "{name} at {multiple}"
            );
        }
    }
}

#[test]
fn a_ramp_is_required_to_pick_up_within_the_declared_error() {
    let test = find("pick-up").expect("of the program");
    assert!(test.is_ramp() && !find("zone1").expect("of the program").is_ramp());
    assert_eq!(test.places(1).len(), 12);
    for place in test.places(1) {
        let shot = test.shot(place);
        let Cell::Ramp(ramp) = &shot.cell else { panic!("a ramp") };
        assert_eq!((ramp.steps, ramp.lasts_ns()), (60, 12_000_000_000));
        // 776 A is step 34 of 4 A above 640 A, 824 A is step 46; steps count from 1.
        let expect = Expect::Trip {
            soonest_ns: Some(3_300_000_000),
            within_ns: Some(4_600_000_000),
        };
        assert_eq!(shot.scenario.expect, expect);
        let Wave::Synth(synth) = &shot.scenario.wave else {
            panic!("a record");
        };
        let currents = synth.states[59].operating.currents_a;
        let carried = ["A", "B", "C"].map(|phase| if ramp.phases.contains(phase) { 880.0 } else { 0.0 });
        assert!(
            currents
                .iter()
                .zip(carried)
                .all(|(one, other)| (one - other).abs() < 1e-9)
        );
    }
}

#[test]
fn what_cannot_be_tested_is_refused() {
    for (name, from, to, says) in [
        (
            "zone1",
            "sir = [0.2, 1,",
            "sir = [0,",
            "distance.sir is 0: use 0.01 to 200",
        ),
        ("zone1", "sir = [0.2, 1,", "sir = [1, 1,", "each once"),
        (
            "zone1",
            "[0, 20, 40, 60, 80, 90, 95, 100,",
            "[100,",
            "none is inside the zone",
        ),
        ("zone1", "\"AG\"", "\"AX\"", "unknown variant `AX`"),
        (
            "zone1",
            "lasts = \"200ms\"",
            "lasts = \"20ms\"",
            "longer than the fault lasts",
        ),
        ("zone1", "[distance]", "[overcurrent]", "unknown field"),
        ("zone1", "repeats = 1", "repeats = 9999", "shots"),
        ("iec-normal-inverse", "[1.05,", "[1.0,", "use 1.01 to 50"),
        ("pick-up", "to_percent = 110", "to_percent = 103", "use 103.5 to 1000"),
        ("reach", "[45, 60,", "[-20, 60,", "no border there"),
        (
            "reach",
            "lasts = \"200ms\"",
            "lasts = \"20ms\"",
            "longer than the fault lasts",
        ),
        (
            "reach",
            "resolution_percent = 0.5",
            "resolution_percent = 5",
            "use 0.05 to 4",
        ),
        (
            "bias",
            "\"half-difference\"",
            "\"largest\"",
            "no two currents have this",
        ),
        ("bias", "\"half-difference\"", "\"difference\"", "unknown variant"),
        (
            "bias",
            "[0, 0.2], [0.5, 0.2]",
            "[0, 0.3], [0.5, 0.2]",
            "none falls behind",
        ),
        (
            "bias",
            "points = [[0, 0.2], [0.5, 0.2]",
            "points = [[0, 0], [0.5, 0]",
            "is at 0.000 x rated",
        ),
        ("bias", "\"A\"]", "\"AB\"]", "use A, B, C or ABC"),
        (
            "bias",
            "phases",
            "far_shift_deg = 30\nphases",
            "a vector group mixes the phases",
        ),
        (
            "bias",
            "lasts = \"200ms\"",
            "lasts = \"20ms\"",
            "longer than the current lasts",
        ),
        ("pick-up", "step_percent = 0.5", "step_percent = 5", "use 0.05 to 3"),
        ("pick-up", "\"100ms\"", "\"20ms\"", "use 40 to 10000"),
        ("pick-up", "\"100ms\"", "\"1s\"", "up to a minute"),
        ("pick-up", "\"ABC\"]", "\"ACB\"]", "use A, B, C"),
        (
            "iec-normal-inverse",
            "time_multiplier = 0.1",
            "time_multiplier = 2",
            "up to a minute",
        ),
    ] {
        let why = refusal(name, from, to);
        assert!(why.starts_with("x.toml") && why.contains(says), "{why}");
    }
    assert!(find("none").is_err_and(|error| error.to_string().contains("zone1")));
}

#[test]
fn every_type_test_of_the_program_can_be_published() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("type-tests");
    let files = std::fs::read_dir(folder).expect("the folder").count();
    assert_eq!(names().count(), files, "each file of the folder is in the program");
    for name in names() {
        let test = find(name).expect(name);
        assert!(test.reference().wants_trip());
        let groups = test.groups();
        for place in test.places(1).into_iter().take(20) {
            let shot = test.shot(place);
            assert!(groups[shot.group].label.starts_with(name));
            let made = shot.scenario.shot(&Sampling::new(4_000), 2_400, 0.0, 0).expect(name);
            assert!(made.table.saturated() == 0 && made.fault < made.end, "{name}");
        }
    }
}

/// Both currents of each restraint give the restraining and the differential current that were asked for.
#[test]
fn the_currents_of_a_bias_have_its_restraint() {
    use super::TestKind;
    use super::bias::{Bias, Restraint};
    let TestKind::Bias(test) = find("bias").expect("of the program").kind else {
        panic!("no bias");
    };
    for (of, restraint) in [
        (
            Restraint::HalfDifference,
            (|a: f64, b: f64| (a - b).abs() / 2.0) as fn(f64, f64) -> f64,
        ),
        (Restraint::HalfSum, |a, b| (a.abs() + b.abs()) / 2.0),
        (Restraint::Sum, |a, b| a.abs() + b.abs()),
        (Restraint::Largest, |a, b| a.abs().max(b.abs())),
    ] {
        let test = Bias {
            restraint: of,
            ..test.clone()
        };
        for (along, differential) in [(1.0, 0.2), (3.0, 1.4), (8.0, 0.0)] {
            let [near, far] = test.currents(along, differential).expect("two currents");
            assert!((near + far - differential).abs() < 1e-12, "{of:?}");
            assert!((restraint(near, far) - along).abs() < 1e-12, "{of:?}: {near} {far}");
        }
        assert_eq!(test.currents(0.1, 0.5).is_some(), of == Restraint::HalfDifference);
    }
    for (restraint, wanted) in [(0.3, 0.2), (1.0, 0.35), (1.5, 0.5), (3.0, 2.0), (6.0, 5.0)] {
        assert!((test.wanted(restraint) - wanted).abs() < 1e-12, "{restraint}");
    }
}
