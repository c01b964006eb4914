//! Searches for the border of a characteristic, through relays with matching and with wrong settings.

mod common;

use common::relay;
use model::{Cell, EdgeShot};
use relay::config::Config;
use relay::type_test;
use std::collections::BTreeMap;
use waveform::type_test::{TypeTest, find};

fn zone(shape: &str, reach_ohm: f64) -> Config {
    relay(&format!(
        "[relay]\nname = \"R\"\n[rated]\ncurrent-a = 400\nvoltage-v = 110_000\n[[stream]]\nname = \"bay1\"\n\
         sv = {{ svID = \"MU01\", profile = \"F4000S1I4U4\" }}\n[[function]]\nname = \"Z1\"\n[function.settings.pdis]\n\
         reach-ohm = {reach_ohm}\nline-deg = 75.964\nk0 = 0.66667\nk0-deg = 0\nleast-current = 0.05\n{shape}\n[[trip]]\nname = \"Q0\"\n"
    ))
}

const MHO: &str = "shape.mho.polarising = \"own-voltage\"";
const QUADRILATERAL: &str =
    "shape.quadrilateral = { phase-resistance-ohm = 6, earth-resistance-ohm = 8, below-deg = 20, beyond-deg = 120 }";

/// A search at these angles with these further keys, for a zone of 9.8955 ohm.
fn search(angles: &str, more: &str) -> TypeTest {
    let text = format!(
        "what = \"x\"\n[reach]\nsource_v = 110_000\nsource_ohm = 0.5\nsource_angle_deg = 85\nk0 = 0.66667\nreach_ohm = 9.8955\n\
         angle_deg = 75.964\nloops = [\"BG\", \"CA\", \"ABC\"]\nangles_deg = {angles}\nerror_percent = 4\nresolution_percent = 0.5\n\
         within = \"40ms\"\nlasts = \"120ms\"\n{more}"
    );
    TypeTest::parse(&text, "border", "border.toml").expect("a test")
}

/// Shots of a line, and whether each tripped.
type Shots = Vec<(EdgeShot, bool)>;

/// The shots on each line: of which kind of fault, and at which angle in degrees.
fn lines(config: &Config, test: &TypeTest) -> BTreeMap<(String, i64), Shots> {
    lines_by(config, test, 1.0)
}

/// The same, with the place of a line in parts of which `parts` are 1.
fn lines_by(config: &Config, test: &TypeTest, parts: f64) -> BTreeMap<(String, i64), Shots> {
    let mut all: BTreeMap<(String, i64), Shots> = BTreeMap::new();
    for shot in type_test(config, test, 1).expect("shots") {
        let tripped = shot.edge_tripped().expect("trip or no trip");
        let Some(Cell::Edge(edge)) = shot.cell else {
            panic!("no search")
        };
        let along = (edge.along * parts).round() as i64;
        all.entry((edge.fault.clone(), along))
            .or_default()
            .push((edge, tripped));
    }
    all
}

/// Error of the border in percent; `None` without one.
fn error(shots: &[(EdgeShot, bool)]) -> Option<f64> {
    let of = |wanted: bool| {
        shots
            .iter()
            .filter(move |shot| shot.1 == wanted)
            .map(|shot| shot.0.value)
    };
    let (last, first) = (of(true).reduce(f64::max)?, of(false).reduce(f64::min)?);
    let edge = &shots[0].0;
    assert!(first > last && first - last < 1.01 * edge.resolution, "{shots:?}");
    Some(100.0 * (f64::midpoint(first, last) / edge.wanted - 1.0))
}

#[test]
fn a_search_finds_the_circle_of_a_mho_zone_and_one_that_is_set_wrong() {
    let test = search("[30, 75, 120]", "");
    for (part, least, most) in [(1.0, -1.5, 1.5), (1.05, 4.0, 6.5), (0.95, -5.5, -3.5)] {
        let all = lines(&zone(MHO, part * 9.8955), &test);
        assert_eq!(all.len(), 9);
        for (line, shots) in &all {
            let off = error(shots).unwrap_or_else(|| panic!("{line:?} has a border: {shots:?}"));
            assert!((least..=most).contains(&off), "{line:?} at {part}: {off} %");
            assert!(shots.len() <= 14, "{line:?}: {} shots", shots.len());
        }
    }
}

#[test]
fn a_search_finds_the_sides_of_a_quadrilateral_zone() {
    let test = search("[10, 45, 75, 90]", "quadrilateral = { phase_ohm = 6, earth_ohm = 8 }");
    for (line, shots) in lines(&zone(QUADRILATERAL, 9.8955), &test) {
        let off = error(&shots).unwrap_or_else(|| panic!("{line:?} has a border: {shots:?}"));
        // At 10 degrees the jump starts a loop, whose reach is then 5 % longer until it resets.
        let most = if line.1 == 10 { 5.0 } else { 1.0 };
        assert!((-1.0..=most).contains(&off), "{line:?}: {off} %");
    }
    // A circle is no parallelogram: the search unmasks it at the sides.
    let round = lines(&zone(MHO, 9.8955), &test);
    let off = error(&round[&("BG".to_owned(), 10)]).expect("a border");
    assert!(off.abs() > 20.0, "{off} %");
}

