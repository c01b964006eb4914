//! Our phasors compared with those of a relay: a GE C60 that records its own. Its data are in `data/c60.json`, with their source.

mod common;

use common::{Rig, number};
use protection::Rated;
use protection::measure::BaySettings;
use serde_json::Value;

/// Within 1 % and 0.3 degrees while the relay itself sees a steady voltage; 16 samples a cycle.
#[test]
fn a_relay_computes_the_same() {
    let record: Value = serde_json::from_str(include_str!("data/c60.json")).unwrap();
    let rated = Rated {
        samples_per_second: number(&record["samples_per_second"]),
        voltage_v: 330_000.0,
        ..Rated::default()
    };
    let mut rig = Rig::new(rated, &BaySettings::default(), true);
    let rows: Vec<Vec<f64>> = record["rows"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| row.as_array().unwrap().iter().map(number).collect())
        .collect();
    let volt = number(&record["volt"]) * number(&record["ratio"]);
    let theirs = |row: &[f64], phase: usize| {
        let kilovolt = number(&record["kilovolt"]) * 1000.0 * row[3 + 2 * phase];
        (kilovolt, number(&record["degree"]) * row[4 + 2 * phase])
    };
    let mut compared = 0;
    for (n, row) in rows.iter().enumerate() {
        let [a, b, c] = [0, 1, 2].map(|phase| volt * row[phase]);
        let set = *rig.push([0.0, 0.0, 0.0, 0.0, a, b, c, a + b + c]);
        for phase in 0..3 {
            let (magnitude, degrees) = theirs(row, phase);
            // Steady over two cycles before and one after: the relay's own figures come two samples late.
            let steady = n >= 36
                && (n - 32..(n + 16).min(rows.len())).all(|near| {
                    let (other, _) = theirs(&rows[near], phase);
                    (other / magnitude - 1.0).abs() < 0.01
                });
            if !steady || magnitude < 100_000.0 {
                continue;
            }
            compared += 1;
            let found = set.voltage[phase];
            assert!(
                (found.norm() / magnitude - 1.0).abs() < 0.01,
                "{n} {phase}: {} of {magnitude}",
                found.norm()
            );
            // Its angles are against phase A.
            if n < 340 {
                let angle = (found / set.voltage[0]).arg_degrees();
                let apart = (angle - degrees + 180.0).rem_euclid(360.0) - 180.0;
                assert!(apart.abs() < 0.3, "{n} {phase}: {angle} and {degrees} degrees");
            }
        }
    }
    assert!(compared > 1000, "{compared}");
    let hz = rig.set.frequency.map(|found| found.hz);
    assert!(hz.is_none_or(|hz| (49.0..51.0).contains(&hz)), "{hz:?}");
}