/// A differential function with these settings and these rated currents in A.
fn differential(settings: &str, [near_a, far_a]: [u32; 2]) -> Config {
    relay(&format!(
        "[relay]\nname = \"R\"\n[rated]\ncurrent-a = 400\nvoltage-v = 110_000\n[[stream]]\nname = \"near\"\n\
         sv = {{ svID = \"MU01\", profile = \"F4800S1I4U4\" }}\n[[stream]]\nname = \"far\"\n\
         sv = {{ svID = \"MU02\", profile = \"F4800S1I4U4\" }}\n[[function]]\nname = \"87\"\nsides = [\"near\", \"far\"]\n\
         [function.settings.pdif]\nrated-current-a = [{near_a}, {far_a}]\n{settings}\n[[trip]]\nname = \"Q0\"\n"
    ))
}

#[test]
fn a_search_finds_the_characteristic_of_a_differential_function_and_one_that_is_set_wrong() {
    let test = find("bias").expect("of the program");
    let borders = |characteristic: &str| -> Vec<((String, i64), f64)> {
        let all = lines_by(&differential(characteristic, [400, 400]), &test, 10.0).into_iter();
        let error = |(line, shots): ((String, i64), Shots)| {
            let off = bias_error(&shots).unwrap_or_else(|| panic!("{line:?} has a border: {shots:?}"));
            (line, off)
        };
        all.map(error).collect()
    };
    let good = borders("");
    assert_eq!(good.len(), 10);
    assert!(good.iter().all(|(_, off)| off.abs() <= 2.0), "{good:?}");
    for (characteristic, along, wrong_by) in [
        ("characteristic.low = 0.25", 3, 25.0),
        ("characteristic.slope3 = 0.8", 30, -15.0),
    ] {
        let wrong = borders(characteristic);
        let is_found = |(line, off): &((String, i64), f64)| line.1 == along && (off - wrong_by).abs() < 5.0;
        assert_eq!(
            wrong.iter().filter(|line| is_found(line)).count(),
            2,
            "{characteristic}: {wrong:?}"
        );
    }
}

/// The same of a transformer, whose far side leads by 30 degrees and has another rated current.
#[test]
fn a_search_finds_the_characteristic_of_a_transformer() {
    let text = "what = \"x\"\n[bias]\nvoltage_v = 110_000\nrated_current_a = [100, 550]\nfar_shift_deg = 30\nrestraint = \"half-difference\"\n\
                points = [[0, 0.2], [0.5, 0.2], [1.5, 0.5], [5, 4]]\nrestraints = [0.3, 1.2, 3]\nphases = [\"ABC\"]\nerror_percent = 5\n\
                resolution_percent = 1\nwithin = \"80ms\"\nlasts = \"200ms\"\n";
    let config = differential("object = { transformer = { vector-group = \"Yd11\" } }", [100, 550]);
    let test = TypeTest::parse(text, "bias", "bias.toml").expect("a test");
    let all = lines_by(&config, &test, 10.0).into_values();
    let good: Vec<Option<f64>> = all.map(|shots| bias_error(&shots)).collect();
    assert!(
        good.len() == 3 && good.iter().all(|off| off.is_some_and(|off| off.abs() <= 2.0)),
        "{good:?}"
    );
    // Seen with the wrong clock, the through current is a differential one: it trips before the shot.
    let wrong = TypeTest::parse(&text.replace("= 30", "= -30"), "bias", "bias.toml").expect("a test");
    let shots = type_test(&config, &wrong, 1).expect("shots");
    assert!(shots.iter().all(|shot| shot.edge_tripped().is_none()), "{shots:?}");
}

/// Error of the border in percent of a function that trips above it.
fn bias_error(shots: &[(EdgeShot, bool)]) -> Option<f64> {
    let of = |wanted: bool| {
        shots
            .iter()
            .filter(move |shot| shot.1 == wanted)
            .map(|shot| shot.0.value)
    };
    let (last, first) = (of(false).reduce(f64::max)?, of(true).reduce(f64::min)?);
    Some(100.0 * (f64::midpoint(first, last) / shots[0].0.wanted - 1.0))
}

#[test]
fn a_zone_far_too_large_or_too_small_has_no_border_here() {
    let test = search("[75]", "");
    for (reach_ohm, tripped) in [(60.0, true), (0.4, false)] {
        for (line, shots) in lines(&zone(MHO, reach_ohm), &test) {
            assert!(
                shots.len() <= 3 && shots.iter().all(|shot| shot.1 == tripped),
                "{line:?}: {shots:?}"
            );
            assert_eq!(error(&shots), None);
        }
    }
}

#[test]
fn the_built_in_search_fits_the_relay_that_its_file_describes() {
    let test = find("reach").expect("of the program");
    // With the voltage before the fault, as most relays for close faults.
    for (line, shots) in lines(&zone("", 9.8955), &test) {
        let off = error(&shots).unwrap_or_else(|| panic!("{line:?} has a border: {shots:?}"));
        assert!(off.abs() <= 2.0, "{line:?}: {off} %");
    }
}
